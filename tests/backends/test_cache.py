"""The disk cache: whole files or none, nobody else's code, and never a reason to fail."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.compiler.runtime import cache, jit
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.files import TEMPORARY
from tests.cached import cache_folder, compiled, files, program, works

__all__ = ["compiled", "cache_folder"]  # fixtures
posix = pytest.mark.skipif(
    not hasattr(os, "getuid"), reason="owners and modes of files are POSIX's"
)


def test_the_second_start_compiles_nothing(cache_folder: Path, compiled: list[str]) -> None:
    assert works(Kernel(program()))
    assert works(Kernel(program()))
    assert len(compiled) == 1
    assert len(files(cache_folder)) == 1


@posix
def test_modes(cache_folder: Path) -> None:
    Kernel(program())
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(cache_folder.parent.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(cache_folder)] == [0o600]


def test_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiled: list[str]) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("STEELYARD_CACHE", "")
    assert works(Kernel(program()))
    assert works(Kernel(program()))
    assert len(compiled) == 2
    assert not files(tmp_path)


DIRECTORIES = [
    ("linux", {"XDG_CACHE_HOME": "/x/cache"}, "/x/cache/steelyard"),
    ("linux", {"XDG_CACHE_HOME": ""}, "/home/u/.cache/steelyard"),
    ("darwin", {}, "/home/u/Library/Caches/steelyard"),
    ("win32", {"LOCALAPPDATA": "/home/u/local"}, "/home/u/local/steelyard/cache"),
    ("linux", {"STEELYARD_CACHE": "/mine"}, "/mine"),
]


@pytest.mark.parametrize(("platform", "environment", "expected"), DIRECTORIES)
def test_the_platforms_directory(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STEELYARD_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/u"))
    assert cache.directory() == Path(expected)


def test_no_home_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("STEELYARD_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    assert cache.directory() is None
    assert works(Kernel(program()))


# a directory that is not safe
# ----------------------------------------------------------------------------


def make_group_writable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o770)


def make_world_writable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.chmod(0o702)


def give_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)


def make_a_symlink(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def make_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("not a directory")


def make_a_dangling_symlink(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("nowhere"))


UNSAFE = [
    make_group_writable,
    make_world_writable,
    give_away,
    make_a_symlink,
    make_a_file,
    make_a_dangling_symlink,
]


@posix
@pytest.mark.parametrize("spoil", UNSAFE)
def test_an_unsafe_directory_is_neither_read_nor_written(
    spoil: Callable[..., None],
    cache_folder: Path,
    compiled: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Kernel(program())
    spoil(cache_folder, monkeypatch)
    before = sorted(cache_folder.parent.rglob("*"))
    assert works(Kernel(program()))
    assert works(Kernel(program(4.0)), 4.0)
    assert len(compiled) == 3
    assert sorted(cache_folder.parent.rglob("*")) == before


@posix
def test_a_file_that_others_can_write_is_not_read(cache_folder: Path, compiled: list[str]) -> None:
    Kernel(program())
    files(cache_folder)[0].chmod(0o666)
    assert works(Kernel(program()))
    assert len(compiled) == 2
    assert stat.S_IMODE(files(cache_folder)[0].stat().st_mode) == 0o600, "and has been replaced"


# files that are not whole
# ----------------------------------------------------------------------------

DAMAGE = {
    "empty": lambda content: b"",
    "truncated in the format": lambda content: content[:10],
    "truncated in the name": lambda content: content[:30],
    "truncated in the digest": lambda content: content[:80],
    "truncated at the code": lambda content: content[:98],
    "truncated": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "another format": lambda content: content.replace(b"cache 4", b"cache 5", 1),
    "another name": lambda content: content[:18] + b"0" * 40 + content[58:],
    "a bit of the digest": lambda content: content[:70] + bytes([content[70] ^ 1]) + content[71:],
    "a bit of the code": (
        lambda content: content[:-100] + bytes([content[-100] ^ 64]) + content[-99:]
    ),
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_and_repaired(
    damage: str, cache_folder: Path, compiled: list[str]
) -> None:
    Kernel(program())
    (path,) = files(cache_folder)
    whole = path.read_bytes()
    path.write_bytes(DAMAGE[damage](whole))
    assert works(Kernel(program()))
    assert len(compiled) == 2
    assert path.read_bytes() == whole
    assert works(Kernel(program()))
    assert len(compiled) == 2


def test_swapped_files_are_noticed_and_repaired(cache_folder: Path, compiled: list[str]) -> None:
    """Each is whole and its digest is right, but it is not what its name stands for.

    Run, it would read past the end of its arrays.
    """
    one = program()
    many = trace(
        "many",
        lambda x, y: [a * b for a, b in zip(x, y, strict=True)],
        [Operand("x", (9,)), Operand("y", (9,))],
        [Operand("z", (9,))],
    )
    for result in (one, many):
        Kernel(result)
    a, b = files(cache_folder)
    whole = a.read_bytes(), b.read_bytes()
    a.write_bytes(whole[1])
    b.write_bytes(whole[0])
    assert cache.read_entry(a.name) is None
    assert works(Kernel(one))
    np.testing.assert_array_equal(
        Kernel(many)(np.full(9, 2.0), np.arange(9.0)), 2.0 * np.arange(9.0)
    )
    assert len(compiled) == 4
    assert (a.read_bytes(), b.read_bytes()) == whole


JUNK = [
    b"",
    b"O",
    b"I",
    b"O" + b"junk" * 100,
    b"I" + bytes(8),
    b"I" + b"\xff" * 8 + b"\xc3",
    b"?" * 100,
    b"O" + b"\x7fELF\x02\x01\x01" + bytes(100),
]


@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk[:12]))
def test_code_that_does_not_load_is_made_anew(
    junk: bytes, cache_folder: Path, compiled: list[str]
) -> None:
    """A file may be whole, its digest right, and its code for nothing.

    Then it is compiled, not crashed upon.
    """
    Kernel(program())
    (path,) = files(cache_folder)
    cache.write(path.name, junk)
    assert cache.read_entry(path.name) == junk
    assert works(Kernel(program()))
    assert len(compiled) == 2
    assert cache.read_entry(path.name) != junk


def test_an_object_with_another_function_is_made_anew(
    cache_folder: Path, compiled: list[str]
) -> None:
    Kernel(program())
    (path,) = files(cache_folder)
    cache.write(path.name, b"O" + jit.compile_object("define void @other() {\n  ret void\n}\n"))
    assert works(Kernel(program()))
    assert len(compiled) == 3


# a disk that does not take it
# ----------------------------------------------------------------------------


def full(*args: object, **options: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("name", ["open", "replace", "fsync", "scandir"])
def test_a_disk_that_takes_nothing(
    name: str, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Kernel(program())
    monkeypatch.setattr(os, name, full)
    assert works(Kernel(program(5.0)), 5.0)
    monkeypatch.undo()
    assert not [path for path in files(cache_folder) if path.name.startswith(TEMPORARY)], (
        "nothing half-written is left"
    )


def test_a_directory_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: list[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "file" / "cache"))
    assert works(Kernel(program()))
    assert works(Kernel(program()))
    assert len(compiled) == 2


@posix
@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written(cache_folder: Path, compiled: list[str]) -> None:
    cache_folder.mkdir(parents=True)
    cache_folder.chmod(0o500)
    assert works(Kernel(program()))
    assert not files(cache_folder)
    cache_folder.chmod(0o700)
