"""The table of figures of a fit: every figure by its name, from the fit alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.downsample import MAX_POINTS, running_time
from ...drawing.figure import Figure, Panel, grid_of
from ...drawing.parameter_table import typeset
from ...errors import CallError, suggest
from ...robot import Robot
from ..friction.residual_split import CAUSES
from ..result.result_thresholds import THRESHOLDS as RESULT_THRESHOLDS
from . import parameter_figures, residual_figures, state_figures, torque_figures

Array = NDArray[np.float64]
Fit = Any  # identification.result.fit.Fit, whose `plot` imports this module
Validation = Any
SPEEDS = 100  # points of a friction curve in either direction
COVERAGE = (
    "Positions and speeds of each joint. The orange frame shows the limits of the description,"
    " the dotted one the region in which the expected error holds."
)
FRICTION = (
    "Torque less the rigid-body part against speed, and the fitted friction. Hover for numbers;"
    " drag to zoom."
)
TREND = (
    "Residual against the {} of the joint itself, and its mean. A mean away from zero is an effect"
    " that the model lacks."
)


def figure_of(fit: Fit, name: str, limit: int = MAX_POINTS) -> Figure:
    """Return a figure of a fit by its name; panels of single joints are put together."""
    if name in FIGURES:
        return FIGURES[name](fit, limit)
    if name in JOINT_PANELS:
        panels, caption = joint_panels(fit)[name]
        return grid_of(name, panels, caption)
    known = (*FIGURES, *JOINT_PANELS)
    raise CallError(f"plot: there is no figure {name!r}; {suggest(str(name), known)}")


def masses(fit: Fit, limit: int) -> Figure:
    """Return the mass of every link."""
    described = np.array([body.inertia.m for body in fit.initial.tree.bodies])
    links = fit.links
    return parameter_figures.mass_figure(links.names, links.mass, links.mass_std, described)


def budget(fit: Fit, limit: int) -> Figure:
    """Return the causes of the remaining error."""
    model, shares = fit.model, fit.residual_split.shares
    errors = fit.rms, fit.relative_error
    return parameter_figures.budget_figure(
        model.row_names, model.row_units, CAUSES, shares, *errors
    )


def torques(fit: Fit, limit: int) -> Figure:
    """Return measured and predicted torque on the fit's own samples."""
    half = RESULT_THRESHOLDS.band_deviations * fit.sigma
    return torque_figures.torque_figure(
        fit.validation, fit.model.row_units, half_band=half, limit=limit
    )


def validation_torques(fit: Fit, validation: Validation, limit: int) -> Figure:
    """Return measured and predicted torque on another log."""
    units, half = fit.model.row_units, RESULT_THRESHOLDS.band_deviations * fit.sigma
    return torque_figures.torque_figure(validation, units, "validation", half, limit)


def residuals(fit: Fit, limit: int) -> Figure:
    """Return distribution and autocorrelation of the residuals."""
    time = running_time(fit.t)
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    return residual_figures.residual_figure(used_residuals(fit), fit.model.row_names, dt)


def errors(fit: Fit, limit: int) -> Figure:
    """Return the relative error of every joint, before and after."""
    series = [("before", fit.before), ("after", fit.validation)]
    shown = [(name, np.asarray(each.relative_error)) for name, each in series if each is not None]
    return torque_figures.error_figure(fit.model.row_names, shown)


def spectra(fit: Fit, limit: int) -> Figure:
    """Return the spectrum of the residuals."""
    model = fit.model
    residual = used_residuals(fit)
    return residual_figures.spectrum_figure(model.row_names, model.row_units, fit.t, residual)


def singular(fit: Fit, limit: int) -> Figure:
    """Return the singular values of the regressor."""
    return parameter_figures.singular_value_figure(np.asarray(fit.singular_values), fit.rank)


def uncertainty(fit: Fit, limit: int) -> Figure:
    """Return the relative standard deviation of the base parameters."""
    relative = np.nan_to_num(fit.base_relative_std, nan=np.inf)
    combinations = [typeset(text) for text in fit.base.expressions]
    return parameter_figures.uncertainty_figure(relative, fit.base.names, combinations)


