"""Lasso and elastic net: parameters that the data do not need become exactly zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError
from .crossval import held_out_squares
from .estimate import Estimate
from .problem import Problem
from .solve import least_squares, seen
from .wls import weighted

Array = NDArray[np.float64]
GRID = np.concatenate([np.geomspace(0.3, 1e-7, 20), [0.0]])


@dataclass(frozen=True)
class ElasticNet:
    """argmin 1/2 |W (tau - Y base)|^2 + s (mix |D base|_1 + (1 - mix)/2 |D base|_2^2), D the columns' norms; s is `strength` times its largest useful value.

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
        costs = [held_out_squares(problem, weights, lambda R, s=s: shrunk(R, s, self.mix, problem.prior)) for s in grid] if len(grid) > 1 else [0.0]
        best = float(grid[int(np.argmin(costs))])
        base = shrunk(problem.total.triangle(weights), best, self.mix, problem.prior)
        zeros = tuple(n for n, x in zip(problem.base.names, base, strict=True) if x == 0)
        said = (f"{len(zeros)} base parameters are zero: {', '.join(zeros)}.",) if zeros else ()
        return Estimate(base, weights, said, {"strength": best, "mix": self.mix, "zero": zeros})


def Lasso(strength: float | None = None) -> ElasticNet:  # noqa: N802
    """The elastic net with the absolute values alone."""
    return ElasticNet(strength, 1.0, "lasso")


def shrunk(triangle: Array, strength: float, mix: float, prior: Array, sweeps: int = 2000) -> Array:
    """The minimum for one factor R of [Y tau], by coordinate descent on unit columns from the least-squares solution.

    Friedman, Hastie and Tibshirani, J. Stat. Software 33 (2010), section 2.
    """
    start = least_squares(triangle, prior)
    if strength == 0:
        return start
    scale = seen(triangle).scale
    R, z = triangle[:-1, :-1] / scale, triangle[:-1, -1]
    G, c = R.T @ R, R.T @ z
    s = strength * float(np.max(np.abs(c), initial=0.0)) / mix
    x = start * scale
    rest = c - G @ x
    for _ in range(sweeps):
        moved = 0.0
        for k in range(len(x)):
            if G[k, k] == 0:
                continue
            pull = rest[k] + G[k, k] * x[k]
            new = np.sign(pull) * max(abs(pull) - s * mix, 0.0) / (G[k, k] + s * (1 - mix))
            step = new - x[k]
            if step:
                rest -= G[:, k] * step
                x[k] = new
                moved = max(moved, abs(step))
        if moved <= 1e-10 * max(float(np.max(np.abs(x))), 1e-300):
            break
    return np.asarray(x / scale)
