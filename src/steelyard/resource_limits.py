"""How much a file may ask of the machine: memory, time, size. And regular files, read whole within these limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import CallError, SteelyardError, suggest

VARIABLE = "STEELYARD_READING_LIMITS"  # such as "memory=8e9; seconds=600; folder=/opt/ros"


@dataclass(frozen=True)
class ReadingLimits:
    """memory: bytes of a log's numbers and text.  text: bytes of a robot description.  joints: of a description.

    seconds: of computing, for a reader that runs in a process of its own; large files get more, a second for every RATE bytes.
    folder: what descriptions may include files from; '' for the folder of the description, or of the ROS package that it is part of.
    in_process: whether a reader that should run in a process of its own may run in this one where no process can be started.
    """

    memory: float = 512 * 2**20
    text: float = 16 * 2**20
    joints: float = 2000
    seconds: float = 5.0
    folder: str = ""
    in_process: bool = False

    def seconds_for(self, size: float) -> float:
        """Return the seconds of computing that a file of `size` bytes gets."""
        return self.seconds + size / RATE


RATE = 4e6  # bytes per second: a tenth of the slowest reader's speed
_given: ContextVar[ReadingLimits | None] = ContextVar("steelyard_reading_limits", default=None)


def limits_in_force() -> ReadingLimits:
    """Return the limits here: of the innermost `reading_limits`, else of the environment variable, else the usual ones."""
    given = _given.get()
    return _of_environment(os.environ.get(VARIABLE, "")) if given is None else given


@contextmanager
def reading_limits(
    memory: float | None = None,
    text: float | None = None,
    joints: float | None = None,
    seconds: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    in_process: bool | None = None,
) -> Iterator[None]:
    """Within the block, files read by this thread may take so much; what is not given stays as it is.

    memory [bytes] of a log's numbers and text; text [bytes] and number of joints of a description; seconds of computing for one file;
    folder: where the files that a description includes may be, its own folder or that of its ROS package if not given.
    in_process: True reads .mat, HDF5, Parquet, bags, MJCF and xacro in this process where no other can be started; a library that crashes
    on a damaged file then ends this process.

    Returns:
        A context, for `with`.
    Example:
        >>> with sy.reading_limits(joints=10):
        ...     sy.load("planar_2r").n
        2
    """
    asked = {"memory": memory, "text": text, "joints": joints, "seconds": seconds}
    others = {"folder": None if folder is None else os.fspath(folder), "in_process": _switch("reading_limits: in_process", in_process)}
    given = {name: value for name, value in others.items() if value is not None}
    token = _given.set(replace(limits_in_force(), **_checked(asked), **given))  # type: ignore[arg-type]
    try:
        yield
    finally:
        _given.reset(token)


def _checked(asked: dict[str, Any]) -> dict[str, Any]:
    for name, value in asked.items():
        if value is not None and not (isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0):
            raise CallError(f"reading_limits: {name} must be a positive number, not {value!r}")
    return {name: value for name, value in asked.items() if value is not None}


def _switch(name: str, value: Any) -> bool | None:
    """Return a switch that is on, off or not given; CallError for anything else."""
    switches = {None: None, True: True, False: False, "1": True, "0": False, "": False}
    if isinstance(value, (bool, str, type(None))) and value in switches:
        return switches[value]
    raise CallError(f"{name} must be True or False (1 or 0 in the environment), not {value!r}")


def _of_environment(text: str) -> ReadingLimits:
    known = [field.name for field in fields(ReadingLimits)]
    asked: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, value = map(str.strip, part.partition("="))
        if name not in known:
            raise CallError(f"{VARIABLE}: {part!r} names no limit: {suggest(name, known)}")
        try:
            asked[name] = value if name in ("folder", "in_process") else float(value)
        except ValueError:
            raise CallError(f"{VARIABLE}: {part!r} has no number; write for example {name}=1e9") from None
    folder, in_process = asked.pop("folder", ""), asked.pop("in_process", None)
    return ReadingLimits(folder=folder, in_process=bool(_switch(f"{VARIABLE}: in_process", in_process)), **_checked(asked))


def too_much(what: str, name: str, value: float) -> str:
    """Return the sentence for a file that asks for more than a limit, with how to raise it."""
    return f"{what}; if it is meant to, allow more: steelyard.reading_limits({name}={value:.2g}) or {VARIABLE}='{name}={value:.2g}'"


def check_size(path: Path, size: float, limit: str, family: type[SteelyardError], what: str = "it has") -> None:
    """Raise an error of the family if `size` bytes are more than the limit of that name."""
    most = getattr(limits_in_force(), limit)
    if size > most:
        raise family(f"{path}: " + too_much(f"{what} {size / 1e6:.4g} MB, more than the {most / 1e6:.4g} MB allowed", limit, 2 * size))


def exists(path: Path, family: type[SteelyardError]) -> bool:
    """Return whether there is a file or folder; raise an error of the family if the system refuses to tell, or refuses the name."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _refused(path, error, family) from None
    return True


def names_beside(path: Path) -> list[str]:
    """Return the names in the folder of a path, sorted; none if it cannot be looked through."""
    with suppress(OSError):
        return sorted(os.listdir(path.parent))
    return []


def check_regular(path: Path, family: type[SteelyardError]) -> int:
    """Return the size of a file; raise an error of the family if it is no regular file but a pipe or a device, or cannot be looked at."""
    try:
        return _size(os.stat(path), path, family)
    except (OSError, ValueError) as error:
        raise _refused(path, error, family) from None


def read_regular(path: Path, limit: str, family: type[SteelyardError]) -> bytes:
    """Return the content of a regular file that is within the limit of that name; raise an error of the family if not.

    A pipe is not waited for.
    """
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            size = _size(os.fstat(file.fileno()), path, family)
            check_size(path, size, limit, family)
            return file.read(size + 1)
    except (OSError, ValueError) as error:
        raise _refused(path, error, family) from None


def _size(info: os.stat_result, path: Path, family: type[SteelyardError]) -> int:
    if not stat.S_ISREG(info.st_mode):
        raise family(f"{path}: it is no regular file (a folder, pipe or device); copy what it gives into a file first")
    return info.st_size


def _refused(path: Path, error: Exception, family: type[SteelyardError]) -> SteelyardError:
    if isinstance(error, PermissionError):
        return family(f"{path}: it may not be read (permission denied)")
    return family(f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error})")


def folder_of_includes(path: Path) -> Path:
    """Return the folder that a description may include files from: the one in force, or that of its ROS package, or its own."""
    given = limits_in_force().folder
    if given:
        return Path(given).resolve()
    own = path.resolve().parent
    return next((folder for folder in (own, *own.parents) if (folder / "package.xml").is_file()), own)


def included_file(file: Path, path: Path, family: type[SteelyardError]) -> Path:
    """Return the real path of a file that a description includes; raise an error of the family if it is outside its folder."""
    return inside(file, folder_of_includes(path), path, family)


def inside(file: Path, folder: Path, path: Path, family: type[SteelyardError]) -> Path:
    """Return the real path of a file that the description at `path` includes; raise an error of the family if it is not in the folder."""
    real = file.resolve()
    if not real.is_relative_to(folder.resolve()):
        allowed = f"steelyard.reading_limits(folder='...') or {VARIABLE}='folder=...'"
        raise family(f"{path}: it includes {file}, which is not in {folder}; if it may be read, name a folder with both: {allowed}")
    return real
