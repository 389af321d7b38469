"""The double-S profile: time-optimal motion of one joint to rest.

It keeps limits of velocity, acceleration and jerk.

A motion accelerates (jerk +J, acceleration +A, jerk -J), cruises at +V and brakes (-J, -A, +J).
`theta`, the time until the jerk first turns negative, orders all such motions: their duration and
the position where they stop grow with it, from the fastest stop on. The mirrored family stops
before that position. So one root in theta gives the fastest motion to a goal, and another the
farthest position that can be reached in a given time.

Biagiotti and Melchiorri 2008, section 3.4; Kroeger and Wahl, IEEE T-RO 26 (2010), for moving
starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pieces = list[tuple[float, float, float]]  # duration [s], acceleration at its start, jerk


class ProfileLimits(NamedTuple):
    """Limits |v| <= velocity, |a| <= acceleration, |j| <= jerk of one joint; may be infinite."""

    velocity: float
    acceleration: float
    jerk: float


class DoubleSState(NamedTuple):
    """Velocity and acceleration of one joint at the start."""

    velocity: float
    acceleration: float

    def mirrored(self) -> DoubleSState:
        return DoubleSState(-self.velocity, -self.acceleration)


class PiecewiseCubic(NamedTuple):
    """Motion of one joint: times t (k + 1,) [s], and position, velocity, acceleration, jerk (k,).

    The latter are at the start of each piece.
    """

    t: Array
    p: Array
    v: Array
    a: Array
    j: Array

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at times t (N,)."""
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.j) - 1)
        h, p, v, a, j = t - self.t[i], self.p[i], self.v[i], self.a[i], self.j[i]
        return p + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j

    def candidates(self) -> Array:
        """Return times (m,) among which position and velocity have their extrema."""
        times = [*self.t]
        for start, end, v, a, j in zip(self.t, self.t[1:], self.v, self.a, self.j, strict=False):
            roots = [-a / j] if j else []
            square = a * a - 2 * j * v
            if j and square >= 0:
                roots += [(-a + math.sqrt(square)) / j, (-a - math.sqrt(square)) / j]
            elif not j and a:
                roots += [-v / a]
            times += [start + h for h in roots if 0 < h < end - start]
        return np.array(times)

    def peaks(self) -> tuple[float, float, float, float, float]:
        """Return least and largest position, and the largest |v|, |a| and |j|, of all instants."""
        p, v, _ = self(self.candidates())
        steps = np.diff(self.t)
        ends = self.a + self.j * steps
        acceleration = float(
            np.abs(np.concatenate([self.a, ends])[np.tile(steps > 0, 2)]).max(initial=0.0)
        )
        jumps = np.abs(self.a[1:] - ends[:-1]) > 1e-9 * (1.0 + acceleration)
        jerk = math.inf if jumps.any() else float(np.abs(self.j[steps > 0]).max(initial=0.0))
        return float(p.min()), float(p.max()), float(np.abs(v).max()), acceleration, jerk


def stopping_distance(state: DoubleSState, limits: ProfileLimits) -> float:
    """Return where the fastest stop ends, relative to the start [rad|m]."""
    if _settled_velocity(state, limits) < 0:
        return -_extent(_pieces(state.mirrored(), limits, 0.0), state.mirrored())[0]
    return _extent(_pieces(state, limits, 0.0), state)[0]


def fastest_motion(
    distance: float, state: DoubleSState, limits: ProfileLimits
) -> tuple[Pieces, float, float]:
    """Return the fastest motion over a distance to rest.

    Pieces, sign of the direction, duration.
    """
    sign = 1.0 if distance >= stopping_distance(state, limits) else -1.0
    begin = state if sign > 0 else state.mirrored()
    pieces = _solve(begin, limits, lambda extent: extent[0] - sign * distance, limits.velocity)
    return pieces, sign, _extent(pieces, begin)[1]


def farthest_motion(
    duration: float, state: DoubleSState, limits: ProfileLimits
) -> tuple[Pieces, float]:
    """Return the motion to rest that goes farthest forwards in a given time, and its distance."""
    pieces = _solve(state, limits, lambda extent: extent[1] - duration, 1.0)
    return pieces, _extent(pieces, state)[0]


def reach_in(
    duration: float, distance: float, state: DoubleSState, limits: ProfileLimits
) -> PiecewiseCubic:
    """Return a motion over a distance to rest in a time that is no less than the fastest one's.

    States and limits form a convex set, so a weighted mean of the motions that go farthest in both
    directions is within the limits. Its weight gives the distance exactly. Every time above the
    least one is possible: a motion can rest at its end.
    """
    best, sign, least = fastest_motion(distance, state, limits)
    if duration - least <= 1e-9 * duration:
        return weighted_sum([(sign, best)], state, duration)
    up, most = farthest_motion(duration, state, limits)
    down, opposite = farthest_motion(duration, state.mirrored(), limits)
    weight = (distance + opposite) / (most + opposite) if most + opposite > 0 else 2.0
    if not 0.0 <= weight <= 1.0:  # rounding, where duration is hardly more than the least
        return weighted_sum([(sign, best)], state, duration)
    return weighted_sum([(weight, up), (weight - 1.0, down)], state, duration)


