"""What may be uploaded: descriptions, logs and saved fits of known kinds, as they are. No name or path of theirs is used."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ....errors import LogError, ModelError, SteelyardError
from ....files import write_whole

if TYPE_CHECKING:
    from ....reporting.saved_fit import SavedFit
    from ....robot import Robot
    from ....signals.log import Log

ROBOT_KINDS = (".urdf", ".toml")
FIT_KINDS = (".json",)
LOG_KINDS = (".csv", ".txt", ".tsv", ".parquet", ".npz", ".mat", ".mcap")


def ending(name: str) -> str:
    """Return the ending of an uploaded file's name, in small letters; nothing else of the name is used."""
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()


def require_kind(name: str, kinds: tuple[str, ...], error: type[SteelyardError], hint: str = "") -> str:
    """Return the ending of an uploaded file's name; raise the error, with the endings that are taken, for another one."""
    kind = ending(name)
    if kind not in kinds:
        raise error(f"a file that ends in {kind or 'nothing'!r} is not taken; upload one of {', '.join(kinds)}{hint}")
    return kind


@contextmanager
def as_file(kind: str, data: bytes) -> Iterator[Path]:
    """A file with the data for the length of the block, in a folder of its own and with no name of its own."""
    with tempfile.TemporaryDirectory(prefix="steelyard-page-") as folder:
        yield write_whole(Path(folder) / f"upload{kind}", data)


def uploaded_robot(name: str, data: bytes) -> Robot:
    """Return the robot of an uploaded description; ModelError for other kinds, for xacro, and for what cannot be read.

    The robot knows no folder, so that no mesh is looked for: a path in an upload means nothing here.
    """
    kind = require_kind(name, ROBOT_KINDS, ModelError, ", xacro expanded first")
    if kind == ".urdf" and b"ros.org/wiki/xacro" in data:
        raise ModelError("this is a xacro, which can read other files: expand it first, and upload the URDF")
    from ....robot import Robot, load

    with as_file(kind, data) as path:
        made = load(path)
    mechanism = made.mechanism
    return Robot(mechanism if mechanism.source is None else replace(mechanism, source=replace(mechanism.source, path=None)))


def uploaded_log(name: str, data: bytes, robot: Robot, effort: str | None = None) -> tuple[Log, Log | None]:
    """Return the log of an uploaded file, mended and as it is; LogError for other kinds and for what cannot be read."""
    kind = require_kind(name, LOG_KINDS, LogError)
    from ..opened_log import read_both

    with as_file(kind, data) as path:
        return read_both(path, robot, effort=effort)


def uploaded_fit(name: str, data: bytes) -> SavedFit:
    """Return the fit of an uploaded fit.json; ModelError for other kinds and for what cannot be read."""
    kind = require_kind(name, FIT_KINDS, ModelError)
    from ....reporting.saved_fit import saved_fit

    with as_file(kind, data) as path:
        return saved_fit(path)
