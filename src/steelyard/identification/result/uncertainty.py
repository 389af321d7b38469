"""Uncertainty of the base parameters: a covariance that allows for autocorrelated residuals, and the excitation behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...parameters.base import BaseParameters
from ...signals.autocorrelation import autocorrelation, variance_inflation
from ..estimators.least_squares import Estimate, ExcitationSpectrum, excitation, inverse_information
from ..estimators.posterior import Posterior
from ..model.prior import parameter_sizes
from ..model.problem import Problem

Array = NDArray[np.float64]
CELLS = 1500  # most scores kept: those of neighbouring samples are summed
LEAST_SHARE = 0.01  # of the information on a parameter that samples must hold to show it
TAKES_PART = 0.03  # least component of a parameter in a direction without excitation
MOST_WIDENING = 4.0  # of the covariance, for few independent rows


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The covariance (b, b) of the base values (b,), the standard deviation sigma (n,) [N m|N] of the residuals, and the excitation.

    `raw_sigma` (n,) is that of the residuals at the rate of the log, before torque and regressor are low-passed and decimated.
    `information` is the weighted factor (b + 1, b + 1) of [Y tau], `noise` (b, b) that of the errors of Y; `sizes` (b,) are the values
    that a body like the described one has. `share` (b,) is the part of the information on each base parameter that the samples hold, the
    rest being the description's. `parameters` (p, p) is the covariance of every parameter and `parameter_share` (p,) their part; both are
    None for an estimator that uses no description.
    """

    base: BaseParameters
    values: Array
    covariance: Array
    sigma: Array
    raw_sigma: Array
    information: Array
    sizes: Array
    noise: Array
    share: Array
    parameters: Array | None = None
    parameter_share: Array | None = None

    @cached_property
    def excitation(self) -> ExcitationSpectrum:
        """Singular values and rank of the weighted regressor with columns of unit norm, counted against the errors of the regressor."""
        return excitation(self.information, self.noise)

    @cached_property
    def std(self) -> Array:
        """Standard deviation of each base parameter, (b,); infinite where the samples hold less than 1 % of the information."""
        std = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        std[[name in self.unexcited for name in self.base.names]] = np.inf
        return std

    @property
    def relative_std(self) -> Array:
        """Standard deviation over |value| of each base parameter, (b,), a fraction."""
        return relative(self.std, self.values)

    @cached_property
    def unexcited(self) -> tuple[str, ...]:
        """Names of the base parameters that these samples do not show."""
        hidden = (self.share < LEAST_SHARE) | involved(self.excitation)
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)

    @cached_property
    def weak(self) -> tuple[str, ...]:
        """Names of the base parameters that are excited but cannot be told from zero.

        Their standard deviation is larger than their value and than a tenth of what a body like the described one has.
        """
        hidden = (self.relative_std > 1.0) & (self.std > 0.1 * self.sizes) & np.isfinite(self.std)
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)


def involved(spectrum: ExcitationSpectrum) -> NDArray[np.bool_]:
    """Return which parameters take part in a direction that is not excited, (b,)."""
    if not spectrum.unexcited.shape[1]:
        return np.zeros(len(spectrum.scale), bool)
    basis = np.linalg.qr(spectrum.unexcited * spectrum.scale[:, None])[0]
    return np.asarray(np.linalg.norm(basis, axis=1) > TAKES_PART)


