"""Motions as files: what is read back is what was written.

A simulated robot follows it; nothing is written over.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import Trajectory
from steelyard.motion.trajectories.trajectory import trajectory
from steelyard.motion.trajectory_files.formats import FORMATS
from steelyard.simulation import ComputedTorque


@cache
def motion(n: int = 6, names: tuple[str, ...] = ()) -> Trajectory:
    """Some motion at rest at both ends, of 2 s at 50 Hz."""
    from steelyard.checks.states import States

    size = np.linspace(0.2, 0.7, n)

    def states(t: object) -> States:
        s = np.asarray(t, float)[..., None] * np.pi
        return States(size * (1 - np.cos(s)), size * np.pi * np.sin(s), size * np.pi**2 * np.cos(s))

    return trajectory(states, 2.0, 50.0, names or tuple(f"arm {i}" for i in range(n)))


def messages(path: Path) -> list[object]:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        assert all(time == 0 for _, time, _ in reader.messages()), "a motion begins when it is sent"
        return [reader.deserialize(data, c.msgtype) for c, _, data in reader.messages()]


@pytest.mark.parametrize("name", ["a.mcap", "a.bag", "folder"])
def test_bags_hold_the_message(name: str, tmp_path: Path) -> None:
    path = motion().write(tmp_path / name, "rosbag2" if name == "folder" else None, unchecked=True)
    (result,) = messages(path)
    assert result.joint_names == list(motion().joint_names)  # type: ignore[attr-defined]
    points = result.points  # type: ignore[attr-defined]
    for key, expected in (
        ("positions", motion().q),
        ("velocities", motion().qd),
        ("accelerations", motion().qdd),
    ):
        np.testing.assert_array_equal([getattr(p, key) for p in points], expected)
    np.testing.assert_allclose(
        [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points],
        motion().t,
        atol=1e-9,
    )


def test_yaml_is_that_message(tmp_path: Path) -> None:
    from ruamel.yaml import YAML

    data = YAML(typ="safe").load(motion().write(tmp_path / "a.yaml", unchecked=True).read_text())
    assert data["joint_names"] == list(motion().joint_names)
    np.testing.assert_array_equal([p["positions"] for p in data["points"]], motion().q)
    np.testing.assert_array_equal([p["accelerations"] for p in data["points"]], motion().qdd)
    assert data["points"][75]["time_from_start"] == {"sec": 1, "nanosec": 500_000_000}


def test_tables_are_read_back(tmp_path: Path) -> None:
    rows = np.loadtxt(motion().write(tmp_path / "a.csv"), delimiter=",", skiprows=2)
    np.testing.assert_array_equal(
        rows, np.column_stack([motion().t, motion().q, motion().qd, motion().qdd])
    )
    with np.load(motion().write(tmp_path / "a.npz", rate=100)) as arrays:
        np.testing.assert_array_equal(arrays["qd"], motion().sample(100).qd)
        assert list(arrays["joint_names"]) == list(motion().joint_names)
    np.testing.assert_allclose(
        np.loadtxt(motion().write(tmp_path / "a.txt")), motion().q, atol=1e-8
    )


def test_urscript_plays_every_point_at_the_rate(tmp_path: Path) -> None:
    text = motion().write(tmp_path / "my motion.script", unchecked=True).read_text()
    assert text.splitlines()[1] == "def play_my_motion():"
    assert text.rstrip().endswith("end\nplay_my_motion()")
    played = motion().sample(125)
    results = [json.loads(row) for row in re.findall(r"servoj\((\[.*?\]), 0, 0, 0.008, ", text)]
    np.testing.assert_allclose(results, played.q[1:], atol=1e-7)
    assert json.loads(re.search(r"movej\((\[.*?\])", text)[1]) == pytest.approx(
        played.q[0].tolist()
    )  # type: ignore[index]


def test_krl_has_degrees_and_shares_of_the_time(tmp_path: Path) -> None:
    text = motion().write(tmp_path / "a.src", unchecked=True).read_text()
    played = motion().sample(10)
    axes = [
        [float(x) for x in re.findall(r"A\d (\S+?)[,}]", row)]
        for row in re.findall(r"SPTP (\{.*\})", text)
    ]
    np.testing.assert_allclose(np.radians(axes), played.q, atol=1e-7)
    parts = [float(x) for x in re.findall(r"TIME_BLOCK PART = (\S+)", text)]
    assert len(parts) == len(played.t) - 2
    assert sum(parts) == pytest.approx(100 * (1 - 0.1 / 2), rel=1e-4)
    assert "TIME_BLOCK END = 2\n" in text


def test_a_simulated_robot_follows_what_excite_made() -> None:
    robot = sy.load("spatial_3r")
    path_motion = sy.excite(robot, 5.0, 3, candidates=3)
    run = sy.simulate(
        robot,
        ComputedTorque(path_motion, kp=400.0, kd=40.0),
        q0=path_motion.q[0],
        seconds=5.0,
        step=2e-3,
    )
    np.testing.assert_allclose(run.q, path_motion.motion(run.t).q, atol=2e-3)


def test_nothing_is_written_over_and_all_formats_are_named(tmp_path: Path) -> None:
    for name, row in FORMATS.items():
        path = tmp_path / ("a" + (row.endings[0] if row.endings else ""))
        motion().write(path, name, unchecked=True)
        with pytest.raises(sy.CallError, match="exists"):
            motion().write(path, name, unchecked=True)
        motion().write(path, name, overwrite=True, unchecked=True)
    assert not list(tmp_path.glob(".steelyard*"))


@pytest.mark.parametrize(
    ("name", "options", "n", "message"),
    [
        ("a.pdf", {}, 6, "no trajectory format has the ending '.pdf'.*csv"),
        ("a.csv", {"format": "krll"}, 6, "format = 'krll'.*did you mean 'krl'"),
        ("a.script", {}, 3, "six joints, and this motion has 3: arm 0, arm 1"),
        ("a.src", {}, 7, "A1 to A6, and this motion has 7"),
        ("a.csv", {"rate": 0.0}, 6, "rate"),
        ("no/a.csv", {}, 6, "there is no folder"),
    ],
)
def test_bad_calls(
    name: str, options: dict[str, object], n: int, message: str, tmp_path: Path
) -> None:
    with pytest.raises(sy.CallError, match=message):
        motion(n).write(tmp_path / name, **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_joints_that_slide_are_not_written_in_degrees(tmp_path: Path) -> None:
    path_motion = sy.excite(sy.load("planar_rp"), 5.0, 3, candidates=1)
    with pytest.raises(sy.CallError, match="joint2 slides"):
        path_motion.write(tmp_path / "a.src")
