"""FactorStore: factors stored beside their logs, so that the next run finds them.

Files beside logs are untrusted input. A factor is used only if it is a regular file of the user's
own, no larger than a factor can be, with a tag (HMAC-SHA256) over its content, the digest of its
log and the key of its specification. The process that merges the factors derives the key of the tag
from the user's key; workers on other machines get the derived key with their tasks. See
docs/design/024-factors-are-authenticated.md.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ...arguments import short_repr
from ...compiler.runtime.cache import private_directory
from ...errors import CallError, SteelyardError
from ...files import make_folder, write_atomic
from ...private_files import Unsafe, check_private_folder, read_private
from ...signals.log import Log
from ...signals.log_files.log_file import LogFile
from ...signals.log_files.remote import is_remote

FOLDER = ".steelyard"  # beside the logs
LETTERS = 24  # of each digest that are in a name: 96 bits
MAGIC, TAG = b"steelyard factor 1\n", 32
# the user's key: random bytes in a file that only the user can read
KEY_FILE, KEY_BYTES = "factors.key", 32


class StoredFactor(NamedTuple):
    """The stored content of a log's factor.

    It is None where it cannot be used, with the reason; the reason is '' without a file.
    """

    content: bytes | None
    reason: str = ""


@dataclass(frozen=True)
class FactorStore:
    """Where factors are stored: in a folder .steelyard beside each log, in `folder`, or nowhere.

    `secret` authenticates the files; without one nothing is read or written, and `reason` says why.
    A file's name has the digest of the log's content, and a digest of specification and secret.
    Factors of another content, robot, option or user are therefore never found. Logs in memory and
    in object stores have no folder.
    """

    beside: bool = True
    folder: str | None = None
    secret: bytes = field(default=b"", repr=False)
    reason: str = ""

    @classmethod
    def of(cls, keep: bool | str | os.PathLike[str]) -> FactorStore:
        """Return where factors are kept: beside the logs, nowhere, or in a folder."""
        if not isinstance(keep, (bool, str, os.PathLike)):
            raise CallError(
                f"keep must be True, beside the logs, False, or a folder, not {short_repr(keep)}",
                argument="keep",
            )
        if keep is False:
            return cls(False)
        secret, reason = user_key()
        return cls(True, None if keep is True else os.path.abspath(os.fspath(keep)), secret, reason)

    @property
    def used(self) -> bool:
        """Whether factors are to be kept, here or beside logs."""
        return self.beside or self.folder is not None

    def for_spec(self, key: str | None, reason: str) -> FactorStore:
        """Return the store for one specification, with its own secret; unused if it has no key."""
        if not self.used or not self.secret:
            return self
        if key is None:
            return replace(self, secret=b"", reason=reason)
        return replace(self, secret=hmac.digest(self.secret, MAGIC + key.encode(), "sha256"))

    def path(self, source: Log | LogFile, content: str) -> Path | None:
        """Return the file for the factor of a log; None if it is not kept."""
        if not self.secret:
            return None
        owner = hmac.digest(self.secret, b"name", "sha256").hex()
        name = f"{content[:LETTERS]}-{owner[:LETTERS]}.factor"
        if self.folder is not None:
            return Path(self.folder) / name
        if not self.beside or not isinstance(source, LogFile) or is_remote(source.path):
            return None
        return Path(os.path.abspath(source.path)).parent / FOLDER / name

    def tag(self, content: str, payload: bytes) -> bytes:
        """Return the authentication tag of a factor of the log with that digest."""
        return hmac.digest(
            self.secret, b"factor of " + content.encode() + b"\n" + payload, "sha256"
        )

    def find(self, source: Log | LogFile, content: str, most: int) -> StoredFactor:
        """Return the stored factor of a log with this digest, of at most `most` bytes."""
        path = self.path(source, content)
        if path is None:
            return StoredFactor(None)
        start = len(MAGIC) + TAG
        try:
            whole = read_private(path, most + start)
        except Unsafe as error:
            return StoredFactor(None, str(error))
        if whole is None:
            return StoredFactor(None)
        if whole[: len(MAGIC)] != MAGIC or not hmac.compare_digest(
            whole[len(MAGIC) : start], self.tag(content, whole[start:])
        ):
            return StoredFactor(
                None,
                "its authentication tag does not match: it is damaged, or someone else wrote it",
            )
        return StoredFactor(whole[start:])

    def keep(self, source: Log | LogFile, content: str, payload: bytes) -> None:
        """Keep the factor of a log; where that is not safe or not possible, nothing is written."""
        path = self.path(source, content)
        if path is None:
            return
        with suppress(OSError, SteelyardError, Unsafe):
            make_folder(path.parent, 0o700)
            check_private_folder(path.parent)
            tagged = MAGIC + self.tag(content, payload) + payload
            write_atomic(path, tagged, overwrite=True, mode=0o600, within=path.parent)


def user_key() -> tuple[bytes, str]:
    """Return the key, made at first use; or no bytes, with the reason as part of a sentence."""
    folder = private_directory()
    if folder is None:
        return b"", "there is no cache folder of the user's own for the key that authenticates them"
    path = folder / KEY_FILE
    for _ in range(2):  # a second time what this process, or another one meanwhile, has written
        try:
            key = read_private(path, KEY_BYTES + 1, secret=True)
        except Unsafe as error:
            return b"", f"{path} is not used: {error}; remove it, and another key is made"
        if key is not None:
            return (
                (key, "")
                if len(key) == KEY_BYTES
                else (
                    b"",
                    f"{path} is not a key of {KEY_BYTES} bytes; remove it, and another key is made",
                )
            )
        with suppress(SteelyardError):
            write_atomic(path, secrets.token_bytes(KEY_BYTES), mode=0o600)
    return b"", f"{path} cannot be written"
