"""Prior knowledge before a motion: the description with its tolerance, and earlier logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import real_number
from ...errors import CallError, in_python
from ...identification import Fit, identify
from ...identification.model.linear_model import Model
from ...identification.model.prior import body_prior
from ...signals.log import Log
from .excitation_thresholds import THRESHOLDS
from .information import FisherInformation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior covariance (p, p) of all parameters, and the grouping (b, p) into base parameters."""

    covariance: Array
    matrix: Array

    @classmethod
    def of(cls, information: FisherInformation, tolerance: float) -> Prior:
        """Build the prior of bodies within a relative tolerance of the description.

        The metric is the one of their pseudo-inertia. Joint terms are left open.
        """
        if not real_number("prior", tolerance) > 0:
            raise CallError(
                f"prior = {tolerance!r}; expected the relative tolerance of the description, such"
                f" as 0.2{in_python(', or None')}",
                argument="prior",
            )
        bodies = body_prior(Model(information.robot))
        matrix = information.base.matrix
        variance = np.zeros((matrix.shape[1],) * 2)
        for i, to_pi in enumerate(bodies.to_pi):
            size = tolerance if bodies.described[i] else THRESHOLDS.unknown_spread
            variance[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = size**2 * to_pi @ to_pi.T
        used = dict(zip(information.columns, information.scale, strict=True))
        typical = float(np.median(information.scale))
        for j in range(10 * bodies.bodies, matrix.shape[1]):
            variance[j, j] = (THRESHOLDS.unknown_spread * used.get(j, typical)) ** 2
        return cls(variance, matrix)

    @property
    def information(self) -> Array:
        """Information on the base parameters, (b, b)."""
        return np.asarray(np.linalg.inv(self.matrix @ self.covariance @ self.matrix.T))

    def physical_std(self, covariance: Array) -> Array:
        """Return the posterior std of every parameter (p,), given a covariance (b, b) of the base.

        C - K (B C B^T - S) K^T with K = C B^T (B C B^T)^-1: directions that base parameters do not
        determine keep the prior. Bishop, Pattern Recognition and Machine Learning, 2006, section
        2.3.3.
        """
        C, B = self.covariance, self.matrix
        before = B @ C @ B.T
        K = np.linalg.solve(before, B @ C).T
        return np.sqrt(np.maximum(np.diag(C - K @ (before - covariance) @ K.T), 0.0))

    def seen(self, column: int) -> tuple[Array, float]:
        """Return c (b,) and v such that parameter `column` has the variance v + c^T S c.

        S is the covariance of the base parameters after a log.
        """
        C, B = self.covariance, self.matrix
        before = B @ C @ B.T
        c: Array = np.asarray(np.linalg.solve(before, B @ C[:, column]), dtype=np.float64)
        return c, max(0.0, float(C[column, column] - c @ before @ c))


def known_information(information: FisherInformation, fit: Fit) -> Array:
    """Return the information (b, b) of a fit's log on the base parameters, without its prior.

    It is divided by the variance inflation of the fit's autocorrelated residuals.
    """
    uncertainty, base = fit.uncertainty, information.base
    b = uncertainty.base.n_base
    R = uncertainty.information[:b, :b]
    A = R.T @ R / fit_inflation(fit, R.T @ R)
    T = translation(
        base.matrix,
        base.parameter_names,
        uncertainty.base.matrix,
        uncertainty.base.parameter_names,
        R,
    )
    if T is None:
        raise CallError(
            "fit: it looked for other combinations of the parameters than a motion is chosen for,"
            " links, rotors, viscous and Coulomb friction and offsets of every joint; give its log"
            " instead, excite(..., log=log)"
        )
    return np.asarray(T.T @ A @ T)


def fit_inflation(fit: Fit, A: Array) -> float:
    """Return the variance inflation of a fit over white noise.

    The median over its excited base parameters.
    """
    try:
        plain = np.diag(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        return 1.0
    seen = np.isfinite(fit.base_std) & (plain > 0)
    return max(1.0, float(np.median(fit.base_std[seen] ** 2 / plain[seen]))) if seen.any() else 1.0


def translation(
    ours: Array, names: Sequence[str], theirs: Array, their_names: Sequence[str], R: Array
) -> Array | None:
    """Return T (b', b) such that their base values = T (our base values); None if none exists.

    Parameters that we lack are fixed.

    R (b', b') is the factor of their information: a difference that no torque of the log shows does
    not count.
    """
    index = {name: j for j, name in enumerate(names)}
    common = [(index[name], j) for j, name in enumerate(their_names) if name in index]
    mine, yours = ours[:, [i for i, _ in common]], theirs[:, [j for _, j in common]]
    T: Array = np.asarray(np.linalg.lstsq(mine.T, yours.T, rcond=None)[0].T, dtype=np.float64)
    wrong, size = (np.linalg.norm(R @ x, axis=0) for x in (T @ mine - yours, yours))
    return (
        T
        if np.all(
            wrong
            <= THRESHOLDS.equal_groupings
            * np.maximum(size, size.max() * THRESHOLDS.equal_groupings)
        )
        else None
    )


def fit_of(information: FisherInformation, log: Log | Sequence[Log]) -> Fit:
    """Fit a log that exists already, without the description as a prior."""
    return identify(information.robot, log, estimator="wls")
