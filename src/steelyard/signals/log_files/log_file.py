"""LogFile: a log on a disk or in an object store, read when it is needed."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...content_digest import NoDigest, content_digest
from ...errors import LogError, translate_errors
from ...isolation.child import call_isolated
from ...resource_limits import check_regular, exists, read_regular
from ..log import Log
from ..read.log_formats import PARQUET, Rows
from ..read.mapping import files_named
from ..read.parquet import rows_of_parquet
from ..read.read_log import read_log
from ..signal_thresholds import THRESHOLDS
from .remote import file_system, is_remote


@dataclass(frozen=True)
class LogFile:
    """A file or folder that is one log, or `rows` (first, stop) of a Parquet file.

    `keys` are the Hive partitions of its path, such as 'robot=arm3'; `options` are passed to
    `read_log`.

    Examples
    --------
    >>> t = np.arange(30) * 0.1
    >>> np.savez("run.npz", t=t, q=np.sin(t)[:, None], tau=np.cos(t)[:, None])
    >>> sy.find_logs("run.npz")[0].read().N
    30
    """

    path: str
    rows: Rows | None = None
    keys: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", os.fspath(self.path))

    @property
    def name(self) -> str:
        """The path, with the rows if they are a part."""
        return (
            self.path if self.rows is None else f"{self.path} rows {self.rows[0]} to {self.rows[1]}"
        )

    def key(self, name: str) -> str | None:
        """Return the value of a partition key, such as 'robot'; None without it.

        Parameters
        ----------
        name : of the key.

        Returns
        -------
        Text.

        Examples
        --------
        >>> sy.LogFile("logs/robot=arm3/run.csv", keys=(("robot", "arm3"),)).key("robot")
        'arm3'
        """
        return dict(self.keys).get(name)

    @property
    def size(self) -> int:
        """Size of the file, or of all files of the folder [bytes]; `rows` does not matter."""
        if is_remote(self.path):
            return int(file_system(self.path)[0].size(file_system(self.path)[1]) or 0)
        path = self._existing()
        return (
            sum(part.stat().st_size for part in path.rglob("*") if part.is_file())
            if path.is_dir()
            else path.stat().st_size
        )

    def read(self, robot: Any = None) -> Log:
        """Return the log, with its columns matched to the joints of a robot as by `read_log`.

        Parameters
        ----------
        robot : the `Robot`, described in SI units.

        Returns
        -------
        A `Log`.

        Examples
        --------
        >>> np.savez("run.npz", t=np.arange(9.0), q=np.ones((9, 1)))
        >>> sy.LogFile("run.npz").read().N
        9
        """
        with self._local() as path:
            log = read_log(path, robot, rows=self.rows, **dict(self.options))
        return replace(log, source=self.name)

    @property
    def divisible(self) -> bool:
        """Whether it can be read in parts: a Parquet file on a disk."""
        return (
            self.rows is None
            and not is_remote(self.path)
            and self.path.lower().endswith(PARQUET.endings)
        )

    def parts(self, most: int) -> tuple[LogFile, ...]:
        """Return this log in parts of at most `most` rows.

        Only Parquet files on a disk can be divided; any other log is one part.

        Parameters
        ----------
        most : rows of a part.

        Returns
        -------
        Each part, a `LogFile`.

        Examples
        --------
        >>> sy.LogFile("run.csv").parts(1000)[0].rows is None
        True
        """
        if not self.divisible:
            return (self,)
        self._existing()
        arguments = (self.path,)
        count = call_isolated(
            rows_of_parquet,
            arguments,
            f"{self.path}: not {PARQUET.valid_file}",
            LogError,
            PARQUET.packages,
        )
        pieces = -(-count // most)
        edges = [k * count // max(pieces, 1) for k in range(pieces + 1)]
        return (
            (self,)
            if pieces <= 1
            else tuple(replace(self, rows=(a, b)) for a, b in pairwise(edges))
        )

    def digest(self, content: str | None = None) -> str:
        """Return the SHA-256 of all that determines the log: content, rows, format and options.

        The name does not count; a mapping in a file counts by its content. LogError for an option
        that cannot be compared by content.

        Parameters
        ----------
        content : what `content_digest()` returns, if it is known: parts of a large file share it.

        Returns
        -------
        64 hexadecimal digits.

        Examples
        --------
        >>> np.savez("run.npz", t=np.arange(9.0), q=np.ones((9, 1)))
        >>> len(sy.LogFile("run.npz").digest())
        64
        """
        options = {name: self._resolved(name, value) for name, value in sorted(self.options)}
        whole = content or self.content_digest(), self.rows, Path(self.path).suffix.lower(), options
        try:
            return content_digest(whole, hashlib.sha256)
        except NoDigest as error:
            expected = "expected text, numbers, arrays, or what steelyard.signals makes of them"
            raise LogError(
                f"{self.path}: an option of reading cannot be compared ({error}); {expected}"
            ) from None

    @staticmethod
    def _resolved(name: str, value: Any) -> Any:
        """Return the value of an option, of a mapping in a file its content."""
        if name == "mapping" and isinstance(value, (str, os.PathLike)):
            return read_regular(Path(value), "text", LogError)
        return value

    def content_digest(self) -> str:
        """Return the SHA-256 of the file, or of all files of the folder with their names.

        It does not depend on `rows`. A TOML file counts with the files that it names. A file in an
        object store counts by what the store reports: size and tag.

        Returns
        -------
        Text.

        Examples
        --------
        >>> np.savez("run.npz", t=np.arange(9.0), q=np.ones((9, 1)))
        >>> len(sy.LogFile("run.npz").content_digest())
        64
        """
        h = hashlib.sha256()
        if is_remote(self.path):
            store, path = file_system(self.path)
            h.update(str(store.ukey(path)).encode())
            return h.hexdigest()
        for root in (
            self._existing(),
            *(files_named(self.path) if self.path.lower().endswith(".toml") else ()),
        ):
            for file in (
                sorted(part for part in root.rglob("*") if part.is_file())
                if root.is_dir()
                else [root]
            ):
                size = check_regular(file, LogError)
                h.update(
                    f"{str(file)[len(str(root)) :]} {size}\n".encode("utf-8", "surrogateescape")
                )
                with file.open("rb") as stream:
                    while piece := stream.read(THRESHOLDS.digest_bytes):
                        h.update(piece)
        return h.hexdigest()

    def _existing(self) -> Path:
        if not exists(Path(self.path), LogError):
            raise LogError(f"{self.path}: no such file")
        return Path(self.path)

    @contextmanager
    def _local(self) -> Iterator[str]:
        """Yield the path of the file on this machine within the block."""
        if not is_remote(self.path):
            yield self.path
            return
        store, path = file_system(self.path)
        with tempfile.TemporaryDirectory(prefix="steelyard-log-") as folder:
            copy = Path(folder) / Path(path).name
            with translate_errors(f"{self.path}: it could not be fetched", LogError):
                store.get(path, str(copy), recursive=store.isdir(path))
            yield str(copy)
