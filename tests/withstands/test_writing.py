"""Writing: modes follow the umask, a killed process leaves nothing for good, the cache stays where
its user's is.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.runtime import cache
from steelyard.files import TEMPORARY, temporary, whole_folder, write_atomic
from steelyard.signals import to_csv, to_npz, to_parquet

posix = pytest.mark.skipif(os.name != "posix", reason="modes and processes are POSIX's")


def modes(folder: Path) -> set[tuple[bool, int]]:
    return {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in folder.rglob("*")}


@posix
@pytest.mark.parametrize(
    ("umask", "file", "directory"), [(0o077, 0o600, 0o700), (0o022, 0o644, 0o755)]
)
def test_everything_that_is_written_follows_the_umask(
    umask: int, file: int, directory: int, tmp_path: Path
) -> None:
    robot = sy.load("planar_2r")
    t = np.arange(20) / 10
    log = sy.Log(t=t, q=np.sin(t)[:, None] * [1, 2], joint_names=robot.joint_names)
    before = os.umask(umask)
    try:
        robot.to_urdf(tmp_path / "a.urdf")
        robot.to_toml(tmp_path / "a.toml")
        robot.to_c(tmp_path / "c")
        for write, name in ((to_csv, "a.csv"), (to_npz, "a.npz"), (to_parquet, "a.parquet")):
            write(log, tmp_path / name)
        with whole_folder(tmp_path / "result") as folder:
            write_atomic(folder / "a.txt", "a")
    finally:
        os.umask(before)
    assert modes(tmp_path) == {(False, file), (True, directory)}


KILLED = """
import os, sys
from pathlib import Path
from steelyard.files import whole_folder, write_atomic

def die(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)

if sys.argv[2] == "folder":
    with whole_folder(Path(sys.argv[1]) / "result") as folder:
        write_atomic(folder / "a.txt", die)
write_atomic(Path(sys.argv[1]) / "a.txt", die)
"""


@posix
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_a_killed_process_left_is_removed_by_the_next(
    kind: str, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), kind],
        env={"PYTHONPATH": str(root / "src")},
        check=False,
    )
    assert run.returncode == -9
    assert [path.name.startswith(TEMPORARY) for path in tmp_path.iterdir()] == [True]
    monkeypatch.setattr(temporary, "_swept", set())
    write_atomic(tmp_path / "b.txt", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


@posix
def test_what_a_living_process_writes_or_another_made_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = temporary._machine()
    names = [
        f"{TEMPORARY}{machine}-{os.getpid()}-0123456789ab.txt",
        f"{TEMPORARY}00000000-999999-0123456789ab",
        f"{TEMPORARY}mine",
    ]
    names += [f"{TEMPORARY}{machine}-1-0123456789ab"]
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setattr(temporary, "_swept", set())
    write_atomic(tmp_path / "b.txt", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "b.txt"])


@pytest.mark.parametrize("relative", ["cache", "./cache", "../cache"])
def test_a_relative_cache_directory_is_ignored(
    relative: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STEELYARD_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", relative)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "steelyard"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert cache.directory() == tmp_path / "mine" / "steelyard"


@pytest.mark.parametrize("home", ["", "/", "here"])
def test_without_a_home_nothing_is_kept(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STEELYARD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", home)
    assert cache.directory() is None
    assert cache.read_entry(cache.key("anything")) is None
    cache.write(cache.key("anything"), b"content")
