"""FactorStore: factors of logs, kept beside the logs so that the next run finds them.

Files beside logs are untrusted input. A factor is used only if it is a regular file of the user's own, no larger than
a factor can be, and carries a tag (HMAC-SHA256) over its content, the digest of its log and the key of its recipe.
The key of the tag is derived from the user's own by the process that merges the factors; workers on other machines
get the derived key with their tasks and keep no key. See docs/design/024-factors-are-authenticated.md.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ...arguments import brief
from ...errors import CallError, SteelyardError
from ...files import make_folder, write_whole
from ...private_files import Unsafe, check_folder, read_private
from ...signals.archive.log_file import LogFile
from ...signals.archive.remote import is_remote
from ...signals.log import Log
from .factor_key import user_key

FOLDER = ".steelyard"  # beside the logs
LETTERS = 24  # of each digest that are in a name: 96 bits
MAGIC, TAG = b"steelyard factor 1\n", 32


class Kept(NamedTuple):
    """What is kept of a log: the content, or None with the reason why a file that is there is not used, '' without a file."""

    content: bytes | None
    reason: str = ""


@dataclass(frozen=True)
class FactorStore:
    """Where factors are kept: in a folder .steelyard beside each log, in `folder` if it is given, or nowhere.

    `secret` authenticates what is kept; without one nothing is read or written, and `reason` says why. A file's name
    has the digest of the log's content and one of recipe and secret: what was made of another content, with another
    robot, other options or by another user is never found. Logs in memory and in object stores have no folder of their own.
    """

    beside: bool = True
    folder: str | None = None
    secret: bytes = field(default=b"", repr=False)
    reason: str = ""

    @classmethod
    def of(cls, keep: bool | str | os.PathLike[str]) -> FactorStore:
        """Return where factors are kept: beside the logs, nowhere, or in a folder."""
        if not isinstance(keep, (bool, str, os.PathLike)):
            raise CallError(f"keep must be True, beside the logs, False, or a folder, not {brief(keep)}")
        if keep is False:
            return cls(False)
        secret, reason = user_key()
        return cls(True, None if keep is True else os.path.abspath(os.fspath(keep)), secret, reason)

    @property
    def used(self) -> bool:
        """Whether factors are to be kept, here or beside logs."""
        return self.beside or self.folder is not None

    def for_recipe(self, key: str | None, reason: str) -> FactorStore:
        """Return the store of the factors of one recipe, with a secret of its own; an unused one for a recipe without a key."""
        if not self.used or not self.secret:
            return self
        if key is None:
            return replace(self, secret=b"", reason=reason)
        return replace(self, secret=hmac.digest(self.secret, MAGIC + key.encode(), "sha256"))

    def place(self, source: Log | LogFile, content: str) -> Path | None:
        """Return the file for the factor of a log; None if it is not kept."""
        if not self.secret:
            return None
        name = f"{content[:LETTERS]}-{hmac.digest(self.secret, b'name', 'sha256').hex()[:LETTERS]}.factor"
        if self.folder is not None:
            return Path(self.folder) / name
        if not self.beside or not isinstance(source, LogFile) or is_remote(source.path):
            return None
        return Path(os.path.abspath(source.path)).parent / FOLDER / name

    def tag(self, content: str, made: bytes) -> bytes:
        """Return the authentication tag of a factor of the log with that digest."""
        return hmac.digest(self.secret, b"factor of " + content.encode() + b"\n" + made, "sha256")

    def find(self, source: Log | LogFile, content: str, most: int) -> Kept:
        """Return what is kept of a log with that digest, at most so many bytes."""
        place = self.place(source, content)
        if place is None:
            return Kept(None)
        start = len(MAGIC) + TAG
        try:
            whole = read_private(place, most + start)
        except Unsafe as error:
            return Kept(None, str(error))
        if whole is None:
            return Kept(None)
        if whole[: len(MAGIC)] != MAGIC or not hmac.compare_digest(whole[len(MAGIC) : start], self.tag(content, whole[start:])):
            return Kept(None, "its authentication tag does not match: it is damaged, or someone else wrote it")
        return Kept(whole[start:])

    def keep(self, source: Log | LogFile, content: str, made: bytes) -> None:
        """Keep the factor of a log; where that is not safe or not possible, nothing is written."""
        place = self.place(source, content)
        if place is None:
            return
        with suppress(OSError, SteelyardError, Unsafe):
            make_folder(place.parent, 0o700)
            check_folder(place.parent)
            tagged = MAGIC + self.tag(content, made) + made
            write_whole(place, tagged, overwrite=True, mode=0o600, within=place.parent)
