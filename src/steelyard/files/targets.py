"""What may be written: new names and regular files; the sentences for all else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CallError
from .open_folder import OpenFolder, is_link

Name = str | os.PathLike[str]
OVERWRITE = "pass overwrite=True to replace it"  # how errors end; the command line has its own words for it
_KINDS = {stat.S_ISCHR: "a device", stat.S_ISBLK: "a device", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}


def open_parent(path: Path, within: Name | None) -> OpenFolder:
    """Open a folder; inside a managed folder `within` no component, itself included, may be a link."""
    with refusals(path):
        if within is None:
            return OpenFolder.at(path)
        step = Path(os.path.abspath(within))
        parts = path.relative_to(step).parts
        try:
            folder = OpenFolder.at(step, follow=False)
            for part in parts:
                step = step / part
                with folder:
                    folder = folder.subfolder(part)
        except OSError:
            if step.is_symlink():
                raise link_error(step) from None
            raise
        return folder


def check_entry(folder: OpenFolder, name: str, overwrite: bool) -> os.stat_result | None:
    """Return the status of the regular file of that name, None if it is new; CallError if it may not be written."""
    path, info = folder.path / name, folder.status(name)
    if info is None:
        return None
    if is_link(info):
        raise link_error(path)
    if stat.S_ISDIR(info.st_mode):
        raise CallError(f"{path} is a folder; expected the name of a file to write")
    if not stat.S_ISREG(info.st_mode):
        kind = next((word for test, word in _KINDS.items() if test(info.st_mode)), "no regular file")
        raise CallError(f"{path} is {kind}; expected a new name or a regular file to write")
    if not overwrite:
        raise exists_error(path)
    return info


@contextmanager
def refusals(target: Path) -> Iterator[None]:
    """Turn the system's errors into a CallError that names the target."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name with a zero or half a character in it is a ValueError
        if isinstance(error, CallError):
            raise
        raise CallError(f"{target} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def exists_error(target: Path) -> CallError:
    return CallError(f"{target} exists already{' and is not empty' if target.is_dir() else ''}; {OVERWRITE}")


def link_error(target: Path) -> CallError:
    leads = os.path.realpath(target)
    return CallError(f"{target} is a symbolic link, and steelyard writes to no links: name what it points to, {leads}, or remove the link")
