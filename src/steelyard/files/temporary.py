"""Names of temporary files.

They contain the writing process, so that files of dead processes can be removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from .open_folder import OpenFolder

TEMPORARY = ".steelyard-"  # how temporary names begin


def temporary_name(folder: OpenFolder, suffix: str = "") -> str:
    """Return a name that contains machine and process; remove files of dead processes."""
    sweep(folder)
    return f"{TEMPORARY}{_machine()}-{os.getpid()}-{secrets.token_hex(6)}{suffix}"


@cache
def _machine() -> str:
    """Return a digest of the host since its start, and of the container within it.

    Process ids are unique within these.
    """
    known = [os.uname().nodename if hasattr(os, "uname") else ""]
    with suppress(OSError):
        known += [
            Path("/proc/sys/kernel/random/boot_id").read_text(),
            os.readlink("/proc/self/ns/pid"),
        ]
    return hashlib.blake2b("\n".join(known).encode(), digest_size=4).hexdigest()


_swept: set[Path] = set()  # folders that this process has looked through


def sweep(folder: OpenFolder) -> None:
    """Remove temporary files and folders whose process is dead; once for each folder."""
    if folder.path in _swept or os.name != "posix":
        return
    _swept.add(folder.path)
    mine = re.compile(rf"{re.escape(TEMPORARY)}{_machine()}-(\d+)-[0-9a-f]{{12}}(\..*)?")
    with suppress(OSError):
        for name in folder.names():
            match = mine.fullmatch(name)
            if match and not _is_alive(int(match.group(1))):
                remove(folder, name)


def remove(folder: OpenFolder, name: str) -> None:
    """Remove a file, a link itself or a folder with its content, if there is one."""
    with suppress(OSError):
        info = folder.status(name)
        if info is not None and stat.S_ISDIR(info.st_mode):
            shutil.rmtree(folder.path / name, ignore_errors=True)
        elif info is not None:
            folder.unlink(name)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is another user's, or no number of a process
        return True
    return True
