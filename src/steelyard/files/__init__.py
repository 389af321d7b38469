"""The only writer of files and folders: atomic, never through links.

Existing files are replaced only on request.

Content is written under a temporary name beside the target, flushed to the disk and then renamed.
A target is a new name or a regular file: symbolic links, devices and pipes are refused. Links among
the folders above a target are followed, except inside folders that steelyard manages (`within`).
A new file gets the mode 0666 less the umask; a replaced file keeps its mode. A temporary name
contains the writing process: files of a process that was killed are removed by the next writer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import CallError
from .moves import Content, Move, create_temporary, merge_folders, rename_all
from .staging import require_unchanged, staging, staging_folder
from .targets import OVERWRITE, Name, check_entry, exists_error, link_error, open_parent, refusals
from .temporary import TEMPORARY, remove, temporary_name

__all__ = [
    "OVERWRITE",
    "TEMPORARY",
    "Content",
    "Name",
    "check_file",
    "check_folder",
    "make_folder",
    "resolve_target",
    "whole_folder",
    "write_atomic",
    "write_files",
    "write_into",
]


def write_atomic(
    path: Name,
    content: Content,
    overwrite: bool = False,
    mode: int | None = None,
    within: Name | None = None,
) -> Path:
    """Write a file atomically and return its path.

    Parameters
    ----------
    path : a new name, or a regular file if `overwrite`
    content : bytes, text, or a function that writes to the open file
    overwrite : whether an existing file is replaced
    mode : mode of the file less the umask, also if it replaces another
    within : a folder that steelyard manages; neither it nor a folder below it may be a link

    Raises CallError if the target cannot be written or the system refuses.
    """
    if not isinstance(path, (str, os.PathLike)):
        resolve_target(path)  # raises
    write_files({path: content}, overwrite, mode, within)
    return Path(path)


def write_files(
    contents: Mapping[Name, Content],
    overwrite: bool = False,
    mode: int | None = None,
    within: Name | None = None,
) -> None:
    """Write several files, all or none; arguments are as for `write_atomic`."""
    targets = {check_file(path, overwrite, within): content for path, content in contents.items()}
    with ExitStack() as stack:
        parents = {target.parent for target in targets}
        folders = {parent: stack.enter_context(open_parent(parent, within)) for parent in parents}
        moves = []
        for target in targets:
            folder = folders[target.parent]
            move = Move(folder, temporary_name(folder, target.suffix), folder, target.name)
            stack.callback(remove, move.folder, move.temporary)
            moves.append(move)
        for move, content in zip(moves, targets.values(), strict=True):
            with refusals(move.path):
                create_temporary(move, content, mode)
        rename_all(moves, overwrite)


def write_into(folder: Name, contents: Mapping[str, Content], overwrite: bool = False) -> None:
    """Write files into a folder, all or none; the folder is made if its parent exists."""
    target = check_folder(folder, overwrite=True)
    is_new = not target.exists()
    if is_new:
        make_folder(target)
    try:
        write_files({target / name: content for name, content in contents.items()}, overwrite)
    except BaseException:
        if is_new:
            with suppress(OSError):
                target.rmdir()
        raise


@contextmanager
def whole_folder(path: Name, overwrite: bool = False, within: Name | None = None) -> Iterator[Path]:
    """Yield a temporary folder; its files appear in the folder `path` at the end of the block.

    Its files appear in the folder `path` when the block ends without an error.

    With `overwrite` the folder may have files already: files with the same names are replaced, all
    or none, and the others stay. Fill it with the writers of this module: they reach it by its
    handle, so that a link planted in it, or in its place, is not followed.
    """
    target = check_folder(path, overwrite, within)
    with open_parent(target.parent, within) as parent:
        name = temporary_name(parent)
        with refusals(target):
            parent.mkdir(name)
        try:
            with staging(parent, name) as filled:
                yield filled.path
                with refusals(target):
                    require_unchanged(parent, name, filled)
                    if parent.status(target.name) is None:
                        parent.replace(name, parent, target.name)
                    else:
                        merge_folders(filled, parent, target.name, overwrite)
        finally:
            remove(parent, name)


def check_file(path: Name, overwrite: bool = False, within: Name | None = None) -> Path:
    """Return the path of a file that may be written now; CallError otherwise.

    Links above it are resolved.
    """
    target = resolve_target(path, within)
    if target.is_dir() and not target.is_symlink():
        raise CallError(f"{target} is a folder; expected the name of a file to write")
    if not target.parent.is_dir():
        raise CallError(f"{target} cannot be written: there is no folder {target.parent}")
    with refusals(target), open_parent(target.parent, within) as folder:
        check_entry(folder, target.name, overwrite)
    return target


def check_folder(path: Name, overwrite: bool = False, within: Name | None = None) -> Path:
    """Return the path of a folder that may be filled now; CallError otherwise.

    It is absent or empty, or `overwrite` is True.
    """
    target = resolve_target(path, within)
    if target.is_symlink():
        raise link_error(target)
    if not target.parent.is_dir():
        raise CallError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.exists() and not target.is_dir():
        raise CallError(f"{target} is a file; expected the name of a folder to write")
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise exists_error(target)
    return target


def resolve_target(path: object, within: Name | None = None) -> Path:
    """Return a path with links above its last component resolved, but none below `within`.

    Raises CallError if it is not a path, if the system refuses the name, or if it is outside
    `within`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise CallError(f"expected the path to write to, not {type(path).__name__}")
    plain = Path(path)
    with refusals(plain):
        if staging_folder(Path(os.path.abspath(plain)).parent) is not None:
            target = Path(os.path.abspath(plain))  # what is in it is reached by its handle
        elif within is not None:
            target = Path(os.path.abspath(plain))
            if not target.is_relative_to(os.path.abspath(within)) or target == Path(
                os.path.abspath(within)
            ):
                raise CallError(f"{target} is not within {os.path.abspath(within)}")
        elif plain.name in ("", ".."):
            target = Path(os.path.realpath(plain))
        else:
            target = Path(os.path.realpath(plain.parent)) / plain.name
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(target)
    return target


def make_folder(path: Name, mode: int = 0o777) -> Path:
    """Make a folder with its parents; a link that leads to no folder is refused."""
    folder = Path(path)
    with refusals(folder):
        if staging_folder(folder) is not None:
            open_parent(folder, None, create=True).close()
        elif not folder.is_dir():
            if folder.is_symlink():
                raise link_error(folder)
            make_folder(folder.parent, mode)
            try:
                os.mkdir(folder, mode)
            except FileExistsError:  # another process made it meanwhile
                if not folder.is_dir() or folder.is_symlink():
                    raise
    return folder
