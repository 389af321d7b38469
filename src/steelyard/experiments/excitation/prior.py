"""What is known before a motion: the description with its tolerance, and logs that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import real_number
from ...errors import CallError
from ...identification import Fit, identify
from ...identification.model.linear_model import Model
from ...identification.model.prior import body_prior
from ...signals.log import Log
from .information import Information

Array = NDArray[np.float64]
LOOSE = 100.0  # times the typical torque: how far friction and rotors are taken to be unknown
SAME = 1e-3  # of the torque of a parameter: two groupings that are the same


@dataclass(frozen=True, eq=False)
class Prior:
    """The covariance (p, p) of all parameters before any log, and the grouping (b, p) into base parameters."""

    covariance: Array
    matrix: Array

    @classmethod
    def of(cls, information: Information, tolerance: float) -> Prior:
        """Bodies as described within a relative tolerance, in the metric of their pseudo-inertia; joint terms are left open."""
        if not real_number("prior", tolerance) > 0:
            raise CallError(f"prior = {tolerance!r}; expected the relative tolerance of the description, such as 0.2, or None")
        bodies = body_prior(Model(information.robot))
        matrix = information.base.matrix
        variance = np.zeros((matrix.shape[1],) * 2)
        for i, to_pi in enumerate(bodies.to_pi):
            size = tolerance if bodies.described[i] else LOOSE
            variance[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = size**2 * to_pi @ to_pi.T
        used = dict(zip(information.columns, information.scale, strict=True))
        typical = float(np.median(information.scale))
        for j in range(10 * bodies.bodies, matrix.shape[1]):
            variance[j, j] = (LOOSE * used.get(j, typical)) ** 2
        return cls(variance, matrix)

    @property
    def information(self) -> Array:
        """That of the base parameters, (b, b)."""
        return np.asarray(np.linalg.inv(self.matrix @ self.covariance @ self.matrix.T))

    def physical_std(self, covariance: Array) -> Array:
        """The standard deviation of every parameter (p,) when base parameters have a covariance (b, b) after a log.

        C - K (B C B^T - S) K^T with K = C B^T (B C B^T)^-1: what base parameters do not tell stays as it was. Bishop, Pattern Recognition
        and Machine Learning, 2006, section 2.3.3.
        """
        C, B = self.covariance, self.matrix
        before = B @ C @ B.T
        K = np.linalg.solve(before, B @ C).T
        return np.sqrt(np.maximum(np.diag(C - K @ (before - covariance) @ K.T), 0.0))

    def seen(self, column: int) -> tuple[Array, float]:
        """c (b,) and v: with a covariance S of base parameters after a log, parameter `column` has the variance v + c^T S c."""
        C, B = self.covariance, self.matrix
        before = B @ C @ B.T
        c: Array = np.asarray(np.linalg.solve(before, B @ C[:, column]), dtype=np.float64)
        return c, max(0.0, float(C[column, column] - c @ before @ c))


def known_information(information: Information, fit: Fit) -> Array:
    """The information (b, b) of a fit's log on the base parameters, without the description's share.

    It is divided by the variance inflation of the fit's autocorrelated residuals.
    """
    found, base = fit.uncertainty, information.base
    b = found.base.n_base
    R = found.information[:b, :b]
    A = R.T @ R / inflation(fit, R.T @ R)
    T = translation(base.matrix, base.parameter_names, found.base.matrix, found.base.parameter_names, R)
    if T is None:
        raise CallError(
            "fit: it looked for other combinations of the parameters than a motion is chosen for, links, rotors, viscous and Coulomb"
            " friction and offsets of every joint; give its log instead, excite(..., log=log)"
        )
    return np.asarray(T.T @ A @ T)


def inflation(fit: Fit, A: Array) -> float:
    """The factor by which the variances of a fit are larger than those of white noise: the median over its excited base parameters."""
    try:
        plain = np.diag(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        return 1.0
    seen = np.isfinite(fit.base_std) & (plain > 0)
    return max(1.0, float(np.median(fit.base_std[seen] ** 2 / plain[seen]))) if seen.any() else 1.0


def translation(ours: Array, names: Sequence[str], theirs: Array, their_names: Sequence[str], R: Array) -> Array | None:
    """The matrix T (b', b) with their base values = T (our base values), where parameters that we lack are held; None if there is none.

    R (b', b') is the factor of their information: a difference that no torque of the log shows does not count.
    """
    place = {name: j for j, name in enumerate(names)}
    common = [(place[name], j) for j, name in enumerate(their_names) if name in place]
    mine, yours = ours[:, [i for i, _ in common]], theirs[:, [j for _, j in common]]
    T: Array = np.asarray(np.linalg.lstsq(mine.T, yours.T, rcond=None)[0].T, dtype=np.float64)
    wrong, size = (np.linalg.norm(R @ x, axis=0) for x in (T @ mine - yours, yours))
    return T if np.all(wrong <= SAME * np.maximum(size, size.max() * SAME)) else None


def fit_of(information: Information, log: Log | Sequence[Log]) -> Fit:
    """The fit of a log that is there already, without the description's numbers."""
    return identify(information.robot, log, estimator="wls")
