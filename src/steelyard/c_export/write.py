"""Writing a C module: both files whole, or neither."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import CallError
from ..mechanism.files import write_whole
from ..mechanism.tree import Tree
from .functions import FUNCTIONS, programs
from .identifier import identifier
from .text import Module, header, source

REALS = ("double", "float")
__all__ = ["FUNCTIONS", "module", "write_c"]


def module(
    tree: Tree, name: str, frame: str, *, real: str = "double", functions: Sequence[str] | None = None, fingerprint: str = ""
) -> Module:
    """The module of a tree: its functions traced, customised and named after the robot."""
    if real not in REALS:
        raise CallError(f"real={real!r}; expected 'double' or 'float'")
    prefix = identifier(name)
    return Module(tree, name, prefix, programs(tree, prefix, functions, frame), frame, real, fingerprint)


def write_c(made: Module, directory: str | os.PathLike[str], overwrite: bool = False) -> tuple[Path, Path]:
    """Write <prefix>.h and <prefix>.c into a folder, which is made if only it is missing. Returns both paths, the header first."""
    folder = Path(directory)
    paths = folder / f"{made.prefix}.h", folder / f"{made.prefix}.c"
    texts = header(made), source(made)
    _prepare(folder, paths, overwrite)
    kept = {path: path.read_bytes() for path in paths if path.exists()}
    try:
        for path, text in zip(paths, texts, strict=True):
            write_whole(path, text.encode("ascii"), overwrite)
    except BaseException:
        for path in paths:
            if path in kept:
                path.write_bytes(kept[path])
            else:
                path.unlink(missing_ok=True)
        raise
    return paths


def _prepare(folder: Path, paths: Sequence[Path], overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder} is a file; expected a folder to write C into")
    for path in paths:
        if path.exists() and not overwrite:
            raise CallError(f"{path} exists already; say overwrite=True to replace it")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise CallError(f"the folder {folder} cannot be made: {error.strerror}") from None