def weighted_sum(
    parts: list[tuple[float, Pieces]], state: DoubleSState, duration: float
) -> PiecewiseCubic:
    """Add motions by weight.

    Their pieces are cut where any of them begins, and integrated from p = 0.
    """
    starts = [
        np.concatenate([[0.0], np.cumsum([piece[0] for piece in pieces])]) for _, pieces in parts
    ]
    t = np.unique(np.concatenate([*(np.minimum(times, duration) for times in starts), [duration]]))
    t = t[np.append(np.diff(t) > 1e-15 * duration, True)]
    t[0] = 0.0
    a, j = np.zeros(len(t) - 1), np.zeros(len(t) - 1)
    middle = (t[1:] + t[:-1]) / 2
    for (weight, pieces), times in zip(parts, starts, strict=True):
        table = np.array([*pieces, (0.0, 0.0, 0.0)])  # the last piece is rest
        i = np.clip(np.searchsorted(times, middle, side="right") - 1, 0, len(pieces))
        a += weight * (table[i, 1] + table[i, 2] * (t[:-1] - times[i]))
        j += weight * table[i, 2]
    h, p, v = np.diff(t), [0.0], [state.velocity]
    for step, acceleration, jerk in zip(h.tolist(), a.tolist(), j.tolist(), strict=True):
        p.append(p[-1] + step * (v[-1] + step * (acceleration / 2 + step * jerk / 6)))
        v.append(v[-1] + step * (acceleration + step * jerk / 2))
    return PiecewiseCubic(t, np.array(p[:-1]), np.array(v[:-1]), a, j)


def _settled_velocity(state: DoubleSState, limits: ProfileLimits) -> float:
    """Return the velocity after the acceleration is brought to zero at maximal jerk."""
    return state.velocity + state.acceleration * abs(state.acceleration) / (2 * limits.jerk)


def keeps_limits(state: DoubleSState, limits: ProfileLimits) -> bool:
    """Return whether a start is within the limits and can stay within them."""
    v, a = abs(state.velocity), abs(state.acceleration)
    rounding = 1.0 + 1e-12
    inside = v <= limits.velocity * rounding and a <= limits.acceleration * rounding
    return inside and abs(_settled_velocity(state, limits)) <= limits.velocity * rounding


def _theta(peak: float, state: DoubleSState, limits: ProfileLimits) -> float:
    """Return theta of the motion whose velocity has this peak [s]."""
    v0, a0 = state
    A, J = limits.acceleration, limits.jerk
    if math.isinf(peak):
        return math.inf
    if math.isinf(J):
        return max(0.0, (peak - v0) / A)
    top = math.sqrt(max(0.0, J * (peak - v0) + a0 * a0 / 2))
    if top <= A:
        return max(0.0, (top - a0) / J)
    return (A - a0) / J + (peak - v0 - (2 * A * A - a0 * a0) / (2 * J)) / A


def _pieces(
    state: DoubleSState, limits: ProfileLimits, theta: float, cruise: float = 0.0
) -> Pieces:
    """Return the motion of a theta [s], with a time of cruise [s]."""
    v0, a0 = state
    A, J = limits.acceleration, limits.jerk
    if math.isinf(J):
        top = v0 + A * theta
        return [(theta, A, 0.0), (cruise, 0.0, 0.0), (max(0.0, top / A), -A, 0.0)]
    rise = min(theta, max(0.0, (A - a0) / J))
    peak = a0 + J * rise
    hold = theta - rise
    # at zero acceleration
    v = max(0.0, v0 + (2 * peak * peak - a0 * a0) / (2 * J) + (peak * hold if hold else 0.0))
    brake = min(A, math.sqrt(J * v))
    wait = (v - A * A / J) / A if brake == A else 0.0
    down = [(max(0.0, wait), -brake, 0.0), (brake / J, -brake, J)]
    if peak < 0:  # the motion brakes already, and never stops to brake
        return [(rise, a0, J), (max(0.0, (peak + brake) / J), peak, -J), *down]
    return [
        (rise, a0, J),
        (hold, peak, 0.0),
        (peak / J, peak, -J),
        (cruise, 0.0, 0.0),
        (brake / J, 0.0, -J),
        *down,
    ]


def _extent(pieces: Pieces, state: DoubleSState) -> tuple[float, float]:
    """Return the distance and the duration of a motion."""
    p, v, t = 0.0, state.velocity, 0.0
    for h, a, j in pieces:
        p += h * (v + h * (a / 2 + h * j / 6))
        v += h * (a + h * j / 2)
        t += h
    return p, t


def _solve(
    state: DoubleSState,
    limits: ProfileLimits,
    excess: Callable[[tuple[float, float]], float],
    rate: float,
) -> Pieces:
    """Return the motion whose extent has no excess; cruising for a second adds `rate` to it."""
    from scipy.optimize import brentq

    def error(theta: float) -> float:
        return excess(_extent(_pieces(state, limits, theta), state))

    low = 0.0 if _settled_velocity(state, limits) >= 0 else _theta(0.0, state, limits)
    high = _theta(limits.velocity, state, limits)
    if error(low) >= 0:
        return _pieces(state, limits, low)
    if math.isinf(high):
        high = low + 1.0
        while error(high) < 0:
            high = low + 2 * (high - low)
    elif (missing := -error(high)) >= 0:
        return _pieces(state, limits, high, missing / rate)
    return _pieces(
        state, limits, float(brentq(error, low, high, xtol=1e-15, rtol=1e-15, maxiter=200))
    )
