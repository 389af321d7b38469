"""Held-out errors: blocked cross-validation of an estimate from its folded samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimators.least_squares import Estimate, excitation, least_squares, trimmed
from ..estimators.posterior import posterior
from ..model.accumulator import Accumulator
from ..model.problem import Problem, merged
from ..selection.choose_predictor import PredictorChoice
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors of consecutive parts of the samples, each predicted from the others.

    Squares of residual and torque, both (parts, n).

    `counts` (parts, n) are the rows in use. `bases` (parts, 2, b) are base parameters estimated
    without each part, and without the half of the samples that contains it: the values of the fit
    plus the change due to the omitted samples. None where parts are not consecutive samples.
    Roberts et al., Ecography 40 (2017), p. 913.
    """

    residual_squares: Array
    torque_squares: Array
    counts: Array
    bases: Array | None = None

    @property
    def rms(self) -> Array:
        """Root mean square error of each joint, (n,) [N m|N]."""
        return np.asarray(
            np.sqrt(self.residual_squares.sum(axis=0) / np.maximum(self.counts.sum(axis=0), 1.0))
        )

    @property
    def largest(self) -> Array:
        """The largest root mean square error of any part, of each joint, (n,) [N m|N].

        The next of m exchangeable parts exceeds it with a probability of at most 1 / (m + 1). Vovk,
        Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005. Parts with few rows do
        not count.
        """
        enough = self.counts >= THRESHOLDS.least_part * self.counts.mean(axis=0)
        squares = np.where(enough, self.residual_squares, 0.0) / np.maximum(self.counts, 1.0)
        return np.asarray(np.sqrt(squares.max(axis=0, initial=0.0)))

    @property
    def largest_total(self) -> float:
        """The largest root mean square over the joints' errors together, of any part [N m|N]."""
        rows = self.counts.mean(axis=1)
        enough = rows >= THRESHOLDS.least_part * rows.mean()
        squares = np.where(enough, self.residual_squares.sum(axis=1), 0.0) / np.maximum(rows, 1.0)
        return float(np.sqrt(squares.max(initial=0.0)))

    @property
    def total(self) -> float:
        """|e| / |tau| over all joints, a fraction."""
        return float(
            np.sqrt(self.residual_squares.sum() / max(float(self.torque_squares.sum()), 1e-300))
        )

    @property
    def worst(self) -> float:
        """The largest |e| / |tau| of any part, a fraction."""
        parts = np.sqrt(
            self.residual_squares.sum(axis=1) / np.maximum(self.torque_squares.sum(axis=1), 1e-300)
        )
        return float(parts.max(initial=0.0))


def held_out(
    problem: Problem, estimate: Estimate, choice: PredictorChoice | None = None
) -> HeldOut:
    """Return the errors of each part of the samples, predicted from the other parts.

    Weights of joints and of the description come from the fit of all samples. A part without which
    nothing could be estimated is predicted by all. `choice` has what
    predicts in place of the estimate.
    """
    solve, base = row_solver(problem, estimate), estimate.base
    if choice is not None:
        solve, base = choice.solve, choice.predictor.base
    parts = [fold for fold in problem.folds if sum(fold.counts)]
    enough = (
        sum(problem.total.counts) - max(sum(fold.counts) for fold in parts) >= problem.base.n_base
    )
    bases = (
        [solve(merged(tuple(parts), without=k)) for k in range(len(parts))]
        if enough and parts[1:]
        else []
    )
    residual = [
        fold.residual_squares(base)
        for fold, base in zip(parts, bases or [base] * len(parts), strict=True)
    ]
    squares, counts = (
        np.array([p.torque_squares() for p in parts]),
        np.array([p.counts for p in parts]),
    )
    changed = (
        bases_without(problem, estimate, bases, solve, choice)
        if len(parts) == len(problem.folds)
        else None
    )
    return HeldOut(np.array(residual), squares, counts, changed)


def bases_without(
    problem: Problem,
    estimate: Estimate,
    bases: list[Array],
    solve: Callable[[Accumulator], Array],
    choice: PredictorChoice | None,
) -> Array | None:
    """Return base parameters (parts, 2, b) without each part, and without half of it.

    `bases` come without the constraints of the estimator. Their change against all samples is added
    to the values of the fit, which obey the constraints.
    """
    if estimate.parameters is None or not problem.has_consecutive_folds:
        return None
    count = len(problem.folds)
    values = problem.base.values(estimate.parameters) if choice is None else choice.predictor.base
    if not bases:
        return np.tile(values, (count, 2, 1))
    whole = solve(problem.total)
    halves = [merged(problem.folds[: count // 2]), merged(problem.folds[count // 2 :])]
    enough = all(sum(half.counts) >= problem.base.n_base for half in halves)
    others = [solve(half) for half in reversed(halves)] if enough else None
    coarse = bases if others is None else [others[2 * k // count] for k in range(count)]
    return np.array(
        [[values + base - whole for base in pair] for pair in zip(bases, coarse, strict=True)]
    )


def row_solver(problem: Problem, estimate: Estimate) -> Callable[[Accumulator], Array]:
    """Return the estimate as a function of folded rows."""
    solve = solver(problem, estimate)
    return lambda rows: solve(rows.triangle(estimate.weights))


def solver(problem: Problem, estimate: Estimate) -> Callable[[Array], Array]:
    """Return the estimate as a function of the factor of [Y tau].

    With its prior, or by least squares.
    """
    posterior_of_all = estimate.posterior
    if posterior_of_all is None:
        return lambda triangle: least_squares(triangle, problem.prior)
    noise = problem.regressor_noise.triangle(estimate.weights)[:-1, :-1]
    spectrum = excitation(problem.total.triangle(estimate.weights), noise)

    def solve(triangle: Array) -> Array:
        part = posterior(
            problem.model,
            trimmed(triangle, spectrum),
            posterior_of_all.weights,
            posterior_of_all.coordinates,
            posterior_of_all.vague,
        )
        return problem.base.values(part.parameters)

    return solve


def odd_log(problem: Problem, estimate: Estimate, error: float) -> str:
    """Return a sentence about the log that does not belong to the others, '' if there is none.

    Without it their own error halves.

    `error` is |e| / |tau| of all logs together.
    """
    count = len(problem.samples)
    if count < THRESHOLDS.least_logs or not error > THRESHOLDS.usual_error:
        return ""
    logs = [Accumulator.empty(problem.model.reach, problem.base.n_base) for _ in range(count)]
    for block in problem.blocks():
        logs[block.log] = logs[block.log].fold_rows(block.rows, block.tau, block.keep)
    solve = solver(problem, estimate)
    rests = [merged(tuple(logs), without=k) for k in range(count)]
    bases = [solve(rest.triangle(estimate.weights)) for rest in rests]
    errors = [relative(rest, base) for rest, base in zip(rests, bases, strict=True)]
    k = int(np.argmin(errors))
    if errors[k] * THRESHOLDS.odd_log_ratio > error:
        return ""
    log_error = relative(logs[k], bases[k])
    source = f" ({problem.samples[k].source})" if problem.samples[k].source else ""
    which = f"Log {k + 1} of {count}{source} does not belong to the others"
    return f"{which}: without it they fit up to {errors[k]:.1%}, and it is off by {log_error:.0%}."


def relative(part: Accumulator, base: Array) -> float:
    """Return |e| / |tau| of some samples with base parameters (b,)."""
    return float(
        np.sqrt(part.residual_squares(base).sum() / max(float(part.torque_squares().sum()), 1e-300))
    )
