"""Partial pooling: base parameters of many robots of one type, each the type's plus a deviation that is as large as the fleet shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROUNDS, SAME = 60, 1e-3  # at most, and the relative change of the spread that needs no further one
USUAL, WEIGHT = 0.03, 0.5  # spread of a parameter over its size before any robot is seen, and how many robots that counts for
ALIKE = 10.0  # robots that the spread of the other parameters of a kind counts for
FAR, LEFT = 2.5, 0.97756  # standard deviations beyond which a robot counts no more, and the variance that a normal distribution has then
FREE = 1e4  # times the spread that a parameter which stands out may deviate by
HELD = 10.0  # times its size that the type's parameter may be from the description, where no robot shows it


@dataclass(frozen=True, eq=False)
class Pooled:
    """The type's base parameters (b,), the spread of the robots about them (b,), each robot's deviation (R, b) and its covariance.

    `values_std` (R, b) is the standard deviation of each robot's parameters, in which that of the type counts too.
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
    """Return the most likely type, spread and deviations for factors (R, b + 1, b + 1) of [Y tau], whitened, of each robot.

    base_r = center + d_r, d_r ~ N(0, diag(spread^2)). The center is the generalised least-squares one, deviations are their posterior
    means given it, and the spread is that of the evidence, in which no robot counts for more than FAR standard deviations, so that it is
    that of the many. Parameters that are `free` (R, b) deviate without restraint. `start` and `sizes` (b,): the description, and typical
    values. Parameters of one of the `kinds` (b,), such as viscous friction, have like spreads over their sizes.
    Robinson, "That BLUP is a good thing", Statistical Science 6 (1991), p. 15; MacKay, Neural Computation 4 (1992), p. 415; Huber,
    "Robust Statistics", 1981, section 6.7 (proposal 2).
    """
    R = triangles[:, :, :-1] * sizes
    A = R.transpose(0, 2, 1) @ R
    h = np.einsum("rji,rj->ri", R, triangles[:, :, -1])
    alike = np.array([[a == b for b in kinds] for a in kinds], float)
    alike /= alike.sum(axis=1, keepdims=True)
    spread = np.full(len(sizes), 3 * USUAL)
    for _ in range(ROUNDS):
        center, d, C = given_spread(A, h, start / sizes, spread, free)
        before, spread = spread, next_spread(d, np.einsum("rii->ri", C), spread, alike, free)
        if np.max(np.abs(np.log(spread / before))) < SAME:
            break
    center, d, C = given_spread(A, h, start / sizes, spread, free)
    of_center = np.linalg.inv((A - A @ C @ A).sum(axis=0) + HELD**-2 * np.eye(len(spread)))
    left = np.eye(len(spread)) - C @ A  # how a robot's values follow the type's
    variance = np.einsum("rii->ri", C) + np.einsum("rij,jk,rik->ri", left, of_center, left, optimize=True)
    return Pooled(center * sizes, spread * sizes, d * sizes, C * np.outer(sizes, sizes), np.sqrt(np.maximum(variance, 0.0)) * sizes)


def given_spread(A: Array, h: Array, start: Array, spread: Array, free: Bools) -> tuple[Array, Array, Array]:
    """Return the center (b,), and each robot's deviation (R, b) and covariance (R, b, b), for information A (R, b, b), scores h (R, b)."""
    variance = spread**2 * np.where(free, FREE**2, 1.0)
    C = np.linalg.inv(A + np.eye(A.shape[1]) / variance[:, :, None])
    left = A - A @ C @ A  # (A^-1 + D)^-1: what a robot says about the type
    held = HELD**-2 * np.eye(len(spread))
    center = np.linalg.solve(left.sum(axis=0) + held, (h - np.einsum("rij,rj->ri", A @ C, h)).sum(axis=0) + held @ start)
    return center, np.asarray(np.einsum("rij,rj->ri", C, h - A @ center)), np.asarray(C)


def next_spread(d: Array, V: Array, spread: Array, alike: Array, free: Bools) -> Array:
    """Return the spread (b,) that deviations d (R, b) with posterior variances V (R, b) speak for, those that are free left out.

    `alike` (b, b) takes the mean over the parameters of a kind.
    """
    shown = np.clip(1.0 - V / spread**2, 1e-6, 1.0)  # of the variance of a deviation that its posterior mean has
    most = FAR**2 * spread**2 * shown
    squares = np.sum(np.minimum(d**2, most) * ~free, axis=0) / LEFT
    known = np.sum(shown * ~free, axis=0)
    of_kind = alike @ ((squares + WEIGHT * USUAL**2) / (known + WEIGHT))
    return np.asarray(np.sqrt((squares + ALIKE * of_kind) / (known + ALIKE)))
