"""Time-optimal speeds along a path.

A backward and a forward pass over the phase plane of s and s'^2.

On each interval of the path u = s'' is constant, so x = s'^2 is linear in s. Limits are lines in
the plane of x and u, at both ends of the interval. Pham and Pham, IEEE T-RO 34 (2018).

A profile keeps what both passes computed. Where only the limits of some intervals differ, the next
one computes those intervals again and the speeds that depend on them; the result is the same to the
bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Constraints:
    """|a u + b x + c| <= high at every grid point, all (N + 1, m).

    U = s'' and x = s'^2; and x <= most, (N + 1,).

    `scale` (N, m) divides the limits `high` of an interval.
    """

    a: Array
    b: Array
    c: Array
    high: Array
    most: Array
    scale: Array


class Lines(NamedTuple):
    """gradient x + low <= u <= gradient x + high for all lines of an interval, (N, k) each.

    And least <= x <= largest, (N,).
    """

    gradient: Array
    low: Array
    high: Array
    least: Array
    largest: Array


@dataclass(frozen=True, eq=False)
class SpeedProfile:
    """The fastest speeds x = s'^2 (N + 1,) along a grid s (N + 1,), and the intermediate results.

    `lines` are the bounds of u, with the x of every interval for which some u is within them;
    `low` and `high` (N + 1,) bound the x from which the end of the path can be reached.
    """

    limits: Constraints
    s: Array
    lines: Lines
    low: Array
    high: Array
    x: Array


def bounding_lines(limits: Constraints, s: Array, rows: NDArray[np.intp]) -> Lines:
    """Return the bounds of u on some intervals as lines over x, and the bounds of x alone."""
    h, ends = np.diff(s)[rows, None], rows + 1
    a = np.concatenate([limits.a[rows], limits.a[ends] + 2 * h * limits.b[ends]], axis=1)
    b, c = (np.concatenate([x[rows], x[ends]], axis=1) for x in (limits.b, limits.c))
    scale = limits.scale[rows]
    high = np.concatenate([limits.high[rows] / scale, limits.high[ends] / scale], axis=1)
    size = np.maximum(1.0, np.abs(a).max(axis=1, initial=0.0, keepdims=True))
    free = np.abs(a) <= THRESHOLDS.zero_coefficient * size
    inverse = 1.0 / np.where(free, 1.0, a)
    middle, width = -c * inverse, high * np.abs(inverse)
    width = np.where(free, np.inf, width)
    least, largest = _range(np.where(free, b, 0.0), -high - c, high - c)
    return Lines(np.where(free, 0.0, -b * inverse), middle - width, middle + width, least, largest)


def _range(gradient: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Return the least and the largest x >= 0 with low <= gradient x <= high in all columns, (N,).

    Least > largest if none.
    """
    steep = np.abs(gradient) > THRESHOLDS.parallel_gradient
    safe = np.where(steep, gradient, 1.0)
    first, second = (
        np.where(gradient > 0, low, high) / safe,
        np.where(gradient > 0, high, low) / safe,
    )
    least = np.max(np.where(steep, first, 0.0), axis=1, initial=0.0)
    largest = np.min(np.where(steep, second, np.inf), axis=1, initial=np.inf)
    void = (
        (gradient == 0.0)
        | steep
        | (
            (low <= THRESHOLDS.contradiction_rounding)
            & (high >= -THRESHOLDS.contradiction_rounding)
        )
    )
    return least, np.where(void.all(axis=1), largest, -1.0)


def speed_ranges(lines: Lines) -> tuple[Array, Array]:
    """Return the least and the largest x for which some u is within all bounds.

    Every low line is below every high one.
    """
    gradient = lines.gradient[:, :, None] - lines.gradient[:, None, :]
    difference = lines.high[:, None, :] - lines.low[:, :, None]  # gradient x <= difference
    rising = gradient > THRESHOLDS.parallel_gradient
    falling = gradient < -THRESHOLDS.parallel_gradient
    ratio = difference / np.where(rising | falling, gradient, 1.0)
    largest = np.min(np.where(rising, ratio, np.inf), axis=(1, 2), initial=np.inf)
    least = np.max(np.where(falling, ratio, 0.0), axis=(1, 2), initial=0.0)
    empty = difference < -THRESHOLDS.contradiction_rounding
    contradiction = (~(rising | falling) & empty).any(axis=(1, 2))
    largest = np.where(contradiction, -1.0, np.minimum(largest, lines.largest))
    return np.maximum(least, lines.least), largest


