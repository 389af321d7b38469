"""How sure the base parameters are, when residuals are no white noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.problem import Problem
from .residuals import Residuals

Array = NDArray[np.float64]
MOST = 4.0  # that few independent rows may widen the covariance


def sandwich(inverse: Array, made: Residuals) -> Array:
    """cov(base) = A^-1 M A^-1, (b, b): A = Y^T W^2 Y, M the long-run covariance of the scores Y^T W^2 e.

    Neighbouring samples count as related as they are: what a decimated log would give, a full one gives too.
    White, Econometrica 48 (1980), p. 817; Newey and West, Econometrica 55 (1987), p. 703.
    """
    starts = (0, *made.ends[:-1])
    meat = sum(long_run(made.scores[a:b]) for a, b in zip(starts, made.ends, strict=True))
    return np.asarray(freedom(made, len(inverse)) * inverse @ meat @ inverse)


def freedom(made: Residuals, unknowns: int) -> float:
    """N / (N - b) with N the number of independent rows: residuals are smaller than errors, the more so the fewer tell something new."""
    e = made.values * made.keep
    rho = np.clip(np.sum(e[1:] * e[:-1], axis=0) / np.maximum(np.sum(e**2, axis=0), 1e-300), 0.0, 0.999)
    rows = float(np.sum(made.keep.sum(axis=0) * (1 - rho) / (1 + rho)))
    return rows / max(rows - unknowns, rows / MOST)


def long_run(S: Array) -> Array:
    """Sum over lags of S_t S_{t+h}^T with weights that fall off over the bandwidth: the covariance of the sum of the scores, (b, b).

    The quadratic spectral window with Andrews' bandwidth. Andrews, Econometrica 59 (1991), eqs. (2.7) and (6.2).
    """
    width = bandwidth(S) if len(S) > 3 else 1.0
    total = S.T @ S
    for lag in range(1, min(len(S) - 2, int(np.ceil(8 * width))) + 1):
        C = S[lag:].T @ S[:-lag]
        total = total + quadratic_spectral(lag / width) * (C + C.T)
    return positive(total)


def autoregression(S: Array) -> Array:
    """The lag-one coefficient of each column, kept away from 1."""
    power = np.sum(S[:-1] ** 2, axis=0)
    return np.asarray(np.clip(np.sum(S[1:] * S[:-1], axis=0) / np.maximum(power, 1e-300), -0.97, 0.97))


def bandwidth(S: Array) -> float:
    """Andrews' plug-in for the quadratic spectral window, from first-order autoregressions of the columns.

    1.3221 (alpha N)^(1/5). Andrews, Econometrica 59 (1991), eqs. (6.2) and (6.4).
    """
    rho = autoregression(S)
    sigma4 = np.mean((S[1:] - rho * S[:-1]) ** 2, axis=0) ** 2
    unit = np.mean(S**2, axis=0) ** 2  # equal weight for each parameter, whatever its unit
    good = unit > 0
    if not good.any():
        return 1.0
    sigma4, rho = sigma4[good] / unit[good], rho[good]
    alpha = np.sum(4 * rho**2 * sigma4 / (1 - rho) ** 8) / np.sum(sigma4 / (1 - rho) ** 4)
    return float(np.clip(1.3221 * (alpha * len(S)) ** 0.2, 1.0, len(S) / 4))


def quadratic_spectral(x: float) -> float:
    """The quadratic spectral window at a lag over the bandwidth. Andrews 1991, eq. (2.7)."""
    z = 6 * np.pi * x / 5
    return float(25 / (12 * np.pi**2 * x**2) * (np.sin(z) / z - np.cos(z)))


def positive(M: Array) -> Array:
    """The nearest positive semidefinite matrix: windows leave small negative eigenvalues at most."""
    size = np.sqrt(np.maximum(np.diag(M), 1e-300))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(size, size))


LOOKED_AT = 16  # blocks
MOST_LAGS = 300.0


def inflation(problem: Problem, base: Array) -> Array:
    """(1 + rho) / (1 - rho) per joint, (n,), with rho the correlation of a residual with the next one: samples per independent sample.

    With it a prior weighs the same against a log at 1 kHz as against the same log at 100 Hz.
    Priestley, "Spectral Analysis and Time Series", 1981, section 5.3.2 (variance of the mean of a first-order autoregression).
    """
    product, power = np.zeros(problem.n), np.full(problem.n, 1e-300)
    for block in problem.blocks(LOOKED_AT):
        e = block.tau - block.Y @ base
        e = e if block.keep is None else e * block.keep
        product += np.sum(e[1:] * e[:-1], axis=0)
        power += np.sum(e**2, axis=0)
    rho = np.clip(product / power, 0.0, 0.999)
    return np.asarray(np.minimum((1 + rho) / (1 - rho), MOST_LAGS))
