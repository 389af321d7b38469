"""Compiled objects on disk, in the user's own cache directory, so that the second start compiles nothing.

A file is written under a temporary name and renamed, so other processes see it whole or not at all. It begins with a header: the
format, the file's own name, and a digest of both and of the content. A file that is truncated, altered or stands under another file's
name is ignored and made again. Code that others could have written is never loaded: directory and file must belong to the user and be
writable by no one else. Where the directory cannot be used, every process compiles for itself. When the files take more than LIMIT
bytes, the least recently used ones are removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from ...errors import CallError
from ...files import TEMPORARY, write_whole

FORMAT = "steelyard cache 3"
LIMIT = 256 << 20  # bytes
_DIGEST = 32
_NAME = re.compile(r"[0-9a-f]{40}\.cached")
_HOUR, _DAY = 3600.0, 86400.0


def key(*parts: str) -> str:
    """The name of a file that depends on these: the program, the machine, the code that compiles."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=20).hexdigest() + ".cached"


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


def read(name: str) -> bytes | None:
    """What was written under a name, or None."""
    place = _safe(directory())
    if place is None:
        return None
    path = place / name
    try:
        with path.open("rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode) or not _own(info):
                return None
            content = file.read()
    except OSError:
        return None
    if time.time() - info.st_mtime > _DAY:
        with suppress(OSError):
            os.utime(path)  # in use: not the next to go
    start = len(_header(name, b""))
    return content[start:] if content[:start] == _header(name, content[start:]) else None


def write(name: str, content: bytes) -> None:
    """Keep something under a name, whole or not at all; a full disk or a read-only directory is no reason to fail."""
    place = _safe(directory())
    if place is None:
        return
    with suppress(OSError, CallError):
        write_whole(place / name, _header(name, content) + content, overwrite=True, mode=0o600)
        _prune(place)


def _header(name: str, content: bytes) -> bytes:
    """What the file of a name begins with: a swapped file has another name in its header than in the directory."""
    start = f"{FORMAT}\n{name}\n".encode()
    return start + hashlib.blake2b(start + content, digest_size=_DIGEST).digest()


def _safe(place: Path | None) -> Path | None:
    """The directory, made with mode 0700 if it is not there; None if it cannot be used or others could write to it."""
    if place is None:
        return None
    try:
        _make(place)
        info = place.lstat()
    except OSError:
        return None
    return place if stat.S_ISDIR(info.st_mode) and _own(info) else None


def _make(place: Path) -> None:
    if not place.exists():
        _make(place.parent)
        place.mkdir(mode=0o700, exist_ok=True)


def _own(info: os.stat_result) -> bool:
    """Whether a file or directory is the user's and no one else may write to it. Windows keeps the folders of its users apart by itself."""
    return not hasattr(os, "getuid") or (info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _prune(place: Path) -> None:
    """Remove what was not used for longest where there is too much, and what writers that died have left. Leaves other files alone."""
    files = []
    for entry in os.scandir(place):
        with suppress(OSError):  # another process may be pruning too
            info = entry.stat(follow_symlinks=False)
            if entry.name.startswith(TEMPORARY) and time.time() - info.st_mtime > _HOUR:
                os.unlink(entry.path)
            elif _NAME.fullmatch(entry.name) and stat.S_ISREG(info.st_mode):
                files.append((info.st_mtime, info.st_size, entry.path))
    excess = sum(size for _, size, _ in files) - LIMIT
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with suppress(OSError):
            os.unlink(path)
            excess -= size


_started = time.time()


def sources(*folders: Path) -> str | None:
    """A digest of the Python files in some folders.

    None where it would not tell what runs: there are no such files (a frozen application), or one was saved after this process began.
    """
    digests = [_digest(folder) for folder in folders]
    known = [d for d in digests if d is not None]
    return " ".join(known) if len(known) == len(digests) else None


@cache
def _digest(folder: Path) -> str | None:
    h = hashlib.blake2b(digest_size=16)
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".py"))
    try:
        for path in files:
            with open(path, "rb") as file:
                content = file.read()
                if os.fstat(file.fileno()).st_mtime > _started:
                    return None
            h.update(f"{path[len(str(folder)) :]} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return h.hexdigest() if files else None