def fastest(limits: Constraints, s: Array, before: SpeedProfile | None = None) -> SpeedProfile:
    """Return the fastest motion over a grid (N + 1,) from rest to rest.

    Backward: the speeds from which the end can be reached. Forward: the largest acceleration that
    stays among them. Raises ProblemError where no speed keeps the limits.

    Parameters
    ----------
    limits : lines at every grid point
    s : grid points (N + 1,) [rad|m]
    before : a profile on the same grid whose limits differ in `scale` and `most` alone; saves time

    Returns
    -------
    SpeedProfile, the same with and without `before`.
    """
    if before is None:
        changed = np.ones(len(s) - 1, dtype=bool)
        lines = _feasible_lines(limits, s, np.arange(len(s) - 1))
    else:
        scaled = np.asarray((limits.scale != before.limits.scale).any(axis=1))
        changed = scaled | (limits.most != before.limits.most)[:-1]
        rows = np.flatnonzero(scaled)
        lines = Lines(*(x.copy() for x in before.lines))
        for whole, part in zip(lines, _feasible_lines(limits, s, rows), strict=True):
            whole[rows] = part
    low, high = _controllable(lines, limits.most, s, changed, before)
    x = _forward(lines, low, high, s, changed, before)
    return SpeedProfile(limits=limits, s=s, lines=lines, low=low, high=high, x=x)


def _feasible_lines(limits: Constraints, s: Array, rows: NDArray[np.intp]) -> Lines:
    """Return the lines of some intervals, with the range of x that allows some u."""
    lines = bounding_lines(limits, s, rows)
    parts = [
        speed_ranges(Lines(*(x[i : i + THRESHOLDS.compared_intervals] for x in lines)))
        for i in range(0, len(rows), THRESHOLDS.compared_intervals)
    ]
    least, largest = (
        (np.concatenate([np.zeros(0), *ends]) for ends in zip(*parts, strict=True))
        if parts
        else lines[3:]
    )
    return lines._replace(least=least, largest=largest)


def _forward(
    lines: Lines,
    low: Array,
    high: Array,
    s: Array,
    changed: NDArray[np.bool_],
    before: SpeedProfile | None,
) -> Array:
    """Return x (N + 1,) of the largest acceleration that stays between low and high (N + 1,)."""
    x, gain = np.zeros(len(s)), 2 * np.diff(s)
    new = (
        changed if before is None else changed | (low != before.low)[1:] | (high != before.high)[1:]
    )
    for i, compute in enumerate(new.tolist()):
        if before is not None and not compute and x[i] == before.x[i]:
            x[i + 1] = before.x[i + 1]
            continue
        u = (lines.gradient[i] * x[i] + lines.high[i]).min(initial=np.inf)
        x[i + 1] = min(max(x[i] + gain[i] * u, low[i + 1]), high[i + 1])
    return x


def _controllable(
    lines: Lines, most: Array, s: Array, changed: NDArray[np.bool_], before: SpeedProfile | None
) -> tuple[Array, Array]:
    """Return the least and the largest x (N + 1,) from which the end of the path can be reached."""
    gain = 1 / (2 * np.diff(s))
    least, largest = lines.least, np.minimum(lines.largest, most[:-1])
    # gain low <= gradient x + (high line), gradient x + (low line) <= gain high
    gradient = lines.gradient + gain[:, None]
    steep = np.abs(gradient) > THRESHOLDS.parallel_gradient
    inverse = np.where(steep, 1 / np.where(steep, gradient, 1.0), np.nan)
    rising: NDArray[np.bool_] = np.asarray(gradient > 0)
    weight = gain[:, None] * inverse
    upper = -np.where(rising, lines.low, lines.high) * inverse
    lower = -np.where(rising, lines.high, lines.low) * inverse
    all_rising = np.asarray(rising.all(axis=1)).tolist()
    low, high, new = np.zeros(len(s)), np.zeros(len(s)), changed.tolist()
    for i in reversed(range(len(gain))):
        near, far = low[i + 1], high[i + 1]
        if (
            before is not None
            and not new[i]
            and near == before.low[i + 1]
            and far == before.high[i + 1]
        ):
            low[i], high[i] = before.low[i], before.high[i]
            continue
        if not all_rising[i]:
            near, far = np.where(rising[i], near, far), np.where(rising[i], far, near)
        low[i] = max(least[i], np.fmax.reduce(weight[i] * near + lower[i], initial=0.0))
        high[i] = min(largest[i], np.fmin.reduce(weight[i] * far + upper[i], initial=np.inf))
        if low[i] > high[i] or (i == 0 and low[0] > 0.0):
            raise ProblemError(
                f"time_optimal: at {s[i] / s[-1]:.1%} of the path no speed keeps the limits: do the"
                " torques hold the robot's weight there? Larger limits, another path, or more"
                " points may help"
            )
    return low, high
