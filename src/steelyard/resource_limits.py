"""Limits on the memory, time and size of files, and bounded reading of regular files."""

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
    """Limits of reading files.

    memory: bytes of a log's numbers and text. text: bytes of a robot description. joints: number of
    joints of a description. seconds: CPU time of a reader in a separate process; large files get a
    second more for every RATE bytes. folder: where descriptions may include files from; '' for the
    folder of the description, or of its ROS package. in_process: whether an isolated reader may run
    in this process where no other can be started.
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
_limits: ContextVar[ReadingLimits | None] = ContextVar("steelyard_reading_limits", default=None)


def limits_in_force() -> ReadingLimits:
    """Return the current limits.

    From the innermost `reading_limits`, else the environment variable, else the defaults.
    """
    limits = _limits.get()
    return _of_environment(os.environ.get(VARIABLE, "")) if limits is None else limits


@contextmanager
def reading_limits(
    memory: float | None = None,
    text: float | None = None,
    joints: float | None = None,
    seconds: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    in_process: bool | None = None,
) -> Iterator[None]:
    """Set limits for files that this thread reads within the block.

    Limits that are not given stay as they are.

    memory [bytes] of a log's numbers and text; text [bytes] and number of joints of a description;
    seconds of computing for one file; folder: where the files that a description includes may be,
    the folder of the file or of its ROS package if not given. in_process: True reads .mat, HDF5,
    Parquet, bags, MJCF and xacro in this process where no other can be started; a library that
    crashes on a damaged file then ends this process.

    Parameters
    ----------
    memory : bytes for the numbers and text of a log.
    text : bytes of a description.
    joints : number of joints of a description.
    seconds : seconds of computing for one file [s].
    folder : where files that a description includes may be; by default the folder of the file or of
        its ROS package.
    in_process : whether files may be read in this process where the reading process cannot start.

    Returns
    -------
    A context, for `with`.

    Examples
    --------
    >>> with sy.reading_limits(joints=10):
    ...     sy.load("planar_2r").n
    2
    """
    asked = {"memory": memory, "text": text, "joints": joints, "seconds": seconds}
    others = {
        "folder": None if folder is None else os.fspath(folder),
        "in_process": _switch("reading_limits: in_process", in_process),
    }
    stated = {name: value for name, value in others.items() if value is not None}
    changes: dict[str, Any] = {**_positive_limits(asked), **stated}
    token = _limits.set(replace(limits_in_force(), **changes))
    try:
        yield
    finally:
        _limits.reset(token)


def _positive_limits(asked: dict[str, Any]) -> dict[str, Any]:
    for name, value in asked.items():
        if value is not None and not (
            isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        ):
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
            raise CallError(
                f"{VARIABLE}: {part!r} has no number; write for example {name}=1e9"
            ) from None
    folder, in_process = asked.pop("folder", ""), asked.pop("in_process", None)
    return ReadingLimits(
        folder=folder,
        in_process=bool(_switch(f"{VARIABLE}: in_process", in_process)),
        **_positive_limits(asked),
    )


def too_much(what: str, name: str, value: float) -> str:
    """Return the sentence for a file that asks for more than a limit, with how to raise it."""
    return (
        f"{what}; if it is meant to, allow more: steelyard.reading_limits({name}={value:.2g}) or"
        f" {VARIABLE}='{name}={value:.2g}'"
    )


def check_size(
    path: Path, size: float, limit: str, family: type[SteelyardError], what: str = "it has"
) -> None:
    """Raise an error of the family if `size` bytes are more than the limit of that name."""
    most = getattr(limits_in_force(), limit)
    if size > most:
        raise family(
            f"{path}: "
            + too_much(
                f"{what} {size / 1e6:.4g} MB, more than the {most / 1e6:.4g} MB allowed",
                limit,
                2 * size,
            )
        )


def exists(path: Path, family: type[SteelyardError]) -> bool:
    """Return whether a file or folder exists; an error of the family if the system refuses."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _read_error(path, error, family) from None
    return True


def names_beside(path: Path) -> list[str]:
    """Return the names in the folder of a path, sorted; none if it cannot be looked through."""
    with suppress(OSError):
        return sorted(os.listdir(path.parent))
    return []


def check_regular(path: Path, family: type[SteelyardError]) -> int:
    """Return the size of a regular file; an error of the family for anything else."""
    try:
        return _size(os.stat(path), path, family)
    except (OSError, ValueError) as error:
        raise _read_error(path, error, family) from None


def read_regular(path: Path, limit: str, family: type[SteelyardError]) -> bytes:
    """Return the content of a regular file within the limit of that name.

    An error of the family otherwise. A pipe is not waited for.
    """
    try:
        with open(
            os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)),
            "rb",
        ) as file:
            size = _size(os.fstat(file.fileno()), path, family)
            check_size(path, size, limit, family)
            return file.read(size + 1)
    except (OSError, ValueError) as error:
        raise _read_error(path, error, family) from None


def _size(info: os.stat_result, path: Path, family: type[SteelyardError]) -> int:
    if not stat.S_ISREG(info.st_mode):
        raise family(
            f"{path}: it is not a regular file (a folder, pipe or device); copy its content to a"
            " file first"
        )
    return info.st_size


def _read_error(path: Path, error: Exception, family: type[SteelyardError]) -> SteelyardError:
    if isinstance(error, PermissionError):
        return family(f"{path}: it may not be read (permission denied)")
    return family(f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error})")


def folder_of_includes(path: Path) -> Path:
    """Return the folder that a description may include files from.

    The stated one, or its ROS package, or its own folder.
    """
    stated = limits_in_force().folder
    if stated:
        return Path(stated).resolve()
    parent = path.resolve().parent
    return next(
        (folder for folder in (parent, *parent.parents) if (folder / "package.xml").is_file()),
        parent,
    )


def included_file(file: Path, path: Path, family: type[SteelyardError]) -> Path:
    """Return the real path of an included file; an error of the family outside the folder."""
    return require_inside(file, folder_of_includes(path), path, family)


def require_inside(file: Path, folder: Path, path: Path, family: type[SteelyardError]) -> Path:
    """Return the real path of a file that the description at `path` includes.

    An error of the family if it is not in the folder.
    """
    real = file.resolve()
    if not real.is_relative_to(folder.resolve()):
        allowed = f"steelyard.reading_limits(folder='...') or {VARIABLE}='folder=...'"
        raise family(
            f"{path}: it includes {file}, which is not in {folder}; if it may be read, name a"
            f" folder with both: {allowed}"
        )
    return real
