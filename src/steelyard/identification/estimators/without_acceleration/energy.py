"""Identification from energy: one equation for all joints, without accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....kernels import kernel
from ...model.linear_model import Model
from ...model.problem import Problem, merged
from ...samples.samples import Samples
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import Estimate, Estimator, excitation, least_squares, noise, weighted
from .momentum import given_torque, held_values
from .windows import WindowTerms, accumulate_windows, require_plain_model

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EnergyEstimator(Estimator):
    """Least squares on d/dt(T + U) = qd^T (tau - friction), integrated over windows.

    No acceleration is read.

    Each window is one equation, for the work of all joints together, weighted by what the noise of
    their torques does to the power. One equation instead of n has less information: it helps where
    only the power is known, or as a second opinion. Gautier and Khalil, IEEE Conf. Decision and
    Control 1988, p. 2264.
    """

    name = "energy"

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        model, whole = problem.model, tuple(range(problem.base.n_base))
        require_plain_model(self.name, model)
        _, weights = weighted(problem.total, problem.prior)
        floor = THRESHOLDS.least_power_noise**2 * max(
            float(np.mean(np.concatenate([s.qd**2 @ weights**-2 for s in problem.samples]))), 1e-300
        )

        def terms(samples: Samples) -> WindowTerms:
            return replace(
                energy_terms(model, samples),
                variance=(samples.qd**2 @ weights**-2 + floor)[:, None],
            )

        parts = accumulate_windows(problem, terms, (whole,))
        base = least_squares(merged(parts).triangle(), problem.prior)
        sigma = noise(problem.total, base)
        conditions = [
            excitation(triangle).condition
            for triangle in (merged(parts).triangle(), problem.total.triangle(weights))
        ]
        note = (
            "The condition number of the energy balance is {:.3g}, of the torque equations {:.3g}:"
            " a larger one means less information."
        )
        return Estimate(
            base, 1.0 / sigma, (note.format(*conditions),), {"sigma": sigma.tolist()}, parts=parts
        )


def energy_terms(model: Model, samples: Samples) -> WindowTerms:
    """Return the terms of the energy balance.

    Kinetic and potential energy, the power of friction, and the power of the torque.
    """
    states, memory = (samples.q, samples.qd), model.memory(samples)
    stored, lost = energy_columns(model, *states, model.base.columns, memory)
    energy, taken = (
        columns @ held_values(model)
        for columns in energy_columns(model, *states, [c for c, _ in model.held], memory)
    )
    power = np.sum(samples.qd * given_torque(model, samples), axis=1)
    keep = None if samples.keep is None else np.all(samples.keep, axis=1)[:, None]
    return WindowTerms(
        stored[:, None], lost[:, None], (power - taken)[:, None], energy[:, None], keep
    )


def energy_columns(
    model: Model, q: Array, qd: Array, columns: Sequence[int], memory: Array | None = None
) -> tuple[Array, Array]:
    """Return E and D, each (N, k), with qd^T tau = d/dt(E pi) + D pi, for some columns.

    E pi = T + U [J], and D pi [W] is the power of friction, at states q, qd (N, n). `memory`
    (N, n) has the presliding states, None for joints that slide.
    """
    E, D, inner = (
        np.zeros((len(q), len(columns))),
        np.zeros((len(q), len(columns))),
        10 * len(model.robot.tree.bodies),
    )
    friction_columns = [
        k for k, c in enumerate(columns) if c >= inner and not model.term(c).row.inertial
    ]
    stores = [k for k in range(len(columns)) if k not in friction_columns]
    if stores:
        every = np.asarray(kernel(model.plain.tree, "energy_regressor")(q, qd))
        E[:, stores] = every[:, [model.plain_columns[columns[k]] for k in stores]]
    if friction_columns:
        named = [columns[k] for k in friction_columns]
        friction = model.columns(q, qd, np.zeros_like(q), named, memory=memory)
        D[:, friction_columns] = np.einsum("tj,tjk->tk", qd, friction)
    return E, D
