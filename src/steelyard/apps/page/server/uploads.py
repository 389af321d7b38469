"""Uploads: robot descriptions, logs and saved fits of known kinds.

File names and paths of the sender are not used.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ....errors import LogError, ModelError, SteelyardError
from ....files import write_atomic
from ...table_words import log_endings

if TYPE_CHECKING:
    from ....reporting.saved_fit import SavedFit
    from ....robot import Robot
    from ....signals.log import Log

ROBOT_KINDS = (".urdf", ".toml")
FIT_KINDS = (".json",)
# a .db3 is part of a folder, and a .bag of ROS 1 is read by the byte offsets of its index
NOT_UPLOADED = (".db3", ".bag")


def upload_endings() -> tuple[str, ...]:
    """Return the endings of logs that may be uploaded: every format that is one plain file."""
    return tuple(each for each in log_endings() if each not in NOT_UPLOADED)


def ending(name: str) -> str:
    """Return the ending of an uploaded file's name, in small letters.

    Nothing else of the name is used.
    """
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()


def require_kind(
    name: str, kinds: tuple[str, ...], error: type[SteelyardError], hint: str = ""
) -> str:
    """Return the ending of an uploaded file's name.

    Raise the error, with the endings that are taken, for another one.
    """
    kind = ending(name)
    if kind not in kinds:
        raise error(
            f"a file that ends in {kind or 'nothing'!r} is not taken; upload one of"
            f" {', '.join(kinds)}{hint}"
        )
    return kind


@contextmanager
def as_file(kind: str, data: bytes) -> Iterator[Path]:
    """Write the data to a file in a temporary folder for the duration of the block."""
    with tempfile.TemporaryDirectory(prefix="steelyard-page-") as folder:
        yield write_atomic(Path(folder) / f"upload{kind}", data)


def uploaded_robot(name: str, data: bytes) -> Robot:
    """Return the robot of an uploaded description.

    ModelError for other kinds, for xacro, and for what cannot be read.

    The robot knows no folder, so that no mesh is looked for: a path in an upload means nothing
    here.
    """
    kind = require_kind(name, ROBOT_KINDS, ModelError, ", xacro expanded first")
    if kind == ".urdf" and b"ros.org/wiki/xacro" in data:
        raise ModelError(
            "this is a xacro, which can read other files: expand it first, and upload the URDF"
        )
    from ....robot import Robot, load

    with as_file(kind, data) as path:
        robot = load(path)
    mechanism = robot.mechanism
    return Robot(
        mechanism
        if mechanism.source is None
        else replace(mechanism, source=replace(mechanism.source, path=None))
    )


def uploaded_log(
    name: str, data: bytes, robot: Robot, effort: str | None = None
) -> tuple[Log, Log | None]:
    """Return the log of an uploaded file, cleaned and as it is.

    LogError for other kinds and for what cannot be read.
    """
    kind = require_kind(name, upload_endings(), LogError)
    from ..opened_log import read_both

    with as_file(kind, data) as path:
        return read_both(path, robot, effort=effort)


def uploaded_fit(name: str, data: bytes) -> SavedFit:
    """Return the fit of an uploaded fit.json.

    ModelError for other kinds and for what cannot be read.
    """
    kind = require_kind(name, FIT_KINDS, ModelError)
    from ....reporting.saved_fit import saved_fit

    with as_file(kind, data) as path:
        return saved_fit(path)
