"""steelyard doctor from a shell: exit codes, what it says, and mappings that put a log right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults import Planted
from steelyard.errors import CallError, LogError
from steelyard.identification.doctor import FAULTS as KINDS
from steelyard.identification.doctor.finding import MAPPING, THIRD_SOURCE
from steelyard.signals import Correction, corrected_mapping, read_log, read_mapping
from steelyard.signals.log import Log
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run
from tests.laws.doctor.test_doctor import described, moved, positions_only, true

__all__ = ["run"]  # the fixture

NAMES = ("joint1", "joint2", "joint3")
FAULTS = [
    Planted("swapped joints", ("joint2", "joint3"), 1),
    Planted("position sign", ("joint2",), -1),
    Planted("torque sign", ("joint3",), -1),
    Planted("degrees", NAMES, 180 / np.pi),
    Planted("position offset", ("joint2",), 10.0),
    Planted("clock", NAMES, 2.5, (1,)),
    Planted("jitter", NAMES, 30.0),
    Planted("duplicated stamps", NAMES, 5.0),
    Planted("delay", ("joint3",), 150.0),
    Planted("encoder spikes", ("joint3",), 0.2),
]
DISPUTED = [
    Planted("currents", NAMES, 10.0),
    Planted("gear ratio or torque constant", ("joint2",), 1.6),
    Planted("torque scale", NAMES, 2.0),
]


def test_every_kind_of_fault_that_is_corrected_or_disputed_is_here() -> None:
    assert {fault.key for fault in FAULTS} == {
        key for key, kind in KINDS.items() if kind.corrected_by == MAPPING
    }
    assert {fault.key for fault in DISPUTED} == {
        key for key, kind in KINDS.items() if kind.corrected_by == THIRD_SOURCE
    }


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("robot") / "arm.toml"
    described("spatial_3r", 3).to_toml(path)
    return path


def healthy() -> Log:
    return positions_only(moved(true("spatial_3r", 3, 1), 1))


def test_a_healthy_log_leaves_with_0_and_nothing_is_written(
    run: Run, robot_file: Path, tmp_path: Path
) -> None:
    to_csv(healthy(), tmp_path / "run.csv")
    ran = run("doctor", robot_file, tmp_path / "run.csv", "--fix")
    assert ran.code == 0, ran.out
    assert "This log can identify the robot." in ran.out
    assert "nothing that a mapping can correct" in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.key)
def test_fix_writes_a_mapping_that_makes_the_log_healthy(
    run: Run, robot_file: Path, tmp_path: Path, fault: Planted
) -> None:
    path, mapping = tmp_path / "run.csv", tmp_path / "run.mapping.toml"
    to_csv(fault.into(described("spatial_3r", 3), healthy()), path)
    before = path.read_bytes()
    ran = run("doctor", robot_file, path, "--fix")
    remark = fault.key in ("jitter", "duplicated stamps")
    assert ran.code == (0 if remark else 1), ran.out
    assert f"{fault.key} (" in ran.out
    assert "To fix it: " in " ".join(ran.out.split())
    assert mapping.exists()
    assert path.read_bytes() == before
    assert run("doctor", robot_file, path, "--fix").code == 2, "nothing is written over"
    assert run("doctor", robot_file, path, "--fix", "--force").code == (0 if remark else 1)
    again = run("doctor", robot_file, path, "--mapping", mapping)
    assert again.code == 0, again.out
    assert again.out.splitlines() == [
        "This log can identify the robot.",
        "Next: Identify the robot:",
        f"  steelyard identify {robot_file} {path} -o results --mapping {mapping}",
    ]
    text = mapping.read_text(encoding="utf-8")
    twice = run("doctor", robot_file, path, "--mapping", mapping, "--fix", "--force")
    assert "nothing that a mapping can correct" in twice.out
    assert mapping.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("fault", DISPUTED, ids=lambda fault: fault.key)
def test_a_factor_of_torques_is_disputed_and_not_corrected(
    run: Run, robot_file: Path, tmp_path: Path, fault: Planted
) -> None:
    path = tmp_path / "run.csv"
    to_csv(fault.into(described("spatial_3r", 3), healthy()), path)
    ran = run("doctor", robot_file, path, "--fix")
    text = " ".join(ran.out.split())
    assert ran.code == 1
    assert f"{fault.key} (50%)" in text
    assert "Either" in text
    assert "the log cannot distinguish them" in text
    assert "To decide: weigh a known payload" in text
    assert "nothing that a mapping can correct" in text
    assert [each.name for each in tmp_path.iterdir()] == ["run.csv"]


def test_the_doctor_names_the_option_and_the_file_of_a_correction(
    run: Run, robot_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.csv"
    to_csv(
        Planted("torque sign", ("joint3",), -1).into(described("spatial_3r", 3), healthy()), path
    )
    text = "".join(run("doctor", robot_file, path).out.split())
    assert f"--fixwritesthecorrectionto{tmp_path / 'run.mapping.toml'}" in text
    data = json.loads(run("doctor", robot_file, path, "--json").out)
    assert data["fix"] == {"option": "--fix", "file": str(tmp_path / "run.mapping.toml")}
    assert not (tmp_path / "run.mapping.toml").exists()


def test_a_fix_keeps_the_mapping_that_was_given_and_adds_to_its_correction(
    run: Run, robot_file: Path, tmp_path: Path
) -> None:
    log = healthy()
    wrong = log.replace(tau=log.tau * np.array([1.0, -2.0, -1.0]), t=1000 * log.t)
    to_csv(wrong, tmp_path / "run.csv")
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'time_unit = "ms"  # as the logger writes it\n[correction]\ngain = { joint2 = -0.5 }\n'
    )
    assert run("doctor", robot_file, tmp_path / "run.csv", "--mapping", mine, "--fix").code == 1
    text = (tmp_path / "run.mapping.toml").read_text(encoding="utf-8")
    assert "# as the logger writes it" in text
    assert text.count("[correction]") == 1
    gain = read_mapping(tmp_path / "run.mapping.toml", NAMES).correction.gain
    assert gain == (1.0, -0.5, -1.0), "a factor of the user's stays as it is"
    assert (
        run(
            "doctor", robot_file, tmp_path / "run.csv", "--mapping", tmp_path / "run.mapping.toml"
        ).code
        == 0
    )


def test_a_fault_that_no_mapping_mends_is_said_with_its_remedy(
    run: Run, robot_file: Path, tmp_path: Path
) -> None:
    log = healthy()
    to_csv(
        log.replace(tau=log.tau - described("spatial_3r", 3).gravity_torque(log.q)),
        tmp_path / "run.csv",
    )
    ran = run("doctor", robot_file, tmp_path / "run.csv", "--fix")
    assert ran.code == 1
    assert "gravity taken out (" in ran.out
    assert "with_gravity" in ran.out
    assert "nothing that a mapping can correct" in ran.out


# -- the table [correction] of a mapping
# -------------------------------------------------------------------------------------


def example() -> Correction:
    return Correction.of(
        3,
        order=[1, 0, 2],
        sign=[1, -1, 1],
        scale=[1, 1, 0.5],
        offset=[0.1, 0, 0],
        gain=[1, 1, -3],
        delay=[0, 0.05, 0],
        clock=0.5,
    )


def test_a_correction_goes_through_a_mapping_file(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text(
        corrected_mapping(example(), NAMES, None, ["first reason", "second"]), encoding="utf-8"
    )
    assert "# first reason" in path.read_text(encoding="utf-8")
    assert read_mapping(path, NAMES).correction == example()
    lists = {
        "order": ["joint2", "joint1", "joint3"],
        "gain": [1.0, 1.0, -3.0],
        "regular": True,
        "spikes": True,
    }
    result = Correction.of(3, order=[1, 0, 2], gain=[1, 1, -3], regular=True, spikes=True)
    log = healthy()
    to_csv(log, tmp_path / "run.csv")
    read = read_log(tmp_path / "run.csv", NAMES, {"correction": lists})
    assert np.allclose(read.q, result.positions(log.q), atol=1e-6)
    assert np.allclose(read.tau[:, 2], -3 * log.tau[:, 2], atol=1e-6)


def test_two_corrections_in_turn_are_one() -> None:
    log, one = moved(true("spatial_3r", 3, 1), 1), example()
    other = Correction.of(
        3,
        order=[2, 0, 1],
        torque_order=[0, 2, 1],
        sign=[-1, 1, 1],
        offset=[0, 0.2, 0],
        gain=[2, 1, 1],
        delay=[0.02, 0, 0],
        clock=2.0,
    )

    def applied(correction: Correction, log: Log) -> Log:
        return correction.correct_columns(correction.correct_samples(log))

    twice, once = applied(other, applied(one, log)), applied(other.after(one), log)
    for name in ("t", "q", "qd", "qdd"):
        assert np.allclose(getattr(twice, name), getattr(once, name), rtol=1e-12, atol=1e-12), name
    assert np.allclose(
        twice.tau[100:-100], once.tau[100:-100], rtol=1e-2, atol=1e-2 * np.abs(log.tau).max()
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("gain = { joint9 = 2 }", "correction.gain.joint9: no such joint"),
        ("gane = 2", "correction.gane: unknown: did you mean 'gain'"),
        ("gain = 2", "correction.gain: one finite number per joint was expected, found 2"),
        ("order = [1, 2, 3]", "correction.order: a table {joint: joint} or the joints' names"),
        ('order = { joint1 = "joint2" }', "order must have each of the joints 0 to 2 once"),
        ("sign = [1, 2, 1]", "sign must be 1 or -1"),
        ("scale = [1, 0, 1]", "must be positive"),
        ("gain = [1, 0, 1]", "neither a gain nor the clock zero"),
        ("clock = 0", "neither a gain nor the clock zero"),
        ("clock = true", "correction.clock: a number was expected"),
        ("spikes = 3", "correction.spikes: true or false was expected"),
        ("gain = [1, 1]", "one number for each of 3 joints expected"),
    ],
)
def test_errors_in_a_correction_name_the_key(tmp_path: Path, table: str, message: str) -> None:
    path = tmp_path / "map.toml"
    path.write_text(f"[correction]\n{table}\n")
    with pytest.raises(LogError) as caught:
        read_mapping(path, NAMES)
    assert message in str(caught.value)


def test_a_correction_of_other_joints_is_refused() -> None:
    with pytest.raises(LogError, match="the correction is for 2 joints, the log has 3"):
        Correction.none(2).correct_columns(healthy())
    with pytest.raises(CallError, match="number of joints expected"):
        Correction.of(clock=2.0)
