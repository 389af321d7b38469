"""Disk cache of machine code in the user's cache directory.

A file is written under a temporary name and renamed, so that other processes see all of it or
nothing. It begins with a header: the format, the file's own name, and a digest of both and of the
content. A truncated, altered or renamed file is ignored and written again. Code that others could
have written is never loaded: directory and file must belong to the user and be writable by no one
else. Links are not followed: the directory is a folder, an entry a regular file. If the directory
cannot be used, every process compiles for itself. When the files take more than LIMIT bytes, the
least recently used ones are removed.
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
from ...files import make_folder, write_atomic
from ...files.open_folder import OpenFolder
from ...files.temporary import TEMPORARY, remove
from ...private_files import only_ours

FORMAT = "steelyard cache 4"
LIMIT = 256 << 20  # bytes
# one write in SELDOM, chosen by the file's name, looks for files to remove, which takes long in a
# full directory
SELDOM = 32
_DIGEST = 32
_NAME = re.compile(r"[0-9a-f]{40}\.cached")
_HOUR, _DAY = 3600.0, 86400.0


def key(*parts: str) -> str:
    """Return the file name for content that depends on these texts."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=20).hexdigest() + ".cached"


def directory() -> Path | None:
    """Return the cache directory: $STEELYARD_CACHE (empty: no cache), else the user's default."""
    named = os.environ.get("STEELYARD_CACHE")
    if named is not None:
        return Path(named) if named else None
    variable = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    named = os.environ.get(variable, "")
    # a relative one is to be ignored (XDG Base Directory Specification 0.8, section 2)
    if os.path.isabs(named):
        return Path(named) / "steelyard" / ("cache" if sys.platform == "win32" else "")
    home = _home()
    below = {"win32": "steelyard/cache", "darwin": "Library/Caches/steelyard"}.get(
        sys.platform, ".cache/steelyard"
    )
    return None if home is None else home / below


def private_directory() -> Path | None:
    """Return the cache directory, created if absent; None if others could write to it."""
    folder = _safe(directory())
    if folder is None:
        return None
    with folder:
        return folder.path


def _home() -> Path | None:
    """Return the user's home directory.

    None if there is none, or if it is the root of the disk, as with an empty $HOME.
    """
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home if home.is_absolute() and home != Path(home.anchor) else None


def read_entry(name: str) -> bytes | None:
    """Return the content of a cache file; None if absent, damaged or writable by others."""
    folder = _safe(directory())
    if folder is None:
        return None
    try:
        with folder, open(folder.open_regular(name), "rb") as file:
            info = os.fstat(file.fileno())
            if not only_ours(info):
                return None
            content = file.read()
            if time.time() - info.st_mtime > _DAY:
                # the least recently used are removed first
                _touch(file.fileno(), folder.path / name)
    except OSError:
        return None
    start = len(_header(name, b""))
    return content[start:] if content[:start] == _header(name, content[start:]) else None


def write(name: str, content: bytes) -> None:
    """Write a cache file atomically; do nothing if that is impossible."""
    folder = _safe(directory())
    if folder is None:
        return
    with folder, suppress(OSError, CallError):
        content = _header(name, content) + content
        write_atomic(folder.path / name, content, overwrite=True, mode=0o600, within=folder.path)
        if int(name[:8], 16) % SELDOM == 0:
            _prune(folder)


def _header(name: str, content: bytes) -> bytes:
    """Return the header of a file, which contains its name so that a renamed file is detected."""
    start = f"{FORMAT}\n{name}\n".encode()
    return start + hashlib.blake2b(start + content, digest_size=_DIGEST).digest()


def _safe(path: Path | None) -> OpenFolder | None:
    """Return the open directory, created with mode 0700 if absent.

    None if it cannot be used, if it is a link, or if others could write to it.
    """
    if path is None:
        return None
    path = Path(os.path.abspath(path))
    try:
        make_folder(path, 0o700)
        folder = OpenFolder.open(path, follow=False)
    except (OSError, CallError):
        return None
    info = path.lstat() if folder.handle is None else os.fstat(folder.handle)
    if not only_ours(info):
        folder.close()
        return None
    return folder


def _touch(descriptor: int, path: Path) -> None:
    """Set the time of last use of an open file to now."""
    with suppress(OSError):
        os.utime(descriptor if os.utime in os.supports_fd else path)


def _prune(folder: OpenFolder) -> None:
    """Remove the least recently used files beyond LIMIT, and temporary files of dead writers.

    Other files are not touched.
    """
    files = []
    for name in folder.names():
        with suppress(OSError):  # another process may be pruning too
            info = folder.status(name)
            if info is None:
                continue
            if name.startswith(TEMPORARY) and time.time() - info.st_mtime > _HOUR:
                remove(folder, name)
            elif _NAME.fullmatch(name) and stat.S_ISREG(info.st_mode):
                files.append((info.st_mtime, info.st_size, name))
    excess = sum(size for _, size, _ in files) - LIMIT
    for _, size, name in sorted(files):
        if excess <= 0:
            break
        remove(folder, name)
        excess -= size


_started = time.time()


def sources(*folders: Path) -> str | None:
    """Return a digest of the Python files in some folders, and of single files.

    None if the files may differ from the code that runs: there are none (a frozen application), or
    one was saved after the start.
    """
    digests = [_digest(folder) for folder in folders]
    known = [d for d in digests if d is not None]
    return " ".join(known) if len(known) == len(digests) else None


def _saved_since_start(info: os.stat_result) -> bool:
    """Return whether a file was saved since this process started.

    A date of modification can be set to any time, and some archives and images set it to one in the
    future. What the system writes itself, the date of the last change, must be later than the start
    too, and neither may lie in the future.
    """
    saved = min(info.st_mtime, info.st_ctime) if os.name == "posix" else info.st_mtime
    return _started < saved <= time.time()


@cache
def _digest(folder: Path) -> str | None:
    h = hashlib.blake2b(digest_size=16)
    files = sorted(
        os.path.join(root, name)
        for root, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py")
    )
    files = files or ([str(folder)] if folder.is_file() else [])
    try:
        for path in files:
            with open(path, "rb") as file:
                content = file.read()
                if _saved_since_start(os.fstat(file.fileno())):
                    return None
            h.update(f"{path[len(str(folder.parent)) :]} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return h.hexdigest() if files else None
