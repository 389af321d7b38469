"""Uncertainty of the base parameters.

The covariance of the estimator that ran, and the excitation behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...drawing.parameter_table import parameter_table, relative_std
from ...parameters.base import BaseParameters
from ..estimators.least_squares import (
    Estimate,
    ExcitationSpectrum,
    excitation,
    excited_projection,
    inverse_root,
)
from ..estimators.posterior import Posterior
from ..model.own_rows import BaseEqualities
from ..model.prior import parameter_sizes
from ..model.problem import Problem
from ..nuisance.drive_gains import DriveGains
from .jackknife import jackknife
from .nuisance_information import NuisanceInformation
from .residuals import Residuals
from .result_thresholds import THRESHOLDS
from .torque_noise import TorqueNoise

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Covariance (b, b) of the base values (b,), torque noise sigma (n,) [N m|N], excitation.

    sigma is the noise of the prepared samples, `noise` the noise of a measured torque, before
    torque and regressor are low-passed and decimated. `information` is the weighted factor (b + 1,
    b + 1) of [Y tau], `errors` (b, b) the factor of the errors of Y; `sizes` (b,) are the values
    that a body like the described one has. `share` (b,) is the part of the information on each base
    parameter that the samples hold, the rest being the description's. `parameters` (p, p) is the
    covariance of every parameter and `parameter_share` (p,) their part; both are None for an
    estimator that uses no description. These covariances hold for the torque as it is measured.
    `scale_std` is the relative standard deviation of the overall torque scale, a fraction, and
    `scaled` (p,) are the parameters that scale with the torque: `std`, `total_covariance` and
    `parameters_std` include it.
    """

    base: BaseParameters
    values: Array
    covariance: Array
    sigma: Array
    noise: TorqueNoise
    information: Array
    sizes: Array
    errors: Array
    share: Array
    parameters: Array | None = None
    parameter_share: Array | None = None
    scale_std: float = 0.0
    scaled: Array | None = None

    @property
    def total_covariance(self) -> Array:
        """The covariance of the base values with the torque scale, (b, b).

        cov + s^2 base base^T: with another scale of the torque, all base values scale with it.
        """
        if self.scale_std == 0.0:
            return self.covariance
        return self.covariance + self.scale_std**2 * np.outer(self.values, self.values)

    @property
    def total_parameters(self) -> Array | None:
        """The covariance of every parameter with the torque scale, (p, p); None without it."""
        if self.parameters is None or self.scaled is None or self.scale_std == 0.0:
            return self.parameters
        return self.parameters + self.scale_std**2 * np.outer(self.scaled, self.scaled)

    def with_gains(self, gains: DriveGains, posterior: Posterior | None) -> Uncertainty:
        """Return the uncertainty with drive gains and payloads of the logs included.

        Base values that change by d change the parameters of a posterior with the precision P by
        P^-1 Y^T W^2 Y d.
        """
        extra = gains.base_covariance
        if extra is None:
            return self
        changed = replace(self, covariance=self.covariance + extra)
        if self.parameters is None or posterior is None:
            return changed
        scores = posterior.data.T @ self.information[:, :-1]
        lift = posterior.coordinates.matrix @ (posterior.root @ (posterior.root.T @ scores))
        return replace(changed, parameters=self.parameters + lift @ extra @ lift.T)

    @cached_property
    def excitation(self) -> ExcitationSpectrum:
        """Singular values and rank of the weighted regressor, relative to its errors."""
        return excitation(self.information, self.errors)

    @cached_property
    def std(self) -> Array:
        """Standard deviation of each base parameter, (b,).

        Infinite where the samples hold less than 1 % of the information.
        """
        std = np.sqrt(np.maximum(np.diag(self.total_covariance), 0.0))
        std[[name in self.unexcited for name in self.base.names]] = np.inf
        return std

    def parameters_std(self, fixed: Sequence[int]) -> Array:
        """Return the standard deviation of each parameter, (p,).

        It is 0 for fixed parameters, and infinite where the samples have too little information.
        """
        std = np.full(len(self.base.parameter_names), np.inf)
        total = self.total_parameters
        if total is not None and self.parameter_share is not None:
            std = np.where(
                self.parameter_share < THRESHOLDS.least_information_share,
                np.inf,
                np.sqrt(np.maximum(np.diag(total), 0.0)),
            )
        alone = set(self.base.alone)
        for column, name, value in zip(self.base.columns, self.base.names, self.std, strict=True):
            if name in alone:
                std[column] = value
        std[list(fixed)] = 0.0
        return std

    @property
    def parameter_root(self) -> Array:
        """A matrix H (p, .) with H H^T the covariance of the parameters.

        Without a covariance of all parameters, it is the covariance of the base values, lifted by
        the pseudo-inverse of the base matrix.
        """
        lift = (
            np.eye(len(self.base.matrix.T))
            if self.parameters is not None
            else np.linalg.pinv(self.base.matrix)
        )
        values, vectors = np.linalg.eigh(
            self.covariance if self.parameters is None else self.parameters
        )
        return np.asarray(lift @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    @property
    def unseen_share(self) -> NDArray[np.bool_]:
        """Which base parameters the samples hold less than 1 % of the information on, (b,)."""
        return np.asarray(self.share < THRESHOLDS.least_information_share)

    @property
    def relative_std(self) -> Array:
        """Standard deviation over |value| of each base parameter, (b,), a fraction."""
        return relative_std(self.std, self.values)

    def lines(self) -> list[str]:
        """Return a table of the base parameters with two standard deviations, line by line."""
        table = parameter_table(
            "Base parameters", self.base.names, self.values, self.std, self.base.expressions
        )
        lines = table.to_text().splitlines()
        return [
            *lines,
            "",
            f"not excited by these samples: {', '.join(self.unexcited) or 'nothing'}",
        ]

    @cached_property
    def unexcited(self) -> tuple[str, ...]:
        """Names of the base parameters that these samples do not excite."""
        hidden = (self.share < THRESHOLDS.least_information_share) | involved(self.excitation)
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)

    @cached_property
    def weak(self) -> tuple[str, ...]:
        """Names of the base parameters that are excited but not significant.

        Their standard deviation is larger than their value and than a tenth of what a body like the
        described one has.
        """
        hidden = (
            (self.relative_std > 1.0)
            & (self.std > THRESHOLDS.weak_share * self.sizes)
            & np.isfinite(self.std)
        )
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)


