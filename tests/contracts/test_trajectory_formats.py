"""One suite that every row of the table of trajectory formats passes.

A new row needs a reader in `READERS`, or a reason in `NOT_READ`, and nothing else here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import Trajectory, point_to_point
from steelyard.motion.trajectory_files.formats import FORMATS, TrajectoryFormat, format_of

NAMES = tuple(f"joint_{k}" for k in range(6))
EVERY_ROW = pytest.mark.parametrize("row", FORMATS.values(), ids=FORMATS)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def motion() -> Trajectory:
    goal = np.linspace(0.2, 0.7, 6)
    return point_to_point(np.zeros(6), goal, 2.0, rate=50.0, joint_names=NAMES)


def positions_of_message(path: Path) -> Any:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        ((connection, _, data),) = reader.messages()
        message: Any = reader.deserialize(data, connection.msgtype)
    return [point.positions for point in message.points]


def positions_of_yaml(path: Path) -> Any:
    from ruamel.yaml import YAML

    return [point["positions"] for point in YAML(typ="safe").load(path.read_text())["points"]]


def positions_of_urscript(path: Path) -> Any:
    return [json.loads(row) for row in re.findall(r"(?:movej|servoj)\((\[.*?\])", path.read_text())]


def positions_of_krl(path: Path) -> Any:
    points = re.findall(r"SPTP \{(.*)\}", path.read_text())
    return np.radians([[float(x) for x in re.findall(r"A\d (\S+?)(?:,|$)", p)] for p in points])


READERS: dict[str, Callable[[Path], Any]] = {
    "csv": lambda path: np.loadtxt(path, delimiter=",", skiprows=2)[:, 1:7],
    "npz": lambda path: np.load(path)["q"],
    "points": np.loadtxt,
    "yaml": positions_of_yaml,
    "mcap": positions_of_message,
    "bag": positions_of_message,
    "rosbag2": positions_of_message,
    "urscript": positions_of_urscript,
    "krl": positions_of_krl,
}
NOT_READ = {"svg": "a picture"}


def target(row: TrajectoryFormat, folder: Path) -> Path:
    return folder / ("motion" + (row.endings[0] if row.endings else ""))


def test_every_row_has_a_reader_or_a_reason() -> None:
    assert sorted(READERS | NOT_READ) == sorted(FORMATS)


@EVERY_ROW
def test_a_row_is_complete(row: TrajectoryFormat) -> None:
    assert FORMATS[row.name] is row
    assert 15 <= len(row.description) <= 80
    assert (row.content is None) == (row.fill is not None), "a file or a folder"
    assert row.endings or row.fill
    for ending in row.endings:
        assert re.fullmatch(r"\.[a-z0-9]+", ending)
        assert format_of(f"A{ending.upper()}") is row, "an ending belongs to one format"


@EVERY_ROW
def test_positions_are_read_back(row: TrajectoryFormat, motion: Trajectory, tmp_path: Path) -> None:
    path = motion.write(target(row, tmp_path), row.name, unchecked=True)
    sampled = motion if row.rate is None else motion.sample(row.rate)
    if row.name in READERS:
        np.testing.assert_allclose(READERS[row.name](path), sampled.q, rtol=0, atol=1e-7)
    else:
        assert path.stat().st_size > 0
    slow = motion.write(target(row, tmp_path), row.name, rate=20, overwrite=True, unchecked=True)
    if row.name in READERS:
        np.testing.assert_allclose(READERS[row.name](slow), motion.sample(20).q, rtol=0, atol=1e-7)


@EVERY_ROW
def test_only_programs_need_a_check(
    row: TrajectoryFormat, motion: Trajectory, tmp_path: Path
) -> None:
    path = target(row, tmp_path)
    if not row.program:
        assert motion.write(path, row.name).exists()
        return
    with pytest.raises(sy.SteelyardError, match=r"motion\.check\(robot\)"):
        motion.write(path, row.name)
    assert not path.exists()


@EVERY_ROW
def test_nothing_is_overwritten_unasked(
    row: TrajectoryFormat, motion: Trajectory, tmp_path: Path
) -> None:
    path = motion.write(target(row, tmp_path), row.name, unchecked=True)
    with pytest.raises(sy.CallError, match="exists"):
        motion.write(path, row.name, unchecked=True)


def test_an_unknown_ending_lists_all(motion: Trajectory, tmp_path: Path) -> None:
    with pytest.raises(sy.CallError, match=r"a\.pdf") as caught:
        motion.write(tmp_path / "a.pdf")
    for row in FORMATS.values():
        assert row.name in str(caught.value)
        assert all(ending in str(caught.value) for ending in row.endings)


@EVERY_ROW
def test_help_and_documentation_have_it(row: TrajectoryFormat) -> None:
    documented = (ROOT / "docs" / "excitation.md").read_text(encoding="utf-8")
    word = row.endings[0] if row.endings else row.name
    assert word in (Trajectory.write.__doc__ or "")
    assert word in documented
