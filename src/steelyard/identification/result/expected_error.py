"""The torque error of a fit on motions that it has not seen, and of joints at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ..model.known import Torque
from ..model.linear_model import Model
from ..samples.samples import Samples, joined, shuffled_states
from .held_out import HeldOut
from .prediction import thinned
from .result_thresholds import THRESHOLDS
from .validation import Validation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """Torque error within the region of the samples, and anywhere within the joint limits.

    `rms` and `rms_anywhere` (n,) [N m|N] are per joint; `within` and `anywhere` are relative to
    the torque of all joints, |e| / |tau|. Unseen motions at the speeds of the samples hardly exceed
    them; `mean_rms` (n,) and `mean` are the average errors within the region.
    """

    rms: Array
    rms_anywhere: Array
    within: float
    anywhere: float
    mean_rms: Array
    mean: float


def expected_error(
    model: Model,
    samples: Sequence[Samples],
    torque: Torque,
    covariance: Array,
    cross_validation: HeldOut,
    drift: Array | float = 0.0,
) -> ExpectedError:
    """Compute the torque error of a fit that unseen motions hardly exceed.

    e_j^2 = (r times the largest cross-validated error of a part)^2 + mean over states of
    (Y cov Y^T)_jj + drift_j^2, with the ratio r of errors on other motions. States of the region
    are the states of the samples with the joints shuffled against each other: each joint moves as
    it did, in combinations that were not recorded. Errors are relative to the torque of the samples
    or to the torque of those states, whichever is smaller.

    Parameters
    ----------
    model : the identified model
    samples : the samples of all logs
    torque : torque function (q, qd, qdd) -> (N, n) [N m|N] of the fit
    covariance : (b, b) of the base parameters
    cross_validation : errors of parts of the samples predicted from the others
    drift : (n,) by which friction may differ in another log [N m|N], see `friction_drift`

    Returns
    -------
    ExpectedError
    """
    q, qd, qdd = model.feasible_states(*shuffled_states(samples, THRESHOLDS.expected_error_states))
    ratio = THRESHOLDS.unseen_ratio
    rms, total = ratio * cross_validation.largest, ratio * cross_validation.largest_total
    inside = torque_std(model, covariance, q, qd, qdd)
    far = torque_std(
        model, covariance, *model.feasible_states(between_limits(model.robot, q), qd, qdd)
    )
    rows = max(float(cross_validation.counts.mean(axis=1).sum()), 1.0)
    measured = float(np.sqrt(cross_validation.torque_squares.sum() / rows))
    size = min(measured, float(np.sqrt(np.mean(np.sum(torque(q, qd, qdd) ** 2, axis=1)))))
    spreads = [np.sqrt(std**2 + np.square(drift)) for std in (inside, far)]
    per_joint = [np.sqrt(rms**2 + spread**2) for spread in spreads]
    size = max(size, 1e-300)
    within, anywhere = (float(np.sqrt(total**2 + np.sum(spread**2))) / size for spread in spreads)
    mean = np.sqrt(cross_validation.rms**2 + inside**2)
    return ExpectedError(
        rms=per_joint[0],
        rms_anywhere=per_joint[1],
        within=within,
        anywhere=anywhere,
        mean_rms=mean,
        mean=float(np.linalg.norm(mean)) / size,
    )


def friction_drift(robot: Robot, samples: Sequence[Samples], drift_rms: Array) -> Array:
    """Return how much the friction of each joint may differ in another log, (n,) [N m|N].

    Friction that drifts along a log depends on temperature, which differs in other logs. A linear
    drift of rms r changes by 2 sqrt(3) r over the log. The fastest relative drift of all joints is
    extrapolated at every joint over `drift_seconds`, over at most `drift_lengths` times the length
    of the log, and to at most the share `largest_drift` of the joint's friction.

    Parameters
    ----------
    robot : the identified robot
    samples : samples of all logs
    drift_rms : (n,) torque that drifts along the logs [N m|N]
    """
    if not np.any(drift_rms):
        return np.zeros(robot.n)
    q, qd = (joined([getattr(thinned(s), name) for s in samples]) for name in ("q", "qd"))
    friction = np.sqrt(np.mean(robot.friction_torque(qd, q) ** 2, axis=0))
    seconds = max(float(s.t[-1] - s.t[0]) for s in samples)
    rate = 2.0 * np.sqrt(3.0) * np.max(drift_rms / np.maximum(friction, 1e-300)) / seconds
    ahead = min(THRESHOLDS.drift_seconds, THRESHOLDS.drift_lengths * seconds)
    share = min(rate * ahead, THRESHOLDS.largest_drift)
    return np.asarray(share * friction)


def torque_std(model: Model, covariance: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the rms uncertainty of each joint's torque over states (N, n), (n,) [N m|N].

    sqrt(mean (Y cov Y^T)_jj).
    """
    Y = model.rows(q, qd, qdd)
    variance = np.einsum("tjb,bc,tjc->j", Y, covariance, Y, optimize=True) / len(q)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


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


@dataclass(frozen=True, eq=False)
class RestingTorque:
    """Errors of the predicted torque of joints at rest.

    The friction of a resting joint is anywhere within its stiction, so that no model predicts it;
    its size follows from the rows that are left out.

    Parameters
    ----------
    speeds : (n,) [rad/s|m/s] below which the rows of a joint are left out, 0 for all rows in use
    rms : (n,) root mean square error at rest [N m|N], NaN without rows
    std : (n,) standard deviation of the normal distribution with the same 95 % [N m|N]
    """

    speeds: Array
    rms: Array
    std: Array

    def variance(self, qd: Array) -> Array:
        """Return the variance (..., n) of the torque at velocities (..., n), 0 while moving."""
        return np.where(np.abs(qd) < self.speeds, np.nan_to_num(self.std) ** 2, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain data."""
        return {"speeds": self.speeds, "rms": self.rms, "std": self.std}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RestingTorque:
        """Return the errors that `to_dict` wrote, JSON in between: None stands for NaN."""
        arrays = {name: np.array(data[name], float) for name in ("speeds", "rms", "std")}
        return cls(**arrays)


def resting_torque(validation: Validation, speeds: Array | None) -> RestingTorque | None:
    """Return the errors of joints at rest on the samples of a fit; None where all rows are used.

    Parameters
    ----------
    validation : the fit on its own samples
    speeds : (n,) mask of the samples [rad/s|m/s], None without one
    """
    if speeds is None or validation.keep.all():
        return None
    error = np.abs(validation.measured - validation.predicted)
    left_out = [error[~keep, j] for j, keep in enumerate(validation.keep.T)]
    rms = np.array([np.sqrt(np.mean(e**2)) if len(e) else np.nan for e in left_out])
    quantile = [np.quantile(e, THRESHOLDS.noise_quantile) if len(e) else np.nan for e in left_out]
    return RestingTorque(speeds, rms, np.array(quantile) / THRESHOLDS.band_deviations)
