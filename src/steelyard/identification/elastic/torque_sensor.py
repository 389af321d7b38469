"""Stiffness from torque sensors behind the gears: links that lag their motors change the torque that moves them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...signals.log import Log
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .regression import regression, smooth

Array = NDArray[np.float64]


def has_torque_sensors(log: Log) -> bool:
    """Return whether the torques of a log are those of sensors: it has the motors' currents beside them."""
    return log.effort == "torque" and log.current is not None


def stiffness_behind_sensors(problem: Problem, pi: Array, weights: Array, joints: Sequence[int]) -> tuple[Array, Array]:
    """Return compliances 1 / K (k,) [rad/(N m)|m/N] of joints and their standard deviations, from motor positions and sensed torques.

    A link is at q = theta - tau / K: its torque is that of the motor's position less (dtau/dq tau + dtau/dqd tau' + M tau'') / K, with the
    exact derivatives of inverse dynamics. The columns of all springs are found together with the base parameters. `pi` (p,) are the
    parameters that were identified, `weights` (n,) those of the joints' rows. Albu-Schaeffer and Hirzinger, ICRA 2001, p. 2852.
    """
    model = problem.model

    def columns(samples: Samples, log: int) -> Array:
        return spring_columns(model, pi, samples, joints, problem.decimate)

    sprung = Problem(model, problem.samples, problem.decimate, columns)
    rows, right = [], []
    for block in sprung.blocks():
        keep = np.ones(block.tau.shape, bool) if block.keep is None else block.keep
        rows.append((block.Y * weights[:, None])[keep])
        right.append((block.tau * weights)[keep])
    X, y = np.concatenate(rows), np.concatenate(right)
    used = np.all(np.isfinite(X), axis=1)
    x, covariance = regression(X[used], y[used])
    return x[-len(joints) :], np.sqrt(np.diag(covariance)[-len(joints) :])


def spring_columns(model: Model, pi: Array, samples: Samples, joints: Sequence[int], decimate: int) -> Array:
    """Return what a unit compliance of each of some joints adds to the torques, (N, n, k).

    Torques are smoothed as one in `decimate` samples are kept.
    """
    inner = 10 * len(model.robot.tree.bodies)
    links = np.zeros(len(model.plain.parameters))
    links[:inner] = pi[:inner]
    moving = samples.base
    J = model.plain.inverse_dynamics_derivatives(samples.q, samples.qd, samples.qdd, base=moving, parameters=links)
    made = np.empty((samples.N, model.n, len(joints)))
    for k, j in enumerate(joints):
        stretch = [smooth(samples.t, samples.tau[:, j], decimate, order) for order in range(3)]
        made[:, :, k] = -sum(by[:, :, j] * x[:, None] for by, x in zip(J, stretch, strict=True))
    return made
