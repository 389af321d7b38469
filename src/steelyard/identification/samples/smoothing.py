"""Smoothing of a log into q, qd and qdd, and the errors that its noise leaves in them."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, mention
from ...signals.clean.faults import contradicts_positions
from ...signals.log import Log
from ...signals.smooth import butterworth
from ...signals.smooth.kalman import Smoother
from ...signals.smooth.smoothed import fit_smoother
from .fourier import FourierMotion, fourier_motion
from .noise import rough
from .preparation import Preparation
from .repeats import find_period
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]
NoiseSource = Smoother | FourierMotion | Array


def smoothed(
    log: Log, options: Preparation
) -> tuple[tuple[Array, Array, Array], NDArray[np.bool_], NoiseSource, float | None]:
    """Smooth a log into q, qd and qdd.

    The smoother's variance of the acceleration decides which samples are used: it grows at the ends
    of a stretch, where neighbours are missing. A motion that repeats is averaged over its periods.

    Returns
    -------
    states : q [rad|m], qd and qdd, each (N, n)
    used : (N,) samples whose acceleration is certain enough
    noise : source of the errors; standard deviations (3, n) without a smoother
    period : [s] of a motion that repeats, None for others and where it is not searched for
    """
    every = np.ones(log.N, bool)
    method, period = options.smoothing, None
    if method == "auto":
        method = None if has_states(log) else "kalman"
        period = find_period(log, None if method is None else options.period)
        motion = None if method is None or period is None else fourier_motion(log, period)
        if motion is not None:
            return (*motion.states(log.t),), every, motion, period
    if method == "periodic":
        period = find_period(log, options.period)
        motion = None if period is None else fourier_motion(log, period)
        if motion is None:
            raise LogError(
                f"{log.where}{mention('smoothing', 'periodic')}: the motion does not repeat;"
                " expected two periods or more, without gaps"
            )
        return (*motion.states(log.t),), every, motion, period
    if method == "kalman":
        states, variance, smoother = kalman(log)
        sure = np.all(
            variance <= THRESHOLDS.uncertain_acceleration**2 * np.median(variance, axis=0), axis=1
        )
        return (
            (states[0], states[1], states[2]),
            sure if sure.sum() > THRESHOLDS.certain_share * log.N else every,
            smoother,
            period,
        )
    if method == "butterworth":
        assert options.cutoff is not None
        log = butterworth(log, options.cutoff)
    if log.qd is None or log.qdd is None:
        raise LogError(
            f"{log.where}{mention('smoothing', None)} needs qd and qdd in the log; it has"
            f" {', '.join(log.signals)}"
        )
    return (log.q, log.qd, log.qdd), every, rough(log.q, log.qd, log.qdd), period


def has_states(log: Log) -> bool:
    """Return whether velocities and accelerations are logged, and do not contradict positions."""
    return log.qd is not None and log.qdd is not None and not contradicts_positions(log)


def standing(q: Array) -> NDArray[np.bool_]:
    """Return which joints stand, (n,).

    Measured positions q (N, n) vary by white noise alone and little beside others, or hardly at
    all.
    """
    variation = q.std(axis=0)
    most = variation.max(initial=0.0)
    noise_alone = (variation <= THRESHOLDS.standing_noise_ratio * rough(q)[0]) & (
        variation <= THRESHOLDS.standing_share * most
    )
    return np.asarray(noise_alone | (variation <= THRESHOLDS.standing_share_any_noise * most))


def kalman(log: Log) -> tuple[Array, Array, Smoother]:
    """Return Kalman-smoothed q, qd, qdd (3, N, n), the variance of qdd (N, n), and the smoother."""
    smoother, qd, _ = fit_smoother(log)
    states, variance = np.empty((3, log.N, log.n)), np.empty((log.N, log.n))

    def fill(part: slice, x: Array, P: Array) -> None:
        states[:, part] = x.transpose(2, 0, 1)
        variance[part] = P[:, :, 2, 2]

    deque(smoother.each_part(fill, log.t, log.q, qd), maxlen=0)
    return (
        states,
        variance,
        smoother if qd is not None else Smoother(smoother.noise.without_velocity(), smoother.dt),
    )


def drawn_errors(t: Array, noise: NoiseSource) -> Array:
    """Return errors of q, qd and qdd (3, N, n) at times t (N,) [s].

    What the smoother makes of noise alone, or white noise.
    """
    if isinstance(noise, FourierMotion):
        return noise.errors(t)
    rng = np.random.default_rng(0)
    if not isinstance(noise, Smoother):
        return noise[:, None] * rng.normal(size=(3, len(t), noise.shape[1]))
    q, qd = (
        sigma * rng.normal(size=(len(t), noise.noise.n))
        for sigma in (noise.noise.sigma_q, finite(noise.noise.sigma_qd))
    )
    return noise.states(t, q, qd if np.isfinite(noise.noise.sigma_qd).any() else None)[0].transpose(
        2, 0, 1
    )


def finite(x: Array) -> Array:
    """Return x with zeros in place of infinity."""
    return np.where(np.isfinite(x), x, 0.0)
