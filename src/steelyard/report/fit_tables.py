"""The tables of a fit: errors per joint, base parameters, all parameters, true against estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .result_tables import compared_errors, coverage, estimate_table, sliding_joints, torque_units, true_and_estimated, unit
from .tables import Table

if TYPE_CHECKING:
    from ..identify.fit import Fit
    from ..identify.validation import Validation
    from ..robot import Robot

Array = NDArray[np.float64]


def results_of(fit: Fit, validation: Validation | None = None) -> list[tuple[str, Any]]:
    """What there is to compare: before, after and, where it was made, a validation on another log."""
    return [(label, r) for label, r in (("before", fit.before), ("after", fit), ("validation", validation)) if r is not None]


def error_table(fit: Fit, validation: Validation | None = None) -> Table:
    """RMS [N m|N], relative error and R² of every joint's torque before, after and, where given, on another log."""
    return compared_errors(fit.robot.joint_names, results_of(fit, validation), torque_units(fit.robot))


def base_table(fit: Fit, truth: Robot | None = None) -> Table:
    """The base parameters with what they are made of; beside the true ones where those are known."""
    value, sigma = fit.base_values, fit.base_standard_deviation
    columns = [("before", fit.base.values(aligned(fit.initial, fit.parameter_names)))]
    note = "Only these combinations act on the torques. σ allows for the memory of the residuals; faint rows are hardly seen."
    if truth is not None:
        true = fit.base.values(aligned(truth, fit.parameter_names))
        columns = [("true", true), ("off by", np.round((value - true) / np.where(sigma > 0, sigma, np.nan), 1)), *columns]
        note += f" Off by: error against the truth in σ; {coverage(value, sigma, true)}"
    combinations = [text.replace("*", "·").replace(" - ", " − ").replace("-", "−") for text in fit.base.expressions]
    units = [unit(name, sliding_joints(fit.robot)) for name in fit.base.names]
    return estimate_table("Base parameters", fit.base.names, units, value, sigma, columns, [("combination", combinations)], note)


def full_table(fit: Fit) -> Table:
    """Every parameter of the model that goes out."""
    names = fit.parameter_names
    units = [unit(name, sliding_joints(fit.robot)) for name in names]
    before = [("before", aligned(fit.initial, names))]
    note = "As they stand in the exported model. The faint ones act only together with others: no motion can tell them by themselves."
    return estimate_table("All parameters", names, units, fit.parameters, fit.standard_deviation, before, (), note)


def truth_table(fit: Fit, truth: Robot) -> Table:
    """The base parameters beside the true ones, errors in units of the fit's own standard deviation."""
    true, before = (fit.base.values(aligned(robot, fit.parameter_names)) for robot in (truth, fit.initial))
    units = [unit(name, sliding_joints(fit.robot)) for name in fit.base.names]
    return true_and_estimated(fit.base.names, units, fit.base_values, fit.base_standard_deviation, true, before)


def aligned(robot: Robot, names: tuple[str, ...]) -> Array:
    """A robot's parameters in another order of names; zero for terms that it does not have."""
    own = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    return np.array([own.get(name, 0.0) for name in names])
