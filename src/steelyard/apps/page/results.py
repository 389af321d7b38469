"""What an identification leaves: files to keep, in the folder or through the browser."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from ...errors import CallError
from ...files import whole_folder
from ...reporting import report
from ...reporting.results import robot_name, write_results
from .server.folder import Folder
from .window import NamedFit

REPORT, ROBOT, FIT, C = "report", "robot", "fit", "c"


def save_results(folder: Folder, named: NamedFit) -> Path:
    """Write report, robot, C code and fit.json into a new folder, and return it."""
    path = folder.free("results")
    with whole_folder(path, within=folder.root) as new:
        write_results(new, named.fit, named.validation, more=lambda target: _write_c(named, target))
    return path


def made_file(named: NamedFit, kind: str) -> tuple[str, bytes]:
    """Return the name and the content of one result.

    The report, the identified robot, fit.json, or C code as a zip.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-page-") as scratch:
        folder = Path(scratch)
        if kind == REPORT:
            return (
                "report.html",
                report(named.fit, folder / "report.html", named.validation).read_bytes(),
            )
        if kind == FIT:
            named.fit.to_json(folder / "fit.json", validation=named.validation)
            return "fit.json", (folder / "fit.json").read_bytes()
        if kind == ROBOT:
            return _robot(named, folder)
        if kind == C:
            _write_c(named, folder)
            return "c.zip", _zipped(folder)
    raise CallError(f"there is no result {kind!r}; there are {', '.join((REPORT, ROBOT, FIT, C))}")


def _robot(named: NamedFit, folder: Path) -> tuple[str, bytes]:
    source = named.fit.initial.mechanism.source
    name = robot_name(named.verdict.word)
    if source is not None and source.format == "urdf":
        named.fit.robot.to_urdf(folder / f"{name}.urdf")
        return f"{name}.urdf", (folder / f"{name}.urdf").read_bytes()
    named.fit.robot.to_toml(folder / f"{name}.toml")
    return f"{name}.toml", (folder / f"{name}.toml").read_bytes()


def _write_c(named: NamedFit, folder: Path) -> None:
    named.fit.robot.to_c(folder / "c")


def _zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return buffer.getvalue()
