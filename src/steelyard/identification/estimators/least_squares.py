"""Least squares on a triangular factor.

Ordinary, weighted by the noise of each joint, and joint by joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...arguments import per_joint, real_number, whole_number
from ...errors import CallError
from ..model.accumulator import Accumulator
from ..model.own_rows import BaseEqualities
from ..model.problem import Problem, merged
from .estimator_thresholds import THRESHOLDS
from .posterior import Posterior

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters (b,), weights of the rows of each joint (n,) [1/(N m)|1/N], and notes.

    `parameters` (p,) is set by estimators that find each parameter and not only the combinations,
    `posterior` by those with a prior. `parts` are the rows, folded in order of time, of estimators
    that solve other equations than the problem. `linearised` is the problem that was solved by
    estimators whose rows are not rows of the regressor.
    """

    base: Array
    weights: Array
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    parameters: Array | None = None
    posterior: Posterior | None = None
    parts: tuple[Accumulator, ...] = ()
    linearised: Problem | None = None

    def triangle(self, total: Accumulator) -> Array:
        """Return the factor (b + 1, b + 1) of the rows that were solved.

        The rows of the torques, all folded, unless the estimator has other rows.
        """
        rows = merged(self.parts) if self.parts else total
        return rows.triangle(self.weights if rows.n == len(self.weights) else None)


class Estimator(Protocol):
    """A frozen set of options with a name; `fit` does all the work.

    `prepare` is called once, before delay, gains and friction are estimated. Estimators that
    simulate the robot return the problem with simulated motions there.
    """

    @property
    def name(self) -> str:
        """The estimator's name in the table of estimators and in reports."""
        ...

    def prepare(self, problem: Problem) -> Problem:
        """Return the problem that the estimator works on: the same one by default."""
        return problem

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        ...


@dataclass(frozen=True, eq=False)
class ExcitationSpectrum:
    """Singular values (b,) of the factor with unit columns, and bases of (un)excited directions.

    `excited` (b, rank) and `unexcited` (b, b - rank) are orthogonal in the information; `scale`
    (b,) are the norms of the columns, 1 for a column that is zero.
    """

    singular_values: Array
    excited: Array
    unexcited: Array
    scale: Array

    @property
    def rank(self) -> int:
        """How many directions are excited."""
        return int(self.excited.shape[1])

    @property
    def condition(self) -> float:
        """Largest over smallest singular value within the rank."""
        return (
            float(self.singular_values[0] / self.singular_values[self.rank - 1])
            if self.rank
            else float("inf")
        )


def excitation(triangle: Array, noise: Array | None = None) -> ExcitationSpectrum:
    """Return what the factor R (b + 1, b + 1) of [Y tau] says about the rank of Y.

    A direction v is excited if |R v|^2 is at least `excited_ratio` times |N v|^2, with `noise` N
    (., b) the factor of the errors of Y due to position noise, which are not excitation. Without it
    only the rounding counts. Golub and Van Loan, "Matrix Computations", 4th ed., section 8.7.3 (the
    symmetric-definite generalised eigenvalue problem).
    """
    R = triangle[:-1, :-1]
    unit, dead = column_norms(R)
    # entries so small make LAPACK's divide and conquer fail
    clean = np.where(dead | (np.abs(R) <= 1e-20 * unit), 0.0, R / unit)
    values = np.linalg.svd(clean, compute_uv=False)
    floor = THRESHOLDS.rank * max(float(values[0]) if len(values) else 0.0, 1e-300) * np.eye(len(R))
    errors = (
        floor
        if noise is None
        else np.linalg.qr(np.vstack([floor, np.where(dead, 0.0, noise / unit)]), mode="r")
    )
    whole = np.linalg.qr(np.vstack([clean, errors]), mode="r")
    # shares^2: part of the information that is noise
    _, shares, Vt = np.linalg.svd(errors @ np.linalg.inv(whole))
    V = np.linalg.solve(whole, Vt.T)
    V /= np.linalg.norm(V, axis=0)
    weak = shares**2 > 1.0 / (1.0 + (THRESHOLDS.excited_ratio if noise is not None else 1.0))
    return ExcitationSpectrum(values, V[:, ~weak] / unit[:, None], V[:, weak] / unit[:, None], unit)


