"""The disk cache: machine code in the user's cache directory, so that a second start compiles nothing.

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
SELDOM = 32  # one write in so many, chosen by the file's name, looks for files to remove: that takes long in a full directory
_DIGEST = 32
_NAME = re.compile(r"[0-9a-f]{40}\.cached")
_HOUR, _DAY = 3600.0, 86400.0


def key(*parts: str) -> str:
    """The name of the file for something that depends on these texts."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=20).hexdigest() + ".cached"


def directory() -> Path | None:
    """The cache directory: $STEELYARD_CACHE (empty: no cache), else the user's cache directory on this platform."""
    named = os.environ.get("STEELYARD_CACHE")
    if named is not None:
        return Path(named) if named else None
    variable = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # a relative one is to be ignored (XDG Base Directory Specification 0.8, section 2)
        return Path(named) / "steelyard" / ("cache" if sys.platform == "win32" else "")
    home = _home()
    below = {"win32": "steelyard/cache", "darwin": "Library/Caches/steelyard"}.get(sys.platform, ".cache/steelyard")
    return None if home is None else home / below


def _home() -> Path | None:
    """The user's home directory; None if there is none, or if it is the top of the disk, as it is where $HOME is empty."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_absolute() and home != Path(home.anchor) else None


def read(name: str) -> bytes | None:
    """The content of a file of the cache; None if it is not there, not whole, or could be someone else's."""
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
            os.utime(path)  # the least recently used are removed first
    start = len(_header(name, b""))
    return content[start:] if content[:start] == _header(name, content[start:]) else None


def write(name: str, content: bytes) -> None:
    """Write a file of the cache, whole or not at all; where that is impossible, do nothing."""
    place = _safe(directory())
    if place is None:
        return
    with suppress(OSError, CallError):
        write_whole(place / name, _header(name, content) + content, overwrite=True, mode=0o600)
        if int(name[:8], 16) % SELDOM == 0:
            _prune(place)


def _header(name: str, content: bytes) -> bytes:
    """The header of a file. It has the file's name, so that a file under another file's name is noticed."""
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
    """Whether a file or directory is the user's and no one else may write to it. On Windows users' folders are protected already."""
    return not hasattr(os, "getuid") or (info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _prune(place: Path) -> None:
    """Remove the least recently used files beyond LIMIT, and temporary files of writers that died. Other files are left alone."""
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

    None where the files may differ from the code that runs: there are none (a frozen application), or one was saved after the start.
    """
    digests = [_digest(folder) for folder in folders]
    known = [d for d in digests if d is not None]
    return " ".join(known) if len(known) == len(digests) else None


def _saved_since_start(info: os.stat_result) -> bool:
    """Return whether a file was saved since this process started.

    A date of modification can be set to any time, and some archives and images set it to one in the future. What the system writes
    itself, the date of the last change, must be later than the start too, and neither may lie in the future.
    """
    saved = min(info.st_mtime, info.st_ctime) if os.name == "posix" else info.st_mtime
    return _started < saved <= time.time()


@cache
def _digest(folder: Path) -> str | None:
    h = hashlib.blake2b(digest_size=16)
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".py"))
    try:
        for path in files:
            with open(path, "rb") as file:
                content = file.read()
                if _saved_since_start(os.fstat(file.fileno())):
                    return None
            h.update(f"{path[len(str(folder)) :]} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return h.hexdigest() if files else None
