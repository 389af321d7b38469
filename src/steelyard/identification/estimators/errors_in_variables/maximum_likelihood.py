"""Maximum likelihood with errors in the positions.

What their noise does to the torques of all joints weighs each sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....arguments import whole_number
from ....errors import CallError
from ...model.accumulator import Accumulator, triangular
from ...model.problem import Problem, merged
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import Estimate, Estimator, noise, weighted
from .position_noise import PositionNoise, blocks_with_states, state_errors
from .total_least_squares import compensated, smooth_columns

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MaximumLikelihood(Estimator):
    """max p(tau | base) for tau - Y base = e_tau - J (dq, dqd, dqdd).

    The noise of positions reaches the torques through J.

    J has the exact derivatives of inverse dynamics by q, qd and qdd; C is the covariance of (dq,
    dqd, dqdd) of a joint after smoother and low-pass. Each sample has the covariance S =
    diag(sigma^2) + J C J^T of its n torques, sigma^2 being what J C J^T does not explain of the
    residuals. A step solves the rows S^-1/2 [Y tau] by total least squares, since S depends on the
    parameters, and computes S again. Without noise of the positions it is weighted least squares.
    Olsen and Petersen, IEEE Trans. Robotics and Automation 17 (2001), p. 95; Olsen, Swevers and
    Verdonck, Int. J. Robotics Research 21 (2002), p. 89.
    """

    iterations: int = 10
    name = "ml"

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "iterations",
            whole_number("MaximumLikelihood: iterations", self.iterations, 1, 1e6),
        )

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        if not problem.model.observation.has_joint_rows:
            raise CallError(
                "estimator 'ml' is for torques of the joints of a robot without loops; use 'sdp' or"
                " 'wls'"
            )
        errors = [state_errors(s, problem.decimate) for s in problem.samples]
        base, _ = weighted(problem.total, problem.prior)
        parts: tuple[Accumulator, ...] = ()
        share, done = np.ones(problem.n), 0
        while done < self.iterations:
            before, (parts, noise_rows, share) = base, whitened(problem, base, errors)
            base = compensated(
                merged(parts).triangle(), noise_rows, problem.prior, merged(parts).counts[0]
            )
            done += 1
            if change(problem, base, before) <= THRESHOLDS.likelihood_tolerance:
                break
        details = {"iterations": done, "torque_noise_share": share.tolist()}
        return Estimate(base, 1.0 / noise(problem.total, base), details=details, parts=parts)


def whitened(
    problem: Problem, base: Array, errors: list[Array]
) -> tuple[tuple[Accumulator, ...], Array, Array]:
    """Return the whitened rows S^-1/2 [Y tau] and the factor of their errors.

    The rows are folded in `likelihood_parts`; the factor is (b, b). The third result is the
    share (n,) of the residuals that is noise of the torque.
    """
    model = PositionNoise(problem.model, problem.model.nearest(base))
    sigma2, share = torque_variance(problem, model, base, errors)
    totals = [
        Accumulator.empty((range(len(base)),), len(base))
        for _ in range(THRESHOLDS.likelihood_parts)
    ]
    done = 0
    for block, states in blocks_with_states(problem):
        rows = whiten(
            np.concatenate([block.Y, block.tau[:, :, None]], 2),
            model.covariance(states, errors[block.log]),
            sigma2,
            block.keep,
        )
        number = (done + np.arange(len(rows))) * THRESHOLDS.likelihood_parts // max(problem.N, 1)
        for k in np.unique(number):
            selected = rows[number == k].reshape(-1, 1, rows.shape[2])
            totals[k] = totals[k].fold(selected[:, :, :-1], selected[:, :, -1])
        done += len(rows)
    noise_rows = np.zeros((1, len(base)))
    for errors_of_rows, log, part in problem.regressor_errors():
        samples = part.part(slice(None, None, problem.decimate))
        drawn = whiten(
            errors_of_rows.dense,
            model.covariance(samples.states, errors[log]),
            sigma2,
            samples.keep,
        )
        noise_rows = triangular(np.vstack([noise_rows, drawn.reshape(-1, len(base))]))
    return tuple(totals), noise_rows * smooth_columns(problem.model), share


def torque_variance(
    problem: Problem, model: PositionNoise, base: Array, errors: list[Array]
) -> tuple[Array, Array]:
    """Return the variance (n,) of the torque noise, and its share of the residuals (n,).

    It is the part of the residuals that noise of the positions does not explain.

    It is the most likely one: sum (e^2 - v) / v^2 = 0 with v = sigma^2 + (J C J^T)_jj, for
    residuals e of a joint.
    """
    pairs = []
    for block, states in blocks_with_states(problem):
        e2 = (block.tau - block.rows @ base) ** 2
        pairs.append(
            (
                e2 if block.keep is None else np.where(block.keep, e2, np.nan),
                diagonal(model.covariance(states, errors[block.log])),
            )
        )
    e2, explained = (np.concatenate(x) for x in zip(*pairs, strict=True))
    total = noise(problem.total, base) ** 2
    sigma2, used = total, np.isfinite(e2)
    for _ in range(THRESHOLDS.likelihood_steps):
        w = np.where(used, 1.0 / (sigma2 + explained) ** 2, 0.0)
        likely = np.sum(np.where(used, w * (e2 - explained), 0.0), axis=0) / np.maximum(
            np.sum(w, axis=0), 1e-300
        )
        sigma2 = np.clip(likely, (1.0 - THRESHOLDS.regressor_error_share) * total, total)
    return sigma2, sigma2 / total


def diagonal(S: Array) -> Array:
    """Return the diagonals (N, n) of matrices (N, n, n)."""
    return np.asarray(np.einsum("tjj->tj", S))


def whiten(rows: Array, S: Array, sigma2: Array, keep: NDArray[np.bool_] | None) -> Array:
    """Return L^-1 rows (N, n, k) with L L^T = S + diag(sigma2); unused rows are zero.

    S (N, n, n) is the covariance of the torques of each sample.
    """
    n = range(len(sigma2))
    if keep is not None:
        rows, S = rows * keep[:, :, None], S * keep[:, :, None] * keep[:, None, :]
    S[:, n, n] += sigma2
    return np.asarray(np.linalg.solve(np.linalg.cholesky(S), rows))


def change(problem: Problem, base: Array, before: Array) -> float:
    """Return the rms torque of a change of the base parameters (b,), relative to all torque."""
    x = np.append(base - before, 0.0)
    squares = sum(float(np.sum((problem.total.rows(j) @ x) ** 2)) for j in range(problem.n))
    return float(np.sqrt(squares / max(float(problem.total.torque_squares().sum()), 1e-300)))
