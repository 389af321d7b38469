"""Identification from momenta: the equations of motion without accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....kernels import kernel
from ...model.linear_model import Model
from ...model.problem import Problem, merged
from ...samples.samples import Samples
from ..least_squares import Estimate, Estimator, weighted
from .windows import WindowTerms, accumulate_windows, require_plain_model

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MomentumEstimator(Estimator):
    """Weighted least squares on the generalised momentum, integrated over windows.

    d/dt(M(q) qd) = tau + dT/dq - g(q) - friction; no acceleration is needed.

    The rate of the momentum is moved onto the window. Hsu, Bodson, Sastry and Paden, ICRA 1987, p.
    1210.
    """

    name = "momentum"

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        model = problem.model
        require_plain_model(self.name, model)
        parts = accumulate_windows(
            problem, lambda samples: momentum_terms(model, samples), model.reach
        )
        base, weights = weighted(merged(parts), problem.prior)
        return Estimate(base, weights, details={"sigma": (1.0 / weights).tolist()}, parts=parts)


def momentum_terms(model: Model, samples: Samples) -> WindowTerms:
    """Return the terms of the momentum balance.

    Momenta, their rates by Coriolis terms, gravity and friction, and the torque.
    """
    states = samples.q, samples.qd
    memory = model.memory(samples)
    stored, lost = momentum_columns(model, *states, model.base.columns, memory)
    fixed = [column for column, _ in model.held]
    momentum, taken = (
        columns @ held_values(model) for columns in momentum_columns(model, *states, fixed, memory)
    )
    return WindowTerms(stored, lost, given_torque(model, samples) - taken, momentum, samples.keep)


def held_values(model: Model) -> Array:
    """Return the values of the fixed parameters, in the order of `model.held`."""
    return np.array([value for _, value in model.held])


def momentum_columns(
    model: Model, q: Array, qd: Array, columns: Sequence[int], memory: Array | None = None
) -> tuple[Array, Array]:
    """Return P and Z, each (N, n, k), with tau = d/dt(P pi) + Z pi, for some columns.

    P pi = M(q) qd and Z pi = g + friction - dT/dq, at states q, qd (N, n). `memory` (N, n) has the
    presliding states, None for joints that slide.
    """
    if not len(columns):
        return np.zeros((*q.shape, 0)), np.zeros((*q.shape, 0))
    plain = model.plain
    plain_columns = tuple(model.plain_columns.get(c, 0) for c in columns)
    parts = [
        kernel(plain.tree, f"momentum{name}_regressor", columns=plain_columns)
        for name in ("", "_rate")
    ]
    P, Z = np.asarray(parts[0](q, qd)), -np.asarray(parts[1](q, qd))
    others = [k for k, c in enumerate(columns) if c not in model.plain_columns]
    if others:  # friction alone
        P[:, :, others] = 0.0
        named = [columns[k] for k in others]
        Z[:, :, others] = model.columns(q, qd, np.zeros_like(q), named, memory=memory)
    return P, Z


def given_torque(model: Model, samples: Samples) -> Array:
    """Return the torque (N, n) minus payload torque and known torque."""
    tau = samples.tau if samples.payload_torque is None else samples.tau - samples.payload_torque
    return tau if model.known is None else tau - model.known(samples.q, samples.qd, samples.qdd)
