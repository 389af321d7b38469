"""`steelyard new`: a project folder whose lines work as they are written.

Questions on a terminal, and none without one.
"""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.signals.proposed_mapping import propose_mapping
from steelyard.signals.write import to_csv
from tests.apps.test_arm_cli import panda, small
from tests.apps.test_cli import Run, run

__all__ = ["panda", "run", "small"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")


def lines_of(folder: Path) -> list[list[str]]:
    """The commands of a project's README, as a shell would divide them, without `steelyard`."""
    text = (folder / "README.md").read_text().split("```sh\n")[1].split("```")[0]
    return [shlex.split(line)[1:] for line in text.splitlines()]


def test_a_panda_goes_from_file_to_report_in_one_line(
    run: Run, panda: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Identify the arm of a Panda with fingers, using only the files that `new` wrote."""
    ran = run("new", tmp_path / "a b" / "panda", "--robot", panda[0], "--log", panda[1])
    assert ran.code == 0, ran.err
    assert "The log does not have panda_finger_joint1: fixed." in " ".join(ran.out.split())
    monkeypatch.chdir(tmp_path / "a b" / "panda")
    doctor, identify, validate = lines_of(Path())
    assert run(*doctor, "--quiet").code == 0
    ran = run(*identify, "--estimator", "sdp")
    assert ran.code == 0, ran.err
    assert sorted(part.name for part in Path("results").iterdir()) == [
        "fit.json",
        "identified.urdf",
        "report.html",
    ]
    assert sy.load("results/identified.urdf").joint_names == sy.load(panda[0]).joint_names
    assert run(*(str(panda[1]) if word == "ANOTHER_LOG" else word for word in validate)).code == 0


def test_columns_that_name_no_joint_are_matched_by_number(
    run: Run, small: Path, tmp_path: Path
) -> None:
    log = sy.read_log(small, sy.load("spatial_3r"))
    head = ",".join(
        ["t", *(f"act_pos_{k} [deg]" for k in (3, 1, 2)), *(f"I{k}_cur" for k in (1, 2, 3))]
    )
    table = np.column_stack([log.t, np.degrees(log.q[:, [2, 0, 1]]), log.tau / 10.0])
    np.savetxt(tmp_path / "drive.csv", table, delimiter=",", header=head, comments="")
    ran = run("new", tmp_path / "p", "--robot", "spatial_3r", "--log", tmp_path / "drive.csv")
    assert ran.code == 0, ran.err
    assert "The log has currents and no torques: add torque_constant" in " ".join(ran.out.split())
    ran = run(
        "new",
        tmp_path / "p",
        "--robot",
        "spatial_3r",
        "--log",
        tmp_path / "drive.csv",
        "--torque-constant",
        "0.1",
        "--ratio",
        "100",
        "--force",
    )
    assert ran.code == 0, ran.err
    read = sy.read_log(
        tmp_path / "drive.csv", sy.load("spatial_3r"), tmp_path / "p" / "mapping.toml"
    )
    assert np.allclose(read.q, log.q)
    assert np.allclose(read.tau, log.tau)


def test_a_file_for_each_quantity(run: Run, small: Path, tmp_path: Path) -> None:
    log = sy.read_log(small, sy.load("spatial_3r"))
    for name, values in (("position", log.q), ("torque", log.tau)):
        np.savetxt(
            tmp_path / f"run_{name}.csv",
            values,
            delimiter=",",
            header="joint1,joint2,joint3",
            comments="",
        )
    files = ["--log", tmp_path / "run_position.csv", "--log", tmp_path / "run_torque.csv"]
    ran = run("new", tmp_path / "p", "--robot", "spatial_3r", *files)
    assert ran.code == 2
    assert "give --rate HZ" in ran.err
    assert run("new", tmp_path / "p", "--robot", "spatial_3r", *files, "--rate", "100").code == 0
    read = sy.read_log(tmp_path / "p" / "mapping.toml", sy.load("spatial_3r"))
    assert np.allclose(read.tau, log.tau)
    assert read.rate == pytest.approx(100.0)


class Keyboard(io.StringIO):
    """Answers that are typed on a terminal."""

    def isatty(self) -> bool:
        return True


def test_questions_on_a_terminal(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "\n".join(
            line.replace("tau_", "effort_")
            for line in small.read_text().splitlines()
            if not line.startswith("#")
        )
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", Keyboard("spatial_3r\n\nlog.csv\ntorque\n"))
    ran = run("new")
    assert ran.code == 0, ran.err
    assert all(word in ran.err for word in ("Robot", "Folder", "Log", "torque or current"))
    assert 'effort = "torque"' in (tmp_path / "spatial_3r" / "mapping.toml").read_text()
    monkeypatch.setattr("sys.stdin", Keyboard("spatial_3r\nother\n\n"))
    assert run("new").code == 0
    assert sorted(part.name for part in (tmp_path / "other").iterdir()) == [
        "README.md",
        "steelyard.toml",
    ]


def test_nothing_hangs_without_a_terminal(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("t,effort_joint1,q_joint1\n0,1,2\n1,2,3\n2,3,4\n")
    bad = {
        "no robot": ([], "There is no terminal to ask on: give --robot"),
        "effort": (
            ["--robot", "spatial_3r", "--log", tmp_path / "log.csv"],
            "no terminal to ask on: give --effort torque|current",
        ),
        "no such robot": (["--robot", "spatial_4r"], "spatial_4r"),
        "no such log": (["--robot", "spatial_3r", "--log", tmp_path / "no.csv"], "no such file"),
        "no such joint": (
            ["--robot", "spatial_3r", "--joints", "elbow"],
            "--joints: no joint is called 'elbow'",
        ),
        "a side": (
            ["--robot", "spatial_3r", "--log", small, "--ratio", "9", "--position", "moter"],
            "did you mean 'motor'",
        ),
        "ratios": (["--robot", "spatial_3r", "--log", small, "--ratio", "9,8"], "2 numbers"),
        "a rate": (
            ["--robot", "spatial_3r", "--log", small, "--rate", "-1"],
            "a positive number [Hz] was expected, found -1.0",
        ),
        "a file that is there": (
            ["--robot", "spatial_3r", "--log", small],
            "pass --force to replace it",
        ),
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    for name, (options, words) in bad.items():
        ran = run("new", tmp_path / ("full" if name == "a file that is there" else "p"), *options)
        assert ran.code == 2, name
        assert words in ran.err, name
        assert ran.err.count("\n") == 1, ran.err
    assert not (tmp_path / "p").exists()


def test_a_log_with_more_positions_than_joints_is_told(tmp_path: Path, small: Path) -> None:
    with pytest.raises(sy.SteelyardError, match="3 columns of positions for 2 joints: a, b"):
        propose_mapping([small], ["a", "b"])
    to_csv(sy.read_log(small, sy.load("spatial_3r")), tmp_path / "one.csv")
    to_csv(sy.read_log(small, sy.load("spatial_3r"))[:50], tmp_path / "two.csv")
    with pytest.raises(sy.SteelyardError, match="both have a column"):
        propose_mapping(
            [tmp_path / "one.csv", tmp_path / "two.csv"], ["joint1", "joint2", "joint3"]
        )
