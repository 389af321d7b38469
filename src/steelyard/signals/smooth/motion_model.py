"""The motion that the smoother expects: a position whose k-th derivative is white noise. Discretised exactly, for any step."""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def transition(dt: ArrayLike, order: int) -> Array:
    """F(dt) (..., k, k): x(t + dt) = F x(t) for x = (q, qd, qdd, ...), the Taylor polynomial F_ij = dt^(j-i) / (j-i)!.

    dt [s] is (...). Bar-Shalom, Li and Kirubarajan, "Estimation with Applications to Tracking and Navigation", 2001, section 6.2.
    """
    power = np.subtract.outer(-np.arange(order), -np.arange(order))
    scale = np.array([[1.0 / factorial(p) if p >= 0 else 0.0 for p in row] for row in power])
    return np.asarray(scale * np.asarray(dt, float)[..., None, None] ** np.maximum(power, 0))


def diffusion(dt: ArrayLike, order: int) -> Array:
    """Q(dt) (..., k, k): the covariance that white noise of unit intensity in the k-th derivative adds in dt [s].

    Q_ij = dt^(2k-1-i-j) / ((k-1-i)! (k-1-j)! (2k-1-i-j)), i and j from 0. Bar-Shalom, Li and Kirubarajan 2001, section 6.2.
    """
    i = np.arange(order)
    power = 2 * order - 1 - np.add.outer(i, i)
    tail = np.array([factorial(order - 1 - a) for a in i], float)
    return np.asarray(np.asarray(dt, float)[..., None, None] ** power / (np.outer(tail, tail) * power))


def mirror(order: int) -> Array:
    """(k,) signs of the derivatives when time runs backwards: 1, -1, 1, ..."""
    return np.asarray((-1.0) ** np.arange(order))
