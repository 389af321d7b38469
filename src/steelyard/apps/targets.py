"""Where a command writes.

Checked before its work begins, and folders on the way made when it is done.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import CallError
from ..files import check_file, check_folder, make_folder, resolve_target


def check_out_file(path: Path, force: bool, endings: tuple[str, ...] = ()) -> None:
    """Raise CallError if a file cannot be written here.

    It exists and `force` is False, its ending is another, or there is no place.
    """
    if endings and path.suffix.lower() not in endings:
        raise CallError(f"{path}: expected a name that ends in {' or '.join(endings)}")
    if _place_exists(path):
        check_file(path, force)


def check_out_folder(path: Path, force: bool) -> None:
    """Raise CallError if a folder cannot be written here.

    It is not empty and `force` is False, or there is no place.
    """
    if _place_exists(path):
        check_folder(path, force)


def make_parents(path: Path) -> None:
    """Make the folders that a path goes through."""
    resolve_target(path)  # raises for a name that the system refuses
    make_folder(path.parent)


def _place_exists(path: Path) -> bool:
    """Return whether the folder of a path exists.

    Raise CallError if it neither does nor can be made.
    """
    target = resolve_target(path)
    parent_folder = next(parent for parent in target.parents if parent.exists())
    if not parent_folder.is_dir():
        raise CallError(f"{path} cannot be written: {parent_folder} is a file, not a folder")
    if not os.access(parent_folder, os.W_OK | os.X_OK):
        raise CallError(f"{path} cannot be written: {parent_folder} is not yours to write in")
    return parent_folder == target.parent
