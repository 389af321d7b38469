"""Total least squares in units of the noise.

Errors in the regressor count as much as their covariance says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ....arguments import whole_number
from ...model.linear_model import Model
from ...model.problem import Problem
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import Estimate, Estimator, excitation, excited_projection, noise, weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TLS(Estimator):
    """The smallest change of [Y tau], in units of its noise, that makes tau = Y base hold.

    (R^T R - s N) base = R^T z.

    N is the covariance of the errors of Y, as the noise of the positions leaves them after
    smoothing, R the factor of Y and s the smallest generalised eigenvalue of [Y tau]^T [Y tau]
    against the same matrix of all errors; the noise of the torque is what the errors of Y do not
    explain of the residuals. Since errors are whitened by their covariance, units and sizes of
    columns do not matter; without errors of Y it is weighted least squares. Van Huffel and
    Vandewalle, "The Total Least Squares Problem", 1991, section 10.3 (generalised TLS).
    """

    iterations: int = 5
    name = "tls"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "iterations", whole_number("TLS: iterations", self.iterations, 1, 1e6)
        )

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        base, weights = weighted(problem.total, problem.prior)
        rest = np.ones(problem.n)
        for _ in range(self.iterations):
            before, (base, rest) = rest, total_least_squares(problem, base, weights)
            weights = 1.0 / noise(problem.total, base)
            if np.allclose(rest, before, rtol=1e-3):
                break
        return Estimate(base, weights, details={"torque_noise_share": rest.tolist()})


def total_least_squares(problem: Problem, base: Array, weights: Array) -> tuple[Array, Array]:
    """Return base parameters (b,), and the share (n,) of torque noise in the residuals.

    `base` (b,) and `weights` (n,), one over the standard deviation of the residuals, come from the
    previous step. Rows are divided by the noise of the torque; directions that are not excited stay
    at the description.
    """
    total, errors = problem.total, problem.regressor_noise
    explained = errors.residual_squares(base * smooth_columns(problem.model)) / np.maximum(
        np.array(total.counts), 1.0
    )
    rest = 1.0 - np.minimum(explained * weights**2, THRESHOLDS.regressor_error_share)
    whitened = weights / np.sqrt(rest)
    triangle, N = (
        total.triangle(whitened),
        errors.triangle(whitened)[:-1, :-1] * smooth_columns(problem.model),
    )
    return compensated(triangle, N, problem.prior, sum(total.counts)), rest


def smooth_columns(model: Model) -> Array:
    """Return 1 for base columns of links and rotors, 0 for friction, (b,).

    A wrong sign of the velocity is not an additive error of the friction column.
    """
    inner = 10 * len(model.robot.tree.bodies)
    return np.array([float(c < inner or model.term(c).row.inertial) for c in model.base.columns])


def compensated(triangle: Array, N: Array, prior: Array, rows: float) -> Array:
    """Solve (R^T R - s N^T N) base = R^T z for base (b,).

    [R z] is the factor of the rows in units of their noise, N (., b) the factor of the errors of Y.

    s is the smallest generalised eigenvalue of [R z]^T [R z] against the errors of all `rows`,
    diag(N^T N, rows), and at most 1: what is known of the errors is not exceeded where the
    residuals have further causes. Directions that are not excited stay at `prior` (b,).
    """
    spectrum = excitation(triangle, N)
    fixed = prior - excited_projection(spectrum) @ prior
    V = spectrum.excited
    V = V / np.linalg.norm(triangle[:, :-1] @ V, axis=0)
    G, d = triangle[:, :-1] @ V, np.sum((N @ V) ** 2, axis=0)  # V diagonalises both R^T R and N^T N
    z = triangle[:, -1] - triangle[:, :-1] @ fixed
    u = np.linalg.lstsq(G, z, rcond=None)[0]
    s = min(1.0, smallest_root(float(np.sum((z - G @ u) ** 2)), u, d, rows))
    return np.asarray(fixed + V @ (u / (1.0 - s * d)))


def smallest_root(squares: float, u: Array, d: Array, rows: float) -> float:
    """Return the smallest s with squares + |u|^2 = s rows + sum u_i^2 / (1 - s d_i).

    It is the smallest generalised eigenvalue of [G z]^T [G z] against diag(d, rows), for
    orthonormal columns G with G^T z = u and
    |z - G u|^2 = squares. Golub, SIAM Review 15 (1973), p. 318 (the secular equation).
    """

    def gap(s: float) -> float:
        return squares - s * rows - s * float(np.sum(u**2 * d / (1.0 - s * d)))

    last = min(squares / rows, (1.0 - 1e-9) / max(float(d.max(initial=0.0)), 1e-300))
    return last if gap(last) >= 0.0 else float(brentq(gap, 0.0, last, xtol=1e-300, rtol=1e-12))