def correlation(fit: Fit, limit: int) -> Figure:
    """Return the correlation of the base parameters."""
    return parameter_figures.correlation_figure(fit.base.names, fit.covariance)


FIGURES: dict[str, Callable[[Fit, int], Figure]] = {
    "torques": torques,
    "errors": errors,
    "masses": masses,
    "budget": budget,
    "residuals": residuals,
    "spectra": spectra,
    "singular": singular,
    "uncertainty": uncertainty,
    "correlation": correlation,
}
JOINT_PANELS = ("coverage", "friction", "speed", "position")  # a panel for each joint


def used_residuals(fit: Fit) -> Array:
    """Return measured minus predicted torque (N, n) [N m|N], NaN in rows that are not in use."""
    return np.where(fit.validation.keep, fit.measured - fit.predicted, np.nan)


def joint_panels(fit: Fit) -> dict[str, tuple[tuple[Panel, ...], str]]:
    """Return the panels of single joints and their caption: coverage, friction, residual trends."""
    states, names = fit.validation.states, fit.model.row_names
    if states is None:
        return {}
    q, qd, _ = states
    panels = {"coverage": (coverage(fit, q, qd), COVERAGE)}
    rows = [
        (k, fit.robot.joint_names.index(n))
        for k, n in enumerate(names)
        if n in fit.robot.joint_names
    ]
    if names == fit.robot.joint_names:
        panels["friction"] = (friction(fit, q, qd), FRICTION)
    residual, torque, unit = used_residuals(fit), fit.model.row_units, fit.region.units
    for quantity, x, per in (("speed", qd, "/s"), ("position", q, "")) if rows else ():
        trends = tuple(
            residual_figures.residual_panel(
                names[k], quantity, (unit[j] + per, torque[k]), x[:, j], residual[:, k]
            )
            for k, j in rows
        )
        panels[quantity] = (trends, TREND.format(quantity))
    return panels


def coverage(fit: Fit, q: Array, qd: Array) -> tuple[Panel, ...]:
    """Return the states of each joint, beside its limits and the region."""
    region, panels = fit.region, []
    for j, name in enumerate(region.joint_names):
        limits = fit.robot.tree.limits[j]
        bounds = limits.lower, limits.upper, limits.velocity
        covered = float(region.q_low[j]), float(region.q_high[j]), float(region.qd_most[j])
        unit = region.units[j]
        panels.append(state_figures.coverage_panel(name, unit, q[:, j], qd[:, j], bounds, covered))
    return tuple(panels)


def friction(fit: Fit, q: Array, qd: Array) -> tuple[Panel, ...]:
    """Return the friction of each joint over its speed: residuals added to the fitted friction."""
    torque = speed_friction(fit.robot)
    samples, middle, panels = used_residuals(fit) + torque(qd, q), np.median(q, axis=0), []
    for j, name in enumerate(fit.model.row_names):
        speeds = np.zeros((2 * SPEEDS + 1, fit.robot.n))
        speeds[:, j] = np.linspace(-1.0, 1.0, len(speeds)) * (np.max(np.abs(qd[:, j])) or 1.0)
        fitted = torque(speeds, np.broadcast_to(middle, speeds.shape))[:, j]
        units = f"{fit.region.units[j]}/s", fit.model.row_units[j]
        curve = speeds[:, j], fitted
        panels.append(state_figures.friction_panel(name, units, qd[:, j], samples[:, j], curve))
    return tuple(panels)


def speed_friction(robot: Robot) -> Callable[[Array, Array], Array]:
    """Return friction (qd, q) -> (N, n) [N m|N] of a robot: its part that depends on speed."""
    if any(use.row.reads for use in robot.tree.joint_terms):
        return lambda qd, q: robot.friction_torque(qd, q) - robot.friction_torque(0.0 * qd, q)
    return lambda qd, q: robot.friction_torque(qd)
