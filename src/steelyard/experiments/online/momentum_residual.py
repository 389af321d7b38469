"""The momentum residual through a first-order low-pass, with the inputs of its threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...identification.estimators.without_acceleration.momentum import held_values, momentum_columns
from ...identification.model.friction_memory import PreslidingTracker
from ...identification.model.linear_model import Model
from ...identification.result.fit import Fit
from ...robot import Robot
from .sample_rows import LowPass, SampleRows

Array = NDArray[np.float64]


class Residual(NamedTuple):
    """External torque and its context at samples; all through the same low-pass.

    external : external torque, (N, n) [N m|N]
    torque : torque of the model, (N, n) [N m|N]
    modes : derivatives of the external torque along the uncertain directions, (N, n, r) [N m|N]
    resting : share of the filter's memory in which the joint stood, (N, n)
    """

    external: Array
    torque: Array
    modes: Array
    resting: Array


@dataclass(frozen=True, eq=False)
class ModelTerms:
    """Momentum p and h with dp/dt = tau - h + external torque, of base parameters or a robot.

    h = g + friction - C^T qd. Velocities of joints at rest are taken as zero in h: the sign of
    noise carries no information about friction.
    """

    robot: Robot
    model: Model
    rows: SampleRows
    base: Array | None = None

    def momentum(
        self, q: Array, qd: Array, moved: Array, memory: Array | None = None
    ) -> tuple[Array, Array]:
        """Return p and h, both (N, n), at states (N, n); `moved` are the velocities of h.

        `memory` (N, n) has the presliding states of the samples.
        """
        known = 0.0 if self.model.known is None else self.model.known(q, moved, np.zeros_like(q))
        if self.base is None:
            zero = np.zeros_like(q)
            rate = np.asarray(self.robot.momentum_rate(q, moved, zero))
            if memory is not None:
                rate = rate - self.robot.presliding_torque(moved, memory)
            return np.asarray(self.robot.momentum(q, qd)), known - rate
        P, Z = self.rows.momentum(q, qd, memory)
        if moved is not qd:
            Z = self.rows.momentum(q, moved, memory)[1]
        p, h = P @ self.base, Z @ self.base + known
        columns = [column for column, _ in self.model.held]
        if columns:
            p = p + momentum_columns(self.model, q, qd, columns)[0] @ held_values(self.model)
            Z = momentum_columns(self.model, q, moved, columns, memory)[1]
            h = h + Z @ held_values(self.model)
        return p, h


def predicting_terms(fit: Fit) -> ModelTerms:
    """Return the terms of the model that predicts the torques of a fit.

    `fit.robot`, unless other base parameters predict held-out torque better: the held-out residuals
    of the calibration come from these, see `Fit.prediction_base`.
    """
    consistent = fit.predictor is None or fit.predictor.is_consistent
    base = None if consistent else fit.prediction_base
    robot = fit.robot.without_known_function()
    return ModelTerms(robot, fit.model, SampleRows(fit.model), base)


class MomentumResidual:
    """r = F (dp/dt + h - tau) with F = gain / (s + gain); no acceleration is needed.

    De Luca and Mattone 2003, eq. (9).

    Parameters
    ----------
    terms : momentum and h of the model
    gain : bandwidth of the low-pass [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s]
    modes : uncertain directions of the base parameters, (b, r)
    """

    def __init__(self, terms: ModelTerms, gain: float, rest: Array, modes: Array) -> None:
        self.terms, self.gain, self.rest, self.modes = terms, gain, rest, modes
        self._filter = LowPass(gain)
        self._presliding = PreslidingTracker(terms.robot)

    def run(self, q: Array, qd: Array, tau: Array, dt: Array) -> Residual:
        """Return the residual of samples (N, n), each dt (N,) [s] after the one before it."""
        (N, n), gain = q.shape, self.gain
        standing = np.abs(qd) <= self.rest
        moved, still = (
            (np.where(standing, 0.0, qd) if standing.any() else qd),
            standing.astype(float),
        )
        memory = self._presliding.run(q, qd)
        p, h = self.terms.momentum(q, qd, moved, memory)
        stored, lost = np.zeros((N, n, 0)), np.zeros((N, n, 0))
        if self.modes.size:
            P, Z = self.terms.rows.momentum(q, qd, memory)
            stored, lost = P @ self.modes, Z @ self.modes
        spread = (lost - gain * stored).reshape(N, -1)
        x = np.concatenate([h - tau - gain * p, tau, spread, still], axis=1)
        start = np.concatenate([-gain * p[0], tau[0], -gain * stored[0].ravel(), still[0]])
        y = self._filter.run(x, dt, start)
        external = gain * p + y[:, :n]
        modes = gain * stored + y[:, 2 * n : -n].reshape(stored.shape)
        return Residual(external, y[:, n : 2 * n] + external, modes, y[:, -n:])
