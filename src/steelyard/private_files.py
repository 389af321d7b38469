"""Files that only the user may have written, read without following links."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

OPEN = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Unsafe(Exception):
    """A file is not used; the message gives the reason, as part of a sentence."""


def only_ours(info: os.stat_result) -> bool:
    """Return whether a file or folder is the user's and no one else may write to it.

    On Windows the folders of users are protected already.
    """
    return not hasattr(os, "getuid") or (
        info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def check_private_folder(folder: Path) -> None:
    """Raise Unsafe unless only the user may write to a folder, which must not be a link.

    FileNotFoundError if it does not exist.
    """
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise Unsafe(f"{folder} is a link or no folder")
    if not only_ours(info):
        raise Unsafe(f"{folder} belongs to another user or can be written by others")


def read_private(path: Path, most: int, secret: bool = False) -> bytes | None:
    """Return the content of a file that only the user can have written.

    Parameters
    ----------
    path : the file; its folder is checked too
    most : bytes that it may have
    secret : whether no one else may read it either

    Returns
    -------
    The content, None if there is no such file. Unsafe is raised for a link, a pipe, a device, a
    folder, a file of another user or one that others can write, and a file that is too large.
    """
    try:
        check_private_folder(path.parent)
        # a pipe is not waited for
        handle = os.open(path, OPEN | NO_LINK | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unsafe(
            "it is a link"
            if error.errno == errno.ELOOP
            else f"it cannot be read ({error.strerror})"
        ) from None
    try:
        _check_file(os.fstat(handle), most, secret)
        with open(handle, "rb", closefd=False) as file:
            return file.read(most)
    except OSError as error:
        raise Unsafe(f"it cannot be read ({error.strerror})") from None
    finally:
        os.close(handle)


def _check_file(info: os.stat_result, most: int, secret: bool) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise Unsafe("it is not a regular file")
    if not only_ours(info) or (secret and hasattr(os, "getuid") and info.st_mode & 0o077):
        raise Unsafe(
            f"it belongs to another user or can be {'read' if secret else 'written'} by others"
        )
    if info.st_size > most:
        raise Unsafe(f"it has {info.st_size} bytes, more than the {most} that it may have")
