"""What an identification leaves behind: report, identified robot, fit as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import needs_extra

if TYPE_CHECKING:
    from ..identify.fit import Fit
    from ..identify.validation import Validation
    from ..robot import Robot


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
        from ..report import report

        report(fit, folder / "report.html", validation, truth)
