"""Ridge regression: parameters stay near zero, or near the description, as far as the data let them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ..model.problem import Problem
from ..result.cross_validation import best_strength
from .estimate import Estimate
from .least_squares import seen
from .wls import weighted

Array = NDArray[np.float64]
GRID = np.concatenate([[0.0], np.geomspace(1e-10, 1.0, 21)])


@dataclass(frozen=True)
class Ridge:
    """argmin |W (tau - Y base)|^2 + strength N |D (base - centre)|^2, D the root mean square of the weighted columns.

    `towards`: 'zero' or 'cad', the description's values. `strength` None is chosen by blocked cross-validation, which 0 takes part in.
    Hoerl and Kennard, Technometrics 12 (1970), p. 55.
    """

    strength: float | None = None
    towards: str = "zero"
    name = "ridge"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        if self.towards not in ("zero", "cad"):
            raise CallError(f"ridge: towards must be 'zero' or 'cad', not {self.towards!r}")
        if self.strength is not None and not self.strength >= 0:
            raise CallError(f"ridge: the strength must not be negative, not {self.strength!r}")
        centre = problem.prior if self.towards == "cad" else np.zeros(problem.base.n_base)
        _, weights = weighted(problem.total, problem.prior)
        grid = GRID if self.strength is None else np.array([self.strength])
        best = best_strength(problem, weights, grid, lambda R, s: ridge(R, s, centre))
        base = ridge(problem.total.triangle(weights), best, centre)
        return Estimate(base, weights, details={"strength": best, "towards": self.towards})


def ridge(triangle: Array, strength: float, centre: Array) -> Array:
    """The minimum for one factor R of [Y tau]; columns count by their own size."""
    R, z = triangle[:-1, :-1], triangle[:-1, -1]
    scale = seen(triangle).scale
    rows = np.vstack([R / scale, np.sqrt(strength) * np.eye(len(R))])
    y, *_ = np.linalg.lstsq(rows, np.concatenate([z - R @ centre, np.zeros(len(R))]), rcond=1e-13)
    return np.asarray(centre + y / scale)
