"""A path with a speed profile, and bounds of its velocity, acceleration and torque.

Between grid points the path is one polynomial, and s'^2 is linear in s. So squared velocities and
accelerations are polynomials of s, bounded by their Bernstein coefficients. Torques are bounded by
inverse dynamics over intervals. Farouki, Computer Aided Geometric Design 29 (2012), for the former.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...algebra.interval import Interval
from ...checks.states import States
from ...dynamics.rnea import inverse_dynamics
from ...mechanism.tree import Tree
from .trajectory_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Path:
    """Piecewise polynomials q(s) [rad|m] of the length s of the polygon through the points."""

    curve: Any  # scipy.interpolate.PPoly
    length: float

    def derivatives(self, s: Array, order: int = 2) -> list[Array]:
        """Return q, dq/ds, d2q/ds2, ... at s, each (N, n)."""
        return [self.curve(s, nu) for nu in range(order + 1)]

    def grid(self, points: int) -> Array:
        """Return a grid (N + 1,) of about `points` intervals, with the knots among its points."""
        knots = np.unique(np.clip(self.curve.x, 0.0, self.length))
        counts = [max(1, round(points * step / self.length)) for step in np.diff(knots)]
        parts = [
            np.linspace(a, b, count, endpoint=False)
            for a, b, count in zip(knots[:-1], knots[1:], counts, strict=True)
        ]
        return np.concatenate([*parts, [self.length]])


@dataclass(frozen=True, eq=False)
class TimedPath:
    """A path with x = s'^2 (N + 1,) at grid points s (N + 1,); s'' is constant between them."""

    path: Path
    s: Array
    x: Array

    @property
    def u(self) -> Array:
        """s'' on every interval, (N,) [1/s2]."""
        return np.diff(self.x) / (2 * np.diff(self.s))

    @property
    def t(self) -> Array:
        """Times of the grid points, (N + 1,) [s]."""
        speed = np.sqrt(self.x)
        return np.concatenate([[0.0], np.cumsum(2 * np.diff(self.s) / (speed[:-1] + speed[1:]))])

    def __call__(self, times: ArrayLike) -> States:
        """Return the states at times (N,) [s]."""
        t, u, speed = self.t, self.u, np.sqrt(self.x)
        now = np.clip(np.asarray(times, dtype=float), 0.0, t[-1])
        i = np.clip(np.searchsorted(t, now, side="right") - 1, 0, len(u) - 1)
        h = now - t[i]
        s = np.clip(self.s[i] + h * (speed[i] + h * u[i] / 2), self.s[i], self.s[i + 1])
        v = (speed[i] + u[i] * h)[:, None]
        q, d, dd = self.path.derivatives(s)
        return States(q, d * v, d * u[i][:, None] + dd * v**2)

    def velocity_bounds(self) -> Array:
        """Return the largest |qd| of every interval, (N, n)."""
        d = self._coefficients(1)
        square = np.stack(
            [
                sum(d[..., j] * d[..., k - j] for j in range(max(0, k - 4), min(k, 4) + 1))
                for k in range(9)
            ],
            axis=-1,
        )
        return np.asarray(np.sqrt(np.maximum(bernstein(self._times_x(square)).max(axis=-1), 0.0)))

    def acceleration_bounds(self) -> Array:
        """Return the largest |qdd| of every interval, (N, n)."""
        return np.asarray(np.abs(bernstein(self._acceleration())).max(axis=-1))

    def torque_bounds(
        self, tree: Tree, limits: Array, rows: NDArray[np.intp] | None = None
    ) -> Array:
        """Return the largest |tau| of every interval, or of some, (N, n).

        Intervals are divided while that is above a limit (n,).
        """
        rows = np.arange(len(self.s) - 1) if rows is None else rows
        bounds, rest = np.zeros((len(rows), tree.n)), np.arange(len(rows))
        for parts in THRESHOLDS.bounded_parts:
            tau = inverse_dynamics(tree, *self._boxes(rows[rest], parts))
            size = [
                np.broadcast_to(
                    x.magnitude if isinstance(x, Interval) else np.abs(x), len(rest) * parts
                )
                for x in tau
            ]
            bounds[rest] = np.stack(size, axis=-1).reshape(len(rest), parts, tree.n).max(axis=1)
            rest = rest[(bounds[rest] > limits).any(axis=1)]
            if not len(rest):
                break
        return bounds

    def _coefficients(self, order: int) -> Array:
        """Return polynomial coefficients (N, n, 5) of a derivative of q on every interval."""
        h, start = np.diff(self.s)[:, None], self.s[:-1]
        return np.stack(
            [self.path.curve(start, order + k) * h**k / math.factorial(k) for k in range(5)],
            axis=-1,
        )

    def _times_x(self, c: Array) -> Array:
        """Return the coefficients of a polynomial times x, which is linear in tau."""
        first, rise = self.x[:-1, None, None], np.diff(self.x)[:, None, None]
        c = np.concatenate([c, np.zeros_like(c[..., :1])], axis=-1)
        c[..., 1:] = first * c[..., 1:] + rise * c[..., :-1]
        c[..., 0] *= first[..., 0]
        return c

    def _acceleration(self) -> Array:
        """Return the coefficients of qdd = d u + dd x, (N, n, 6)."""
        c = self._times_x(self._coefficients(2))
        c[..., :5] += self._coefficients(1) * self.u[:, None, None]
        return c

    def _boxes(
        self, i: NDArray[np.intp], parts: int
    ) -> tuple[list[Interval], list[Interval], list[Interval]]:
        """Return intervals of q, qd and qdd, by joint, over the parts of intervals i."""
        ends = np.linspace(0.0, 1.0, parts + 1)
        h = np.diff(self.s)[i, None, None]
        q = np.concatenate(
            [self.path.curve(self.s[i])[..., None], self._coefficients(1)[i] * h / np.arange(1, 6)],
            axis=-1,
        )
        boxes = [_ranges(c, ends) for c in (q, self._coefficients(1)[i], self._acceleration()[i])]
        speed = np.maximum(
            np.sqrt(self.x[i, None] + np.diff(self.x)[i, None] * ends),
            THRESHOLDS.resting_path_speed,
        )
        low, high = (pick(speed[:, :-1], speed[:, 1:]).ravel() for pick in (np.minimum, np.maximum))
        qd = [d * Interval(low, high) for d in boxes[1]]
        return boxes[0], qd, boxes[2]


