"""The promise of a fit: the torque error to expect on motions that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ..model.linear_model import Model
from ..samples.samples import Samples, joined
from .held_out import HeldOut
from .validation import Torque

Array = NDArray[np.float64]
STATES = 400  # at which the uncertainty of the torque is looked at


@dataclass(frozen=True, eq=False)
class Promise:
    """The torque error to expect, as rms (n,) [N m|N] and relative to the torque, |e| / |tau|: within the region of the samples, and
    anywhere within the joint limits at the speeds of the samples.
    """

    rms: Array
    within: float
    anywhere: float


def promise(model: Model, samples: Sequence[Samples], torque: Torque, covariance: Array, left_out: HeldOut) -> Promise:
    """Return the torque error to expect from a fit whose base parameters have this covariance (b, b).

    e_j^2 = held-out error^2 + mean over states of (Y cov Y^T)_jj. States of the region are those of the samples with the joints shuffled
    against each other: each joint moves as it did, together as they have not. `torque` (q, qd, qdd) -> (N, n) [N m|N] is that of the fit;
    errors are relative to the torque of the samples or to that of those states, whichever is smaller.
    """
    q, qd, qdd = model.possible(*shuffled(samples))
    rms = left_out.rms
    inside = spread(model, covariance, q, qd, qdd)
    far = spread(model, covariance, *model.possible(between_limits(model.robot, q), qd, qdd))
    measured = float(np.sqrt(left_out.torque_squares.sum() / max(float(left_out.counts.mean(axis=1).sum()), 1.0)))
    size = min(measured, float(np.sqrt(np.mean(np.sum(torque(q, qd, qdd) ** 2, axis=1)))))
    within, anywhere = (float(np.linalg.norm(np.sqrt(rms**2 + other**2))) / max(size, 1e-300) for other in (inside, far))
    return Promise(np.sqrt(rms**2 + inside**2), within, anywhere)


def spread(model: Model, covariance: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the rms uncertainty of each joint's torque over states (N, n), (n,) [N m|N]: sqrt(mean (Y cov Y^T)_jj)."""
    Y = model.rows(q, qd, qdd)
    return np.asarray(np.sqrt(np.maximum(np.einsum("tjb,bc,tjc->j", Y, covariance, Y, optimize=True), 0.0) / len(q)))


def shuffled(samples: Sequence[Samples]) -> tuple[Array, Array, Array]:
    """Return states (N, n) whose joints are those of the samples at other times, each joint's q, qd and qdd together."""
    rng = np.random.default_rng(0)
    q, qd, qdd = (joined([getattr(s, name) for s in samples]) for name in ("q", "qd", "qdd"))
    at = rng.integers(len(q), size=(STATES, q.shape[1]))
    joints = np.arange(q.shape[1])
    return q[at, joints], qd[at, joints], qdd[at, joints]


def between_limits(robot: Robot, q: Array) -> Array:
    """Return positions like q (N, n) spread evenly over the joint limits, over a turn where there are none."""
    rng = np.random.default_rng(1)
    limits = robot.tree.limits
    low, high = (np.array(ends) for ends in zip(*((limit.lower, limit.upper) for limit in limits), strict=True))
    turning = np.array([robot.mechanism.joint(name).kind != "prismatic" for name in robot.joint_names])
    low = np.where(np.isfinite(low), low, np.where(turning, -np.pi, q.min(axis=0)))
    high = np.where(np.isfinite(high), high, np.where(turning, np.pi, q.max(axis=0)))
    return np.asarray(rng.uniform(low, high, q.shape))
