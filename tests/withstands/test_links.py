"""Links, devices and pipes where a file is to be written.

Every writer refuses them, nothing outside changes, nothing is left behind.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.apps import cli
from steelyard.apps.page.server.folder import Folder
from steelyard.compiler.runtime import cache as kernel_cache
from steelyard.errors import CallError
from steelyard.files import (
    check_file,
    check_folder,
    make_folder,
    whole_folder,
    write_atomic,
    write_files,
    write_into,
)
from steelyard.files.open_folder import OpenFolder
from steelyard.identification.out_of_core.factor_store import FactorStore
from steelyard.motion import spline
from steelyard.motion.trajectory_files.formats import FORMATS, write_trajectory
from steelyard.signals import to_csv, to_npz, to_parquet
from steelyard.signals.log_files.log_file import LogFile

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, devices and pipes are POSIX's")

# what may stand where a file is to be written ----------------------------------------------------


def device(path: Path, outside: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:  # only root makes devices
        os.mkfifo(path)


def loop(path: Path, outside: Path) -> None:
    path.symlink_to(f"{path.name}.back")
    path.with_name(f"{path.name}.back").symlink_to(path.name)


ENTRIES: dict[str, Callable[[Path, Path], object]] = {
    "link to a file": lambda path, outside: path.symlink_to(outside / "file"),
    "relative link to a file": lambda path, outside: path.symlink_to(
        os.path.relpath(outside / "file", path.parent)
    ),
    "dangling link": lambda path, outside: path.symlink_to(outside / "absent"),
    "dangling link into a missing folder": lambda path, outside: path.symlink_to(
        outside / "no" / "absent"
    ),
    "link to a folder": lambda path, outside: path.symlink_to(
        outside / "folder", target_is_directory=True
    ),
    "link to a device": lambda path, outside: path.symlink_to(outside / "device"),
    "link to a pipe": lambda path, outside: path.symlink_to(outside / "pipe"),
    "link to a link": lambda path, outside: path.symlink_to(outside / "link"),
    "link to itself": lambda path, outside: path.symlink_to(path.name),
    "loop of links": loop,
    "device": device,
    "pipe": lambda path, outside: os.mkfifo(path),
}


def fill_outside(outside: Path) -> None:
    (outside / "folder").mkdir(parents=True)
    (outside / "folder" / "inner").write_text("inner")
    (outside / "file").write_text("precious")
    (outside / "file").chmod(0o640)
    (outside / "link").symlink_to("file")
    device(outside / "device", outside)
    os.mkfifo(outside / "pipe")


def snapshot(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Every entry of a tree with its kind, mode, inode and content, links unfollowed."""
    entries: dict[str, tuple[Any, ...]] = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content: object = (
            os.readlink(path)
            if path.is_symlink()
            else path.read_bytes()
            if stat.S_ISREG(info.st_mode)
            else None
        )
        entries[str(path.relative_to(folder))] = info.st_mode, info.st_ino, content
    return entries


# every writer ------------------------------------------------------------------------------------


class Writer(NamedTuple):
    """A call that writes the files `names` into a folder.

    `raises`: where it may not write it raises; else it does nothing, or takes another name.
    """

    write: Callable[[Path, bool], object]
    names: tuple[str, ...]
    raises: bool = True
    examples: int = 10


@cache
def robot() -> sy.Robot:
    return sy.load("planar_2r")


@cache
def log() -> sy.Log:
    t = np.arange(200) / 50
    q, qd, qdd = (
        f[:, None] * [1, 2] for f in (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))
    )
    return sy.Log(
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=robot().inverse_dynamics(q, qd, qdd),
        joint_names=robot().joint_names,
    )


@cache
def fit() -> sy.Fit:
    return sy.identify(robot(), log(), "ols", smoothing=None, delay=0.0, decimate=1, diagnose=False)


@cache
def motion() -> sy.Trajectory:
    t = np.linspace(0, 1, 5)
    return spline(
        t, np.sin(t)[:, None] * np.arange(1, 7), 50.0, tuple(f"joint{k}" for k in range(1, 7))
    )


def through_folder(folder: Path, overwrite: bool) -> None:
    with whole_folder(folder / "out", overwrite) as new:
        write_atomic(new / "a.txt", "a")
        make_folder(new / "c")
        write_atomic(new / "c" / "b.txt", "b")


