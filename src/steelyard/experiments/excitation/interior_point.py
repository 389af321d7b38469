"""The interior-point method: a criterion is made as large as the limits allow, on a path of weights of their barrier that fall.

Each step solves (B + weight * barrier'') d = -gradient, where B approximates the second derivative of the criterion alone by damped BFGS
and the barrier's is known: curvature that grows without bound near a limit is never estimated. Nocedal and Wright, Numerical Optimization,
2nd ed. 2006, sections 18.3 (damping) and 19.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from .barrier import LogBarrier
from .information import Information, Look

Array = NDArray[np.float64]
SHORTEN, SHORTEST, DESCENT, INSIDE = 0.4, 5, 1e-4, 0.95  # line search: factor, most cuts, Armijo's constant, share of the way to a limit
MEMORY = 5  # steps
SHIFTS = (1e-12, 1e-9, 1e-6, 1e-3)  # of the mean diagonal


@dataclass(frozen=True, eq=False)
class Design:
    """The problem on samples: the information of a motion with coefficients x (n, m), within limits."""

    information: Information
    barrier: LogBarrier

    def states(self, x: Array) -> Array:
        """q, qd, qdd and jerk (4, N, n)."""
        return np.asarray(self.barrier.rows @ x.T)

    def point(self, x: Array) -> Point:
        """The coefficients x (n, m) with their states, barrier and criterion; the criterion is not looked at outside the limits."""
        states = self.states(x)
        barrier = self.barrier.value(states)
        if not np.isfinite(barrier):
            return Point(x, states, barrier, -np.inf, None)
        look = self.information.look(states[:3])
        return Point(x, states, barrier, self.information.value(states[:3], look), look)

    def slope(self, states: Array, look: Look | None = None) -> Array:
        """The gradient of -criterion by the coefficients, (n, m)."""
        _, by = self.information.slopes(states[:3], look)
        return -sum((x.T @ rows for x, rows in zip(by, self.barrier.rows, strict=False)), np.zeros(1))


class Point(NamedTuple):
    """Coefficients x (n, m), their states (4, N, n), the barrier, inf outside the limits, the criterion, and what its slope needs."""

    x: Array
    states: Array
    barrier: float
    criterion: float
    look: Look | None

    def merit(self, weight: float) -> float:
        """-criterion + weight * barrier; inf outside the limits and where parameters are not excited."""
        return self.barrier if np.isinf(self.barrier) else weight * self.barrier - self.criterion


class Iterate(NamedTuple):
    """A point of the path, the gradient of -criterion, and the estimate B of its derivative, None at first."""

    point: Point
    slope: Array
    B: Array | None


def maximise(
    design: Design,
    x: Array,
    weights: Sequence[float],
    iterations: int,
    stopped: Callable[[], bool] = lambda: False,
    accuracy: float = 0.1,
    B: Array | None = None,
) -> Iterate:
    """The path from coefficients x (n, m), which must be within the limits: at most `iterations` steps for each weight of the barrier.

    B is an estimate of the second derivative of -criterion from an earlier path. A weight is left when the next step promises less than
    `accuracy` times its square root. A step may be worse than the last one, but not than the last MEMORY: dry friction makes the
    criterion jump where a joint turns back at a sample. Grippo, Lampariello and Lucidi, SIAM J. Numerical Analysis 23 (1986), p. 707.
    """
    point = design.point(x)
    at = Iterate(point, design.slope(point.states, point.look), B)
    for weight in weights:
        merits = [at.point.merit(weight)]
        best = at
        for _ in range(iterations):
            moved = None if stopped() else _step(design, at, weight, max(merits[-MEMORY:]), accuracy)
            if moved is None:
                break
            at, merit = moved, moved.point.merit(weight)
            best = at if merit < min(merits) else best
            merits.append(merit)
        at = best
    return at


def _step(design: Design, at: Iterate, weight: float, merit: float, accuracy: float) -> Iterate | None:
    """The next iterate, or None where no step helps."""
    slope, curvature, J = design.barrier.slopes(at.point.states)
    g = (at.slope + weight * slope).ravel()
    B = at.B if at.B is not None else np.eye(g.size)
    direction = _solve(B + weight * curvature, -g)
    gain = -float(g @ direction)
    if not gain > accuracy * np.sqrt(weight):
        return None
    d = direction.reshape(at.slope.shape)
    step = min(1.0, INSIDE * design.barrier.longest_step(at.point.states, design.states(d), J @ direction))
    for _ in range(SHORTEST):
        there = design.point(at.point.x + step * d)
        if there.merit(weight) <= merit - DESCENT * step * gain:
            slope = design.slope(there.states, there.look)
            return Iterate(there, slope, _updated(at.B, step * direction, (slope - at.slope).ravel()))
        step *= SHORTEN
    return None if at.B is None else _step(design, at._replace(B=None), weight, merit, accuracy)


def _solve(H: Array, g: Array) -> Array:
    """H^-1 g, with as little added to the diagonal as makes H positive definite in spite of rounding; g itself where nothing does."""
    size = np.trace(H) / len(H)
    for shift in SHIFTS:
        _, x, failed = dposv(H + shift * size * np.eye(len(H)), g)
        if not failed and np.all(np.isfinite(x)):
            return np.asarray(x)
    return g / max(size, 1e-300)


def _updated(B: Array | None, s: Array, y: Array) -> Array:
    """Powell's damped BFGS update, which stays positive definite; at first a multiple of the identity of the size that y shows."""
    if B is None:
        B = np.eye(len(s)) * max(abs(float(y @ s)) / float(s @ s), 1e-6)
    Bs = B @ s
    sBs, sy = float(s @ Bs), float(s @ y)
    share = 1.0 if sy >= 0.2 * sBs else 0.8 * sBs / (sBs - sy)
    r = share * y + (1.0 - share) * Bs
    return np.asarray(B - np.outer(Bs, Bs) / sBs + np.outer(r, r) / float(s @ r))
