"""Lasso and elastic net: parameters that the data do not need become exactly zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ..model.problem import Problem
from ..result.cross_validation import best_strength
from .estimate import Estimate
from .least_squares import least_squares, seen
from .wls import weighted

Array = NDArray[np.float64]
GRID = np.concatenate([np.geomspace(0.3, 1e-7, 20), [0.0]])


@dataclass(frozen=True)
class ElasticNet:
    """argmin 1/2 |W (tau - Y base)|^2 + s (mix |D base|_1 + (1 - mix)/2 |D base|_2^2), D the columns' norms.

    s is `strength` times the least s that makes every parameter zero.
    mix = 1 is the lasso. `strength` None is chosen by blocked cross-validation, which 0 takes part in.
    Tibshirani, J. R. Stat. Soc. B 58 (1996), p. 267; Zou and Hastie, ibid. 67 (2005), p. 301.
    """

    strength: float | None = None
    mix: float = 0.5
    name: str = "elastic_net"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        if not 0 < self.mix <= 1:
            raise CallError(f"{self.name}: mix must be above 0 and at most 1, not {self.mix!r}")
        if self.strength is not None and not self.strength >= 0:
            raise CallError(f"{self.name}: the strength must not be negative, not {self.strength!r}")
        _, weights = weighted(problem.total, problem.prior)
        grid = GRID if self.strength is None else np.array([self.strength])
        best = best_strength(problem, weights, grid, lambda R, s: shrunk(R, s, self.mix, problem.prior))
        base = shrunk(problem.total.triangle(weights), best, self.mix, problem.prior, steps=5000)
        zeros = tuple(n for n, x in zip(problem.base.names, base, strict=True) if x == 0)
        said = (f"{len(zeros)} base parameters are zero: {', '.join(zeros)}.",) if zeros else ()
        return Estimate(base, weights, said, {"strength": best, "mix": self.mix, "zero": zeros})


def Lasso(strength: float | None = None) -> ElasticNet:
    """The elastic net with the absolute values alone."""
    return ElasticNet(strength, 1.0, "lasso")


def shrunk(triangle: Array, strength: float, mix: float, prior: Array, steps: int = 300) -> Array:
    """The minimum for one factor R of [Y tau], by accelerated proximal gradient steps on unit columns from the least-squares solution.

    Beck and Teboulle, SIAM J. Imaging Sci. 2 (2009), p. 183.
    """
    start = least_squares(triangle, prior)
    if strength == 0:
        return start
    scale = seen(triangle).scale
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
        if (y - new) @ (new - x) > 0:  # going uphill: start the momentum anew
            grown = momentum = 1.0
        y, x, momentum = new + (momentum - 1) / grown * (new - x), new, grown
    return np.asarray(x / scale)
