"""Velocity channels against the derivative of the position: dead, scaled, late or filtered."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.delay import estimate_delay
from ...signals.clean.faults import is_flat
from ...signals.log import Log
from ...signals.segments import split
from .doctor_thresholds import THRESHOLDS
from .finding import Finding

Array = NDArray[np.float64]
UNITS = {
    180 / np.pi: "degrees per second",
    30 / np.pi: "revolutions per minute",
    0.5 / np.pi: "turns per second",
    -1.0: "another sign",
}


def velocity_findings(log: Log) -> Iterator[Finding]:
    """Yield remarks on velocities that are not the derivative of the position.

    qd(t) = a dq/dt(t - d): a factor a far from 1 is another unit, sign or transmission side, a
    delay d comes from a filter or from the transport. Smoothing then uses positions alone.
    """
    sentences = tuple(velocity_faults(log))
    for name, meaning in sentences:
        yield Finding(
            fault="velocity channel",
            joints=(name,),
            sentence=f"{meaning}. Velocities are derived from positions instead.",
            probability=0.95,
            fix="a log without qd (log.replace(qd=None)), or with corrected velocities",
            severity="remark",
        )


def velocity_faults(log: Log) -> Iterator[tuple[str, str]]:
    """Yield joints and what is wrong with their velocity."""
    usable = log.qd is not None and np.all(np.isfinite(log.t)) and np.all(np.diff(log.t) > 0)
    if not usable or log.N < THRESHOLDS.least_velocity_samples:
        return
    part = max(split(log.t), key=lambda s: s.stop - s.start)
    if part.stop - part.start < THRESHOLDS.least_velocity_samples:
        return
    for j, name in enumerate(log.labels):
        assert log.qd is not None
        t, q, qd = log.t[part], log.q[part, j], log.qd[part, j]
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(qd))):
            continue
        if np.ptp(q) < THRESHOLDS.standing:
            continue
        if is_flat(qd):
            yield name, f"The velocity of {name} is {qd[0]:.4g} in every sample"
            continue
        meaning = scale_and_delay(t, q, qd)
        if meaning:
            yield name, f"The velocity of {name} {meaning}"


def scale_and_delay(t: Array, q: Array, qd: Array) -> str:
    """Return how a velocity differs from the derivative of its position, '' if it does not."""
    dt = float(np.median(np.diff(t))) * max(1, len(t) // THRESHOLDS.velocity_samples)
    grid = np.arange(t[0], t[-1], dt)
    # differences of positions over an interval, compared with the mean velocity over it
    rate = np.gradient(np.interp(grid, t, q), dt)
    velocity = mean_over_interval(t, qd, grid)
    longest = min(THRESHOLDS.longest_velocity_delay, 0.1 * len(grid) * dt)
    estimate = estimate_delay(rate, velocity, dt, longest)
    delay, sigma = float(estimate.seconds[0]), float(estimate.sigma[0])
    if abs(float(estimate.correlation[0])) < THRESHOLDS.least_velocity_correlation:
        return "does not follow the derivative of its position"
    shifted = np.interp(grid - delay, grid, rate)
    # dq/dt over qd: noise of the differences averages out in the numerator and is not squared
    ratio = float(velocity @ shifted) / max(float(velocity @ velocity), 1e-300)
    if abs(ratio - 1.0) > THRESHOLDS.velocity_scale:
        factor = 1.0 / ratio
        near = [u for u in UNITS if abs(factor / u - 1.0) < THRESHOLDS.velocity_scale]
        unit = f": {UNITS[near[0]]}" if near else ""
        return f"is {factor:.3g} times the derivative of its position{unit}"
    harm = abs(delay) * float(np.std(np.gradient(velocity, dt)) / np.std(velocity))
    significant = abs(delay) > THRESHOLDS.velocity_delay_deviations * sigma
    sampled = abs(delay) > float(np.median(np.diff(t)))
    if significant and sampled and harm > THRESHOLDS.velocity_delay_harm:
        how = "lags the derivative of its position" if delay > 0 else "leads its position"
        return f"{how} by {1e3 * abs(delay):.3g} ms"
    return ""


def mean_over_interval(t: Array, qd: Array, grid: Array) -> Array:
    """Return the velocity (N,) averaged over two intervals of a grid, as a central difference."""
    distance = np.concatenate([[0.0], np.cumsum(0.5 * (qd[1:] + qd[:-1]) * np.diff(t))])
    return np.gradient(np.interp(grid, t, distance), grid[1] - grid[0])