def relative(std: Array, value: Array) -> Array:
    """Return std / |value|, 0 where std is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(std == 0, 0.0, std / np.abs(value))


@dataclass(frozen=True, eq=False)
class Residuals:
    """For each kept sample: time (N,); torque predicted and measured (N, n); rows in use (N, n).

    `scores` (c, b): Y^T W^2 e summed over cells of consecutive samples; `ends` are the numbers of cells up to the end of each log.
    """

    t: Array
    predicted: Array
    measured: Array
    keep: NDArray[np.bool_]
    scores: Array
    ends: tuple[int, ...]

    @property
    def values(self) -> Array:
        """Measured minus predicted torque, (N, n) [N m|N]."""
        return self.measured - self.predicted


def residuals(problem: Problem, base: Array, weights: Array) -> Residuals:
    """Compute the residuals of base parameters (b,) and their scores with the weights (n,) of the estimate, in one pass."""
    cell = max(1, -(-problem.N // CELLS))
    parts: list[tuple[NDArray[Any], ...]] = []
    scores: list[list[Array]] = [[] for _ in problem.samples]
    rest: list[Array | None] = [None] * len(problem.samples)
    for block in problem.blocks():
        fitted = block.Y @ base
        keep = np.ones(fitted.shape, bool) if block.keep is None else block.keep
        e = (block.tau - fitted) * keep
        s = np.matmul((e * weights**2)[:, None, :], block.Y)[:, 0]
        parts.append((block.t, fitted + block.known, block.tau + block.known, keep))
        carried = rest[block.log]
        s = s if carried is None else np.concatenate([carried, s])
        whole = len(s) // cell * cell
        scores[block.log].append(s[:whole].reshape(-1, cell, s.shape[1]).sum(axis=1))
        rest[block.log] = s[whole:]
    for k, leftover in enumerate(rest):
        if leftover is not None and len(leftover):
            scores[k].append(leftover.sum(axis=0, keepdims=True))
    joined = [np.concatenate(s) for s in scores if s]
    t, predicted, measured, kept = (np.concatenate(x) for x in zip(*parts, strict=True))
    ends = tuple(np.cumsum([len(s) for s in joined]).tolist())
    return Residuals(t, predicted, measured, kept.astype(bool), np.concatenate(joined), ends)


def uncertainty(problem: Problem, estimate: Estimate, made: Residuals, sigma: Array, raw_sigma: Array) -> Uncertainty:
    """Return the uncertainty of an estimate by the estimator that ran; sigma and raw_sigma (n,) [N m|N] are those of the residuals."""
    base, found = problem.base, estimate.posterior
    triangle = problem.total.triangle(estimate.weights)
    noise = problem.regressor_noise.triangle(estimate.weights)[:-1, :-1]
    sizes = parameter_sizes(problem.model)[list(base.columns)]
    given = base, estimate.base
    if found is None:
        covariance = sandwich(inverse_information(triangle), made)
        return Uncertainty(*given, covariance, sigma, raw_sigma, triangle, sizes, noise, np.ones(base.n_base))
    whole, matrix = with_prior(found, base, made), found.coordinates.matrix
    covariance = base.matrix @ whole @ base.matrix.T
    share = found.share(base.matrix @ matrix)
    return Uncertainty(*given, covariance, sigma, raw_sigma, triangle, sizes, noise, share, whole, found.share(matrix))


def scatter(made: Residuals) -> Array:
    """Return M, (b, b): the long-run covariance of the scores Y^T W^2 e, which allows for autocorrelated residuals."""
    starts = (0, *made.ends[:-1])
    return np.asarray(sum(long_run(made.scores[a:b]) for a, b in zip(starts, made.ends, strict=True)))


def sandwich(inverse: Array, made: Residuals) -> Array:
    """Return cov(base) = A^-1 M A^-1, (b, b): A = Y^T W^2 Y, M the long-run covariance of the scores Y^T W^2 e.

    It allows for autocorrelated residuals, so it does not shrink with the sampling rate.
    White, Econometrica 48 (1980), p. 817; Newey and West, Econometrica 55 (1987), p. 703.
    """
    return np.asarray(freedom(made, len(inverse)) * inverse @ scatter(made) @ inverse)


def with_prior(found: Posterior, base: BaseParameters, made: Residuals) -> Array:
    """Return the covariance of the parameters (p, p) of an estimate with a prior D: P^-1 (M + D) P^-1 with P = A + D.

    Its error is P^-1 (scores + D (prior - truth)): what the samples decide varies as in `sandwich`, what the description decides is as
    uncertain as the description was found to be. Constraints are not used: where one is active, this is wider than it need be.
    """
    to_u = base.matrix @ found.coordinates.matrix
    gain = found.root @ found.root.T
    M = freedom(made, float(np.trace(found.decided))) * to_u.T @ scatter(made) @ to_u
    spread = found.coordinates.matrix @ gain
    prior = spread @ found.prior.T
    return np.asarray(spread @ M @ spread.T + prior @ prior.T)


def freedom(made: Residuals, unknowns: float) -> float:
    """Return N / (N - b) with N the effective number of independent rows: the correction for residuals being smaller than errors."""
    inflation = variance_inflation(autocorrelation(made.values * made.keep)[1])
    rows = float(np.sum(made.keep.sum(axis=0) / inflation))
    return rows / max(rows - unknowns, rows / MOST_WIDENING)


def long_run(S: Array) -> Array:
    """Return the covariance (b, b) of the sum of the scores S (c, b): sum over lags h of w_h S_t S_{t+h}^T.

    The weights w_h are the quadratic spectral window with Andrews' bandwidth. Andrews, Econometrica 59 (1991), eqs. (2.7) and (6.2).
    """
    width = bandwidth(S) if len(S) > 3 else 1.0
    total = S.T @ S
    for lag in range(1, min(len(S) - 2, int(np.ceil(8 * width))) + 1):
        C = S[lag:].T @ S[:-lag]
        total = total + quadratic_spectral(lag / width) * (C + C.T)
    return positive(total)


def bandwidth(S: Array) -> float:
    """Return Andrews' plug-in bandwidth of the quadratic spectral window, from first-order autoregressions of the columns.

    1.3221 (alpha N)^(1/5). Andrews, Econometrica 59 (1991), eqs. (6.2) and (6.4).
    """
    rho = np.clip(autocorrelation(S)[1], -0.97, 0.97)
    sigma4 = np.mean((S[1:] - rho * S[:-1]) ** 2, axis=0) ** 2
    unit = np.mean(S**2, axis=0) ** 2  # equal weight for each parameter, whatever its unit
    good = unit > 0
    if not good.any():
        return 1.0
    sigma4, rho = sigma4[good] / unit[good], rho[good]
    alpha = np.sum(4 * rho**2 * sigma4 / (1 - rho) ** 8) / np.sum(sigma4 / (1 - rho) ** 4)
    return float(np.clip(1.3221 * (alpha * len(S)) ** 0.2, 1.0, len(S) / 4))


def quadratic_spectral(x: float) -> float:
    """Return the quadratic spectral window at a lag over the bandwidth. Andrews 1991, eq. (2.7)."""
    z = 6 * np.pi * x / 5
    return float(25 / (12 * np.pi**2 * x**2) * (np.sin(z) / z - np.cos(z)))


def positive(M: Array) -> Array:
    """Return the nearest positive semidefinite matrix: the window may leave small negative eigenvalues."""
    size = np.sqrt(np.maximum(np.diag(M), 1e-300))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(size, size))
