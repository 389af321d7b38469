"""Presliding distances refined together with all parameters, by Gauss-Newton steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import BY_KEY, FRICTION, Terms
from ..estimators.least_squares import weighted
from ..model.friction_memory import memory_level, state_derivative
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..samples.decimation import low_passed
from ..samples.samples import Samples
from .nuisance_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def refine_distances(
    model: Model, samples: tuple[Samples, ...], factor: int, joints: Sequence[int]
) -> Model:
    """Return the model with presliding distances of least weighted residual.

    log d and the base parameters are estimated together, from a first guess: the torque is
    linearised in log d. Nocedal and Wright, "Numerical Optimization", 2nd ed., section 10.3.

    Parameters
    ----------
    model, samples : the model with friction with memory, and its samples
    factor : one in `factor` samples is kept behind the low-pass
    joints : joints whose distances are refined
    """
    low, high = BY_KEY["distance"].between
    for _ in range(THRESHOLDS.distance_rounds):
        steps = distance_steps(Problem(model, samples, factor), joints)
        distances = list(model.shape("distance"))
        for j, step in zip(joints, steps, strict=True):
            distances[j] = float(np.clip(distances[j] * np.exp(step), low, high))
        model = model.with_shape("distance", distances)
        if np.all(np.abs(steps) < THRESHOLDS.distance_tolerance):
            break
    return model


def distance_steps(problem: Problem, joints: Sequence[int]) -> Array:
    """Return the Gauss-Newton steps of the logarithms of some joints' distances."""
    base, weights = weighted(problem.total, problem.prior, 2)
    model, b = problem.model, len(base)
    A, z = np.zeros((b + len(joints),) * 2), np.zeros(b + len(joints))
    distances = model.shape("distance")
    extra = {
        j: distances[j] * kept_derivative(problem, j, memory_levels(model, base, j)) for j in joints
    }
    for block in problem.blocks():
        span = slice(block.first, block.first + len(block.t))
        e = block.tau - block.rows @ base
        for j in range(problem.n):
            columns = problem.reach.columns[j]
            rows, used = block.rows.row(j), columns
            if j in extra:
                rows = np.column_stack([rows, extra[j][span]])
                used = np.append(columns, b + joints.index(j))
            if block.keep is not None:
                rows = rows * block.keep[:, j, None]
            A[np.ix_(used, used)] += weights[j] ** 2 * rows.T @ rows
            z[used] += weights[j] ** 2 * rows.T @ e[:, j]
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    x = np.linalg.solve(A / np.outer(scale, scale) + 1e-9 * np.eye(len(z)), z / scale) / scale
    return np.clip(x[b:], -THRESHOLDS.largest_distance_step, THRESHOLDS.largest_distance_step)


def memory_levels(model: Model, base: Array, joint: int) -> Terms:
    """Return a joint's friction with memory, estimated or fixed: Fp, Fs and Stribeck velocity."""
    name, values = model.robot.joint_names[joint], model.robot.tree.terms[joint]
    fixed_values = dict(model.held)
    for row in (row for row in FRICTION if row.memory and row.key in values):
        index = model.names.index(f"{name}.{row.symbol}")
        free = index in model.base.columns
        value = base[model.base.columns.index(index)] if free else fixed_values.get(index, 0.0)
        values = values.changed({row.key: float(value)})
    return values


def kept_derivative(problem: Problem, joint: int, terms: Terms) -> Array:
    """Return the derivative (N,) of a joint's friction by its distance, at kept samples.

    (Fp + Fs exp(-(qd / vs)^2)) dz/dd behind the low-pass [N m/rad|N/m]; `terms` have the torques.
    """
    distance, step = problem.model.shape("distance")[joint], MODEL_THRESHOLDS.distance_step
    parts = []
    for s in problem.samples:
        z = state_derivative(distance, s.t, s.q[:, joint], s.qd[:, joint], step)
        parts.append(low_passed(memory_level(terms, s.qd[:, joint]) * z, s, problem.decimate))
    return np.concatenate(parts)
