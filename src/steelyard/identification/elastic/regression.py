"""Least squares of a signal with an uncertainty that allows for autocorrelated residuals, and smooth rates of signals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from ...signals.segments import split
from ..result.jackknife import jackknife

Array = NDArray[np.float64]
SMOOTHED = 0.8  # [kept samples] standard deviation of the window that signals and their rates are taken with
PARTS = 80  # consecutive parts of the samples, from which the uncertainty follows


def smooth(t: Array, x: Array, decimate: int, order: int = 0) -> Array:
    """Return the derivative of an order of x (N,) under a Gaussian window of SMOOTHED kept samples, stretch by stretch."""
    made, width = np.empty(len(t)), SMOOTHED * max(decimate, 2)
    for part in split(t):
        dt = float(np.mean(np.diff(t[part]))) if part.stop - part.start > 1 else 1.0
        made[part] = gaussian_filter1d(x[part], width, order=order, mode="nearest", truncate=6.0) / dt**order
    return made


def regression(X: Array, y: Array) -> tuple[Array, Array]:
    """Return least squares of y (N,) on X (N, k) and its covariance (k, k), by the jackknife over consecutive parts."""
    scale = np.linalg.norm(X, axis=0)
    scale[scale == 0] = 1.0
    U, values, Vt = np.linalg.svd(X / scale, full_matrices=False)
    inverse = np.where(values > 1e-9 * values[0], 1.0 / np.maximum(values, 1e-300), 0.0)
    x = Vt.T @ (inverse * (U.T @ y))
    half, e = Vt.T * inverse, y - (X / scale) @ x
    edges = np.linspace(0, len(y), min(PARTS, len(y)) + 1).astype(int)
    blocks = [slice(a, b) for a, b in pairwise(edges)]
    information = np.array([(X[b] / scale).T @ (X[b] / scale) for b in blocks])
    scores = np.array([(X[b] / scale).T @ e[b] for b in blocks])
    covariance = half @ jackknife(information, scores, (len(blocks),), half) @ half.T
    return x / scale, covariance / np.outer(scale, scale)
