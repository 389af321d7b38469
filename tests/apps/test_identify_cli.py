"""identify, validate, doctor and demo from a shell.

One line does it, nothing is left half-written, bad input is a sentence.
"""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps.commands.demo import next_free
from steelyard.identification.selection.selection_thresholds import THRESHOLDS as SELECTION
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

ROBOT = "spatial_3r"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with log.csv and other.csv of a perturbed spatial_3r."""
    folder, robot = (
        tmp_path_factory.mktemp("logs"),
        sy.load(ROBOT).with_friction(viscous=4.0, coulomb=3.0),
    )
    real = sy.perturbed(robot, 2)
    for name, seed in (("log", 1), ("other", 5)):
        motion = sy.excite(robot, 10.0, 6, 0.1, seed, candidates=20)
        to_csv(sy.record(real, motion, 200.0, seed), folder / f"{name}.csv")
    return folder


@pytest.fixture(scope="module")
def result(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What identify writes, made once."""
    import sys
    from unittest.mock import patch

    from steelyard.apps import cli

    folder = tmp_path_factory.mktemp("results") / "out"
    command = [
        "steelyard",
        "identify",
        ROBOT,
        str(logs / "log.csv"),
        "--validate",
        str(logs / "other.csv"),
        "-o",
        str(folder),
    ]
    with patch.object(sys, "argv", command), pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    return folder


def test_one_line_identifies_and_writes_everything(result: Path) -> None:
    assert sorted(part.name for part in result.iterdir()) == [
        "fit.json",
        "identified.toml",
        "report.html",
    ]
    fit = json.loads((result / "fit.json").read_text(encoding="utf-8"))
    assert fit["total_relative_error"] < 0.03 < fit["before"]
    assert fit["provenance"]["steelyard"] == sy.__version__
    assert len(fit["provenance"]["logs"][0]["sha256"]) == 64
    robot = sy.load(result / "identified.toml")
    values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    for row in fit["parameters"]:
        assert values[row["name"]] == pytest.approx(row["value"], rel=1e-12, abs=1e-12), (
            "as far as the file has decimals"
        )
    assert "The validation log has" in (result / "report.html").read_text(encoding="utf-8")


def test_the_robot_of_a_refused_fit_is_not_called_identified(
    run: Run, logs: Path, tmp_path: Path
) -> None:
    """So that no script takes it for one; it can still be looked at, and validated."""
    short, log = tmp_path / "short.csv", sy.read_log(logs / "log.csv", sy.load(ROBOT))[:200]
    to_csv(log.replace(tau=np.random.default_rng(0).normal(size=log.q.shape)), short)
    ran = run("identify", ROBOT, short, "-o", tmp_path / "out", "--no-report")
    assert ran.code == 4, ran.out
    assert sorted(part.name for part in (tmp_path / "out").iterdir()) == [
        "fit.json",
        "refused.toml",
    ]
    assert "refused.toml" in ran.out.replace("\n", "")
    assert "refused" in run("validate", tmp_path / "out", logs / "other.csv").out.lower()


def test_friction_can_be_named_and_a_wrong_name_is_told(run: Run, logs: Path) -> None:
    ran = run("identify", ROBOT, logs / "log.csv", "--friction", "coulomb", "--friction", "strbeck")
    assert ran.code == 2
    assert "friction 'strbeck' is unknown; did you mean 'stribeck'" in ran.err.replace("\n", " ")


