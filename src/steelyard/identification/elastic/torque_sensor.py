"""Stiffness from torque sensors behind the gears: links lag behind their motors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...signals.log import Log
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .regression import regress_with_jackknife, smooth_derivative

Array = NDArray[np.float64]


def has_torque_sensors(log: Log) -> bool:
    """Return whether a log has sensed torques, with the motor currents in addition."""
    return log.effort == "torque" and log.current is not None


def stiffness_behind_sensors(
    problem: Problem, pi: Array, weights: Array, joints: Sequence[int]
) -> tuple[Array, Array]:
    """Estimate compliances 1 / K (k,) [rad/(N m)|m/N] and their standard deviations.

    Motor positions and sensed torques show them. A link is at q = theta - tau / K: its torque is
    the torque at the motor's position less (dtau/dq tau + dtau/dqd tau' + M tau'') / K, with exact
    derivatives of inverse dynamics. The columns of all springs are estimated with the base
    parameters. `pi` (p,) are the identified parameters, `weights` (n,) the weights of the joints'
    rows. Albu-Schaeffer and Hirzinger, ICRA 2001, p. 2852.
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
    x, covariance = regress_with_jackknife(X[used], y[used])
    return x[-len(joints) :], np.sqrt(np.diag(covariance)[-len(joints) :])


def spring_columns(
    model: Model, pi: Array, samples: Samples, joints: Sequence[int], decimate: int
) -> Array:
    """Return the torques (N, n, k) per unit compliance of each joint, smoothed for `decimate`."""
    inner = 10 * len(model.robot.tree.bodies)
    links = np.zeros(len(model.plain.parameters))
    links[:inner] = pi[:inner]
    moving = samples.base
    J = model.plain.inverse_dynamics_derivatives(
        samples.q, samples.qd, samples.qdd, base=moving, parameters=links
    )
    columns = np.empty((samples.N, model.n, len(joints)))
    for k, j in enumerate(joints):
        stretch = [
            smooth_derivative(samples.t, samples.tau[:, j], decimate, order) for order in range(3)
        ]
        columns[:, :, k] = -sum(by[:, :, j] * x[:, None] for by, x in zip(J, stretch, strict=True))
    return columns
