"""Temporary folders that are being filled: what is written below one is written through its handle.

A path leads elsewhere if somebody swaps the folder for a link meanwhile; a handle does not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CallError
from .open_folder import OpenFolder, is_link

_open: dict[Path, OpenFolder] = {}  # by path


@contextmanager
def staging(parent: OpenFolder, name: str) -> Iterator[OpenFolder]:
    """Open a temporary folder to fill; while the block runs, the writers reach it by its handle."""
    with parent.subfolder(name) as folder:
        _open[folder.path] = folder
        try:
            yield folder
        finally:
            del _open[folder.path]


def staging_folder(path: Path) -> OpenFolder | None:
    """Return the folder being filled that a path is, or is below; None for other paths."""
    if not _open:
        return None
    absolute = Path(os.path.abspath(path))
    return next((_open[each] for each in (absolute, *absolute.parents) if each in _open), None)


def require_unchanged(parent: OpenFolder, name: str, folder: OpenFolder) -> None:
    """Raise CallError if the parent's entry is another folder now, or has links or devices."""
    info = parent.status(name)
    if info is None or not os.path.samestat(info, folder.info()):
        raise CallError(
            f"{folder.path} was replaced by another entry while it was filled; nothing was written"
            " to the target"
        )
    _require_regular(folder)


def _require_regular(folder: OpenFolder) -> None:
    for name in folder.names():
        info = folder.status(name)
        if info is not None and stat.S_ISDIR(info.st_mode) and not is_link(info):
            with folder.subfolder(name) as below:
                _require_regular(below)
        elif info is not None and (is_link(info) or not stat.S_ISREG(info.st_mode)):
            raise CallError(
                f"{folder.path / name} is a link or a device that was added while the folder was"
                " filled; remove it"
            )
