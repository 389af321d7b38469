"""Held-out gain of a torque delay: a delay is corrected only if it predicts torque better."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..model.rows import Rows
from .nuisance_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DelayRows:
    """Rows on which delays are compared.

    Parameters
    ----------
    rows : regressor rows (N, n, b)
    use : (N, n) rows that errors are counted on
    weights : (n,) 1/sigma of each joint
    prior : base parameters (b,) of directions that the rows do not show
    """

    rows: Rows
    use: NDArray[np.bool_]
    weights: Array
    prior: Array

    def block_errors(self, tau: Array) -> Array:
        """Return the rms error (blocks, n) of torques (N, n) on held-out blocks.

        Base parameters are fitted to the other blocks by weighted least squares.
        """
        edges = np.linspace(0, len(tau), THRESHOLDS.delay_blocks + 1).astype(int).tolist()
        blocks = [slice(a, b) for a, b in pairwise(edges)]
        parts = [self._normal_equations(tau, block) for block in blocks]
        whole = np.sum([normal for normal, _ in parts], axis=0)
        rhs = np.sum([cross for _, cross in parts], axis=0)
        ridge = THRESHOLDS.delay_ridge * np.maximum(np.diag(whole), 1e-300)
        errors = np.empty((len(blocks), tau.shape[1]))
        for k, (block, (normal, cross)) in enumerate(zip(blocks, parts, strict=True)):
            base = np.linalg.solve(
                whole - normal + np.diag(ridge), rhs - cross + ridge * self.prior
            )
            e = (tau[block] - self.rows[block] @ base) * self.use[block]
            count = np.maximum(np.sum(self.use[block], axis=0), 1)
            errors[k] = np.sqrt(np.sum(e**2, axis=0) / count)
        return errors

    def _normal_equations(self, tau: Array, block: slice) -> tuple[Array, Array]:
        rows = self.rows[block]
        normal, cross = np.zeros((rows.width, rows.width)), np.zeros(rows.width)
        for j, columns in enumerate(rows.reach.columns):
            A = rows.row(j) * self.weights[j]
            normal[np.ix_(columns, columns)] += A.T @ A
            cross[columns] += A.T @ (tau[block, j] * self.weights[j])
        return normal, cross


def away_from_reversals(t: Array, qd: Array) -> NDArray[np.bool_]:
    """Return the samples (N, n) that are farther than `reversal_time` from a reversal of a joint.

    Friction with memory lags near reversals as a delayed torque does, and nowhere else. Joints that
    hardly ever move away from reversals use all samples.
    """
    away = np.ones(qd.shape, bool)
    for j, speed in enumerate(qd.T):
        reversals = t[1:][np.sign(speed[1:]) != np.sign(speed[:-1])]
        if not len(reversals):
            continue
        after = np.searchsorted(reversals, t)
        before = t - reversals[np.maximum(after - 1, 0)]
        ahead = reversals[np.minimum(after, len(reversals) - 1)] - t
        distance = np.minimum(np.abs(before), np.abs(ahead))
        far = distance > THRESHOLDS.reversal_time
        away[:, j] = far if np.mean(far) > THRESHOLDS.least_away_share else True
    return away


def confirmed_delay(compared: DelayRows, delay: Array, torques: dict[str, Array]) -> Array:
    """Return the delays (n,) [s] that lower errors on held-out blocks, 0 for the others.

    `torques` (N, n) are "measured", without the "common" delay, and without each joint's "own". A
    single joint that differs from the others, or torque that is early, needs a larger gain in more
    blocks. Torque that stays unexplained shows no delay.
    """
    common = common_value(delay)
    errors = compared.block_errors(torques["measured"])
    result = np.zeros_like(delay)
    if common:
        shared = np.flatnonzero(delay == common)
        without = compared.block_errors(torques["common"])
        gain = np.mean(log_ratio(errors, without)[:, shared], axis=1)
        late = common > 0
        least = THRESHOLDS.common_delay_gain if late else THRESHOLDS.joint_delay_gain
        share = THRESHOLDS.common_delay_share if late else THRESHOLDS.joint_delay_share
        explained = is_explained(without[:, shared], torques["common"][:, shared])
        if explained and is_relevant(gain, least, share):
            result[:], errors = common, without
    single = [j for j in range(len(delay)) if delay[j] != common]
    if single:
        without = compared.block_errors(torques["own"])
        for j in single:
            gain = log_ratio(errors[:, j], without[:, j])
            explained = is_explained(without[:, [j]], torques["own"][:, [j]])
            if explained and is_relevant(
                gain, THRESHOLDS.joint_delay_gain, THRESHOLDS.joint_delay_share
            ):
                result[j] = delay[j]
    return result


def common_value(delay: Array) -> float:
    """Return the delay that most joints have, the smallest of several."""
    values, counts = np.unique(delay, return_counts=True)
    return float(values[np.lexsort((np.abs(values), -counts))[0]])


def is_relevant(gain: Array, least: float, share: float) -> bool:
    """Return whether log ratios of errors (blocks,) are positive in most blocks, and large."""
    return bool(np.mean(gain) >= least and np.mean(gain > 0) >= share)


def is_explained(errors: Array, tau: Array) -> bool:
    """Return whether errors (blocks, k) of torques (N, k) are small beside most of these."""
    size = np.maximum(np.sqrt(np.mean(tau**2, axis=0)), 1e-300)
    relative = np.sqrt(np.mean(errors**2, axis=0)) / size
    return bool(np.median(relative) < THRESHOLDS.delay_error)


def log_ratio(errors: Array, others: Array) -> Array:
    """Return log(errors / others); 0 in blocks without a row in use, whose errors are zero."""
    used = (errors > 0) & (others > 0)
    return np.asarray(
        np.where(used, np.log(np.where(used, errors, 1.0) / np.where(used, others, 1.0)), 0.0)
    )