def _ranges(c: Array, ends: Array) -> list[Interval]:
    """Bound polynomials c (N, n, k) over the parts between `ends` (m + 1,), by joint (N m,).

    Values at both ends of a part, and its width^2 / 8 times the largest second derivative beyond
    them.
    """
    power = np.arange(c.shape[-1])
    values = c @ (ends[:, None] ** power).T  # (N, n, m + 1)
    bend = (
        (np.abs(c) * power * (power - 1)).sum(axis=-1, keepdims=True) * (ends[1] - ends[0]) ** 2 / 8
    )
    low, high = (pick(values[..., :-1], values[..., 1:]) for pick in (np.minimum, np.maximum))
    return [
        Interval(a.ravel(), b.ravel())
        for a, b in zip((low - bend).swapaxes(0, 1), (high + bend).swapaxes(0, 1), strict=True)
    ]


def bernstein(c: Array) -> Array:
    """Return the Bernstein coefficients over [0, 1] of polynomials c (..., k), lowest power first.

    They bound the values.
    """
    return np.asarray(c @ _to_bernstein(c.shape[-1]).T)


@lru_cache(maxsize=8)
def _to_bernstein(count: int) -> Array:
    degree = count - 1
    return np.array(
        [[math.comb(i, k) / math.comb(degree, k) for k in range(count)] for i in range(count)]
    )