def involved(spectrum: ExcitationSpectrum) -> NDArray[np.bool_]:
    """Return which parameters take part in a direction that is not excited, (b,)."""
    if not spectrum.unexcited.shape[1]:
        return np.zeros(len(spectrum.scale), bool)
    basis = np.linalg.qr(spectrum.unexcited * spectrum.scale[:, None])[0]
    return np.asarray(np.linalg.norm(basis, axis=1) > THRESHOLDS.direction_component)


def uncertainty(
    problem: Problem,
    estimate: Estimate,
    residuals: Residuals,
    noise: TorqueNoise,
    nuisance: NuisanceInformation | None = None,
) -> Uncertainty:
    """Return the uncertainty of an estimate, by the jackknife over stretches of the motion.

    With a prior of precision D, its error is P^-1 (scores + D (prior - truth)), P = A + D: the
    part from the samples has the covariance of the jackknife, the part from the description the
    estimated covariance of the description. Constraints are not used: where one is active, the
    covariance is too wide. Nuisance parameters, such as shapes of friction and delays, vary with
    the parameters.

    Parameters
    ----------
    problem, estimate, residuals : the problem, its solution and the residuals of it
    noise : of the measured torque
    nuisance : information on what was estimated beside the parameters, None for nothing
    """
    base, posterior = problem.base, estimate.posterior
    triangle = problem.total.triangle(estimate.weights)
    errors = problem.regressor_noise.triangle(estimate.weights)[:-1, :-1]
    sizes = parameter_sizes(problem.model)[list(base.columns)]
    if posterior is None:
        covariance = (
            covariance_of_parts(estimate)
            if estimate.parts
            else covariance_of_rows(triangle, residuals, problem.model.base_equalities, nuisance)
        )
        sigma, raw = noise_of_samples(problem, estimate, covariance, noise)
        return Uncertainty(
            base=base,
            values=estimate.base,
            covariance=covariance,
            sigma=sigma,
            noise=raw,
            information=triangle,
            sizes=sizes,
            errors=errors,
            share=np.ones(base.n_base),
        )
    matrix = posterior.coordinates.matrix
    seen = excited_projection(excitation(triangle, errors))
    factor, head = covariance_with_prior(
        problem, posterior, residuals, estimate.base, seen, nuisance
    )
    sampled = matrix @ factor
    described = matrix @ posterior.root @ head @ (posterior.prior @ posterior.root @ head).T
    sigma, raw = noise_of_samples(
        problem, estimate, base.matrix @ sampled @ (base.matrix @ sampled).T, noise
    )
    whole = sampled @ sampled.T + described @ described.T
    covariance, share = base.matrix @ whole @ base.matrix.T, posterior.share(base.matrix @ matrix)
    return Uncertainty(
        base=base,
        values=estimate.base,
        covariance=covariance,
        sigma=sigma,
        noise=raw,
        information=triangle,
        sizes=sizes,
        errors=errors,
        share=share,
        parameters=whole,
        parameter_share=posterior.share(matrix),
    )