@pytest.mark.filterwarnings("ignore:URDF has no element:steelyard.SteelyardWarning")
def test_a_urdf_comes_back_as_the_users_own_file(run: Run, logs: Path, tmp_path: Path) -> None:
    urdf = tmp_path / "mine.urdf"
    sy.load(ROBOT).to_urdf(urdf)
    urdf.write_text(
        urdf.read_text(encoding="utf-8").replace("</robot>", "  <!-- mine -->\n</robot>"),
        encoding="utf-8",
    )
    ran = run(
        "identify",
        urdf,
        logs / "log.csv",
        "-o",
        tmp_path / "out",
        "--no-report",
        "--estimator",
        "wls",
    )
    assert ran.code == 0, ran.err
    assert sorted(part.name for part in (tmp_path / "out").iterdir()) == [
        "fit.json",
        "identified.urdf",
    ]
    assert "<!-- mine -->" in (tmp_path / "out" / "identified.urdf").read_text(encoding="utf-8")
    assert "steelyard: warning: URDF has no element for armature of all joints" in ran.err
    assert all(
        word in ran.out
        for word in (
            "Torque error [N m]",
            "Relative torque error of all joints",
            "± 2σ",
            "wrote fit.json, identified.urdf",
        )
    )


def test_without_a_folder_it_only_shows(
    run: Run, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("identify", ROBOT, logs / "log.csv", "--estimator", "wls").code == 0
    assert not list(tmp_path.iterdir())


def test_validate_takes_a_robot_a_fit_or_its_folder(run: Run, logs: Path, result: Path) -> None:
    before = run("validate", ROBOT, logs / "other.csv")
    assert before.code == 0, before.err
    after = [
        run("validate", target, logs / "other.csv")
        for target in (result, result / "fit.json", result / "identified.toml")
    ]
    errors = [
        float(
            next(line for line in ran.out.splitlines() if line.split()[:1] == ["all"]).split()[-1]
        )
        for ran in (before, *after)
    ]
    assert max(errors[1:]) < 3 < errors[0]
    beside = run("validate", result, logs / "other.csv", "--against", ROBOT)
    assert beside.code == 0
    assert "other RMS" in beside.out


def test_validate_decides_anew_with_the_other_log(
    run: Run, logs: Path, result: Path, tmp_path: Path
) -> None:
    finished_run = run("validate", result, logs / "other.csv")
    assert finished_run.code == 0
    assert finished_run.out.startswith("Trusted")
    other = sy.read_log(logs / "other.csv", sy.load(ROBOT))
    for factor, code in ((-3.0, 4), (1.2, 3)):
        to_csv(other.replace(tau=factor * other.tau), tmp_path / f"{code}.csv")
        broken = run("validate", result, tmp_path / f"{code}.csv")
        assert broken.code == code, broken.out
        assert "more than 2 times the expected" in " ".join(broken.out.split())
    assert run("validate", ROBOT, tmp_path / "4.csv").code == 0, (
        "there is no verdict on a robot as described"
    )
    fit = json.loads((result / "fit.json").read_text(encoding="utf-8"))
    for inputs, code in (
        ({"errors": fit["verdict_inputs"]["errors"] | {"within": 0.7, "mean": 0.7}}, 4),
        ({"errors": "x"}, 2),
    ):
        shutil.copy(result / "identified.toml", tmp_path)
        (tmp_path / "fit.json").write_text(
            json.dumps(fit | {"verdict_inputs": fit["verdict_inputs"] | inputs})
        )
        assert run("validate", tmp_path / "fit.json", logs / "other.csv").code == code
    del fit["verdict_inputs"]
    (tmp_path / "fit.json").write_text(json.dumps(fit))
    earlier = run("validate", tmp_path / "fit.json", logs / "other.csv")
    assert earlier.code == 0
    assert "does not hold the inputs of a verdict" in " ".join(earlier.err.split())


def test_the_verdict_comes_first_and_masses_are_shown(run: Run, logs: Path) -> None:
    ran = run("identify", ROBOT, logs / "log.csv", "--full")
    assert ran.code == 0, ran.out
    first = next(line for line in ran.out.splitlines() if line.strip())
    assert first.startswith("Trusted"), first
    places = [
        ran.out.index(word)
        for word in ("Trusted", "Region", "Prediction errors", "Links", "Base parameters")
    ]
    assert places == sorted(places)
    assert "described" in ran.out
    assert "Izz1 + " in ran.out, "the combination behind a base parameter"


@pytest.mark.parametrize(("word", "code"), [("doubtful", 3), ("refused", 4)])
def test_the_exit_code_is_the_verdict(
    run: Run, logs: Path, tmp_path: Path, word: str, code: int
) -> None:
    """Torques of twice their size are doubtful, those that are noise are refused.

    The result is written all the same.
    """
    log = sy.read_log(logs / "log.csv", sy.load(ROBOT))
    noise = np.random.default_rng(0).normal(size=log.q.shape)
    to_csv(log.replace(tau=3.0 * log.tau if word == "doubtful" else noise), tmp_path / "bad.csv")
    ran = run("identify", ROBOT, tmp_path / "bad.csv", "-o", tmp_path / "out", "--no-report")
    assert ran.code == code, ran.out
    assert next(line for line in ran.out.splitlines() if line.strip()).startswith(word.capitalize())
    written = json.loads((tmp_path / "out" / "fit.json").read_text(encoding="utf-8"))
    assert written["verdict"]["word"] == word
    assert "3 for" in " ".join(run("identify", "--help").out.split())


def test_the_exit_code_takes_the_validation_into_account(
    run: Run, logs: Path, tmp_path: Path
) -> None:
    other = sy.read_log(logs / "other.csv", sy.load(ROBOT))
    to_csv(other.replace(tau=-3.0 * other.tau), tmp_path / "other.csv")
    ran = run("identify", ROBOT, logs / "log.csv", "--validate", tmp_path / "other.csv")
    assert ran.code == 4, ran.out
    assert ran.out.lstrip().startswith("Refused")


def test_fit_json_has_verdict_validation_and_region(result: Path) -> None:
    fit = json.loads((result / "fit.json").read_text(encoding="utf-8"))
    verdict = fit["verdict"]
    assert verdict["word"] in ("trusted", "trusted within")
    parts = {
        "word",
        "sentence",
        "error",
        "outside_error",
        "joints",
        "region",
        "reasons",
        "findings",
        "next_step",
        "validations",
    }
    assert parts == set(verdict)
    assert 0 < verdict["error"] < 0.1
    joint = verdict["region"]["joints"][0]
    assert (joint["unit"], joint["qd_unit"], joint["qdd_unit"]) == ("rad", "rad/s", "rad/s2")
    assert joint["q_low"] < joint["q_high"]
    validation = fit["validation"]
    assert validation["total_relative_error"] < 0.05 < validation["before"]
    assert 0 <= validation["inside"] <= 1
    assert [row["unit"] for row in validation["joints"]] == ["N m"] * 3


def test_long_work_shows_progress_on_a_terminal(logs: Path, tmp_path: Path) -> None:
    """On a pseudo-terminal: a sentence while it runs, nothing of it in a pipe."""
    import os
    import pty
    import subprocess
    import sys

    for arguments, sentence in (
        (["doctor", ROBOT, str(logs / "log.csv")], "examining the log"),
        (["identify", ROBOT, str(logs / "log.csv"), "--estimator", "wls"], "reading the logs"),
        (["check", ROBOT], "testing law"),
    ):
        ours, theirs = pty.openpty()
        environment = {
            **os.environ,
            "TERM": "xterm",
            "COLUMNS": "120",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-m", "steelyard", *arguments]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment, cwd=tmp_path
        ) as process:
            os.close(theirs)
            output = b""
            try:
                while part := os.read(ours, 65536):
                    output += part
            except OSError:  # the other end is closed
                pass
            os.close(ours)
            process.wait(60)
        assert sentence in output.decode(errors="replace"), arguments


def test_joints_that_are_matched_by_order_are_said_wherever_the_log_is_used(
    run: Run, logs: Path, tmp_path: Path
) -> None:
    """On the terminal, in fit.json and in the report.

    Joints of the file are called by numbers, those of the robot by names.
    """
    robot = sy.load(ROBOT)
    urdf, numbered = tmp_path / "mine.urdf", tmp_path / "numbered.csv"
    robot.to_urdf(urdf)
    text = urdf.read_text(encoding="utf-8")
    for joint, name in zip(robot.joint_names, ("waist", "shoulder", "elbow"), strict=True):
        text = text.replace(f'"{joint}"', f'"{name}"')
    urdf.write_text(text, encoding="utf-8")
    numbered.write_text((logs / "log.csv").read_text(encoding="utf-8"), encoding="utf-8")
    words = "were taken in its order"
    ran = run("identify", urdf, numbered, "-o", tmp_path / "out", "--estimator", "wls")
    assert "is waist" in ran.err, ran.err
    for message in (
        ran.err,
        (tmp_path / "out" / "fit.json").read_text(encoding="utf-8"),
        (tmp_path / "out" / "report.html").read_text(encoding="utf-8"),
    ):
        assert words in message
    assert words in run("doctor", urdf, numbered).err
    fit = sy.identify(robot, sy.read_log(logs / "log.csv").replace(joint_names=None), "wls")
    assert "The log names no joints: they were taken in the robot's order." in fit.status
    assert "they were taken in the robot's order" in fit.summary()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "expected a list 'joints', each with a 'name' and a 'coulomb_width'"),
        ('{"joints": 3}', "expected a list 'joints'"),
        ('{"joints": [{"name": "joint1", "coulomb_width": "wide"}]}', "expected a list 'joints'"),
        ("[]", "expected a list 'joints'"),
        ("<html>", "is not JSON (JSONDecodeError: Expecting value"),
    ],
)
def test_a_foreign_json_is_told(
    run: Run, logs: Path, result: Path, tmp_path: Path, text: str, words: str
) -> None:
    shutil.copy(result / "identified.toml", tmp_path)
    (tmp_path / "fit.json").write_text(text)
    ran = run("validate", tmp_path / "fit.json", logs / "other.csv")
    assert ran.code == 2
    assert words in ran.err
    assert "Error(" not in ran.err


