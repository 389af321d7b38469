"""A motion through given positions at given times: cubic splines, whose accelerations are continuous."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...checks.states import States
from ...errors import CallError
from .trajectory import Trajectory, trajectory

Array = NDArray[np.float64]


def spline(t: ArrayLike, q: ArrayLike, rate: float = 1000.0, joint_names: tuple[str, ...] = ()) -> Trajectory:
    """The smoothest motion through positions q (K, n) [rad|m] at times t (K,) [s], from rest to rest.

    Piecewise cubic with continuous accelerations; of all motions through these points it has the least integral of squared acceleration.
    de Boor, "A Practical Guide to Splines", 1978, chapter 5.
    """
    from scipy.interpolate import CubicSpline

    times, points = numbers("spline: t", t), numbers("spline: q", q)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
        raise CallError("spline: t must be at least two times that increase [s]")
    if points.ndim != 2 or len(points) != len(times):
        raise CallError(f"spline: q has shape {points.shape}; expected ({len(times)}, n), one row for each time")
    if not (np.all(np.isfinite(points)) and np.all(np.isfinite(times))):
        raise CallError("spline: times and positions must be finite")
    start = float(times[0])
    curve = CubicSpline(times - start, points, bc_type="clamped")
    rates = curve.derivative(1), curve.derivative(2)

    def motion(s: ArrayLike) -> States:
        at = np.clip(np.asarray(s, dtype=float), 0.0, float(times[-1]) - start)
        return States(curve(at), rates[0](at), rates[1](at))

    return trajectory(motion, float(times[-1]) - start, rate, joint_names)
