"""Renaming of temporary files to their targets, all or none."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .open_folder import OpenFolder, is_link
from .targets import check_entry, exists_error, link_error, refusals
from .temporary import remove, temporary_name

# text is written as UTF-8; a function writes to the open file
Content = bytes | str | Callable[[BinaryIO], object]


class Move(NamedTuple):
    """A temporary file, and the entry that it becomes."""

    folder: OpenFolder
    temporary: str
    target: OpenFolder
    name: str

    @property
    def path(self) -> Path:
        """The path of the entry."""
        return self.target.path / self.name


def create_temporary(move: Move, content: Content, mode: int | None) -> None:
    """Write the temporary file of a move, with the mode of the file that it replaces."""
    replaced = move.target.status(move.name)
    with open(move.folder.create(move.temporary, 0o666 if mode is None else mode), "r+b") as file:
        if mode is None and replaced is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), replaced.st_mode & 0o777)
        if callable(content):
            content(file)
        else:
            file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def merge_folders(filled: OpenFolder, parent: OpenFolder, name: str, overwrite: bool) -> None:
    """Move all files of a folder and its subfolders into an existing folder, all or none."""
    with ExitStack() as stack:
        target = stack.enter_context(parent.subfolder(name))
        new_folders: list[tuple[OpenFolder, str]] = []
        try:
            rename_all(list(_moves(filled, target, stack, new_folders)), overwrite)
        except BaseException:
            for folder, new in reversed(new_folders):
                with suppress(OSError):
                    folder.rmdir(new)
            raise


def _moves(
    filled: OpenFolder, target: OpenFolder, stack: ExitStack, new: list[tuple[OpenFolder, str]]
) -> Iterator[Move]:
    """Yield the move of every file in a folder.

    The folders that they need are made and listed in `new`.
    """
    for name in filled.names():
        info = filled.status(name)
        if info is None or not stat.S_ISDIR(info.st_mode):
            yield Move(filled, name, target, name)
            continue
        existing = target.status(name)
        if existing is None:
            target.mkdir(name)
            new.append((target, name))
        elif is_link(existing):
            raise link_error(target.path / name)
        below = (
            stack.enter_context(filled.subfolder(name)),
            stack.enter_context(target.subfolder(name)),
        )
        yield from _moves(*below, stack, new)


def rename_all(moves: Sequence[Move], overwrite: bool) -> None:
    """Rename files to their targets; if one cannot be, undo those before it."""
    backups: dict[Move, str] = {}
    done: list[Move] = []
    try:
        for move in moves:
            with refusals(move.path):
                if check_entry(move.target, move.name, overwrite) is not None and len(moves) > 1:
                    backups[move] = _copy(move.target, move.name)
                _rename(move, overwrite)
            done.append(move)
    except BaseException:
        for move in done:
            with suppress(OSError):
                if move in backups:
                    move.target.replace(backups[move], move.target, move.name)
                else:
                    move.target.unlink(move.name)
        raise
    finally:
        for move, backup in backups.items():
            remove(move.target, backup)


def _copy(folder: OpenFolder, name: str) -> str:
    """Return the temporary name of a copy of a file: a hard link where possible."""
    copy = temporary_name(folder, Path(name).suffix)
    try:
        folder.link(name, folder, copy)
    except (OSError, NotImplementedError):
        with (
            open(folder.open_regular(name), "rb") as source,
            open(folder.create(copy), "r+b") as target,
        ):
            shutil.copyfileobj(source, target)
            if hasattr(os, "fchmod"):
                os.fchmod(target.fileno(), os.fstat(source.fileno()).st_mode & 0o777)
    return copy


def _rename(move: Move, overwrite: bool) -> None:
    """Rename a file; without `overwrite`, fail if the target exists by now."""
    if overwrite:
        move.folder.replace(move.temporary, move.target, move.name)
        return
    try:
        try:
            move.folder.link(move.temporary, move.target, move.name)
        except FileExistsError:
            raise
        # a file system without hard links: reserve the name first
        except (OSError, NotImplementedError):
            os.close(move.target.create(move.name))
            _replace_reserved(move)
    except FileExistsError:
        raise exists_error(move.path) from None


def _replace_reserved(move: Move) -> None:
    try:
        move.folder.replace(move.temporary, move.target, move.name)
    except BaseException:
        move.target.unlink(move.name)
        raise
