"""The report: one HTML file that needs no network."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import instance
from ..drawing.colours import DARK, hue
from ..errors import CallError, needs_extra
from ..files import check_file, write_atomic
from ..floating_point import default_errstate
from ..identification import Fit, Validation
from ..robot import Robot
from ..signals.log import Log
from .compress_figures import compress_figures, letters
from .content import Content, gather
from .template import asset, from_template

if TYPE_CHECKING:
    from ..experiments import Fleet


@default_errstate
def report(
    fit: Fit | Fleet,
    path: str | os.PathLike[str],
    validation: Validation | Log | None = None,
    true_robot: Robot | None = None,
    overwrite: bool = False,
    *,
    truth: Robot | None = None,
) -> Path:
    """Write an identification into one offline HTML file, and return its path.

    The report shows the verdict, the robot, masses and centres [kg, m], the sources of the error,
    the coverage of the motion, measured and predicted torque [N m|N] with bands, friction curves
    over their samples, residuals, base parameters with two standard deviations and their
    correlations, advice and provenance. The report of a `Fleet` shows the outliers, every robot and
    the type. It needs no network and a browser of 2023 or newer. An existing file is replaced only
    with `overwrite`.

    Parameters
    ----------
    fit : the `Fit`.
    path : file to write.
    validation : another `Log`, or a `Validation` on it.
    true_robot : the `Robot` that was simulated, if the log is simulated.
    overwrite : whether an existing file may be replaced.
    truth : former name of `true_robot`.

    Returns
    -------
    The path.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
    >>> sy.report(sy.identify(robot, log, "wls"), "report.html").name
    'report.html'
    """
    if truth is not None:
        warnings.warn(
            "report(truth=...) is now report(true_robot=...)", DeprecationWarning, stacklevel=3
        )
        true_robot = true_robot or truth
    if not isinstance(fit, Fit):
        return _fleet_report(fit, path, overwrite, validation is None and true_robot is None)
    if validation is not None:
        instance("report: validation", validation, (Validation, Log))
    if true_robot is not None:
        instance("report: true_robot", true_robot, Robot)
    check_file(path, overwrite)
    checked = fit.validate(validation) if isinstance(validation, Log) else validation
    return write_atomic(path, render(gather(fit, checked, true_robot)), overwrite)


def _fleet_report(fleet: Fleet, path: str | os.PathLike[str], overwrite: bool, alone: bool) -> Path:
    """Write the page of a fleet; `alone` says that nothing else was given to show."""
    from ..experiments import Fleet  # many modules, which the report of a fit does not need
    from .fleet_page import render_fleet

    # the union shows both names in the error
    instance("report: fit", fleet, (Fit, Fleet), "sy.identify returns one")
    if not alone:
        raise CallError("report: the page of a fleet takes neither a validation nor a true robot")
    check_file(path, overwrite)
    return write_atomic(path, render_fleet(fleet), overwrite)


def render(content: Content) -> str:
    """Return the page of a fit as text."""
    drawn = [
        *content.figures.values(),
        *(figure for grid in content.grids.values() for figure in grid.figures),
    ]
    parts = {
        "style": asset("style.css"),
        "script": asset("unpack.js") + asset("charts.js"),
        "palette": json.dumps(palette(content)),
    }
    embedded = {"figures": Packed.of(compress_figures(drawn)), "library": plotting_library()}
    return from_template("report.html", content=content, **parts, **embedded)


@dataclass(frozen=True)
class Packed:
    """Bytes as letters, and how many bytes they are."""

    letters: str
    size: int

    @classmethod
    def of(cls, data: bytes) -> Packed:
        """Return data as letters."""
        return cls(letters(data), len(data))


def palette(content: Content) -> dict[str, str]:
    """Return the colour of each colour of the page's figures on dark paper."""
    n = len(content.tables["causes"].rows)
    return DARK | {hue(j, n): hue(j, n, dark=True) for j in range(n)}


@cache
def plotting_library() -> Packed:
    """Return the JavaScript of the installed plotly, compressed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise needs_extra("plotly", "report", "writing a report") from None
    return Packed.of(gzip.compress(str(get_plotlyjs()).encode(), 9, mtime=0))