def command(*words: str) -> Callable[[Path, bool], None]:
    """A command of the command line; an exit code is an error."""

    def run(folder: Path, overwrite: bool) -> None:
        before, sys.argv = (
            sys.argv,
            [
                "steelyard",
                *(word.format(folder=folder) for word in words),
                *(["--force"] if overwrite else []),
            ],
        )
        try:
            cli.main()
        except SystemExit as stop:
            if stop.code:
                raise CallError(f"exit code {stop.code}") from None
        finally:
            sys.argv = before

    return run


ENTRY = kernel_cache.key("links")


def into_cache(folder: Path, overwrite: bool) -> None:
    before = os.environ.get("STEELYARD_CACHE")
    os.environ["STEELYARD_CACHE"] = str(folder / "cache")
    try:
        kernel_cache.write(ENTRY, b"code")
        assert kernel_cache.read_entry(ENTRY) in (None, b"code")
    finally:
        (
            os.environ.pop("STEELYARD_CACHE")
            if before is None
            else os.environ.update(STEELYARD_CACHE=before)
        )


def into_store(folder: Path, overwrite: bool) -> None:
    STORE.keep(LogFile(str(folder / "log.csv")), "a" * 40, b"factor")


STORE = FactorStore(True, None, b"secret")
FACTOR = f".steelyard/{STORE.path(LogFile('log.csv'), 'a' * 40).name}"
WRITERS: dict[str, Writer] = {
    "write_atomic": Writer(
        lambda folder, over: write_atomic(folder / "a", "a", over), ("a",), examples=30
    ),
    "write_atomic of a function": Writer(
        lambda folder, over: write_atomic(folder / "a", lambda file: file.write(b"a"), over), ("a",)
    ),
    "write_files": Writer(
        lambda folder, over: write_files({folder / "a": "a", folder / "b": "b"}, over),
        ("a", "b"),
        examples=30,
    ),
    "write_into": Writer(
        lambda folder, over: write_into(folder / "c", {"a": "a", "b": "b"}, over),
        ("c/a", "c/b"),
        examples=30,
    ),
    "whole_folder": Writer(through_folder, ("out/a.txt", "out/c/b.txt"), examples=30),
    "to_urdf": Writer(lambda folder, over: robot().to_urdf(folder / "a.urdf", over), ("a.urdf",)),
    "to_toml": Writer(lambda folder, over: robot().to_toml(folder / "a.toml", over), ("a.toml",)),
    "to_c": Writer(
        lambda folder, over: robot().to_c(folder / "c", overwrite=over),
        ("c/planar_2r.h", "c/planar_2r.c"),
    ),
    "write_tex": Writer(
        lambda folder, over: robot().symbolic().write_tex(folder / "a.tex", over),
        ("a.tex",),
        examples=4,
    ),
    "to_csv": Writer(lambda folder, over: to_csv(log(), folder / "a.csv", over), ("a.csv",)),
    "to_npz": Writer(lambda folder, over: to_npz(log(), folder / "a.npz", over), ("a.npz",)),
    "to_parquet": Writer(
        lambda folder, over: to_parquet(log(), folder / "a.parquet", over), ("a.parquet",)
    ),
    "fit.to_json": Writer(
        lambda folder, over: fit().to_json(folder / "fit.json", overwrite=over), ("fit.json",)
    ),
    "report": Writer(
        lambda folder, over: sy.report(fit(), folder / "a.html", overwrite=over),
        ("a.html",),
        examples=4,
    ),
    "motion.to_csv": Writer(
        lambda folder, over: motion().to_csv(folder / "m.csv", over), ("m.csv",)
    ),
    **{
        f"write {row.name}": Writer(
            lambda folder, over, row=row: write_trajectory(
                motion(), folder / f"m{row.endings[0]}", overwrite=over, unchecked=True
            ),
            (f"m{row.endings[0]}",),
        )
        for row in FORMATS.values()
        if row.endings
    },
    "write rosbag2": Writer(
        lambda folder, over: write_trajectory(
            motion(), folder / "bag", "rosbag2", overwrite=over, unchecked=True
        ),
        ("bag/metadata.yaml", "bag/bag.db3"),
    ),
    "steelyard export": Writer(
        command("export", "planar_2r", "--toml", "{folder}/a.toml"), ("a.toml",)
    ),
    "steelyard simulate": Writer(
        command("simulate", "planar_2r", "--seconds", "0.1", "--out", "{folder}/a.csv"),
        ("a.csv",),
        examples=4,
    ),
    "steelyard new": Writer(
        command("new", "{folder}/p", "--robot", "planar_2r"),
        ("p/steelyard.toml", "p/README.md"),
        examples=6,
    ),
    "kernel cache": Writer(into_cache, (f"cache/{ENTRY}",), raises=False, examples=30),
    "factor store": Writer(into_store, (FACTOR,), raises=False, examples=30),
    "page": Writer(
        lambda folder, over: Folder.of(folder).save(
            "motion.csv", lambda path: write_atomic(path, "t")
        ),
        ("motion.csv",),
        raises=False,
    ),
}


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """A folder to write in, beside another that must stay as it is."""
    with tempfile.TemporaryDirectory() as root:
        inside, outside = Path(root).resolve() / "inside", Path(root).resolve() / "outside"
        inside.mkdir()
        fill_outside(outside)
        yield inside, outside


