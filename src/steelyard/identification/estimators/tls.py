"""Total least squares: errors in the regressor as well as in the torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ..model.problem import Problem
from .estimate import Estimate
from .least_squares import RANK, seen
from .wls import weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TLS:
    """The smallest change of [Y tau], columns scaled alike, that makes tau = Y base hold: the last right singular vector.

    Golub and Van Loan, SIAM J. Numer. Anal. 17 (1980), p. 883; Van Huffel and Vandewalle 1991, section 2.3 (nongeneric cases).
    """

    name = "tls"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        _, weights = weighted(problem.total, problem.prior)
        triangle = problem.total.triangle(weights)
        view = seen(triangle)
        scale = np.append(view.scale, max(float(np.linalg.norm(triangle[:, -1])), 1e-300))
        _, values, Vt = np.linalg.svd(triangle / scale)
        first = view.rank  # all directions from here on are noise or were not seen
        null = Vt[first:]
        if np.linalg.norm(null[:, -1]) < RANK:
            raise ProblemError("total least squares has no solution here: the torque is not a combination of the regressor's columns")
        v = null.T @ null[:, -1]
        return Estimate(-v[:-1] / v[-1] * scale[-1] / scale[:-1], weights, details={"smallest_singular_value": float(values[first])})
