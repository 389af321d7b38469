"""The folder that the page works in: nothing outside it is read by name or written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ....errors import CallError
from ....files import write_atomic

ROBOTS = (".urdf", ".toml", ".xml", ".mjcf")
MOST_FILES, DEEPEST = 500, 3


@dataclass(frozen=True)
class Folder:
    """A folder, with its links resolved."""

    root: Path

    @classmethod
    def of(cls, path: Path) -> Folder:
        """Return the folder at a path; CallError if there is none."""
        if not path.is_dir():
            raise CallError(f"--folder: there is no folder {path}")
        return cls(path.resolve())

    def inside(self, name: str) -> Path:
        """Return the path of a name within the folder.

        CallError if it leads out, also through a link.
        """
        if not name or "\0" in name or len(name) > 1000:
            raise CallError("expected the name of a file in the page's folder")
        path = (self.root / name).resolve()
        if path == self.root or not path.is_relative_to(self.root):
            raise CallError(f"{name!r} is not within the page's folder, {self.root}")
        return path

    def files(self, endings: Iterable[str]) -> tuple[str, ...]:
        """Return the files of some endings, at most MOST_FILES, as names within the folder.

        Hidden ones and links are left out.
        """
        allowed, names = set(endings), list[str]()
        for depth in range(1, DEEPEST + 1):
            for path in sorted(self.root.glob("/".join("*" * depth))):
                name = path.relative_to(self.root)
                if path.suffix.lower() not in allowed or any(
                    part.startswith((".", "__")) for part in name.parts
                ):
                    continue
                if path.is_file() and path.resolve() == path:
                    names.append(name.as_posix())
                if len(names) >= MOST_FILES:
                    return tuple(names)
        return tuple(names)

    def free(self, name: str) -> Path:
        """Return the path of a name within the folder, or of name-2, name-3, ... where that exists.

        A link counts as existing, also one that leads nowhere.
        """
        if name in ("", ".", "..") or Path(name).name != name or "\0" in name:
            raise CallError(f"expected the name of a file in the page's folder, not {name!r}")
        first, number = self.root / name, 1
        path = first
        while os.path.lexists(path):
            number += 1
            path = first.with_name(f"{first.stem}-{number}{first.suffix}")
        return path

    def save(self, name: str, write: Callable[[Path], object]) -> Path:
        """Write a new file into the folder, never through a link, and return its path.

        Parameters
        ----------
        name : the file's name; a number is added where it exists
        write : writes the file to the path that it is called with
        """
        with tempfile.TemporaryDirectory(prefix="steelyard-page-") as folder:
            copy = Path(folder) / name
            write(copy)
            return write_atomic(self.free(name), copy.read_bytes(), within=self.root)
