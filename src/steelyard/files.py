"""The one writer of files and folders: whole or not at all, and over existing ones only if asked.

Contents are written under a temporary name beside the target, flushed to the disk and then renamed. A symbolic link stays a link: the file
it points to is written. A new file gets the mode 0666 less the umask; a replaced file keeps its mode. A temporary name says which process
made it: what a process that was killed left behind, the next one to write there removes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from .errors import CallError

Name = str | os.PathLike[str]
Content = bytes | str | Callable[[Path], object]  # text is written as UTF-8; a function writes to the path that it is given
OVERWRITE = "pass overwrite=True to replace it"  # how errors end; the command line has its own words for it
TEMPORARY = ".steelyard-"  # how temporary names begin

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Name, content: Content, overwrite: bool = False, mode: int | None = None) -> Path:
    """Write a file and return its path. With `mode` the file gets this mode, less the umask, also if it replaces another.

    Raises CallError if the file exists and `overwrite` is False, if its folder is missing, or if the system refuses.
    """
    write_files({real_path(path): content}, overwrite, mode)
    return Path(path)


def write_files(contents: Mapping[Name, Content], overwrite: bool = False, mode: int | None = None) -> None:
    """Write several files, all or none: if one cannot be written, the others are as they were."""
    targets = {check_file(path, overwrite): content for path, content in contents.items()}
    temporaries = {target: _temporary(target) for target in targets}
    try:
        for target, content in targets.items():
            with _refusals(target):
                _create(temporaries[target], content, target, mode)
        _rename_all([(temporaries[target], target) for target in targets], overwrite)
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Name, overwrite: bool = False) -> Iterator[Path]:
    """Give a temporary folder to fill; its files appear in the folder `path` when the block ends without an error.

    With `overwrite` the folder may have files already: those of the same names are replaced, all or none, and the others stay.
    """
    target = check_folder(path, overwrite)
    filled = _temporary(target)
    with _refusals(target):
        filled.mkdir()
    try:
        yield filled
        if target.exists():
            _rename_all([(part, target / part.name) for part in sorted(filled.iterdir())], overwrite)
        else:
            with _refusals(target):
                filled.rename(target)
    finally:
        shutil.rmtree(filled, ignore_errors=True)


def check_file(path: Name, overwrite: bool = False) -> Path:
    """Return the file that a path leads to if it may be written now; CallError if not."""
    target = real_path(path)
    if target.is_dir():
        raise CallError(f"{target} is a folder; expected the name of a file to write")
    if not target.parent.is_dir():
        raise CallError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.exists() and not overwrite:
        raise _exists(target)
    return target


def check_folder(path: Name, overwrite: bool = False) -> Path:
    """Return the folder that a path leads to if it may be filled now: it is absent or empty, or `overwrite` is True; CallError if not."""
    target = real_path(path)
    if not target.parent.is_dir():
        raise CallError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.exists() and not target.is_dir():
        raise CallError(f"{target} is a file; expected the name of a folder to write")
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise _exists(target)
    return target


def real_path(path: object) -> Path:
    """Return where a path leads to, through links; CallError if it is none, or if the system refuses the name."""
    if not isinstance(path, (str, os.PathLike)):
        raise CallError(f"expected the path to write to, not {type(path).__name__}")
    with _refusals(Path(path)):
        real = Path(os.path.realpath(path))
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(real)
    return real


def _temporary(target: Path) -> Path:
    """Return a name beside the target that tells the machine and the process; remove those of processes that are dead."""
    _sweep(target.parent)
    return target.with_name(f"{TEMPORARY}{_machine()}-{os.getpid()}-{secrets.token_hex(6)}{target.suffix}")


@cache
def _machine() -> str:
    """Return a digest of what numbers of processes belong to: the host since it was started, and within it a container."""
    known = [os.uname().nodename if hasattr(os, "uname") else ""]
    with suppress(OSError):
        known += [Path("/proc/sys/kernel/random/boot_id").read_text(), os.readlink("/proc/self/ns/pid")]
    return hashlib.blake2b("\n".join(known).encode(), digest_size=4).hexdigest()


_swept: set[Path] = set()  # folders that this process has looked through


def _sweep(folder: Path) -> None:
    """Remove temporary files and folders whose process is dead; once for each folder."""
    if folder in _swept or os.name != "posix":
        return
    _swept.add(folder)
    mine = re.compile(rf"{re.escape(TEMPORARY)}{_machine()}-(\d+)-[0-9a-f]{{12}}(\..*)?")
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = mine.fullmatch(entry.name)
            if found and not _lives(int(found.group(1))):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        os.unlink(entry.path)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is another user's, or no number of a process
        return True
    return True


def _create(temporary: Path, content: Content, target: Path, mode: int | None) -> None:
    with open(os.open(temporary, _NEW, 0o666 if mode is None else mode), "r+b") as file:
        if mode is None and target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        if callable(content):
            content(temporary)
        else:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
        os.fsync(file.fileno())


def _rename_all(moves: Sequence[tuple[Path, Path]], overwrite: bool) -> None:
    """Rename files to their targets; if one cannot be, undo those before it."""
    backups: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for temporary, target in moves:
            with _refusals(target):
                if len(moves) > 1 and target.exists():
                    backups[target] = Path(shutil.copy2(target, _temporary(target)))
                _rename(temporary, target, overwrite)
            done.append(target)
    except BaseException:
        for target in done:
            with suppress(OSError):
                backups[target].replace(target) if target in backups else target.unlink()
        raise
    finally:
        for backup in backups.values():
            backup.unlink(missing_ok=True)


def _rename(temporary: Path, target: Path, overwrite: bool) -> None:
    """Rename a file; without `overwrite` fail if another process has written the target meanwhile."""
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: reserve the name first
            os.close(os.open(target, _NEW))
            _replace_reserved(temporary, target)
    except FileExistsError:
        raise _exists(target) from None


def _replace_reserved(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except BaseException:
        target.unlink()
        raise


@contextmanager
def _refusals(target: Path) -> Iterator[None]:
    """Turn the system's errors into a CallError that names the target."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name with a zero or half a character in it is a ValueError
        if isinstance(error, CallError):
            raise
        raise CallError(f"{target} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _exists(target: Path) -> CallError:
    return CallError(f"{target} exists already{' and is not empty' if target.is_dir() else ''}; {OVERWRITE}")