def plant(inside: Path, outside: Path, name: str, kind: str) -> None:
    (inside / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    ENTRIES[kind](inside / name, outside)


def check(writer: Writer, entries: dict[str, str], overwrite: bool) -> None:
    """Write where entries of these kinds stand.

    They, all beside them and all outside stay as they were.
    """
    with folders() as (inside, outside):
        for name, kind in entries.items():
            plant(inside, outside, name, kind)
        before, beyond = snapshot(inside), snapshot(outside)
        if writer.raises:
            with pytest.raises(CallError):
                writer.write(inside, overwrite)
            assert snapshot(inside) == before
        else:
            writer.write(inside, overwrite)
            after = snapshot(inside)
            assert {name: after.get(name) for name in before} == before
            assert not any(Path(name).name.startswith(".steelyard-") for name in after)
        assert snapshot(outside) == beyond


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_writes_what_the_test_plants_links_for(name: str) -> None:
    with folders() as (inside, outside):
        beyond = snapshot(outside)
        WRITERS[name].write(inside, False)
        assert all((inside / file).is_file() for file in WRITERS[name].names)
        if WRITERS[name].raises:
            with pytest.raises(CallError):
                WRITERS[name].write(inside, False)
            WRITERS[name].write(inside, True)
        assert not any(path.name.startswith(".steelyard-") for path in inside.rglob("*"))
        assert snapshot(outside) == beyond


@pytest.mark.parametrize("name", WRITERS)
def test_no_writer_follows_a_link(name: str) -> None:
    writer = WRITERS[name]
    kinds = st.sampled_from(sorted(ENTRIES))

    @settings(max_examples=writer.examples, database=None)
    @given(
        entries=st.dictionaries(st.sampled_from(writer.names), kinds, min_size=1),
        overwrite=st.booleans(),
    )
    def writes(entries: dict[str, str], overwrite: bool) -> None:
        check(writer, entries, overwrite)

    writes()


FOLDERS = [name for name, writer in WRITERS.items() if all("/" in file for file in writer.names)]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("kind", ENTRIES)
@pytest.mark.parametrize("name", FOLDERS)
def test_no_writer_fills_a_folder_through_a_link(name: str, kind: str, overwrite: bool) -> None:
    check(WRITERS[name], {WRITERS[name].names[0].partition("/")[0]: kind}, overwrite)


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_folder_below_the_target_is_no_link(kind: str) -> None:
    check(WRITERS["whole_folder"], {"out/c": kind}, True)


@pytest.mark.parametrize(
    "kind",
    [
        "dangling link",
        "dangling link into a missing folder",
        "link to itself",
        "loop of links",
        "link to a file",
    ],
)
def test_no_folder_is_made_through_a_link(kind: str) -> None:
    with folders() as (inside, outside):
        plant(inside, outside, "a", kind)
        before, beyond = snapshot(inside), snapshot(outside)
        with pytest.raises(CallError):
            make_folder(inside / "a" / "b" / "c")
        assert (snapshot(inside), snapshot(outside)) == (before, beyond)


@pytest.mark.parametrize("kind", ENTRIES)
def test_the_checks_refuse_what_the_writers_refuse(kind: str) -> None:
    with folders() as (inside, outside):
        plant(inside, outside, "a", kind)
        for overwrite in (False, True):
            with pytest.raises(CallError, match=r"a is (a symbolic link|a device|a pipe)"):
                check_file(inside / "a", overwrite)
            with pytest.raises(CallError):
                check_folder(inside / "a", overwrite)


@pytest.mark.parametrize("kind", ENTRIES)
def test_the_cache_reads_regular_files_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with folders() as (inside, outside):
        monkeypatch.setenv("STEELYARD_CACHE", str(inside / "cache"))
        kernel_cache.write(ENTRY, b"code")
        assert kernel_cache.read_entry(ENTRY) == b"code"
        # a true entry, which a link would lead to
        (inside / "cache" / ENTRY).rename(outside / "file")
        plant(inside, outside, f"cache/{ENTRY}", kind)
        beyond = snapshot(outside)
        assert kernel_cache.read_entry(ENTRY) is None
        assert snapshot(outside) == beyond


def test_the_cache_is_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    with folders() as (inside, outside):
        (inside / "cache").symlink_to(outside / "folder")
        monkeypatch.setenv("STEELYARD_CACHE", str(inside / "cache"))
        beyond = snapshot(outside)
        kernel_cache.write(ENTRY, b"code")
        assert kernel_cache.read_entry(ENTRY) is None
        assert snapshot(outside) == beyond


def test_the_page_takes_another_name_than_that_of_a_link() -> None:
    with folders() as (inside, outside):
        (inside / "motion.csv").write_text("mine")
        plant(inside, outside, "motion-2.csv", "dangling link")
        beyond = snapshot(outside)
        path = Folder.of(inside).save("motion.csv", lambda path: write_atomic(path, "t"))
        assert path.name == "motion-3.csv"
        assert snapshot(outside) == beyond


def test_a_folder_that_is_swapped_for_a_link_is_still_the_same() -> None:
    with folders() as (inside, outside):
        (inside / "a").mkdir()
        with OpenFolder.open(inside / "a") as folder:
            (inside / "a").rename(inside / "b")
            (inside / "a").symlink_to(outside / "folder")
            os.close(folder.create("new"))
        assert (inside / "b" / "new").exists()
        assert not (outside / "folder" / "new").exists()


FILLERS: dict[str, Callable[[Path], object]] = {
    "write_whole": lambda new: write_atomic(new / "a.txt", "a"),
    "write_into": lambda new: write_into(new / "c", {"a.txt": "a"}),
    "make_folder": lambda new: make_folder(new / "c" / "d"),
    "to_c": lambda new: robot().to_c(new / "c"),
    "whole_folder": lambda new: through_folder(new, False),
}


@pytest.mark.parametrize("filler", FILLERS)
def test_a_temporary_folder_that_is_swapped_for_a_link_is_not_followed(filler: str) -> None:
    with folders() as (inside, outside):
        beyond = snapshot(outside)

        def swap_and_fill() -> None:
            with whole_folder(inside / "out") as new:
                new.rename(inside / "moved")
                new.symlink_to(outside / "folder")
                FILLERS[filler](new)

        with pytest.raises(CallError):
            swap_and_fill()
        assert snapshot(outside) == beyond
        assert not (inside / "out").exists()
        assert not any(path.is_symlink() for path in inside.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "c", "more"])
