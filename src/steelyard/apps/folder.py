"""A folder of results: made beside its place under another name, then moved there whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CallError


def free_folder(path: Path, force: bool = False) -> Path:
    """The path, if a folder may be made there: it is absent or empty, or `force` allows what is in it to be replaced."""
    if not path.absolute().parent.is_dir():
        raise CallError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if path.exists() and not path.is_dir():
        raise CallError(f"cannot write {path}: it is a file; name a folder")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise CallError(f"{path} is not empty and is left as it is: name another folder, or say --force to write into it")
    return path


def next_free(path: Path) -> Path:
    """The path, or the first of path-2, path-3, ... where nothing is."""
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


@contextmanager
def whole_folder(path: Path, force: bool = False) -> Iterator[Path]:
    """A folder to fill; what is in it appears at `path` only when the block ends well. Files there that are not replaced stay."""
    free_folder(path, force)
    made = Path(tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name}."))
    try:
        yield made
        made.chmod(0o755)
        if not path.exists():
            os.rename(made, path)
        else:
            for part in made.iterdir():
                os.replace(part, path / part.name)
    finally:
        shutil.rmtree(made, ignore_errors=True)
