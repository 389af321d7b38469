"""The collision observer: what torque the environment must have applied, from momentum alone, without accelerations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError

Array = NDArray[np.float64]


def residual(t: Array, momentum: Array, rate: Array, gain: Array, out: Array | None = None) -> Array:
    """r with dr/dt = gain (dp/dt - rate - r): the external torque through a first-order low-pass of that gain [1/s], (N, n) [N m|N].

    momentum p (N, n) and its rate without contact (N, n) at times t (N,). By the trapezoidal rule, for steps of any length.
    De Luca and Mattone 2003, eq. (9).
    """
    dt = np.diff(t)
    if t.ndim != 1 or len(t) < 2 or not np.all(dt > 0):
        raise CallError("momentum_residual: t must be at least two times that increase [s]")
    if momentum.shape != (len(t), momentum.shape[-1]):
        raise CallError(f"momentum_residual: q, qd and tau need one row for each of {len(t)} times; got shape {momentum.shape}")
    if not np.all(gain > 0):
        raise CallError(f"momentum_residual: the gain must be positive [1/s], not {gain}")
    surplus = np.diff(momentum, axis=0) - 0.5 * dt[:, None] * (rate[1:] + rate[:-1])
    if out is not None and out.shape != momentum.shape:
        raise CallError(f"momentum_residual: out has shape {out.shape}; expected {momentum.shape}")
    r = np.empty_like(momentum) if out is None else out
    r[0] = 0.0
    for k, (step, change) in enumerate(zip(dt, surplus, strict=True)):
        half = 0.5 * step * gain
        r[k + 1] = ((1.0 - half) * r[k] + gain * change) / (1.0 + half)
    return r
