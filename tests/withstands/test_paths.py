"""Names of files that the system refuses, and folders that may not be looked into.

A sentence, from every function that takes a path.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.errors import SteelyardError
from steelyard.mechanism.formats.urdf.collision_shapes import mesh_file

NAMES = [
    "a" * 5000,
    "a" * 300,
    "zero\0byte",
    "half\ud800character",
    "a/" * 3000 + "a",
    "no/such/folder/a",
]
ROBOT = sy.load("planar_2r")
TAKERS: dict[str, Callable[[str], object]] = {
    "load": lambda name: sy.load(f"{name}.urdf"),
    "load a name": sy.load,
    "read_log": lambda name: sy.read_log(f"{name}.csv"),
    "read_log of several": lambda name: sy.read_log([f"{name}.mat", f"{name}.npz"]),
    "mapping": lambda name: sy.read_log("a.csv", mapping=f"{name}.toml"),
    "to_urdf": lambda name: ROBOT.to_urdf(f"{name}/a.urdf"),
    "to_c": lambda name: ROBOT.to_c(f"{name}/c/d"),
    "reading_limits": lambda name: sy.load(Path(name) / "a.xacro"),
}


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("taker", TAKERS)
def test_a_name_that_the_system_refuses_is_a_sentence(
    taker: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SteelyardError):
        TAKERS[taker](name)
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() == 0, reason="root may look everywhere"
)
def test_a_folder_that_may_not_be_looked_into_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    for call in (sy.load, sy.read_log):
        with pytest.raises(SteelyardError, match="permission denied"):
            call(tmp_path / "closed" / "a.csv")


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_mesh_of_such_a_name_is_absent(name: str, tmp_path: Path) -> None:
    assert mesh_file(name, str(tmp_path / "a.urdf")) is None
    assert mesh_file(f"package://{name}/a.stl", str(tmp_path / "a.urdf")) is None