def covariance_of_rows(
    triangle: Array,
    residuals: Residuals,
    equalities: BaseEqualities | None = None,
    nuisance: NuisanceInformation | None = None,
) -> Array:
    """Return the covariance (b, b) of least squares on the torque, subject to equalities.

    The factor R of [Y tau], residuals with their cells, and information on nuisance parameters.
    """
    half = (
        inverse_root(triangle)
        if equalities is None
        else equalities.N @ inverse_root(equalities.reduced(triangle))
    )
    C, head = jackknife_with_nuisance(residuals, residuals.scores, half, nuisance)
    return np.asarray(half @ head @ C @ head.T @ half.T)


def jackknife_with_nuisance(
    residuals: Residuals,
    scores: Array,
    root: Array,
    nuisance: NuisanceInformation | None,
    change: Array | None = None,
) -> tuple[Array, Array]:
    """Return the jackknife covariance of x and nuisance parameters, and the rows of x.

    Parameters
    ----------
    residuals : with the information of each cell
    scores : (c, b) of each cell
    root : (b, m) changes of the base parameters by x
    nuisance : information on k nuisance parameters, None for none
    change : (b,) by which base parameters of the residuals exceed the ones of the scores

    Returns
    -------
    covariance : (m + k, m + k) in coordinates in which the precision is one
    head : (m, m + k) x of these coordinates
    """
    ends = residuals.cells.ends
    if nuisance is None:
        return jackknife(residuals.information, scores, ends, root), np.eye(root.shape[1])
    whole, head = nuisance.roots(root)
    information = nuisance.information(residuals.information)
    return jackknife(information, nuisance.every_score(scores, change), ends, whole), head


def covariance_of_parts(estimate: Estimate) -> Array:
    """Return the covariance (b, b) of an estimator with other equations than the problem.

    The jackknife over the consecutive parts of its rows.
    """
    half = inverse_root(estimate.triangle(estimate.parts[0]))
    rows = [replace(estimate, parts=(part,)).triangle(part) for part in estimate.parts]
    information = np.array([R[:, :-1].T @ R[:, :-1] for R in rows])
    scores = np.array([R[:, :-1].T @ (R[:, -1] - R[:, :-1] @ estimate.base) for R in rows])
    return np.asarray(half @ jackknife(information, scores, (len(rows),), half) @ half.T)


def covariance_with_prior(
    problem: Problem,
    posterior: Posterior,
    residuals: Residuals,
    values: Array,
    seen: Array,
    nuisance: NuisanceInformation | None = None,
) -> tuple[Array, Array]:
    """Return a factor (k, .) of the covariance of u that the samples make, and `head` (k, .).

    The scores of the residuals belong to the base values (b,); the posterior mean differs from
    them where a constraint is active. `seen` (b, b) projects onto the excited directions. With the
    nuisance parameters, the inverse of the precision of u is root head head^T root^T.
    """
    mean = problem.base.values(posterior.parameters)
    scores = residuals.scores + residuals.information @ (values - mean)
    root = seen @ problem.base.matrix @ posterior.coordinates.matrix @ posterior.root
    C, head = jackknife_with_nuisance(residuals, scores, root, nuisance, values - mean)
    size, vectors = np.linalg.eigh(C)
    return posterior.root @ head @ (vectors * np.sqrt(np.maximum(size, 0.0))), head


def noise_of_samples(
    problem: Problem, estimate: Estimate, covariance: Array, noise: TorqueNoise
) -> tuple[Array, TorqueNoise]:
    """Return the noise (n,) [N m|N] of the kept samples, and the noise of a measured torque.

    Residuals are smaller than errors by the variance that the fitted parameters absorb: |error_j|^2
    = |residual_j|^2 + tr(A_j cov), for any colour of the noise; A_j = Y_j^T Y_j and cov (b, b) is
    the covariance of least squares. For white noise this is division by N - b.
    """
    total = problem.total
    counts = np.maximum(np.array(total.counts), 1.0)
    taken = (
        np.array([np.sum((R := total.rows(j)[:, :-1]) * (R @ covariance)) for j in range(total.n)])
        / counts
    )
    least = THRESHOLDS.least_residual * np.sqrt(
        np.max(total.torque_squares() / counts, initial=1e-300)
    )
    taken = np.maximum(taken, 0.0)  # rounding of a covariance that is singular
    sigma = np.sqrt(total.residual_squares(estimate.base) / counts + taken)
    return np.maximum(sigma, least), replace(noise, taken=np.maximum(taken, least**2))
