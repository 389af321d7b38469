"""Partial pooling: each robot has the parameters of the type plus a deviation.

The fleet itself shows how large deviations are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fleet_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pooled:
    """Base parameters (b,) of the type, their spread (b,), and deviations (R, b) of the robots.

    `covariance` (R, b, b) is the covariance of the deviations. `values_std` (R, b) is the standard
    deviation of each robot's parameters, including the type's.
    """

    center: Array
    spread: Array
    deviations: Array
    covariance: Array
    values_std: Array

    @property
    def values(self) -> Array:
        """The base parameters of each robot, (R, b)."""
        return self.center + self.deviations

    @property
    def std(self) -> Array:
        """The standard deviation of each robot's deviation, (R, b)."""
        return np.sqrt(np.maximum(np.einsum("rii->ri", self.covariance), 0.0))


def pool(triangles: Array, start: Array, sizes: Array, kinds: Sequence[str], free: Bools) -> Pooled:
    """Estimate type, spread and deviations by maximum likelihood.

    `triangles` (R, b + 1, b + 1) are whitened factors of [Y tau] of each robot. base_r = center +
    d_r, d_r ~ N(0, diag(spread^2)). The center is the generalised least-squares estimate,
    deviations are posterior means given it, and the spread maximises the evidence. No robot counts
    for more than `huber_deviations` standard deviations. Parameters that are `free` (R, b) deviate
    without a prior. `start` and `sizes` (b,) are the description and typical values. Parameters of
    one of the `kinds` (b,), such as viscous friction, have similar relative spreads. Robinson,
    "That BLUP is a good thing", Statistical Science 6 (1991), p. 15; MacKay, Neural Computation 4
    (1992), p. 415; Huber, "Robust Statistics", 1981, section 6.7 (proposal 2).
    """
    R = triangles[:, :, :-1] * sizes
    A = R.transpose(0, 2, 1) @ R
    h = np.einsum("rji,rj->ri", R, triangles[:, :, -1])
    alike = np.array([[a == b for b in kinds] for a in kinds], float)
    alike /= alike.sum(axis=1, keepdims=True)
    spread = np.full(len(sizes), 3 * THRESHOLDS.prior_spread)
    for _ in range(THRESHOLDS.pooling_rounds):
        center, d, C = pool_with_spread(A, h, start / sizes, spread, free)
        before, spread = spread, next_spread(d, np.einsum("rii->ri", C), spread, alike, free)
        if np.max(np.abs(np.log(spread / before))) < THRESHOLDS.pooling_tolerance:
            break
    center, d, C = pool_with_spread(A, h, start / sizes, spread, free)
    of_center = np.linalg.inv(
        (A - A @ C @ A).sum(axis=0) + THRESHOLDS.center_spread**-2 * np.eye(len(spread))
    )
    transfer = np.eye(len(spread)) - C @ A  # how a robot's values follow the type's
    variance = np.einsum("rii->ri", C) + np.einsum(
        "rij,jk,rik->ri", transfer, of_center, transfer, optimize=True
    )
    return Pooled(
        center * sizes,
        spread * sizes,
        d * sizes,
        C * np.outer(sizes, sizes),
        np.sqrt(np.maximum(variance, 0.0)) * sizes,
    )


def pool_with_spread(
    A: Array, h: Array, start: Array, spread: Array, free: Bools
) -> tuple[Array, Array, Array]:
    """Return the type (b,), deviations (R, b) and covariances (R, b, b) for a given spread.

    A (R, b, b) is the information and h (R, b) the score of each robot.
    """
    variance = spread**2 * np.where(free, THRESHOLDS.free_spread**2, 1.0)
    C = np.linalg.inv(A + np.eye(A.shape[1]) / variance[:, :, None])
    information = A - A @ C @ A  # (A^-1 + D)^-1: what a robot says about the type
    prior = THRESHOLDS.center_spread**-2 * np.eye(len(spread))
    center = np.linalg.solve(
        information.sum(axis=0) + prior,
        (h - np.einsum("rij,rj->ri", A @ C, h)).sum(axis=0) + prior @ start,
    )
    return center, np.asarray(np.einsum("rij,rj->ri", C, h - A @ center)), np.asarray(C)


def next_spread(d: Array, V: Array, spread: Array, alike: Array, free: Bools) -> Array:
    """Return the next estimate of the spread (b,) from deviations d (R, b).

    V (R, b) are posterior variances; parameters that are free do not count.

    `alike` (b, b) takes the mean over the parameters of a kind.
    """
    # of the variance of a deviation that its posterior mean has
    shown = np.clip(1.0 - V / spread**2, 1e-6, 1.0)
    most = THRESHOLDS.huber_deviations**2 * spread**2 * shown
    squares = np.sum(np.minimum(d**2, most) * ~free, axis=0) / THRESHOLDS.huber_variance
    known = np.sum(shown * ~free, axis=0)
    of_kind = alike @ (
        (squares + THRESHOLDS.prior_spread_weight * THRESHOLDS.prior_spread**2)
        / (known + THRESHOLDS.prior_spread_weight)
    )
    return np.asarray(
        np.sqrt((squares + THRESHOLDS.kind_weight * of_kind) / (known + THRESHOLDS.kind_weight))
    )
