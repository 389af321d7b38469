"""The user's key of kept factors: 32 random bytes in a file that only the user can read."""

from __future__ import annotations

import secrets
from contextlib import suppress

from ...compiler.runtime.cache import private_directory
from ...errors import SteelyardError
from ...files import write_whole
from ...private_files import Unsafe, read_private

NAME, BYTES = "factors.key", 32


def user_key() -> tuple[bytes, str]:
    """Return the key, made at first use; or no bytes, with the reason as part of a sentence."""
    folder = private_directory()
    if folder is None:
        return b"", "there is no cache folder of the user's own for the key that authenticates them"
    path = folder / NAME
    for _ in range(2):  # a second time what this process, or another one meanwhile, has written
        try:
            key = read_private(path, BYTES + 1, secret=True)
        except Unsafe as error:
            return b"", f"{path} is not used: {error}; remove it, and another key is made"
        if key is not None:
            return (key, "") if len(key) == BYTES else (b"", f"{path} is not a key of {BYTES} bytes; remove it, and another key is made")
        with suppress(SteelyardError):
            write_whole(path, secrets.token_bytes(BYTES), mode=0o600)
    return b"", f"{path} cannot be written"
