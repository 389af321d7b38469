"""Velocity channels against the derivative of the position: dead, scaled, late or filtered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    """Yield findings on velocities that are not the derivative of the position.

    The model is qd(t) = a dq/dt(t - d). A factor a far from 1 indicates another unit, sign or side
    of the transmission; a delay d comes from a filter or from transport. Smoothing then uses
    positions alone. If all joints have the same factor and it is not a known unit, the time stamps
    may be wrong instead.
    """
    factor = common_factor(log)
    if factor is not None:
        yield clock_finding(factor)
        return
    for name, meaning in velocity_faults(log):
        yield Finding(
            fault="velocity channel",
            joints=(name,),
            sentence=f"{meaning}. Velocities are derived from positions instead.",
            probability=0.95,
            fix="a log without qd (log.replace(qd=None)), or with corrected velocities",
            severity="remark",
        )


def clock_finding(factor: float) -> Finding:
    """Return the finding on velocities that differ from derivatives by one common factor."""
    return Finding(
        fault="clock",
        joints=(),
        sentence=(
            f"The velocities of all joints are {factor:.3g} times the derivatives of the positions:"
            f" either the time stamps are {factor:.3g} times too far apart, or the velocities are"
            " in another unit."
        ),
        probability=0.495,
        fix=f"correction.clock = {1.0 / factor:.4g} for the time stamps, or a log without qd",
        hypotheses=("the time stamps are scaled", "the velocities are in another unit"),
    )


def common_factor(log: Log) -> float | None:
    """Return the common ratio of velocities to derivatives of positions.

    None if the ratios of the joints differ, or if the ratio is near one or near a known unit.
    """
    factors = []
    for _, t, q, qd in moving_channels(log):
        match = None if is_flat(qd) else VelocityMatch.of(t, q, qd)
        if match is None or match.factor <= 0:
            return None
        factors.append(match.factor)
    if not factors:
        return None
    factor = float(np.exp(np.mean(np.log(factors))))
    spread = max(factors) / min(factors) - 1.0
    known = any(abs(factor / u - 1.0) < THRESHOLDS.velocity_scale for u in (1.0, *UNITS))
    return None if known or spread > THRESHOLDS.velocity_spread else factor


def moving_channels(log: Log) -> Iterator[tuple[str, Array, Array, Array]]:
    """Yield name, times, positions and velocities (N,) of each joint that moves.

    The samples are the longest stretch without gaps.
    """
    usable = log.qd is not None and np.all(np.isfinite(log.t)) and np.all(np.diff(log.t) > 0)
    if not usable or log.N < THRESHOLDS.least_velocity_samples:
        return
    part = max(split(log.t), key=lambda s: s.stop - s.start)
    if part.stop - part.start < THRESHOLDS.least_velocity_samples:
        return
    assert log.qd is not None
    for name, q, qd in zip(log.labels, log.q[part].T, log.qd[part].T, strict=True):
        finite = np.all(np.isfinite(q)) and np.all(np.isfinite(qd))
        if finite and np.ptp(q) >= THRESHOLDS.standing:
            yield name, log.t[part], q, qd


def velocity_faults(log: Log) -> Iterator[tuple[str, str]]:
    """Yield joints and what is wrong with their velocity."""
    for name, t, q, qd in moving_channels(log):
        if is_flat(qd):
            yield name, f"The velocity of {name} is {qd[0]:.4g} in every sample"
            continue
        meaning = scale_and_delay(t, q, qd)
        if meaning:
            yield name, f"The velocity of {name} {meaning}"


@dataclass(frozen=True)
class VelocityMatch:
    """Fit of a velocity channel by the scaled and delayed derivative of its position.

    Parameters
    ----------
    factor : velocity over derivative
    delay, sigma : delay of the velocity and its standard deviation [s]
    harm : relative error of the velocity that the delay causes
    """

    factor: float
    delay: float
    sigma: float
    harm: float

    @classmethod
    def of(cls, t: Array, q: Array, qd: Array) -> VelocityMatch | None:
        """Match a velocity (N,); None where it does not follow the derivative."""
        dt = float(np.median(np.diff(t))) * max(1, len(t) // THRESHOLDS.velocity_samples)
        grid = np.arange(t[0], t[-1], dt)
        # differences of positions over an interval, compared with the mean velocity over it
        rate = np.gradient(np.interp(grid, t, q), dt)
        velocity = mean_over_interval(t, qd, grid)
        longest = min(THRESHOLDS.longest_velocity_delay, 0.1 * len(grid) * dt)
        estimate = estimate_delay(rate, velocity, dt, longest)
        delay, sigma = float(estimate.seconds[0]), float(estimate.sigma[0])
        if abs(float(estimate.correlation[0])) < THRESHOLDS.least_velocity_correlation:
            return None
        shifted = np.interp(grid - delay, grid, rate)
        # dq/dt over qd: noise of dq/dt averages out in the product; it would be squared in dq/dt^2
        ratio = float(velocity @ shifted) / max(float(velocity @ velocity), 1e-300)
        harm = abs(delay) * float(np.std(np.gradient(velocity, dt)) / np.std(velocity))
        return cls(factor=1.0 / ratio, delay=delay, sigma=sigma, harm=harm)


def scale_and_delay(t: Array, q: Array, qd: Array) -> str:
    """Return how a velocity differs from the derivative of its position, '' if it does not."""
    match = VelocityMatch.of(t, q, qd)
    if match is None:
        return "does not follow the derivative of its position"
    if abs(1.0 / match.factor - 1.0) > THRESHOLDS.velocity_scale:
        near = [u for u in UNITS if abs(match.factor / u - 1.0) < THRESHOLDS.velocity_scale]
        unit = f": {UNITS[near[0]]}" if near else ""
        return f"is {match.factor:.3g} times the derivative of its position{unit}"
    significant = abs(match.delay) > THRESHOLDS.velocity_delay_deviations * match.sigma
    sampled = abs(match.delay) > float(np.median(np.diff(t)))
    if significant and sampled and match.harm > THRESHOLDS.velocity_delay_harm:
        is_late = match.delay > 0
        how = "lags the derivative of its position" if is_late else "leads its position"
        return f"{how} by {1e3 * abs(match.delay):.3g} ms"
    return ""


def mean_over_interval(t: Array, qd: Array, grid: Array) -> Array:
    """Return the velocity (N,) averaged over two intervals of a grid, as a central difference."""
    distance = np.concatenate([[0.0], np.cumsum(0.5 * (qd[1:] + qd[:-1]) * np.diff(t))])
    return np.gradient(np.interp(grid, t, distance), grid[1] - grid[0])
