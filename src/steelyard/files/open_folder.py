"""An open folder, whose entries are reached through its handle; links are never followed.

Where the system has no such handles (Windows), entries are reached by path; links are then
recognised before each use instead of by the system call itself.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import TracebackType

HANDLES = (
    hasattr(os, "O_DIRECTORY")
    and {os.open, os.stat, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd
)
_CLOSED = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSED
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK | _CLOSED
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK | _CLOSED


class OpenFolder:
    """A folder that stays the same while it is open, even if its path leads elsewhere meanwhile.

    Names are single components. Every method raises OSError where the system refuses.
    """

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path, self.handle = path, handle

    @classmethod
    def open(cls, path: Path, follow: bool = True) -> OpenFolder:
        """Open the folder at a path.

        With `follow=False` a link in its last component is refused.
        """
        if HANDLES:
            return cls(path, _folder_handle(path, None, follow))
        if not follow:
            _require_folder(os.lstat(path), path)
        os.scandir(path).close()  # raises OSError if it cannot be listed
        return cls(path, None)

    def subfolder(self, name: str, create: bool = False) -> OpenFolder:
        """Open a folder in this one; `create` makes it if absent. A link is refused."""
        if create and self.status(name) is None:
            self.mkdir(name)
        if self.handle is not None:
            return OpenFolder(self.path / name, _folder_handle(name, self.handle, False))
        return OpenFolder.open(self.path / name, follow=False)

    def duplicate(self) -> OpenFolder:
        """Open the same folder a second time."""
        if self.handle is not None:
            return OpenFolder(self.path, os.dup(self.handle))
        return OpenFolder.open(self.path, follow=False)

    def info(self) -> os.stat_result:
        """Return the status of the folder itself."""
        return os.lstat(self.path) if self.handle is None else os.fstat(self.handle)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of an entry, of a link itself; None if there is no such entry."""
        try:
            return os.stat(self._key(name), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def create(self, name: str, mode: int = 0o666) -> int:
        """Create a new file and return its descriptor.

        FileExistsError for any entry of that name.
        """
        return os.open(self._key(name), _NEW, mode, dir_fd=self.handle)

    def open_regular(self, name: str) -> int:
        """Open a regular file for reading; OSError for links, devices, pipes and folders."""
        if not _NO_LINK and is_link(os.lstat(self.path / name)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        descriptor = os.open(self._key(name), _READ, dir_fd=self.handle)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a regular file", name)
        return descriptor

    def names(self) -> list[str]:
        """Return the names of all entries, sorted."""
        return sorted(os.listdir(self.path if self.handle is None else self.handle))

    def mkdir(self, name: str, mode: int = 0o777) -> None:
        """Make a folder; FileExistsError for any entry of that name."""
        os.mkdir(self._key(name), mode, dir_fd=self.handle)

    def unlink(self, name: str) -> None:
        """Remove a file, or a link itself."""
        os.unlink(self._key(name), dir_fd=self.handle)

    def rmdir(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._key(name), dir_fd=self.handle)

    def replace(self, name: str, target: OpenFolder, new_name: str) -> None:
        """Rename an entry to a name in a folder.

        An existing file or link of that name is replaced; a link is not followed.
        """
        here, there = self._key(name), target._key(new_name)
        os.replace(here, there, src_dir_fd=self.handle, dst_dir_fd=target.handle)

    def link(self, name: str, target: OpenFolder, new_name: str) -> None:
        """Give a file a second name; FileExistsError for any entry of that name."""
        here, there = self._key(name), target._key(new_name)
        if self.handle is None:
            os.link(here, there)
        else:
            os.link(
                here, there, src_dir_fd=self.handle, dst_dir_fd=target.handle, follow_symlinks=False
            )

    def close(self) -> None:
        """Close the folder's handle."""
        if self.handle is not None:
            handle, self.handle = self.handle, None
            os.close(handle)

    def __enter__(self) -> OpenFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _key(self, name: str) -> str:
        if name in ("", ".", "..") or os.path.basename(name) != name:
            raise OSError(errno.EINVAL, "not the name of an entry", name)
        return name if self.handle is not None else str(self.path / name)


def is_link(info: os.stat_result) -> bool:
    """Return whether a status from `lstat` is a symbolic link or a Windows junction."""
    junction = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
    return stat.S_ISLNK(info.st_mode) or (
        junction is not None and getattr(info, "st_reparse_tag", 0) == junction
    )


def _folder_handle(path: Path | str, parent: int | None, follow: bool) -> int:
    flags = _FOLDER | (0 if follow else _NO_LINK)
    try:
        return os.open(path, flags, dir_fd=parent)
    except PermissionError:  # a folder may be writable but not readable
        if not hasattr(os, "O_PATH"):
            raise
        return os.open(path, flags | os.O_PATH, dir_fd=parent)


def _require_folder(info: os.stat_result, path: Path) -> None:
    if is_link(info) or not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
