"""A fleet from logs to robots.

Who is worn is found, each robot's model is its own, and bad input is a sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.signals import to_parquet
from tests.apps.test_cli import Run, run
from tests.archive.archives import small_arm, wave_log

__all__ = ["run"]  # the fixture
GIVEN: dict[str, Any] = {
    "friction": ("viscous", "coulomb", "offset"),
    "delay": 0.0,
    "coulomb_width": 0.0,
    "decimate": 1,
}
WORN = {"arm04": ("joint2.Fc", 2.0), "arm11": ("joint1.Fv", 2.0)}


def robots() -> dict[str, sy.Robot]:
    """Sixteen arms of one type that is not quite as described; two have a worn joint."""
    rng = np.random.default_rng(5)
    arm = small_arm()
    kinds = [name.rpartition(".")[2] for name in arm.parameter_names]
    friction = np.array([kind in ("Fv", "Fc") for kind in kinds])
    results = {}
    for k in range(16):
        pi = arm.parameters * 1.1
        pi[:20] *= np.repeat(1.0 + 0.02 * rng.normal(size=2), 10)
        pi[friction] *= np.exp(0.08 * rng.normal(size=friction.sum()))
        name = f"arm{k:02}"
        if name in WORN:
            pi[arm.parameter_names.index(WORN[name][0])] *= WORN[name][1]
        results[name] = arm.with_parameters(pi)
    return results


@pytest.fixture(scope="module")
def arms() -> dict[str, sy.Robot]:
    return robots()


@pytest.fixture(scope="module")
def logs(arms: dict[str, sy.Robot]) -> dict[str, sy.Log]:
    return {
        name: wave_log(300 + k, 700, robot=robot) for k, (name, robot) in enumerate(arms.items())
    }


@pytest.fixture(scope="module")
def fleet(logs: dict[str, sy.Log]) -> sy.Fleet:
    return sy.identify_fleet(small_arm(), logs, diagnose=False, **GIVEN)


def test_the_worn_joints_are_found_and_no_other(fleet: sy.Fleet) -> None:
    assert {(d.robot, d.part) for d in fleet.outliers} == {
        (name, parameter.split(".")[0]) for name, (parameter, _) in WORN.items()
    }
    for deviation in fleet.outliers:
        assert deviation.parameter == WORN[deviation.robot][0]
        assert "has more friction than the others" in deviation.sentence
        assert deviation.value > 1.6 * deviation.usual


def test_each_robot_has_its_own_model(
    fleet: sy.Fleet, arms: dict[str, sy.Robot], logs: dict[str, sy.Log]
) -> None:
    """On a motion that no log has, the pooled models are nearer to the truth than those of each log
    by itself, and than the type.
    """
    other = wave_log(999)
    assert other.qd is not None
    assert other.qdd is not None
    states = other.q, other.qd, other.qdd

    def error(model: sy.Robot, name: str) -> float:
        true = arms[name].inverse_dynamics(*states)
        return float(np.linalg.norm(model.inverse_dynamics(*states) - true) / np.linalg.norm(true))

    own = np.array([error(fleet.robot(name), name) for name in fleet.names])
    alone = np.array(
        [
            error(sy.identify(small_arm(), logs[name], diagnose=False, **GIVEN).robot, name)
            for name in fleet.names
        ]
    )
    assert own.mean() < alone.mean()
    assert own.mean() < 0.5 * np.mean([error(fleet.type.robot, name) for name in fleet.names])


def test_base_values_are_as_certain_as_is_told(fleet: sy.Fleet, arms: dict[str, sy.Robot]) -> None:
    true = np.array([fleet.type.base.values(arms[name].parameters) for name in fleet.names])
    scores = (fleet.base_values - true) / fleet.base_std
    assert 0.8 < np.sqrt(np.mean(scores**2)) < 1.4


def test_files_say_of_which_robot_they_are(
    logs: dict[str, sy.Log], fleet: sy.Fleet, tmp_path: Path, run: Run
) -> None:
    for name, log in logs.items():
        (tmp_path / "logs" / f"arm={name}").mkdir(parents=True)
        to_parquet(log[:400], tmp_path / "logs" / f"arm={name}" / "early.parquet")
        to_parquet(log[400:], tmp_path / "logs" / f"arm={name}" / "late.parquet")
    small_arm().to_toml(tmp_path / "arm.toml")
    config = tmp_path / "options.toml"
    config.write_text(
        'friction = ["viscous", "coulomb", "offset"]\ndelay = 0.0\ncoulomb_width = 0.0\ndecimate ='
        ' 1\nsmoothing = "auto"\n',
        encoding="utf-8",
    )
    line = (
        "fleet",
        tmp_path / "arm.toml",
        tmp_path / "logs",
        "--by",
        "arm",
        "--config",
        config,
        "--workers",
        2,
        "-o",
        tmp_path / "out",
    )
    shown = run(*line)
    assert shown.code == 3, shown
    assert "2 outliers in the fleet." in shown.out
    assert "arm04: joint2 has more friction than the others" in shown.out
    data = json.loads((tmp_path / "out" / "fleet.json").read_text(encoding="utf-8"))
    assert [each["robot"] for each in data["outliers"]] == [d.robot for d in fleet.outliers]
    values = np.array([each["values"] for each in data["robots"]])
    assert np.allclose(
        values,
        fleet.base_values,
        atol=0.3 * fleet.base_std.min(axis=0) + 1e-3 * np.abs(fleet.base_values),
    )
    assert sy.load(tmp_path / "out" / "arm04.toml").n == 2
    page = (tmp_path / "out" / "fleet.html").read_text(encoding="utf-8")
    assert page.count("<circle") == 16 * 4
    assert "arm11" in page
    assert "<script" not in page
    again = run(*line)
    assert again.code == 2, "the folder is not empty"


def test_a_page_and_plain_data(fleet: sy.Fleet, tmp_path: Path) -> None:
    assert sy.report(fleet, tmp_path / "fleet.html").exists()  # type: ignore[arg-type]
    with pytest.raises(sy.CallError, match="fleet takes neither a validation"):
        sy.report(fleet, tmp_path / "other.html", true_robot=small_arm())
    fleet.to_json(tmp_path / "fleet.json")
    assert (
        json.loads((tmp_path / "fleet.json").read_text(encoding="utf-8"))["robots"][0]["name"]
        == "arm00"
    )
    assert "wear or lack of grease" in fleet.summary()
    assert repr(fleet).startswith("Fleet(16 x ")


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        ({}, "expected logs of at least 3 robots, got 0"),
        ({"a": wave_log(1), "b": wave_log(2)}, "at least 3 robots, got 2: a, b"),
        (wave_log(1), "expected the logs of each robot by its name, or files, not Log"),
        (3, "expected the logs of each robot by its name, or files, not int"),
        ({"a": wave_log(1), "b": wave_log(2), "c": 3}, "expected a Log, not int"),
    ],
)
def test_what_is_no_fleet_is_said(logs: Any, words: str) -> None:
    with pytest.raises(sy.SteelyardError, match=words):
        sy.identify_fleet(small_arm(), logs)


def test_files_without_a_robot_are_named(tmp_path: Path, fleet: sy.Fleet) -> None:
    (tmp_path / "site=oslo").mkdir()
    to_parquet(wave_log(1, 50), tmp_path / "site=oslo" / "run.parquet")
    with pytest.raises(
        sy.LogError, match=r"run\.parquet: no folder says of which robot it is; .* found keys: site"
    ):
        sy.identify_fleet(small_arm(), tmp_path)
    with pytest.raises(
        sy.CallError, match=r"no robot of the fleet is called 'arm99'; did you mean"
    ):
        fleet.robot("arm99")


def test_a_damaged_log_costs_its_robot_alone(logs: dict[str, sy.Log]) -> None:
    torn: dict[str, Any] = {
        **logs,
        "arm99": sy.Log(t=np.arange(50.0), q=np.zeros((50, 2)), tau=np.ones((50, 2))),
    }
    with pytest.raises(sy.LogError, match=r"1 of 17 logs cannot be used: arm99, log 1: "):
        sy.identify_fleet(small_arm(), torn, diagnose=False, **GIVEN)
    with pytest.warns(sy.SteelyardWarning, match="arm99"):
        remaining = sy.identify_fleet(
            small_arm(), torn, diagnose=False, damaged="leave out", **GIVEN
        )
    assert "arm99" not in remaining.names
    assert len(remaining.names) == 16


def test_noise_with_a_memory_makes_robots_less_certain(arms: dict[str, sy.Robot]) -> None:
    """Deviations are as far from the truth as is told also where neighbouring samples err alike."""
    rng = np.random.default_rng(8)
    logs = {}
    for k, (name, robot) in enumerate(arms.items()):
        log = wave_log(500 + k, 900, robot=robot)
        noise = np.zeros((900, 2))
        for i in range(1, 900):
            noise[i] = 0.9 * noise[i - 1] + rng.normal(size=2)
        assert log.tau is not None
        logs[name] = sy.Log(
            t=log.t,
            q=log.q,
            qd=log.qd,
            qdd=log.qdd,
            tau=log.tau + 0.5 * noise,
            joint_names=log.joint_names,
        )
    fleet = sy.identify_fleet(small_arm(), logs, diagnose=False, **GIVEN)
    true = np.array([fleet.type.base.values(arms[name].parameters) for name in fleet.names])
    assert np.sqrt(np.mean(((fleet.base_values - true) / fleet.base_std) ** 2)) < 2.2, (
        "4.3 if samples counted as independent"
    )
