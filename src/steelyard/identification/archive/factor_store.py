"""FactorStore: factors of logs, kept beside the logs so that the next run finds them."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...arguments import brief
from ...errors import CallError, SteelyardError
from ...files import make_folder, write_whole
from ...signals.archive.log_file import LogFile
from ...signals.archive.remote import is_remote
from ...signals.log import Log

FOLDER = ".steelyard"  # beside the logs
LETTERS = 24  # of each digest that are in a name: 96 bits


@dataclass(frozen=True)
class FactorStore:
    """Where factors are kept: in a folder .steelyard beside each log, in `folder` if it is given, or nowhere.

    A file's name is the digest of the log's content and that of the recipe: what was made of another content, another robot or with other
    options is never found. Logs in memory and in object stores have no folder of their own.
    """

    beside: bool = True
    folder: str | None = None

    @classmethod
    def of(cls, keep: bool | str | os.PathLike[str]) -> FactorStore:
        """Return where factors are kept: beside the logs, nowhere, or in a folder."""
        if isinstance(keep, bool):
            return cls(keep)
        if not isinstance(keep, (str, os.PathLike)):
            raise CallError(f"keep must be True, beside the logs, False, or a folder, not {brief(keep)}")
        return cls(folder=os.path.abspath(os.fspath(keep)))

    def place(self, source: Log | LogFile, content: str, key: str) -> Path | None:
        """Return the file for the factor of a log; None if it is not kept."""
        name = f"{content[:LETTERS]}-{key[:LETTERS]}.npz"
        if self.folder is not None:
            return Path(self.folder) / name
        if not self.beside or not isinstance(source, LogFile) or is_remote(source.path):
            return None
        return Path(os.path.abspath(source.path)).parent / FOLDER / name

    def find(self, source: Log | LogFile, content: str, key: str) -> bytes | None:
        """Return what is kept of a log, None if nothing is."""
        place = self.place(source, content, key)
        with suppress(OSError):
            return None if place is None else place.read_bytes()
        return None

    def keep(self, source: Log | LogFile, content: str, key: str, made: bytes) -> None:
        """Keep the factor of a log; a folder that cannot be written is left as it is."""
        place = self.place(source, content, key)
        if place is None:
            return
        with suppress(OSError, SteelyardError):
            make_folder(place.parent)
            write_whole(place, made, overwrite=True, within=place.parent)
