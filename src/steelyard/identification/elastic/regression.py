"""Regression with autocorrelated residuals, and smoothed derivatives of signals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from ...signals.segments import split
from ..result.jackknife import jackknife
from .elastic_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def smooth_derivative(t: Array, x: Array, decimate: int, order: int = 0) -> Array:
    """Return a derivative of x (N,) under a Gaussian window, stretch by stretch.

    `smoothing_width` is its standard deviation in decimated samples.
    """
    smoothed, width = np.empty(len(t)), THRESHOLDS.smoothing_width * max(decimate, 2)
    for part in split(t):
        dt = float(np.mean(np.diff(t[part]))) if part.stop - part.start > 1 else 1.0
        smoothed[part] = (
            gaussian_filter1d(x[part], width, order=order, mode="nearest", truncate=6.0) / dt**order
        )
    return smoothed


def regress_with_jackknife(X: Array, y: Array) -> tuple[Array, Array]:
    """Return least squares of y (N,) on X (N, k) and its jackknife covariance (k, k)."""
    scale = np.linalg.norm(X, axis=0)
    scale[scale == 0] = 1.0
    U, values, Vt = np.linalg.svd(X / scale, full_matrices=False)
    inverse = np.where(values > 1e-9 * values[0], 1.0 / np.maximum(values, 1e-300), 0.0)
    x = Vt.T @ (inverse * (U.T @ y))
    half, e = Vt.T * inverse, y - (X / scale) @ x
    edges = np.linspace(0, len(y), min(THRESHOLDS.jackknife_parts, len(y)) + 1).astype(int)
    blocks = [slice(a, b) for a, b in pairwise(edges)]
    information = np.array([(X[b] / scale).T @ (X[b] / scale) for b in blocks])
    scores = np.array([(X[b] / scale).T @ e[b] for b in blocks])
    covariance = half @ jackknife(information, scores, (len(blocks),), half) @ half.T
    return x / scale, covariance / np.outer(scale, scale)