def test_the_next_free_name(tmp_path: Path) -> None:
    assert next_free(tmp_path / "demo").name == "demo"
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").mkdir()
    assert next_free(tmp_path / "demo").name == "demo-3"


def test_demo_is_a_whole_identification(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("demo", ROBOT, "--full")
    assert ran.code == 0, ran.err
    for word in (
        ROBOT,
        "obeys all",
        "compiled kernel",
        "Prediction errors",
        "validation",
        "True against estimated",
        "steelyard identify",
    ):
        assert word in ran.out
    names = {
        "fit.json",
        "identified.toml",
        "log.csv",
        "motion.csv",
        "report.html",
        "validation.csv",
    }
    assert {part.name for part in (tmp_path / "steelyard-demo").iterdir()} == names
    fit = json.loads((tmp_path / "steelyard-demo" / "fit.json").read_text(encoding="utf-8"))
    assert fit["total_relative_error"] < 0.03
    assert (tmp_path / "steelyard-demo" / "report.html").stat().st_size < 2e6


STEPS = (
    ("steelyard.signals.read.log_formats", "table_of_format"),
    ("steelyard.signals.clean.cleaning", "fill_samples"),
    ("steelyard.identification.build_problem", "build_model"),
    ("steelyard.identification.observations.prepare", "smoothed"),
    ("steelyard.identification.doctor.examine", "examine"),
    ("steelyard.identification.estimate_model", "solve_problem"),
    ("steelyard.identification.identify", "make_fit"),
)


def test_each_step_of_an_identification_runs_once(
    run: Run, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log is read, cleaned, modelled, examined, solved and concluded once.

    It is smoothed once, and by each candidate filter.
    """
    calls: list[str] = []

    def counted(function: Any, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return function(*arguments, **options)

        return call

    for path, name in STEPS:
        module = import_module(path)
        monkeypatch.setattr(module, name, counted(getattr(module, name), name))
    assert run("identify", ROBOT, logs / "log.csv", "--quiet").code == 0
    assert [name for name, _ in groupby(calls)] == [name for _, name in STEPS]
    assert calls.count("smoothed") <= 1 + len(SELECTION.cutoffs)
