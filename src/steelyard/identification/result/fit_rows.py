"""The regression behind a fit: its rows, its likelihood, and the bootstrap of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import real_number, whole_number
from ...errors import CallError
from ..model.problem import Problem
from .jackknife import moving_blocks
from .prediction import learned_torque
from .residuals import residuals

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regression:
    """Rows of tau = Y base + noise as the estimator had them, sample by sample, M in all.

    Rows that were not in use are left out. Rows are not weighted: `weights[:, None] * Y` and
    `weights * tau` are the rows of weighted least squares.

    Parameters
    ----------
    Y : (M, b) base columns of the regressor, low-passed and decimated with the torque
    tau : (M,) measured minus known torque, without delay, drift and drive gains [N m|N]
    weights : (M,) weight of each row [1/(N m)|1/N]
    row : (M,) number of the joint, or of the row of a sample
    t : (M,) time [s]
    log : (M,) number of the log
    names : base parameters, (b,)
    """

    Y: Array
    tau: Array
    weights: Array
    row: NDArray[np.intp]
    t: Array
    log: NDArray[np.intp]
    names: tuple[str, ...]

    @property
    def weighted(self) -> tuple[Array, Array]:
        """weights Y (M, b) and weights tau (M,): the rows of weighted least squares."""
        return self.weights[:, None] * self.Y, self.weights * self.tau


def stored_problem(fit: Any, what: str) -> Problem:
    """Return the problem of a Fit; raise CallError for a fit without its samples."""
    problem: Problem | None = fit.pipeline.problem
    if problem is None or fit.archive is not None:
        cause = "was loaded from a file" if problem is None else "folded its logs one by one"
        raise CallError(
            f"{what} needs the samples, and this fit {cause}: identify from logs in memory"
        )
    return problem


def regression(fit: Any) -> Regression:
    """Return the rows of a Fit, see `Fit.regressor`."""
    problem = stored_problem(fit, "regressor")
    parts: list[tuple[Any, ...]] = []
    for block in problem.blocks():
        N, n = block.tau.shape
        keep = (np.ones((N, n), bool) if block.keep is None else block.keep).reshape(-1)
        weights = np.broadcast_to(fit.estimate.weights, (N, n)).reshape(-1)
        columns = (
            block.rows.dense.reshape(N * n, -1),
            block.tau.reshape(-1),
            weights,
            np.tile(np.arange(n), N),
            np.repeat(block.t, n),
            np.full(N * n, block.log),
        )
        parts.append(tuple(x[keep] for x in columns))
    Y, tau, weights, row, t, log = (np.concatenate(x) for x in zip(*parts, strict=True))
    return Regression(
        Y=Y, tau=tau, weights=weights, row=row, t=t, log=log, names=tuple(fit.base.names)
    )


def log_likelihood(fit: Any) -> float:
    """Return the largest Gaussian log likelihood of a Fit's residuals, see `Fit.log_likelihood`.

    A learned residual does not count: the parameters do not depend on it.
    """
    keep = fit.validation.keep
    counts = keep.sum(axis=0)
    residuals, learned = fit.validation.residuals, learned_torque(fit)
    if learned is not None and fit.validation.states is not None:
        residuals = residuals + keep * learned(*fit.validation.states)
    squares = np.sum(residuals**2, axis=0)[counts > 0]
    counts = counts[counts > 0]
    variance = np.maximum(squares / counts, 1e-300)
    return float(-0.5 * np.sum(counts * (np.log(2.0 * np.pi * variance) + 1.0)))


def information_criterion(fit: Any, penalty: float) -> float:
    """Return penalty k - 2 log L with the rank k of the base parameters."""
    return float(penalty * fit.rank - 2.0 * log_likelihood(fit))


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Base parameters (draws, b) of resampled logs.

    Parameters
    ----------
    values : (draws, b) base parameters
    names : base parameters, (b,)
    """

    values: Array
    names: tuple[str, ...]

    @property
    def mean(self) -> Array:
        """Mean of each base parameter, (b,)."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def std(self) -> Array:
        """Standard deviation of each base parameter, (b,)."""
        return np.asarray(self.values.std(axis=0, ddof=1))

    @property
    def covariance(self) -> Array:
        """Covariance of the base parameters, (b, b)."""
        return np.asarray(np.cov(self.values.T))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return quantiles of each base parameter, (b,) and (b,).

        Parameters
        ----------
        level : probability between the two [-].

        Returns
        -------
        Lowest and highest value of each base parameter.
        """
        outside = 0.5 * (1.0 - real_number("interval: level", level, 0.0, 1.0))
        low, high = np.quantile(self.values, [outside, 1.0 - outside], axis=0)
        return np.asarray(low), np.asarray(high)


def bootstrap(fit: Any, draws: int, seed: int) -> Bootstrap:
    """Return base parameters of resampled stretches of the motion, see `Fit.bootstrap`.

    Blocks of neighbouring cells of each log are drawn with replacement, as many as fill the log;
    the normal equations of a draw are the sums over its cells. The description is drawn from its
    estimated covariance. Kuensch, Annals of Statistics 17
    (1989), p. 1217.
    """
    count = whole_number("bootstrap: draws", draws, 2, 1e6)
    rng = np.random.default_rng(whole_number("bootstrap: seed", seed, 0))
    problem = stored_problem(fit, "bootstrap")
    base, weights = fit.estimate.base, fit.estimate.weights
    cells = residuals(problem, base, weights)
    blocks, lengths = zip(*moving_blocks(cells.cells.ends), strict=True)
    chances = np.array(lengths) / np.sum(lengths)
    picked = rng.choice(len(blocks), (count, max(1, round(sum(lengths)))), p=chances)
    times = np.zeros((count, len(cells.scores)))
    for draw, numbers in enumerate(picked):
        for number in numbers:
            times[draw, blocks[number]] += 1.0
    half, total = prior_root(fit), cells.scores.sum(axis=0)
    values = np.empty((count, len(base)))
    for draw, often in enumerate(times):
        information = np.tensordot(often, cells.information, 1) + half @ half.T
        scores = often @ cells.scores - total + half @ rng.normal(size=half.shape[1])
        values[draw] = base + solve_symmetric(information, scores)
    return Bootstrap(values, tuple(fit.base.names))


def prior_root(fit: Any) -> Array:
    """Return H (b, .) with H H^T the precision of the described base parameters in a Fit."""
    posterior, b = fit.estimate.posterior, fit.base.n_base
    if posterior is None:
        return np.zeros((b, 0))
    root = fit.base.matrix @ posterior.coordinates.matrix @ np.linalg.inv(posterior.prior)
    size = np.linalg.norm(root, axis=1)
    values, vectors = np.linalg.eigh((root / size[:, None]) @ (root / size[:, None]).T)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1])) / size[:, None])


def solve_symmetric(A: Array, b: Array) -> Array:
    """Return the least-norm solution of A x = b in scaled unknowns, for a symmetric A."""
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    size[size == 0] = 1.0
    x, *_ = np.linalg.lstsq(A / np.outer(size, size), b / size, rcond=1e-13)
    return np.asarray(x / size)
