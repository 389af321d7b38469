"""Ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.problem import Problem
from .estimate import Estimate
from .least_squares import least_squares


@dataclass(frozen=True)
class OLS:
    """argmin sum |tau - Y base|^2, every row alike, by QR; by SVD where the rows do not show all.

    Lecture "Dynamic parameter identification": Theta_LS = (X^T X)^-1 X^T T.
    """

    name = "ols"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        base = least_squares(problem.total.triangle(), problem.prior)
        return Estimate(base, np.ones(problem.n))
