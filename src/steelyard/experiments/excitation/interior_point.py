"""The interior-point method: a criterion is made as large as the limits allow, on a path of weights of their barrier that fall.

Each step solves (B + weight * barrier'') d = -gradient, where B approximates the second derivative of the criterion alone by damped BFGS
and the barrier's is known: curvature that grows without bound near a limit is never estimated. Nocedal and Wright, Numerical Optimization,
2nd ed. 2006, sections 18.3 (damping) and 19.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from .barrier import LogBarrier
from .information import Information

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

    def merit(self, states: Array, weight: float) -> float:
        """-criterion + weight * barrier; inf outside the limits and where parameters are not excited."""
        barrier = self.barrier.value(states)
        return barrier if np.isinf(barrier) else weight * barrier - self.information.value(states[:3])

    def slope(self, states: Array) -> Array:
        """The gradient of -criterion by the coefficients, (n, m)."""
        _, by = self.information.slopes(states[:3])
        return -sum((x.T @ rows for x, rows in zip(by, self.barrier.rows, strict=False)), np.zeros(1))


class Iterate(NamedTuple):
    """A point of the path: coefficients, states, the gradient of -criterion, and the estimate B of its derivative, None at first."""

    x: Array
    states: Array
    slope: Array
    B: Array | None


def maximise(
    design: Design, x: Array, weights: Sequence[float], iterations: int, stopped: Callable[[], bool] = lambda: False, accuracy: float = 0.02
) -> Array:
    """The coefficients (n, m) after at most `iterations` steps for each weight of the barrier; x must be within the limits.

    A weight is left when the next step promises less than `accuracy` times its square root. A step may be worse than the last one, but not
    than the last MEMORY: dry friction makes the criterion jump where a joint turns back at a sample. Grippo, Lampariello and Lucidi, SIAM
    J. Numerical Analysis 23 (1986), p. 707.
    """
    states = design.states(x)
    at = Iterate(x, states, design.slope(states), None)
    for weight in weights:
        merits = [design.merit(at.states, weight)]
        best = at
        for _ in range(iterations):
            moved = None if stopped() else _step(design, at, weight, max(merits[-MEMORY:]), accuracy)
            if moved is None:
                break
            at, merit = moved
            best = at if merit < min(merits) else best
            merits.append(merit)
        at = best
    return at.x


def _step(design: Design, at: Iterate, weight: float, merit: float, accuracy: float) -> tuple[Iterate, float] | None:
    """The next iterate and its merit, or None where no step helps."""
    slope, curvature = design.barrier.slopes(at.states)
    g = (at.slope + weight * slope).ravel()
    B = at.B if at.B is not None else np.eye(g.size)
    direction = _solve(B + weight * curvature, -g)
    gain = -float(g @ direction)
    if not gain > accuracy * np.sqrt(weight):
        return None
    d = direction.reshape(at.x.shape)
    step = min(1.0, INSIDE * design.barrier.longest_step(at.states, design.states(d)))
    for _ in range(SHORTEST):
        x = at.x + step * d
        states = design.states(x)
        value = design.merit(states, weight)
        if value <= merit - DESCENT * step * gain:
            there = design.slope(states)
            return Iterate(x, states, there, _updated(at.B, step * direction, (there - at.slope).ravel())), value
        step *= SHORTEN
    return None if at.B is None else _step(design, at._replace(B=None), weight, merit, accuracy)


def _solve(H: Array, g: Array) -> Array:
    """H^-1 g, with as little added to the diagonal as makes H positive definite in spite of rounding; g itself where nothing does."""
    size = np.trace(H) / len(H)
    for shift in SHIFTS:
        try:
            factor = cho_factor(H + shift * size * np.eye(len(H)), check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return np.asarray(cho_solve(factor, g, check_finite=False))
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


def with_points(design: Design, rows: Array) -> Design:
    """The same problem on other samples."""
    return replace(design, barrier=replace(design.barrier, rows=rows))
