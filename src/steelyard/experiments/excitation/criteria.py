"""Criteria of optimal design: a scalar of an information matrix A (b, b), and its derivative.

D: log det A, the volume of the confidence region. A: the mean variance. E: the worst direction.
Fedorov, Theory of Optimal Experiments, 1972; Swevers et al., IEEE Trans. Robotics and Automation 13
(1997), p. 733.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from .excitation_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class Criterion(NamedTuple):
    """A criterion: value(A, scale), and gradient(A, scale) -> (value, d value / dA (b, b)).

    -inf and NaN where A is singular.

    scale (b,) is the change of each parameter that matters equally; D does not depend on it but for
    a constant.
    """

    name: str
    value: Callable[[Array, Array], float]
    gradient: Callable[[Array, Array], tuple[float, Array]]


def log_det(A: Array, scale: Array) -> float:
    """Compute log det A."""
    return _factor(A)[0]


def log_det_gradient(A: Array, scale: Array) -> tuple[float, Array]:
    """Compute log det A and its gradient A^-1."""
    value, factor, size = _factor(A)
    if not np.isfinite(value):
        return value, np.full_like(A, np.nan)
    half, _ = dpotri(factor, lower=1)
    inverse = np.tril(half) + np.tril(half, -1).T
    return value, np.asarray(inverse / np.outer(size, size))


def _factor(A: Array) -> tuple[float, Array, Array]:
    """Compute log det A by Cholesky's factor of A, scaled to a unit diagonal.

    Returns -inf where A is not positive definite, the factor, and the scales (b,).
    """
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    factor, failed = dpotrf(A / np.outer(size, size), lower=1)
    if failed or not np.all(np.isfinite(size)):
        return -np.inf, factor, size
    return 2.0 * float(np.sum(np.log(np.diag(factor))) + np.sum(np.log(size))), factor, size


def power_mean(power: float) -> Callable[[Array, Array], tuple[float, Array]]:
    """Return value and gradient of -(b / power) log mean(v^power) over parameter variances v.

    The v are the eigenvalues of (S A S)^-1, variances of scaled parameters.

    Power 1 is the criterion A, a large power E. Times b, so that all criteria grow alike when A
    does.
    """

    def gradient(A: Array, scale: Array) -> tuple[float, Array]:
        values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
        if not values[0] > 1e-14 * values[-1]:
            return -np.inf, np.full_like(A, np.nan)
        b, relative = len(A), (values[0] / values) ** power
        value = b * float(np.log(values[0]) - np.log(np.mean(relative)) / power)
        F = (vectors * (b * relative / np.sum(relative) / values)) @ vectors.T
        return value, F * np.outer(scale, scale)

    return gradient


def largest_ratio(M: Array) -> Criterion:
    """Return the criterion of targets: the worst of several variances.

    -(b / `worst_power`) log mean(v^`worst_power`) of the variances v_i = tr(A^-1 M_i), M (k, b, b).

    dv_i = -tr(A^-1 M_i A^-1 dA). Times b, so that it grows with A as the others do.
    """

    def gradient(A: Array, scale: Array) -> tuple[float, Array]:
        value, inverse = log_det_gradient(A, scale)
        if not np.isfinite(value):
            return -np.inf, np.full_like(A, np.nan)
        b, v = len(A), np.einsum("ab,kba->k", inverse, M)
        relative = (v / v.max()) ** THRESHOLDS.worst_power
        weights = b * relative / np.sum(relative) / v
        F = inverse @ np.einsum("k,kab->ab", weights, M) @ inverse
        return -b * float(np.log(v.max()) + np.log(np.mean(relative)) / THRESHOLDS.worst_power), F

    return Criterion("targets", lambda A, scale: gradient(A, scale)[0], gradient)


_A, _E = power_mean(1.0), power_mean(THRESHOLDS.worst_power)
CRITERIA = {
    "D": Criterion("D", log_det, log_det_gradient),
    "A": Criterion("A", lambda A, scale: _A(A, scale)[0], _A),
    "E": Criterion("E", lambda A, scale: _E(A, scale)[0], _E),
}
"""The criteria by name."""
