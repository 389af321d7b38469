"""Ridge, lasso and elastic net.

Least squares with a penalty whose strength is chosen by blocked cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import one_of, real_number
from ...errors import CallError
from ..model.problem import Problem, merged
from .estimator_thresholds import THRESHOLDS
from .least_squares import Estimate, Estimator, excitation, least_squares, weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ridge(Estimator):
    """argmin |W (tau - Y base)|^2 + strength |D (base - centre)|^2.

    D are the norms of the weighted columns.

    `towards`: 'zero' or 'cad', the description's values. `strength` None is chosen by blocked
    cross-validation, 0 among the candidates. Hoerl and Kennard, Technometrics 12 (1970), p. 55.
    """

    strength: float | None = None
    towards: str = "zero"
    name = "ridge"

    def __post_init__(self) -> None:
        one_of("ridge: towards", self.towards, ("zero", "cad"))
        check_strength(self.name, self.strength, 1e15)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        centre = problem.prior if self.towards == "cad" else np.zeros(problem.base.n_base)
        _, weights = weighted(problem.total, problem.prior)
        best = best_strength(
            problem,
            weights,
            strengths(self, np.array(THRESHOLDS.ridge_strengths)),
            lambda R, s: ridge(R, s, centre),
        )
        base = ridge(problem.total.triangle(weights), best, centre)
        return Estimate(base, weights, details={"strength": best, "towards": self.towards})


@dataclass(frozen=True)
class ElasticNet(Estimator):
    """argmin 1/2 |W (tau - Y base)|^2 + s (mix |D base|_1 + (1 - mix)/2 |D base|_2^2).

    D are the norms of the columns.

    s is `strength` times the least s that makes every parameter zero. mix = 1 is the lasso.
    `strength` None is chosen by blocked cross-validation, 0 among the candidates. Tibshirani, J. R.
    Stat. Soc. B 58 (1996), p. 267; Zou and Hastie, ibid. 67 (2005), p. 301.
    """

    strength: float | None = None
    mix: float = 0.5
    name: str = "elastic_net"

    def __post_init__(self) -> None:
        if not 0 < real_number(f"{self.name}: mix", self.mix) <= 1:
            raise CallError(f"{self.name}: mix must be above 0 and at most 1, not {self.mix!r}")
        check_strength(self.name, self.strength, 1.0)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        _, weights = weighted(problem.total, problem.prior)
        grid = strengths(self, np.array(THRESHOLDS.net_strengths))
        best = best_strength(
            problem, weights, grid, lambda R, s: elastic_net(R, s, self.mix, problem.prior)
        )
        base = elastic_net(
            problem.total.triangle(weights), best, self.mix, problem.prior, steps=5000
        )
        zeros = tuple(n for n, x in zip(problem.base.names, base, strict=True) if x == 0)
        notes = (f"{len(zeros)} base parameters are zero: {', '.join(zeros)}.",) if zeros else ()
        return Estimate(base, weights, notes, {"strength": best, "mix": self.mix, "zero": zeros})


def Lasso(strength: float | None = None) -> ElasticNet:
    """Return the elastic net with absolute values alone."""
    return ElasticNet(strength, 1.0, "lasso")


def strengths(estimator: Ridge | ElasticNet, grid: Array) -> Array:
    """Return the strengths to choose from: the one that was given, or all of the grid."""
    return grid if estimator.strength is None else np.array([float(estimator.strength)])


def check_strength(name: str, strength: object, most: float) -> None:
    """Raise CallError if a strength is neither None nor a number from 0 to `most`."""
    if strength is not None:
        real_number(f"{name}: strength", strength, 0.0, most)


def ridge(triangle: Array, strength: float, centre: Array) -> Array:
    """Return the ridge minimum (b,) for one factor R of [Y tau]."""
    R, z = triangle[:-1, :-1], triangle[:-1, -1]
    scale = excitation(triangle).scale
    rows = np.vstack([R / scale, np.sqrt(strength) * np.eye(len(R))])
    y, *_ = np.linalg.lstsq(rows, np.concatenate([z - R @ centre, np.zeros(len(R))]), rcond=1e-13)
    return np.asarray(centre + y / scale)


def elastic_net(
    triangle: Array, strength: float, mix: float, prior: Array, steps: int = 300
) -> Array:
    """Return the elastic-net minimum (b,) for a factor R of [Y tau].

    Accelerated proximal gradient steps on unit columns.

    Beck and Teboulle, SIAM J. Imaging Sci. 2 (2009), p. 183.
    """
    start = least_squares(triangle, prior)
    if strength == 0:
        return start
    scale = excitation(triangle).scale
    R, z = triangle[:-1, :-1] / scale, triangle[:-1, -1]
    G, c = R.T @ R, R.T @ z
    s = strength * float(np.max(np.abs(c), initial=0.0)) / mix
    rate = 1.0 / max(float(np.linalg.norm(G, 2)) + s * (1 - mix), 1e-300)
    x = y = start * scale
    momentum = 1.0
    for _ in range(steps):
        trial = y - rate * (G @ y - c + s * (1 - mix) * y)
        new = np.sign(trial) * np.maximum(np.abs(trial) - rate * s * mix, 0.0)
        grown = 0.5 + np.sqrt(0.25 + momentum**2)
        if (y - new) @ (new - x) > 0:  # uphill: restart the momentum
            grown = momentum = 1.0
        y, x, momentum = new + (momentum - 1) / grown * (new - x), new, grown
    return np.asarray(x / scale)


def best_strength(
    problem: Problem, weights: Array, grid: Array, solve: Callable[[Array, float], Array]
) -> float:
    """Return the strength of the grid with the least cross-validated squares.

    `solve(triangle, strength)` gives base parameters.
    """
    if len(grid) == 1:
        return float(grid[0])

    def cost(strength: float) -> float:
        return cross_validated_squares(problem, weights, lambda R: solve(R, strength))

    return float(grid[int(np.argmin([cost(float(strength)) for strength in grid]))])


def cross_validated_squares(
    problem: Problem, weights: Array, solve: Callable[[Array], Array]
) -> float:
    """Return the cross-validated weighted squares, summed over the parts of the samples.

    Accumulators merge, so no further pass over the samples is needed. Roberts et al., Ecography 40
    (2017), p. 913.
    """
    total = 0.0
    for k in (k for k, fold in enumerate(problem.folds) if sum(fold.counts)):
        base = solve(merged(problem.folds, without=k).triangle(weights))
        total += float(np.sum(weights**2 * problem.folds[k].residual_squares(base)))
    return total
