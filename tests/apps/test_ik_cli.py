"""`steelyard ik`: all solutions of a pose, of many in a CSV file, and errors."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.rotation import to_rpy
from steelyard.apps import cli


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["steelyard", "ik", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_a_pose_on_the_screen(run) -> None:
    robot = sy.load("elbow_6r")
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    T = robot.forward_kinematics(q)
    xyz, rpy = (",".join(map(repr, map(float, v))) for v in (T[:3, 3], to_rpy(T[:3, :3])))
    code, out, _ = run("elbow_6r", "--xyz", xyz, "--rpy", rpy)
    assert code == 0
    s = sy.inverse_kinematics(robot, T)
    assert out.startswith(f"{s.count} solutions by closed form")
    assert out.count("shoulder") == s.count
    assert "0.100000" in out


def test_poses_from_csv_to_csv(run, tmp_path: Path, rng: np.random.Generator) -> None:
    robot = sy.load("elbow_6r")
    T = robot.forward_kinematics(rng.uniform(-1, 1, (4, 6)))
    source, target = tmp_path / "poses.csv", tmp_path / "q.csv"
    rows = [[*pose[:3, 3], *to_rpy(pose[:3, :3])] for pose in T]
    source.write_text(
        "x,y,z,roll,pitch,yaw\n"
        + "\n".join(",".join(repr(float(x)) for x in row) for row in rows)
        + "\n",
        encoding="utf-8",
    )
    code, _, err = run("elbow_6r", "--poses", source, "--out", target)
    assert (code, err) == (0, "steelyard: 4 of 4 poses solved by closed form\n")
    with target.open(encoding="utf-8") as file:
        first = next(file)
        results = list(csv.DictReader(file))
    assert first == (
        "# NOT CHECKED (distances between links; ground; moves between the positions)\n"
    )
    for row in results:
        q = [float(row[f"q.{name}"]) for name in robot.joint_names]
        assert np.abs(robot.forward_kinematics(q) - T[int(row["pose"])]).max() < 1e-10
    assert run("elbow_6r", "--poses", source, "--out", target)[0] == 2, "nothing is written over"


def test_out_of_reach(run) -> None:
    code, out, _ = run("elbow_6r", "--xyz", "9,0,0", "--quaternion", "0,0,0,1")
    assert code == 1
    assert out.startswith("no solution: the pose is out of reach; the nearest pose found is")


WRONG = {
    "nothing": (["elbow_6r"], "--xyz"),
    "two numbers": (["elbow_6r", "--xyz", "1,2"], "--xyz has 2 numbers where 3"),
    "a word": (["elbow_6r", "--xyz", "1,2,x"], "'x' is not a number"),
    "no rotation": (
        ["elbow_6r", "--xyz", "1,2,3", "--quaternion", "0,0,0,0"],
        "zeros is not a rotation",
    ),
    "two rotations": (
        ["elbow_6r", "--xyz", "1,2,3", "--quaternion", "0,0,0,1", "--rpy", "0,0,0"],
        "not both",
    ),
    "no file": (["elbow_6r", "--poses", "nowhere.csv"], "there is no file nowhere.csv"),
    "a frame": (["elbow_6r", "--xyz", "1,0,1", "--frame", "hand"], "no frame is called 'hand'"),
    "a method": (["elbow_6r", "--xyz", "1,0,1", "--method", "guess"], "method 'guess' is unknown"),
}


@pytest.mark.parametrize("which", WRONG)
def test_bad_input_is_one_sentence(run, which: str) -> None:
    arguments, message = WRONG[which]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_without_rotations(run, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("x,y,z\n1,2,3\n", encoding="utf-8")
    code, _, err = run("elbow_6r", "--poses", tmp_path / "p.csv")
    assert code == 2
    assert "expected x, y, z and qx, qy, qz, qw or roll, pitch, yaw" in err
