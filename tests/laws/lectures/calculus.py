"""Products and derivatives by differences, for comparison with the algorithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

H = 1e-4


def times(M: np.ndarray, x: np.ndarray) -> np.ndarray:
    """M x of each sample."""
    return np.einsum("...ij,...j->...i", M, x)


def transposed_times(M: np.ndarray, x: np.ndarray) -> np.ndarray:
    """M^T x of each sample."""
    return np.einsum("...ij,...i->...j", M, x)


def close(a: object, b: object, tolerance: float = 1e-10) -> None:
    assert np.abs(np.asarray(a) - b).max() <= tolerance * max(1.0, np.abs(b).max())


def rate(f: Callable[[float], np.ndarray]) -> np.ndarray:
    """df/ds at 0, by five points."""
    return (f(-2 * H) - 8 * f(-H) + 8 * f(H) - f(2 * H)) / (12 * H)


def gradient(f: Callable[[np.ndarray], np.ndarray], q: np.ndarray) -> np.ndarray:
    """df/dq of a function that returns (...), by five points, as (..., n)."""
    return np.stack([rate(lambda s, e=e: f(q + s * e)) for e in np.eye(q.shape[-1])], axis=-1)


def skew(x: np.ndarray) -> np.ndarray:
    """S(x) with S(x) y = x cross y: (..., 3) -> (..., 3, 3)."""
    return -np.cross(x[..., None, :], np.eye(3))


def axial(S: np.ndarray) -> np.ndarray:
    """x of S(x)."""
    return np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], axis=-1)
