"""A log on another, uniform time base, and signals moved in time by less than a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError, LogError
from ..log import Log

Array = NDArray[np.float64]


def resample(log: Log, rate: float) -> Log:
    """The log at `rate` [Hz], each segment on its own uniform grid, by cubic splines.

    When the rate goes down, a zero-phase low-pass at 0.4 rate takes out first what would come back as an alias.
    Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., 2010, section 4.6.
    """
    from ..smooth.filters import lowpass
    from .segments import is_uniform

    if not rate > 0:
        raise CallError(f"resample: the rate must be positive, not {rate!r} Hz")
    if not np.all(np.isfinite(log.t)) or not np.all(np.diff(log.t) > 0):
        raise LogError(f"{log.where}time stamps must increase before a log can be resampled: clean(log) first")
    missing = [name for name in log.signals if not np.all(np.isfinite(getattr(log, name)))]
    if missing:
        raise LogError(f"{log.where}{missing[0]} holds NaN or infinity, and so cannot be resampled: clean(log) first")
    parts = [log[part] for part in log.segments]
    if rate < 0.99 * log.rate:
        uniform = [part if is_uniform(part.t) else on_grid(part, log.rate) for part in parts]
        parts = [filtered(part, lambda x, t: lowpass(x, t, 0.4 * rate)) for part in uniform]
    grids = [on_grid(part, rate) for part in parts]
    joined = {name: np.concatenate([getattr(part, name) for part in grids]) for name in ("t", *log.signals)}
    return plain(log).replace(**joined).remarked(f"Resampled from {log.rate:.6g} Hz to {rate:.6g} Hz.")


def plain(log: Log) -> Log:
    """The log without what belongs to one time base only, such as covariances."""
    names = ("t", "q", "tau", "qd", "qdd", "joint_names", "current", "effort", "remarks", "source")
    return Log(**{name: getattr(log, name) for name in names})


def filtered(log: Log, function) -> Log:  # type: ignore[no-untyped-def]
    """The log with function(x, t) of each signal."""
    return plain(log).replace(**{name: function(getattr(log, name), log.t) for name in log.signals})


def on_grid(log: Log, rate: float) -> Log:
    """One segment on a uniform grid from its first sample on."""
    count = int(np.floor(log.duration * rate * (1 + 1e-9) + 1e-6)) + 1
    t = log.t[0] + np.arange(count) / rate
    return plain(log).replace(t=t, **{name: spline(log.t, getattr(log, name), t) for name in log.signals})


def spline(t: Array, x: Array, at: ArrayLike) -> Array:
    """x(t) at other times by a cubic spline; straight lines where there are fewer than four samples."""
    at = np.asarray(at, float)
    if len(t) == 1:
        return np.repeat(x, len(at), axis=0)
    from scipy.interpolate import CubicSpline, make_interp_spline

    if len(t) < 4:
        return np.asarray(make_interp_spline(t, x, k=1, axis=0)(at))
    return np.asarray(CubicSpline(t, x, axis=0)(at))


def advanced(t: Array, x: Array, delay: ArrayLike) -> Array:
    """Each column of x (N, n) as it would be without its delay [s]: x_j(t + delay_j). The ends keep their first and last value."""
    shift = np.broadcast_to(np.asarray(delay, float), (x.shape[1],))
    columns = [spline(t, x[:, j], np.clip(t + shift[j], t[0], t[-1])) for j in range(x.shape[1])]
    return np.stack(columns, axis=1)
