"""Pseudo-inertia: ten parameters as a symmetric 4x4 matrix.

It is positive definite exactly if a real body can have the parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CallError

Array = NDArray[np.float64]


def pseudo_inertia(pi: ArrayLike) -> Array:
    """Return J = [[tr(I)/2 1 - I, h], [h^T, m]], (..., 10) -> (..., 4, 4) [kg m2, kg m, kg].

    pi: m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the frame's origin. J is the integral
    of x x^T dm with x = (r, 1). Wensing, Kim and Slotine, IEEE RA-L 3 (2018), eq. (8).
    """
    pi = np.asarray(pi, float)
    if pi.ndim == 0 or pi.shape[-1] != 10:
        raise CallError(f"a body has ten parameters in the last dimension; found shape {pi.shape}")
    return np.einsum("kij,...k->...ij", BASIS, pi)


def from_pseudo_inertia(J: ArrayLike) -> Array:
    """Return the ten parameters (..., 10) of a pseudo-inertia (..., 4, 4).

    I = tr(S) 1 - S with S its upper left block.
    """
    J = np.asarray(J, float)
    S = J[..., :3, :3]
    I = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S  # noqa: E741
    six = [I[..., i, j] for i in range(3) for j in range(i, 3)]
    return np.stack([J[..., 3, 3], *(J[..., i, 3] for i in range(3)), *six], axis=-1)


def is_consistent(pi: ArrayLike, tolerance: float = 1e-9) -> NDArray[np.bool_]:
    """Return whether real bodies can have these parameters, (..., 10) -> (...).

    No eigenvalue of J is negative. `tolerance` is relative to the largest eigenvalue: a rod or a
    plate has an eigenvalue of zero.
    """
    values = np.linalg.eigvalsh(pseudo_inertia(pi))
    return np.asarray(values[..., 0] >= -tolerance * np.maximum(np.abs(values[..., -1]), 1e-300))


def nearest_consistent(pi: ArrayLike, margin: float = 1e-9) -> Array:
    """Return the parameters (..., 10) with the nearest positive definite pseudo-inertia.

    Eigenvalues below `margin` times the largest are raised to it, which is nearest in the Frobenius
    norm. Higham, Linear Algebra Appl. 103 (1988), theorem 2.1.
    """
    values, vectors = np.linalg.eigh(pseudo_inertia(pi))
    floor = margin * np.maximum(np.abs(values).max(axis=-1, keepdims=True), np.finfo(float).tiny)
    raised = np.maximum(values, floor)
    return from_pseudo_inertia(np.einsum("...ik,...k,...jk->...ij", vectors, raised, vectors))


def load_to_body(R: Array, p: Array) -> Array:
    """Return the matrix (10, 10) that moves ten parameters from a frame to the frame of its body.

    J_body = X J X^T with the pose X = [R p; 0 1] of the frame, R (3, 3), p (3,) [m].
    """
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return from_pseudo_inertia(X @ BASIS @ X.T).T


def _basis() -> Array:
    """Return the pseudo-inertia of each unit parameter, (10, 4, 4)."""
    result = np.zeros((10, 4, 4))
    result[0, 3, 3] = 1.0
    for k in range(3):
        result[1 + k, k, 3] = result[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        if i == j:
            result[4 + k, :3, :3] = 0.5 * np.eye(3)
            result[4 + k, i, i] -= 1.0
        else:
            result[4 + k, i, j] = result[4 + k, j, i] = -1.0
    return result


BASIS = _basis()
"""J = sum of pi_k BASIS[k]."""
