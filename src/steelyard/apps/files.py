"""Files that commands write: whole or not at all, and never over something without being asked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import CallError


def free_path(path: Path, force: bool) -> Path:
    """The path, if it may be written: its folder is there and no file is in the way."""
    if not path.parent.is_dir():
        raise CallError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise CallError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists() and not force:
        raise CallError(f"{path} exists and is left as it is: name another file, or say --force to write over it")
    return path


def write_whole(path: Path, text: str, force: bool = False) -> None:
    """Write a text beside its place, then move it there."""
    free_path(path, force)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
