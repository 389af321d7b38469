"""The lecture's sequential procedure: joint by joint from the tip to the base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import Accumulator
from ..model.problem import Problem
from .estimate import Estimate
from .least_squares import RANK, least_squares

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sequential:
    """Each joint's torque, from the last to the first, fixes the directions of the base parameters that it shows first.

    Y is block upper triangular: joint j does not depend on the links before it. What a later joint fixed is taken for true by the
    earlier ones, so that its error is carried on; `details['error_accumulation']` is each joint's residual over that of all at once.
    Lecture "Newton-Euler formulation and dynamic parameter identification": "may have the inconvenience to accumulate any error".
    """

    tolerance: float = 1e-7
    name = "sequential"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        total = problem.total
        base, N = np.zeros(problem.base.n_base), np.eye(problem.base.n_base)
        for joint in reversed(range(problem.n)):
            base, N = step(total, joint, base, N, self.tolerance)
        if N.shape[1]:
            base = base + N @ (N.T @ (problem.prior - base))
        growth = accumulated(total, base, problem.prior)
        names = problem.model.robot.joint_names
        worst = int(np.argmax(growth))
        said = f"Residuals against those of all joints at once: {', '.join(f'{n} {g:.3g}' for n, g in zip(names, growth, strict=True))}."
        details = {"error_accumulation": growth.tolist(), "worst_joint": names[worst]}
        return Estimate(base, np.ones(problem.n), (said,), details)


def step(total: Accumulator, joint: int, base: Array, N: Array, tolerance: float) -> tuple[Array, Array]:
    """One joint: base (b,) with the directions that it shows fixed, and an orthonormal basis (b, k) of those still open."""
    rows = total.rows(joint)
    R, z = rows[:, :-1], rows[:, -1]
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0] = 1.0
    # in scaled columns, so that the rank does not depend on units
    D = np.linalg.qr(N * scale[:, None])[0]
    U, values, Vt = np.linalg.svd((R / scale) @ D, full_matrices=True)
    rank = int(np.sum(values > max(tolerance, RANK) * max(float(values.max(initial=0.0)), 1e-300)))
    y = Vt[:rank].T @ ((U[:, :rank].T @ (z - R @ base)) / values[:rank])
    base = base + (D @ y) / scale
    left = (D @ Vt[rank:].T) / scale[:, None]
    return base, np.linalg.qr(left)[0] if left.shape[1] else left


def accumulated(total: Accumulator, base: Array, prior: Array) -> Array:
    """Per joint: root of its squares with `base` over those with the solution of all joints together, (n,)."""
    together = total.residual_squares(least_squares(total.triangle(), prior))
    floor = 1e-24 * np.maximum(total.torque_squares(), 1e-300)
    return np.asarray(np.sqrt((total.residual_squares(base) + floor) / (together + floor)))
