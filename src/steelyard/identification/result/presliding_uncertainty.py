"""Uncertainty of presliding distances, and a sentence on friction with memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ...signals.autocorrelation import autocorrelation, variance_inflation
from ..model.friction_memory import memory_level
from ..model.problem import Problem
from ..nuisance.presliding_distance import kept_derivative
from .residuals import Residuals
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def distance_std(problem: Problem, robot: Robot, errors: Residuals) -> Array:
    """Return the standard deviation of each presliding distance, (n,) [rad|m].

    sigma^2 = inflation |e|^2 / N / |D|^2, with D the derivative of the joint's torque by its
    distance, without the part that the parameters of the joint can take over. 0 for joints without
    memory; infinite where the log does not show it.

    Parameters
    ----------
    problem : rows of the estimate
    robot : the identified robot
    errors : residuals of the estimate
    """
    std, model = np.zeros(problem.n), problem.model
    if not model.observation.has_joint_rows:
        return std
    for j, distance in enumerate(model.robot.tree.memory_distances):
        if distance is None:
            continue
        if not problem.has_consecutive_folds:  # the samples of an archive are not in memory
            std[j] = np.inf
            continue
        used = errors.keep[:, j]
        derivative = kept_derivative(problem, j, robot.tree.terms[j])
        rows = np.concatenate([block.rows.row(j) for block in problem.blocks()])[used]
        scale = np.sqrt(np.maximum(np.sum(rows**2, axis=0), 1e-300))
        basis = rows / scale
        taken = np.linalg.lstsq(basis, derivative[used], rcond=1e-9)[0]
        shown = float(np.sum((derivative[used] - basis @ taken) ** 2))
        e = errors.values[used, j]
        inflation = float(variance_inflation(autocorrelation(e[:, None])[1])[0])
        variance = inflation * float(e @ e) / max(len(e) - rows.shape[1], 1)
        std[j] = np.sqrt(variance / shown) if shown > 0.0 else np.inf
    return std


def memory_note(robot: Robot, std: Array) -> tuple[str, ...]:
    """Return a sentence on joints whose friction has memory; () if none has, or no row shows it."""
    if len(std) != robot.n:
        return ()
    joints = [
        f"{name} {float(memory_level(terms, np.zeros(()))):.3g} {unit} over"
        f" {terms['distance']:.3g} ± {THRESHOLDS.band_deviations * deviation:.2g}"
        f" {'m' if unit == 'N' else 'rad'}"
        for name, terms, unit, deviation in zip(
            robot.joint_names, robot.tree.terms, robot.torque_units, std, strict=True
        )
        if "presliding" in terms
    ]
    if not joints:
        return ()
    return (f"Coulomb friction with memory builds up over a distance: {', '.join(joints)} (95 %).",)
