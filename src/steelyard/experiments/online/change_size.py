"""The size of a change: an estimate that collinear columns cannot inflate, and what a joint can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...mechanism.tree import Tree

Array = NDArray[np.float64]
RANK = 1e-7  # of the largest: combinations of a change that a window shows less of are left at zero


def least_squares_size(score: Array, A: Array, B: Array) -> tuple[Array, Array]:
    """Return A^+ score (d,) and its covariance (d, d), where B (d, r) is the influence of the reference's uncertainty."""
    inverse: Array = np.linalg.pinv(A, rcond=RANK, hermitian=True).astype(float)
    return np.asarray(inverse @ score), inverse + inverse @ B @ B.T @ inverse


def friction_size(score: Array, A: Array, B: Array) -> tuple[Array, Array]:
    """Return the change of friction (d,) and its covariance (d, d).

    While a joint moves in one direction, its viscous, Coulomb and constant friction are nearly collinear:
    least squares then has terms of hundreds of N m which cancel. The prior is that no term is larger
    than the torque that changed: x_i ~ N(0, S / A_ii), with S = score^T A^+ score the squared change in
    units of its noise. It changes well-determined values by a share of 1 / S.
    Zellner, "On assessing prior distributions and Bayesian regression analysis with g-prior
    distributions", 1986.
    """
    S = float(score @ least_squares_size(score, A, B)[0])
    inverse: Array = np.linalg.pinv(A + np.diag(np.diag(A)) / max(S, 1.0), rcond=RANK, hermitian=True).astype(float)
    return np.asarray(inverse @ score), inverse + inverse @ B @ B.T @ inverse


def friction_limits(tree: Tree, joint: int, names: Sequence[str]) -> Array:
    """Return the largest possible change of friction terms (d,): all that the drive can give; infinite without a limit."""
    limit = tree.limits[joint] if tree.limits else None
    effort = limit.effort if limit is not None and limit.effort > 0.0 else np.inf
    speed = limit.velocity if limit is not None and limit.velocity > 0.0 else np.inf
    viscous = effort / speed if np.isfinite(speed) else np.inf
    return np.array([viscous if name == "Fv" else effort for name in names])


def load_limits(masses: Sequence[float], names: Sequence[str]) -> Array:
    """Return the largest possible change of a load (d,): the mass of the moving links; no limit of first moments."""
    total = float(np.sum(np.maximum(masses, 0.0))) or np.inf
    return np.array([total if name == "m" else np.inf for name in names])
