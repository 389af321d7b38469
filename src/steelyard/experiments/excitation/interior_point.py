"""The interior-point method: maximise a criterion under a barrier of falling weight.

Each step solves (B + weight * barrier'') d = -gradient, where B approximates the second derivative
of the criterion alone by damped BFGS and the barrier's is known: curvature that grows without bound
near a limit is never estimated. Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, sections
18.3 (damping) and 19.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from .barrier import LogBarrier
from .excitation_thresholds import THRESHOLDS
from .information import EvaluatedMotion, FisherInformation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InteriorPointState:
    """The problem on samples.

    The information of a motion with coefficients x (n, m), within limits.
    """

    information: FisherInformation
    barrier: LogBarrier

    def states(self, x: Array) -> Array:
        """Compute q, qd, qdd and jerk (4, N, n)."""
        return np.asarray(self.barrier.rows @ x.T)

    def point(self, x: Array) -> Point:
        """Evaluate coefficients x (n, m): states, barrier and criterion.

        The criterion is not evaluated outside the limits.
        """
        states = self.states(x)
        barrier = self.barrier.value(states)
        if not np.isfinite(barrier):
            return Point(x, states, barrier, -np.inf, None)
        evaluation = self.information.evaluate(states[:3])
        return Point(x, states, barrier, self.information.value(states[:3], evaluation), evaluation)

    def gradient(self, states: Array, evaluation: EvaluatedMotion | None = None) -> Array:
        """Compute the gradient of -criterion by the coefficients, (n, m)."""
        _, by = self.information.derivatives(states[:3], evaluation)
        return -sum(
            (x.T @ rows for x, rows in zip(by, self.barrier.rows, strict=False)), np.zeros(1)
        )


class Point(NamedTuple):
    """A point of the search: coefficients, states, barrier, criterion and its evaluation.

    x is (n, m), states (4, N, n). The barrier is infinite outside the limits.
    """

    x: Array
    states: Array
    barrier: float
    criterion: float
    evaluation: EvaluatedMotion | None

    def merit(self, weight: float) -> float:
        """Compute -criterion + weight * barrier.

        Infinite outside the limits and where parameters are not excited.
        """
        return self.barrier if np.isinf(self.barrier) else weight * self.barrier - self.criterion


class Iterate(NamedTuple):
    """A point with the gradient of -criterion and the BFGS matrix B, None at first."""

    point: Point
    gradient: Array
    B: Array | None


def maximise(
    design: InteriorPointState,
    x: Array,
    weights: Sequence[float],
    iterations: int,
    stopped: Callable[[], bool] = lambda: False,
    accuracy: float = 0.1,
    B: Array | None = None,
) -> Iterate:
    """Maximise the criterion from coefficients x (n, m), which must be within the limits.

    At most `iterations` steps are taken for each weight of the barrier. B is an estimate of the
    second derivative of -criterion from an earlier path. A weight ends when the expected gain of
    the next step is less than `accuracy` times its square root. A step may be worse than the last
    one, but not than the last `merit_memory`: dry friction makes the criterion jump where a joint
    reverses at a sample. Grippo, Lampariello and Lucidi, SIAM J. Numerical Analysis 23 (1986), p.
    707.
    """
    point = design.point(x)
    current = Iterate(point, design.gradient(point.states, point.evaluation), B)
    for weight in weights:
        merits = [current.point.merit(weight)]
        best = current
        for _ in range(iterations):
            moved = (
                None
                if stopped()
                else _step(
                    design, current, weight, max(merits[-THRESHOLDS.merit_memory :]), accuracy
                )
            )
            if moved is None:
                break
            current, merit = moved, moved.point.merit(weight)
            best = current if merit < min(merits) else best
            merits.append(merit)
        current = best
    return current


def _step(
    design: InteriorPointState, current: Iterate, weight: float, merit: float, accuracy: float
) -> Iterate | None:
    """Return the next iterate, or None where no step helps."""
    gradient, curvature, J = design.barrier.derivatives(current.point.states)
    g = (current.gradient + weight * gradient).ravel()
    B = current.B if current.B is not None else np.eye(g.size)
    direction = _solve(B + weight * curvature, -g)
    gain = -float(g @ direction)
    if not gain > accuracy * np.sqrt(weight):
        return None
    d = direction.reshape(current.gradient.shape)
    step = min(
        1.0,
        THRESHOLDS.barrier_share
        * design.barrier.longest_step(current.point.states, design.states(d), J @ direction),
    )
    for _ in range(THRESHOLDS.step_cuts):
        there = design.point(current.point.x + step * d)
        if there.merit(weight) <= merit - THRESHOLDS.armijo_constant * step * gain:
            gradient = design.gradient(there.states, there.evaluation)
            return Iterate(
                there,
                gradient,
                _updated(current.B, step * direction, (gradient - current.gradient).ravel()),
            )
        step *= THRESHOLDS.step_factor
    return (
        None
        if current.B is None
        else _step(design, current._replace(B=None), weight, merit, accuracy)
    )


def _solve(H: Array, g: Array) -> Array:
    """Solve H x = g, with a small shift of the diagonal where H is not positive definite.

    Returns g, scaled, where no shift suffices.
    """
    size = np.trace(H) / len(H)
    for shift in THRESHOLDS.hessian_shifts:
        _, x, failed = dposv(H + shift * size * np.eye(len(H)), g)
        if not failed and np.all(np.isfinite(x)):
            return np.asarray(x)
    return g / max(size, 1e-300)


def _updated(B: Array | None, s: Array, y: Array) -> Array:
    """Compute Powell's damped BFGS update, which stays positive definite.

    At first B is a multiple of the identity, scaled by y.
    """
    if B is None:
        B = np.eye(len(s)) * max(abs(float(y @ s)) / float(s @ s), 1e-6)
    Bs = B @ s
    sBs, sy = float(s @ Bs), float(s @ y)
    share = 1.0 if sy >= 0.2 * sBs else 0.8 * sBs / (sBs - sy)
    r = share * y + (1.0 - share) * Bs
    return np.asarray(B - np.outer(Bs, Bs) / sBs + np.outer(r, r) / float(s @ r))
