"""Time-optimal speeds along a path: a backward and a forward pass over the phase plane of s and s'^2.

On each interval of the path u = s'' is constant, so x = s'^2 is linear in s. Limits are lines in the
plane of x and u, at both ends of the interval. Pham and Pham, IEEE T-RO 34 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError

Array = NDArray[np.float64]
TINY = 1e-12  # beside the largest coefficient of u, one that counts as zero
PARALLEL = 1e-14  # difference of slopes that counts as none
MISSED = 1e-9  # by which parallel bounds may contradict each other: rounding


@dataclass(frozen=True, eq=False)
class Constraints:
    """|a u + b x + c| <= high at every grid point, all (N + 1, m): u = s'' and x = s'^2; and x <= most, (N + 1,).

    `scale` (N, m) divides the limits `high` of an interval; by default it is 1.
    """

    a: Array
    b: Array
    c: Array
    high: Array
    most: Array
    scale: Array | float = 1.0


class Lines(NamedTuple):
    """slope x + low <= u <= slope x + high for all lines of an interval, (N, k) each; and least <= x <= largest, (N,)."""

    slope: Array
    low: Array
    high: Array
    least: Array
    largest: Array


def bounding_lines(limits: Constraints, s: Array) -> Lines:
    """Return the bounds of u on every interval as lines over x at its start, and those of x that have no u."""
    h = np.diff(s)[:, None]
    a = np.concatenate([limits.a[:-1], limits.a[1:] + 2 * h * limits.b[1:]], axis=1)
    b, c = (np.concatenate([x[:-1], x[1:]], axis=1) for x in (limits.b, limits.c))
    high = np.concatenate([limits.high[:-1] / limits.scale, limits.high[1:] / limits.scale], axis=1)
    size = np.maximum(1.0, np.abs(a).max(axis=1, initial=0.0, keepdims=True))
    free = np.abs(a) <= TINY * size
    inverse = 1.0 / np.where(free, 1.0, a)
    middle, width = -c * inverse, high * np.abs(inverse)
    width = np.where(free, np.inf, width)
    least, largest = _range(np.where(free, b, 0.0), -high - c, high - c)
    return Lines(np.where(free, 0.0, -b * inverse), middle - width, middle + width, least, largest)


def _range(slope: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the least and the largest x >= 0 with low <= slope x <= high in all columns, (N,); least > largest if none."""
    steep = np.abs(slope) > PARALLEL
    safe = np.where(steep, slope, 1.0)
    first, second = np.where(slope > 0, low, high) / safe, np.where(slope > 0, high, low) / safe
    least = np.max(np.where(steep, first, 0.0), axis=1, initial=0.0)
    largest = np.min(np.where(steep, second, np.inf), axis=1, initial=np.inf)
    void = (slope == 0.0) | steep | ((low <= MISSED) & (high >= -MISSED))
    return least, np.where(void.all(axis=1), largest, -1.0)


def speed_ranges(lines: Lines) -> tuple[Array, Array]:
    """Return the least and the largest x for which some u is within all bounds: every low line is below every high one."""
    slope = lines.slope[:, :, None] - lines.slope[:, None, :]
    room = lines.high[:, None, :] - lines.low[:, :, None]  # slope x <= room
    rising, falling = slope > PARALLEL, slope < -PARALLEL
    ratio = room / np.where(rising | falling, slope, 1.0)
    largest = np.min(np.where(rising, ratio, np.inf), axis=(1, 2), initial=np.inf)
    least = np.max(np.where(falling, ratio, 0.0), axis=(1, 2), initial=0.0)
    contradiction = (~(rising | falling) & (room < -MISSED)).any(axis=(1, 2))
    largest = np.where(contradiction, -1.0, np.minimum(largest, lines.largest))
    return np.maximum(least, lines.least), largest


def fastest(limits: Constraints, s: Array) -> Array:
    """Return x = s'^2 at the grid points of the fastest motion, (N + 1,), zero at both ends.

    Backward: the speeds from which the end can be reached. Forward: the largest acceleration that stays among them.
    Raises ProblemError where no speed keeps the limits.
    """
    lines = bounding_lines(limits, s)
    low, high = _controllable(lines, limits.most, s)
    x, h = np.zeros(len(s)), np.diff(s)
    for i in range(len(h)):
        u = (lines.slope[i] * x[i] + lines.high[i]).min(initial=np.inf)
        x[i + 1] = min(max(x[i] + 2 * h[i] * u, low[i + 1]), high[i + 1])
    return x


def _controllable(lines: Lines, most: Array, s: Array) -> tuple[Array, Array]:
    """Return the least and the largest x (N + 1,) from which the end of the path can be reached."""
    gain = 1 / (2 * np.diff(s))
    least, largest = speed_ranges(lines)
    largest = np.minimum(largest, most[:-1])
    slope = lines.slope + gain[:, None]  # gain low <= slope x + (high line), slope x + (low line) <= gain high
    steep = np.abs(slope) > PARALLEL
    inverse = np.where(steep, 1 / np.where(steep, slope, 1.0), np.nan)
    rising: NDArray[np.bool_] = np.asarray(slope > 0)
    weight = gain[:, None] * inverse
    upper = -np.where(rising, lines.low, lines.high) * inverse
    lower = -np.where(rising, lines.high, lines.low) * inverse
    all_rising = np.asarray(rising.all(axis=1))
    low, high = np.zeros(len(s)), np.zeros(len(s))
    for i in reversed(range(len(gain))):
        near, far = low[i + 1], high[i + 1]
        if not all_rising[i]:
            near, far = np.where(rising[i], near, far), np.where(rising[i], far, near)
        low[i] = max(least[i], np.fmax.reduce(weight[i] * near + lower[i], initial=0.0))
        high[i] = min(largest[i], np.fmin.reduce(weight[i] * far + upper[i], initial=np.inf))
        if low[i] > high[i] or (i == 0 and low[0] > 0.0):
            raise ProblemError(
                f"time_optimal: at {s[i] / s[-1]:.1%} of the path no speed keeps the limits: do the torques hold the robot's "
                "weight there? Larger limits, another path, or more points may help"
            )
    return low, high
