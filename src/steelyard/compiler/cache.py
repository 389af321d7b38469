"""Compiled objects on disk, in the user's own cache directory, so that the second start compiles nothing.

A file is written under a temporary name and renamed, so other processes see it whole or not at all; it begins with a digest of what
follows, so a truncated or altered one is noticed and made anew. Code that others could have written is never loaded: the directory must
belong to the user and be writable by no one else. Where it cannot be used, compiling simply happens in every process.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FORMAT = b"steelyard object 1\n"
_SIZE = 32


def key(*parts: str) -> str:
    """The name of the object that depends on these: the program, the machine, the renderer."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=20).hexdigest()


def directory() -> Path | None:
    """Where objects are kept: $STEELYARD_CACHE (empty turns the cache off), else the platform's cache directory of the user."""
    named = os.environ.get("STEELYARD_CACHE")
    if named is not None:
        return Path(named) if named else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "steelyard" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "steelyard"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "steelyard"


def fetch(name: str, make: Callable[[], bytes]) -> bytes:
    """The object of that name from disk, or made and kept there."""
    place = _safe(directory())
    if place is None:
        return make()
    found = _read(place / name)
    if found is not None:
        return found
    code = make()
    _write(place / name, code)
    return code


def _safe(place: Path | None) -> Path | None:
    """The directory, made with mode 0700 if it is not there; None if it cannot be used or others could write to it."""
    if place is None:
        return None
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            info = place.lstat()
            if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
    except OSError:
        return None
    return place


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    start = len(FORMAT) + _SIZE
    code = content[start:]
    digest = hashlib.blake2b(code, digest_size=_SIZE).digest()
    return code if content[:start] == FORMAT + digest and code else None


def _write(path: Path, code: bytes) -> None:
    """Whole or not at all; a full disk or a read-only directory is no reason to fail."""
    digest = hashlib.blake2b(code, digest_size=_SIZE).digest()
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(FORMAT + digest + code)
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass
