"""What the disk cache gives back.

Nothing stale, kernels without tracing, within a bound, to many processes at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard import kernels
from steelyard.compiler.runtime import cache, elf, jit, kernel
from steelyard.compiler.runtime.kernel import Interface, Kernel
from steelyard.files import TEMPORARY
from tests.cached import cache_folder, compiled, files, program, refused, works

__all__ = ["compiled", "cache_folder"]  # fixtures


def test_other_sources_other_code(
    cache_folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Kernel(program())
    for changed in ("another renderer", "yet another"):
        monkeypatch.setattr(kernel, "sources", lambda *places, changed=changed: changed)
        assert works(Kernel(program()))
    assert len(compiled) == 3
    monkeypatch.setattr(jit, "machine", lambda: "another processor")
    assert works(Kernel(program()))
    assert len(compiled) == 4


def test_unknown_sources_no_cache(
    cache_folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "sources", lambda *places: None)
    assert works(Kernel(program()))
    assert works(Kernel.from_cache(None, program))
    assert len(compiled) == 2
    assert not cache_folder.exists()


def test_sources_name_every_byte(tmp_path: Path) -> None:
    seen = set()
    for name, content in {"a.py": "x = 1\n", "b.py": "y = 2\n", "deep/c.py": "z = 3\n"}.items():
        folder = tmp_path / str(len(seen))
        for other, text in {"a.py": "", "b.py": "", "deep/c.py": "", name: content}.items():
            path = folder / other
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (1.0, 1.0))
        seen.add(cache.sources(folder))
    assert None not in seen
    assert len(seen) == 3


def test_sources_differ_by_what_is_in_a_file_of_the_same_name_and_length(tmp_path: Path) -> None:
    seen = set()
    for number, text in enumerate(("x = 1\n", "x = 2\n", "y = 1\n")):
        path = tmp_path / str(number) / "a.py"
        path.parent.mkdir()
        path.write_text(text)
        os.utime(path, (1.0, 1.0))
        seen.add(cache.sources(path.parent))
    assert len(seen) == 3


def test_code_depends_on_program_processor_compiler_and_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The name of a file of machine code.

    Leave any of them out, and another compiler's code, or another machine's, would be run.
    """
    names = {kernel._name("one program"), kernel._name("another program")}
    for module, attribute, value in (
        (jit, "_llvmlite_version", "9.9"),
        (jit, "_linux_processor", "another processor"),
        (kernel, "sources", "other sources"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, attribute, lambda *_, value=value: value)
            names.add(kernel._name("one program"))
    assert None not in names
    assert len(names) == 5


def test_without_a_list_of_processors_the_host_tells_all_of_them_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jit, "_linux_processor", lambda: None)
    assert jit.machine() == jit.host().key
    monkeypatch.undo()
    monkeypatch.setattr(jit, "_llvmlite_version", lambda: None)
    assert jit.machine() == jit.host().key
    own = jit.host()
    others = [
        replace(own, **{field.name: change(getattr(own, field.name))}) for field in fields(own)
    ]
    keys = {own.key, *(other.key for other in others)}
    monkeypatch.setattr(jit, "_llvm", lambda: SimpleNamespace(llvm_version_info=(99, 1, 0)))
    assert len(keys | {own.key}) == len(fields(own)) + 2


def change(value: str | int | bool) -> str | int | bool:
    return (
        not value
        if isinstance(value, bool)
        else value + 1
        if isinstance(value, int)
        else f"{value}x"
    )


def test_the_version_of_the_compiler_is_the_text_of_its_file() -> None:
    import llvmlite

    assert llvmlite.__version__ in str(jit._llvmlite_version())
    assert "flags" in str(jit._linux_processor() or "flags")


