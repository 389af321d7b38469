"""A digest of the code that makes code: what one version has compiled is never used by a version that would compile something else."""

from __future__ import annotations

import hashlib
import os
import time
from functools import cache
from pathlib import Path

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