def column_norms(R: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the norms of columns (b,), 1 for those that are zero, and which are zero."""
    norms = np.linalg.norm(R, axis=0)
    dead = norms <= 1e-12 * max(norms.max(initial=0.0), 1e-300)
    return np.where(dead, 1.0, norms), dead


def trimmed(triangle: Array, spectrum: ExcitationSpectrum) -> Array:
    """Return the factor without the information along directions that are not excited."""
    if not spectrum.unexcited.shape[1]:
        return triangle
    return np.column_stack([triangle[:, :-1] @ excited_projection(spectrum), triangle[:, -1]])


def excited_projection(spectrum: ExcitationSpectrum) -> Array:
    """Return the projection (b, b) onto the excited directions along the unexcited ones."""
    V = np.hstack([spectrum.excited, spectrum.unexcited])
    return np.asarray(spectrum.excited @ np.linalg.inv(V)[: spectrum.rank])


def least_squares(triangle: Array, prior: Array, tolerance: float = THRESHOLDS.rank) -> Array:
    """Return argmin |R x - z|, (b,), for the factor [R z].

    Among equal minima the nearest to `prior` (b,) in scaled columns.

    Golub and Van Loan, "Matrix Computations", 4th ed., section 5.5.
    """
    R, z = triangle[:-1, :-1], triangle[:-1, -1]
    scale, _ = column_norms(R)
    unit = R / scale
    # full rank: back substitution is enough
    if len(R) and np.min(np.abs(np.diag(unit)), initial=1.0) > 1e-6:
        return np.asarray(np.linalg.solve(unit, z) / scale)
    U, values, Vt = np.linalg.svd(unit)
    return np.asarray(
        prior + Vt.T @ (pseudo_inverse(values, tolerance) * (U.T @ (z - R @ prior))) / scale
    )


def inverse_information(triangle: Array, tolerance: float = THRESHOLDS.rank) -> Array:
    """Return (R^T R)^+, (b, b); it is zero along directions without excitation."""
    half = inverse_root(triangle, tolerance)
    return np.asarray(half @ half.T)


def inverse_root(triangle: Array, tolerance: float = THRESHOLDS.rank) -> Array:
    """Return a matrix H (b, b) with H H^T = (R^T R)^+.

    Its columns are zero for directions without excitation.
    """
    scale, _ = column_norms(triangle[:-1, :-1])
    _, values, Vt = np.linalg.svd(triangle[:-1, :-1] / scale)
    return np.asarray((Vt.T * pseudo_inverse(values, tolerance)) / scale[:, None])


def pseudo_inverse(values: Array, tolerance: float) -> Array:
    """Return 1 / values, and 0 for those below `tolerance` times the first."""
    first = max(float(values[0]), 1e-300) if len(values) else 1.0
    return np.where(values > tolerance * first, 1.0 / np.maximum(values, 1e-300), 0.0)


def constrained(triangle: Array, prior: Array, equalities: BaseEqualities | None) -> Array:
    """Return argmin |R x - z|, (b,), subject to linear equalities, by elimination.

    Golub and Van Loan, "Matrix Computations", 4th ed., section 6.2.2 (the null-space method).
    """
    if equalities is None:
        return least_squares(triangle, prior)
    start = equalities.N.T @ (prior - equalities.origin)
    y = least_squares(equalities.reduced(triangle), start)
    return np.asarray(equalities.origin + equalities.N @ y)


def weighted(
    total: Accumulator, prior: Array, iterations: int = 5, equalities: BaseEqualities | None = None
) -> tuple[Array, Array]:
    """Return base parameters (b,) and weights 1/sigma_j (n,) by iterated weighted least squares."""
    base = constrained(total.triangle(), prior, equalities)
    weights = np.ones(total.n)
    for _ in range(iterations):
        before, weights = weights, 1.0 / noise(total, base)
        base = constrained(total.triangle(weights), prior, equalities)
        if np.allclose(weights, before, rtol=1e-4):
            break
    return base, weights


def noise(total: Accumulator, base: Array) -> Array:
    """Return sigma_j (n,) [N m|N], the standard deviation of each joint's residuals.

    At least the rounding of the torque.
    """
    counts = np.array(total.counts)
    # shared between the joints as the rows are
    unknowns = len(base) * counts / max(counts.sum(), 1.0)
    free = np.maximum(counts - unknowns, 1.0)
    sigma = np.sqrt(total.residual_squares(base) / free)
    size = np.sqrt(total.torque_squares() / np.maximum(counts, 1.0))
    return np.asarray(np.maximum(sigma, 1e-8 * max(float(size.max(initial=0.0)), 1e-300)))


@dataclass(frozen=True)
class OLS(Estimator):
    """argmin sum |tau - Y base|^2 with all rows weighted alike, by QR.

    By SVD where the rows lack rank.

    Lecture "Dynamic parameter identification": Theta_LS = (X^T X)^-1 X^T T.
    """

    name = "ols"

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        equalities = problem.model.base_equalities
        base = constrained(problem.total.triangle(), problem.prior, equalities)
        return Estimate(base, np.ones(problem.n))


@dataclass(frozen=True)
class WLS(Estimator):
    """argmin sum_j |tau_j - Y_j base|^2 / sigma_j^2, iterated from OLS.

    sigma_j^2 = |residual_j|^2 / (N_j - b_j) follows from the estimate before. `weights` (n,) or
    joint -> number [1/(N m)|1/N] replace 1 / sigma_j: one for each joint.

    Gautier 1997, section 4; Swevers, Verdonck and De Schutter 2007, p. 64.
    """

    iterations: int = 5
    weights: Mapping[str, float] | Sequence[float] | None = None
    name = "wls"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "iterations", whole_number("WLS: iterations", self.iterations, 1, 1e6)
        )

    def given_weights(self, problem: Problem) -> Array | None:
        """Return the given weights (n,) of the rows of each joint; None if there are none."""
        if self.weights is None:
            return None
        names = problem.model.row_names
        weights = per_joint("WLS: weights", self.weights, names, 0.0, "1/(N m)|1/N")
        if isinstance(self.weights, Mapping) and set(self.weights) != set(names):
            missing = ", ".join(name for name in names if name not in self.weights)
            raise CallError(f"WLS: weights have no number for {missing}; every joint needs one")
        if not np.any(weights):
            raise CallError("WLS: weights are all zero; at least one joint needs a weight")
        return weights

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        fixed, equalities = self.given_weights(problem), problem.model.base_equalities
        if fixed is not None:
            base = constrained(problem.total.triangle(fixed), problem.prior, equalities)
            return Estimate(base, fixed)
        base, weights = weighted(problem.total, problem.prior, self.iterations, equalities)
        return Estimate(base, weights, details={"sigma": (1.0 / weights).tolist()})


@dataclass(frozen=True)
class Sequential(Estimator):
    """Least squares joint by joint, from the last to the first.

    Each fixes the directions of the base parameters that it shows first.

    Y is block upper triangular: the torque of joint j does not depend on the links before it.
    Earlier joints take what later ones found as given, so errors accumulate;
    `details['error_accumulation']` is each joint's residual over its residual in a joint solution.
    Lecture "Newton-Euler formulation and dynamic parameter identification": "may have the
    inconvenience to accumulate any error".
    """

    tolerance: float = 1e-7
    name = "sequential"

    def __post_init__(self) -> None:
        real_number("Sequential: tolerance", self.tolerance, 0.0, 1.0)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        total = problem.total
        base, N = np.zeros(problem.base.n_base), np.eye(problem.base.n_base)
        for joint in reversed(range(problem.n)):
            base, N = one_joint(total, joint, base, N, self.tolerance)
        if N.shape[1]:
            base = base + N @ (N.T @ (problem.prior - base))
        growth = accumulated(total, base, problem.prior)
        names = problem.model.row_names
        note = (
            "Residuals relative to solving all joints at once:"
            f" {', '.join(f'{n} {g:.3g}' for n, g in zip(names, growth, strict=True))}."
        )
        details = {
            "error_accumulation": growth.tolist(),
            "worst_joint": names[int(np.argmax(growth))],
        }
        return Estimate(base, np.ones(problem.n), (note,), details)


def one_joint(
    total: Accumulator, joint: int, base: Array, N: Array, tolerance: float
) -> tuple[Array, Array]:
    """Fix the directions that one joint shows.

    Return base (b,) and an orthonormal basis (b, k) of the directions still open.
    """
    rows = total.rows(joint)
    R, z = rows[:, :-1], rows[:, -1]
    scale = np.linalg.norm(R, axis=0)
    # a column of rounding errors must not look like a direction
    dead = scale <= 1e-12 * scale.max(initial=0.0)
    scale[dead] = 1.0
    # in scaled columns, so that the rank does not depend on units
    D = np.linalg.qr(N * scale[:, None])[0]
    U, values, Vt = np.linalg.svd(np.where(dead, 0.0, R / scale) @ D, full_matrices=True)
    rank = int(
        np.sum(
            values > max(tolerance, THRESHOLDS.rank) * max(float(values.max(initial=0.0)), 1e-300)
        )
    )
    y = Vt[:rank].T @ ((U[:, :rank].T @ (z - R @ base)) / values[:rank])
    free = (D @ Vt[rank:].T) / scale[:, None]
    return base + (D @ y) / scale, np.linalg.qr(free)[0] if free.shape[1] else free


def accumulated(total: Accumulator, base: Array, prior: Array) -> Array:
    """Return the residual norm of each joint relative to solving all joints together, (n,)."""
    together = total.residual_squares(least_squares(total.triangle(), prior))
    floor = 1e-24 * np.maximum(total.torque_squares(), 1e-300)
    return np.asarray(np.sqrt((total.residual_squares(base) + floor) / (together + floor)))