def test_sources_that_do_not_tell_what_runs(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert cache.sources(tmp_path / "none") is None
    (tmp_path / "edited").mkdir()
    (tmp_path / "edited" / "a.py").write_text("saved after the start")
    os.utime(tmp_path / "edited" / "a.py", (time.time() + 9, time.time() + 9))
    assert cache.sources(tmp_path / "edited") is None


@pytest.mark.parametrize("ahead", [1.0, 3600.0, 3e8])
def test_sources_dated_in_the_future_are_cached(
    ahead: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text("before the start")
    os.utime(file, (time.time() + ahead, time.time() + ahead))
    time.sleep(0.02)  # clocks of file systems are coarse
    monkeypatch.setattr(cache, "_started", time.time())
    assert cache.sources(tmp_path) is not None
    cache._digest.cache_clear()
    time.sleep(0.02)
    file.write_text("after the start")
    assert cache.sources(tmp_path) is None


def test_all_that_traces_is_named(root: Path) -> None:
    """The key of a kernel includes the folders of every module that takes part in building it."""
    script = (
        "import steelyard.kernels, sys; print(*sorted(m for m in sys.modules if"
        " m.startswith('steelyard.')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    # each is in the digest by itself
    beside = {file.stem for file in kernels._ROOT.glob("*.py")} | {"files"}
    folders = {module.split(".")[1] for module in run.stdout.split()} - beside
    assert folders == {folder.name for folder in kernels._TRACED_FOLDERS}


def test_keys_depend_on_every_part() -> None:
    keys = {
        cache.key(*parts)
        for parts in (("a", "b"), ("a", "c"), ("b", "a"), ("a",), ("a", "b", ""), ("ab",))
    }
    assert len(keys) == 6


# recalled by what it was traced from
# ----------------------------------------------------------------------------


def test_a_kernel_is_recalled_without_tracing(cache_folder: Path, compiled: list[str]) -> None:
    first = Kernel.from_cache("robot, algorithm, version", program)
    again = Kernel.from_cache("robot, algorithm, version", refused)
    assert works(again)
    assert len(compiled) == 1
    for name in ("name", "inputs", "outputs", "operations", "nodes", "digest"):
        assert getattr(again, name) == getattr(first, name)
    assert again.inputs[0].unit == "[m]"
    assert works(Kernel.from_cache("another robot", lambda: program(4.0)), 4.0)


def test_code_that_is_gone_is_made_anew(cache_folder: Path, compiled: list[str]) -> None:
    result = Kernel.from_cache("robot", program)
    (cache_folder / kernel._name(result.digest)).unlink()
    assert works(Kernel.from_cache("robot", program))
    assert len(compiled) == 2
    assert works(Kernel.from_cache("robot", refused))


@pytest.mark.parametrize(
    "junk", [b"", b"{}", b"[1]", b"\xff", b'{"name": 1, "inputs": 2}', b"null"]
)
def test_an_interface_that_makes_no_sense(junk: bytes, cache_folder: Path) -> None:
    assert Interface.read(junk) is None
    Kernel.from_cache("robot", program)
    cache.write(cache.key("interface", "robot"), junk)
    assert works(Kernel.from_cache("robot", program))
    assert works(Kernel.from_cache("robot", refused))


def test_an_interface_of_another_program(cache_folder: Path) -> None:
    """Should a key ever stand for two programs, the one that is traced counts."""
    other = Interface.of(program(9.0))
    cache.write(cache.key("interface", "robot"), other.write())
    assert works(Kernel.from_cache("robot", program))
    assert works(Kernel.from_cache("robot", refused))


def test_an_interface_comes_back() -> None:
    interface = Interface.of(program())
    assert Interface.read(interface.write()) == interface


# a directory that does not grow for ever
# --------------------------------------------------------------------------------------------------


def age(path: Path, days: float) -> None:
    then = time.time() - 86400 * days
    os.utime(path, (then, then))


def test_the_least_used_go_first(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [cache.key(str(i)) for i in range(6)]
    for i, name in enumerate(names):
        cache.write(name, bytes(1000))
        age(cache_folder / name, 10 - i)
    assert cache.read_entry(names[0]) is not None  # used just now: no longer the oldest
    monkeypatch.setattr(cache, "LIMIT", 4500)
    cache.write(cache.key("new"), bytes(1000))
    remaining = {path.name for path in files(cache_folder)}
    assert remaining == {names[0], names[4], names[5], cache.key("new")}


def test_few_writes_look_through_the_directory(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(cache, "_prune", looked.append)
    monkeypatch.setattr(cache, "SELDOM", 8)
    for i in range(80):
        cache.write(cache.key(str(i)), b"content")
    assert 2 <= len(looked) <= 30


def test_a_disk_that_keeps_no_times(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: Path) -> None:
        raise OSError(30, "Read-only file system")

    cache.write(cache.key("old"), b"content")
    age(cache_folder / cache.key("old"), 100)
    monkeypatch.setattr(os, "utime", read_only)
    assert cache.read_entry(cache.key("old")) == b"content"


def test_only_its_own_files_go(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write(cache.key("own"), bytes(100))
    strangers = [
        cache_folder / "thesis.tex",
        cache_folder / ("a" * 40),
        cache_folder / f"{'a' * 40}.cached.bak",
    ]
    for path in strangers:
        path.write_text("precious")
        age(path, 1000)
    folder, link = cache_folder / f"{'b' * 40}.cached", cache_folder / f"{'c' * 40}.cached"
    folder.mkdir()
    link.symlink_to(strangers[0])
    age(cache_folder / cache.key("own"), 5)
    monkeypatch.setattr(cache, "LIMIT", 0)
    cache.write(cache.key("new"), bytes(100))
    assert not (cache_folder / cache.key("own")).exists()
    assert all(path.exists() for path in (*strangers, folder, link))


def test_what_dead_writers_left_goes(cache_folder: Path) -> None:
    cache_folder.mkdir(parents=True, mode=0o700)
    old, new = cache_folder / f"{TEMPORARY}old", cache_folder / f"{TEMPORARY}new"
    for path in (old, new):
        path.write_bytes(b"half")
    age(old, 1)
    cache.write(cache.key("any"), b"content")
    assert not old.exists()
    assert new.exists(), "its writer may be at work"


# other processes
# ----------------------------------------------------------------------------

START = """
import sys
import numpy as np
import steelyard as sy
robot = sy.load("spatial_3r")
x = np.arange(3.0)
torques, M = robot.inverse_dynamics(x, x, x), robot.mass_matrix(x)
print(repr(torques.tolist()), repr(M.tolist()), "llvmlite" in sys.modules)
"""


def start(root: Path, folder: Path) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "STEELYARD_CACHE": str(folder),
        "PYTHONWARNINGS": "error",
    }
    return subprocess.Popen(
        [sys.executable, "-c", START],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_several_processes_at_once(cache_folder: Path, root: Path) -> None:
    running = [start(root, cache_folder) for _ in range(4)]
    ended = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0] * 4, ended
    assert {errors for _, errors in ended} == {""}
    assert len({output.rsplit(" ", 1)[0] for output, _ in ended}) == 1
    assert len(files(cache_folder)) == 5, (
        "two kernels, what they were traced from, and the entry of single calls; nothing temporary"
    )
    assert all(cache.read_entry(path.name) for path in files(cache_folder))


@pytest.mark.skipif(not elf.RUNS_HERE, reason="ELF objects are linked on Linux on x86-64")
def test_from_the_disk_nothing_of_llvm_is_loaded(cache_folder: Path, root: Path) -> None:
    outputs = []
    for _ in range(2):
        process = start(root, cache_folder)
        outputs.append(process.communicate(timeout=300)[0].rsplit(" ", 1))
    assert [loaded.strip() for _, loaded in outputs] == ["True", "False"]
    assert outputs[0][0] == outputs[1][0]
