"""Checks of write targets: new names and regular files; errors for everything else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CallError, mention
from .open_folder import OpenFolder, is_link
from .staging import staging_folder

Name = str | os.PathLike[str]
# how errors end; the command line has its own words for it
OVERWRITE = f"pass {mention('overwrite', True)} to replace it"
_KINDS = {
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
}


def open_parent(path: Path, within: Name | None, create: bool = False) -> OpenFolder:
    """Open a folder; inside a managed folder `within` no component, itself included, may be a link.

    A temporary folder that is being filled is such a folder too, and reached by its handle.
    """
    with refusals(path):
        filled = staging_folder(path)
        if filled is None and within is None:
            return OpenFolder.open(path)
        step = Path(os.path.abspath(within or "")) if filled is None else filled.path
        parts = Path(os.path.abspath(path)).relative_to(step).parts
        try:
            folder = OpenFolder.open(step, follow=False) if filled is None else filled.duplicate()
            for part in parts:
                step = step / part
                with folder:
                    folder = folder.subfolder(part, create)
        except OSError:
            if step.is_symlink():
                raise link_error(step) from None
            raise
        return folder


def check_entry(folder: OpenFolder, name: str, overwrite: bool) -> os.stat_result | None:
    """Return the status of a regular file, None for a new name; CallError if not writable."""
    path, info = folder.path / name, folder.status(name)
    if info is None:
        return None
    if is_link(info):
        raise link_error(path)
    if stat.S_ISDIR(info.st_mode):
        raise CallError(f"{path} is a folder; expected the name of a file to write")
    if not stat.S_ISREG(info.st_mode):
        kind = next(
            (word for test, word in _KINDS.items() if test(info.st_mode)), "not a regular file"
        )
        raise CallError(f"{path} is {kind}; expected a new name or a regular file to write")
    if not overwrite:
        raise exists_error(path)
    return info


@contextmanager
def refusals(target: Path) -> Iterator[None]:
    """Convert the system's errors into a CallError that names the target."""
    try:
        yield
    # a name with a zero or half a character in it is a ValueError
    except (OSError, ValueError) as error:
        if isinstance(error, CallError):
            raise
        raise CallError(
            f"{target} cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None


def exists_error(target: Path) -> CallError:
    return CallError(
        f"{target} exists already{' and is not empty' if target.is_dir() else ''}; {OVERWRITE}"
    )


def link_error(target: Path) -> CallError:
    leads = os.path.realpath(target)
    return CallError(
        f"{target} is a symbolic link, and steelyard writes to no links: name what it points to,"
        f" {leads}, or remove the link"
    )
