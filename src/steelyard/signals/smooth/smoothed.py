"""smooth: q, qd, qdd from measured positions, by the Kalman smoother or by a Butterworth filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, LogError, suggest
from ..clean.cleaning import clean
from ..clean.faults import wrong_velocities
from ..filters import differences, lowpass
from ..log import Log
from ..resample import interpolate_spline, resample
from ..schema import optional
from ..segments import has_uniform_segments, split
from .kalman import Smoother

Array = NDArray[np.float64]

METHODS = ("kalman", "butterworth")


@dataclass(frozen=True, eq=False, repr=False)
class Smoothed(Log):
    """A log with smoothed q, qd, qdd and their covariance (N, n, 3, 3) in SI units.

    tau is as measured.
    """

    covariance: Array | None = optional("SI", "covariance of q, qd, qdd", shapes=(("n", 3, 3),))
    smoother: Smoother | None = None

    @property
    def bandwidth(self) -> Array | None:
        """Frequency (n,) [Hz] at which the smoothed position is 1/sqrt(2) of the measured one."""
        return None if self.smoother is None else self.smoother.bandwidth

    @property
    def sigma(self) -> Array:
        """Standard deviations (N, n, 3) of q [rad|m], qd [rad/s|m/s], qdd [rad/s2|m/s2]."""
        if self.covariance is None:
            raise CallError("this log has no covariance: smooth(log) gives one")
        return np.sqrt(np.einsum("...ii->...i", self.covariance))

    def select(self, names: Sequence[str]) -> Smoothed:
        """Return the named joints, in the order of the names, with their part of the smoother."""
        part = super().select(names)
        if self.smoother is None:
            return part
        index = [self.labels.index(name) for name in names]
        return part.replace(smoother=Smoother(self.smoother.noise.of(index), self.smoother.dt))


def smooth(
    log: Log,
    method: str = "kalman",
    cutoff: float | None = None,
    order: int | None = None,
    velocity: bool | None = None,
) -> Log:
    """Return the log with q, qd, qdd estimated from its positions.

    The other signals are left as measured.

    'kalman': the non-causal Kalman smoother, noise levels by maximum likelihood, covariances
    attached. `order` 3 (white jerk, default) or 4 (white snap). `velocity` says whether a measured
    qd is used too; by default it is if it fits the position. 'butterworth': zero-phase low-pass at
    `cutoff` [Hz] of the given `order` (4), central differences. Rauch, Tung and Striebel, AIAA J. 3
    (1965), p. 1445; lecture "Newton-Euler formulation and identification", on estimating qd and
    qdd.
    """
    if method not in METHODS:
        raise CallError(f"smooth: no method {method!r}: {suggest(str(method), METHODS)}")
    if method == "butterworth" and cutoff is None:
        raise CallError(
            "smooth: method='butterworth' needs a cutoff= [Hz]; method='kalman' finds its own"
        )
    if method == "kalman" and cutoff is not None:
        raise CallError(
            "smooth: method='kalman' takes no cutoff, it is found by maximum likelihood;"
            " method='butterworth' takes one"
        )
    log = drop_short_segments(clean(log), 12 if order is None else 4 * order)
    if method == "butterworth":
        assert cutoff is not None
        return butterworth(log, cutoff, 4 if order is None else order)
    return kalman_smooth(log, 3 if order is None else order, velocity)


def butterworth(log: Log, cutoff: float, order: int = 4) -> Log:
    """Return the log with q filtered by a zero-phase Butterworth filter.

    qd and qdd are its central differences; tau and the time stamps are unchanged. Positions at
    scattered stamps are interpolated to an even grid, filtered there, and the states interpolated
    back to the stamps, by cubic splines.

    |H(f)| = 1 / (1 + (f/f0)^2p), with f0 chosen so that |H(cutoff)| = 1/sqrt(2): the cut-off [Hz]
    holds for both passes together.
    Gautier, "Dynamic identification of robots with power model", ICRA 1997, pp. 1922-1927; Winter,
    "Biomechanics", 4th ed., 2009, p. 69.
    """
    remarks: tuple[str, ...] = (
        f"q was filtered by a zero-phase Butterworth of order {order} and {cutoff:.6g} Hz; qd"
        " and qdd are central differences.",
    )
    if has_uniform_segments(log.t):
        q = lowpass(log.q, log.t, cutoff, order)
        qd, qdd = differences(q, log.t)
    else:
        remarks = ("The sampling is not uniform: q was filtered on an even grid.", *remarks)
        states = on_even_grid(log.t, log.q, log.rate, cutoff, order)
        q, qd, qdd = (states[:, k] for k in range(3))
    return log.replace(q=q, qd=qd, qdd=qdd).remarked(*remarks)


def on_even_grid(t: Array, q: Array, rate: float, cutoff: float, order: int) -> Array:
    """Return q, qd and qdd (N, 3, n) at scattered times t (N,) [s], filtered on an even grid.

    Parameters
    ----------
    t, q : times (N,) [s] and positions (N, n)
    rate : of the grid [Hz]
    cutoff, order : of the zero-phase Butterworth filter [Hz]
    """
    states = np.empty((len(t), 3, q.shape[1]))
    for part in split(t):
        grid, even = resample(t[part], q[part], rate)
        smooth = lowpass(even, grid, cutoff, order)
        every = np.stack([smooth, *differences(smooth, grid)], axis=1)
        states[part] = interpolate_spline(grid, every, np.clip(t[part], grid[0], grid[-1]))
    return states


def kalman_smooth(log: Log, order: int, velocity: bool | None) -> Smoothed:
    """Return the log smoothed by the Kalman smoother."""
    smoother, qd, remarks = fit_smoother(log, order, velocity)
    x, P = smoother.states(log.t, log.q, qd)
    if not has_uniform_segments(log.t):
        remarks.append(
            f"The sampling is not uniform (about {log.rate:.4g} Hz): smoothed at its actual time"
            " stamps."
        )
    measured = {f.name: getattr(log, f.name) for f in fields(Log)}
    smoothed = Smoothed(
        **measured
        | {
            "q": x[..., 0],
            "qd": x[..., 1],
            "qdd": x[..., 2],
            "covariance": P,
            "smoother": smoother,
        }
    )
    unresolved = [
        name
        for name, f in zip(log.labels, smoother.bandwidth, strict=True)
        if f > 0.98 * 0.5 / smoother.dt
    ]
    if unresolved:
        remarks.append(
            f"The position noise of {', '.join(unresolved)} cannot be separated from motion: they"
            " are filtered or simulated. Do not use their covariance as an uncertainty."
        )
    hertz = ", ".join(f"{f:.3g}" for f in smoother.bandwidth)
    return smoothed.remarked(
        *remarks,
        f"q, qd, qdd are Kalman-smoothed; equivalent zero-phase cut-off per joint [Hz]: {hertz}.",
    )


def fit_smoother(
    log: Log, order: int = 3, velocity: bool | None = None
) -> tuple[Smoother, Array | None, list[str]]:
    """Return the smoother of a log, the velocity that it uses (None for none), and remarks.

    With velocity=None a measured velocity is used if it fits the position.
    """
    if velocity and log.qd is None:
        raise LogError(f"{log.where}smooth: velocity=True, but the log has no qd")
    qd, remarks = None if velocity is False else log.qd, []
    if qd is not None:
        remarks = list(wrong_velocities(log))
        if velocity is None and remarks:
            qd, remarks = None, [*remarks, "The measured velocity was not used."]
    return Smoother.fit(log.t, log.q, qd, order), qd, remarks


def drop_short_segments(log: Log, least: int) -> Log:
    """Return the log without segments of fewer than `least` samples.

    Raise LogError if none is left.
    """
    length = [part.stop - part.start for part in log.segments]
    if max(length) < least:
        raise LogError(
            f"{log.where}the longest stretch without a gap has {max(length)} samples: smoothing"
            f" needs at least {least}"
        )
    if min(length) >= least:
        return log
    keep = np.concatenate([np.full(count, count >= least) for count in length])
    return log[keep].remarked(
        f"{np.sum(~keep)} samples in stretches shorter than {least} samples, between gaps, were"
        " left out."
    )
