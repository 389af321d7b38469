"""Files written whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from .errors import CallError

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: str | os.PathLike[str], data: bytes, overwrite: bool = False) -> None:
    """Put data into a file: under another name first, then renamed in one step. An existing file is only replaced where asked."""
    target = Path(os.path.realpath(path))  # a link stays one: what it points to is written
    if target.is_dir():
        raise CallError(f"{target} is a folder; expected the name of a file to write")
    if not target.parent.is_dir():
        raise CallError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.exists() and not overwrite:
        raise _exists(target)
    temporary = target.parent / f".{target.name}.{secrets.token_hex(6)}"
    try:
        _create(temporary, data, target)
        _rename(temporary, target, overwrite)
    except OSError as error:
        raise CallError(f"{target} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _create(temporary: Path, data: bytes, target: Path) -> None:
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
    with open(os.open(temporary, _FRESH, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _rename(temporary: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)  # unlike a rename it fails where someone else was faster
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without hard links
        os.rename(temporary, target)


def _exists(target: Path) -> CallError:
    return CallError(f"{target} exists already; say overwrite=True to replace it")
