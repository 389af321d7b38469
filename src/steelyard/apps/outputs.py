"""What commands write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import needs_extra

if TYPE_CHECKING:
    from ..identification.result.fit import Fit
    from ..identification.result.validation import Validation
    from ..robot import Robot


def next_free(path: Path) -> Path:
    """The path, or the first of path-2, path-3, ... where nothing is."""
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


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
