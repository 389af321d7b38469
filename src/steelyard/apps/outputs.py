"""Files that commands write: whole or not at all, and never over something without being asked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CallError, needs_extra

if TYPE_CHECKING:
    from ..identification.result.fit import Fit
    from ..identification.result.validation import Validation
    from ..robot import Robot


def free_path(path: Path, force: bool) -> Path:
    """The path, if it may be written: its folder is there and no file is in the way."""
    if not path.parent.is_dir():
        raise CallError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise CallError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists() and not force:
        raise CallError(f"{path} exists and is left as it is: name another file, or say --force to write over it")
    return path


def write_whole(path: Path, text: str, force: bool = False) -> None:
    """Write a text beside its place, then move it there."""
    free_path(path, force)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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


def can_report() -> None:
    """Say now, and not after minutes of work, that the report cannot be written."""
    from importlib.util import find_spec

    for package in ("jinja2", "plotly"):
        if find_spec(package) is None:
            raise needs_extra(package, "report", "writing report.html (--no-report leaves it out)")


def write_results(folder: Path, fit: Fit, validation: Validation | None = None, truth: Robot | None = None, page: bool = True) -> None:
    """Fill a folder: identified.urdf where the robot came from a URDF and identified.toml where not, fit.json, report.html."""
    source = fit.initial.mechanism.source
    if source is not None and source.format == "urdf":
        fit.robot.to_urdf(folder / "identified.urdf")
    else:
        fit.robot.to_toml(folder / "identified.toml")
    fit.to_json(folder / "fit.json")
    if page:
        from ..reporting import report

        report(fit, folder / "report.html", validation, truth)
