"""The expected torque error of a fit on motions that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ..model.known import Torque
from ..model.linear_model import Model
from ..samples.samples import Samples, joined
from .held_out import HeldOut
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """Expected torque error within the region of the samples, and anywhere within the joint limits.

    `rms` and `rms_anywhere` (n,) [N m|N] are per joint; `within` and `anywhere` are relative to
    the torque of all joints, |e| / |tau|. Both are at the speeds of the samples.
    """

    rms: Array
    rms_anywhere: Array
    within: float
    anywhere: float


def expected_error(
    model: Model,
    samples: Sequence[Samples],
    torque: Torque,
    covariance: Array,
    cross_validation: HeldOut,
) -> ExpectedError:
    """Compute the expected torque error of a fit.

    e_j^2 = cross-validated error^2 + mean over states of (Y cov Y^T)_jj. States of the region are
    the states of the samples with the joints shuffled against each other: each joint moves as it
    did, in combinations that were not recorded. Errors are relative to the torque of the samples or
    to the torque of those states, whichever is smaller.

    Parameters
    ----------
    model : the identified model
    samples : the samples of all logs
    torque : torque function (q, qd, qdd) -> (N, n) [N m|N] of the fit
    covariance : (b, b) of the base parameters
    cross_validation : errors of parts of the samples predicted from the others

    Returns
    -------
    ExpectedError
    """
    q, qd, qdd = model.feasible_states(*shuffled(samples))
    rms = cross_validation.rms
    inside = torque_std(model, covariance, q, qd, qdd)
    far = torque_std(
        model, covariance, *model.feasible_states(between_limits(model.robot, q), qd, qdd)
    )
    rows = max(float(cross_validation.counts.mean(axis=1).sum()), 1.0)
    measured = float(np.sqrt(cross_validation.torque_squares.sum() / rows))
    size = min(measured, float(np.sqrt(np.mean(np.sum(torque(q, qd, qdd) ** 2, axis=1)))))
    per_joint = [np.sqrt(rms**2 + std**2) for std in (inside, far)]
    within, anywhere = (float(np.linalg.norm(error)) / max(size, 1e-300) for error in per_joint)
    return ExpectedError(per_joint[0], per_joint[1], within, anywhere)


def torque_std(model: Model, covariance: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the rms uncertainty of each joint's torque over states (N, n), (n,) [N m|N].

    sqrt(mean (Y cov Y^T)_jj).
    """
    Y = model.rows(q, qd, qdd)
    variance = np.einsum("tjb,bc,tjc->j", Y, covariance, Y, optimize=True) / len(q)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def shuffled(samples: Sequence[Samples]) -> tuple[Array, Array, Array]:
    """Return states (N, n) that take each joint's q, qd and qdd from another sample."""
    rng = np.random.default_rng(0)
    q, qd, qdd = (joined([getattr(s, name) for s in samples]) for name in ("q", "qd", "qdd"))
    rows = rng.integers(len(q), size=(THRESHOLDS.expected_error_states, q.shape[1]))
    joints = np.arange(q.shape[1])
    return q[rows, joints], qd[rows, joints], qdd[rows, joints]


def between_limits(robot: Robot, q: Array) -> Array:
    """Return random positions like q (N, n), uniform over the joint limits or over a turn."""
    rng = np.random.default_rng(1)
    limits = robot.tree.limits
    ends = zip(*((limit.lower, limit.upper) for limit in limits), strict=True)
    low, high = (np.array(end) for end in ends)
    kinds = [robot.mechanism.joint(name).kind for name in robot.joint_names]
    turning = np.array([kind != "prismatic" for kind in kinds])
    low = np.where(np.isfinite(low), low, np.where(turning, -np.pi, q.min(axis=0)))
    high = np.where(np.isfinite(high), high, np.where(turning, np.pi, q.max(axis=0)))
    return np.asarray(rng.uniform(low, high, q.shape))