def test_a_link_planted_in_a_temporary_folder_is_not_followed(name: str, overwrite: bool) -> None:
    with folders() as (inside, outside):
        if overwrite:
            (inside / "out").mkdir()
        beyond, before = snapshot(outside), snapshot(inside)

        def plant_and_fill() -> None:
            with whole_folder(inside / "out", overwrite) as new:
                (new / name).symlink_to(outside / "folder")
                write_atomic(new / "a.txt", "a", overwrite=True)
                make_folder(new / "c")
                write_atomic(new / "c" / "b.txt", "b")

        with pytest.raises(CallError, match="link"):
            plant_and_fill()
        assert (snapshot(inside), snapshot(outside)) == (before, beyond)


def test_without_handles_of_folders_links_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where a folder has no handle."""
    from steelyard.files import open_folder

    monkeypatch.setattr(open_folder, "HANDLES", False)
    for flag in ("_NO_LINK", "_READ", "_NEW"):
        monkeypatch.setattr(open_folder, flag, getattr(open_folder, flag) & ~os.O_NOFOLLOW)
    for name in (
        "write_atomic",
        "write_files",
        "write_into",
        "whole_folder",
        "kernel cache",
        "factor store",
        "page",
    ):
        for kind in ENTRIES:
            check(WRITERS[name], {WRITERS[name].names[0]: kind}, True)
        with folders() as (inside, _):
            WRITERS[name].write(inside, False)
            assert all((inside / file).is_file() for file in WRITERS[name].names)


ELSEWHERE = """
import os, sys
for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "O_PATH", "fchmod"):
    delattr(os, name)
os.supports_dir_fd = os.supports_fd = os.supports_follow_symlinks = set()
import steelyard as sy
sy.load("planar_2r").to_toml(sys.argv[1])
print(sy.load(sys.argv[1]).gravity_torque([0.1, 0.2]))
"""


def test_a_system_without_handles_and_flags_writes_and_reads(tmp_path: Path, root: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "STEELYARD_CACHE": str(tmp_path / "cache"),
    }
    arguments = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "a.toml")]
    run = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "a.toml").is_file()
    assert any((tmp_path / "cache").glob("*.cached"))
