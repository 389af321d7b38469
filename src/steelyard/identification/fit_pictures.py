"""The figures of a fit, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..drawing import fit_figures
from ..errors import CallError, suggest
from ..robot import Robot
from .model.linear_model import Model
from .result.links import LinkEstimates
from .result.prediction import BAND
from .result.uncertainty import Uncertainty
from .result.validation import Validation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("torques", "errors", "masses", "uncertainty", "correlation")


def draw(
    what: str, width: str | float | None, model: Model, validation: Validation, known: Uncertainty, links: LinkEstimates, initial: Robot
) -> Figure:
    """Return the figure of that name."""
    if what not in KINDS:
        raise CallError(f"plot: there is no figure {what!r}; {suggest(str(what), KINDS)}")
    if what == "torques":
        return validation.plot(units=model.row_units, spread=BAND * known.sigma, width=width or "page")
    if what == "errors":
        series = [("before", validation.before), ("after", validation)]
        shown = [(name, each.relative_error) for name, each in series if each is not None]
        return fit_figures.error_figure(validation.joint_names, shown, width or "column")
    if what == "masses":
        described = np.array([body.inertia.m for body in initial.tree.bodies])
        return fit_figures.mass_figure(links.names, links.mass, links.mass_std, described, width or "column")
    if what == "uncertainty":
        return fit_figures.uncertainty_figure(known.base.names, known.relative_std, width or "page")
    return fit_figures.correlation_figure(known.base.names, known.covariance, width or "page")
