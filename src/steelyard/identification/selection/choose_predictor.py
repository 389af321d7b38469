"""The choice of the parameters that predict torques, by held-out torque."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.least_squares import Estimate, excitation, least_squares, trimmed, weighted
from ..estimators.posterior import Coordinates, coordinates, posterior
from ..model.accumulator import Accumulator
from ..model.prior import body_prior
from ..model.problem import Problem, merged
from ..samples.samples import shuffled_states
from .choose_smoothing import SmoothingChoice
from .held_out_torque import OLS, WLS, HeldOutError, held_out_error
from .selection_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Solve = Callable[[Accumulator], Array]
CONSISTENT, UNCONSTRAINED = "consistent", "unconstrained"
WORDS = {
    CONSISTENT: "the physically consistent robot",
    UNCONSTRAINED: "base parameters with the description as prior, without constraints",
    WLS: "base parameters of weighted least squares, without constraints",
    OLS: "base parameters of ordinary least squares, without constraints",
}


@dataclass(frozen=True, eq=False)
class Predictor:
    """Base parameters that predict the measured torque, and how they were chosen.

    Parameters
    ----------
    name : 'consistent', 'unconstrained', 'wls' or 'ols'
    base : (b,) base parameters
    cutoff : band of the comparison [Hz]
    errors : held-out error |e| / |tau| of each candidate, fractions
    """

    name: str
    base: Array
    cutoff: float
    errors: dict[str, float]

    @property
    def is_consistent(self) -> bool:
        """Whether the physically consistent robot predicts."""
        return self.name == CONSISTENT

    @property
    def cost_of_consistency(self) -> float:
        """Held-out error of the consistent robot minus this predictor's, a fraction."""
        return self.errors[CONSISTENT] - self.errors[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return the predictor as plain data."""
        return {
            "name": self.name,
            "base": self.base.tolist(),
            "cutoff": self.cutoff,
            "errors": dict(self.errors),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Predictor:
        """Return the predictor that `to_dict` wrote."""
        return cls(
            name=str(data["name"]),
            base=np.array(data["base"], float),
            cutoff=float(data["cutoff"]),
            errors={str(name): float(error) for name, error in data["errors"].items()},
        )

    @property
    def note(self) -> str:
        """A sentence on the choice."""
        band = f"torque up to {self.cutoff:g} Hz"
        if self.name == CONSISTENT:
            return (
                f"Torques are predicted by {WORDS[CONSISTENT]}; held-out error of {band}:"
                f" {self.errors[CONSISTENT]:.2%}."
            )
        return (
            f"Torques are predicted by {WORDS[self.name]}: held-out error of {band}"
            f" {self.errors[self.name]:.2%}, of {WORDS[CONSISTENT]} (fit.robot)"
            f" {self.errors[CONSISTENT]:.2%}."
        )


@dataclass(frozen=True, eq=False)
class PredictorChoice:
    """A predictor, or the plain model or the prior weight that predicts held-out torque better.

    Parameters
    ----------
    predictor : the best of the estimate's own model
    solve : its base parameters (b,) as a function of folded rows
    plain : (cut-off [Hz], 'ols' or 'wls') of plain least squares that is better, None if none is
    described : whether the links as described are better, with friction of the log
    """

    predictor: Predictor
    solve: Solve
    plain: tuple[float, str] | None = None
    described: bool = False


def choose_predictor(
    problem: Problem,
    estimate: Estimate,
    smoothing: SmoothingChoice,
    delay: Array,
    gains: Array,
    *,
    kinds: Sequence[str],
    plain: bool,
) -> PredictorChoice | None:
    """Choose what predicts the measured torque, by blocked cross-validation in one band.

    The physically consistent estimate is kept unless another candidate predicts held-out blocks
    better: the same without constraints, weighted or ordinary least squares (by more than the
    standard error), the links as described, or plain least squares (another filter, viscous and
    Coulomb friction, no delay).

    Parameters
    ----------
    problem, estimate : the problem and its consistent estimate
    smoothing : the band of the comparison, and errors of plain least squares in it
    delay, gains : (n,) of the torques [s], and their factors
    kinds : parameters without constraints that may predict: 'unconstrained', 'wls', 'ols'
    plain : whether plain least squares may replace the model

    Returns
    -------
    PredictorChoice; None where the blocks are too few to compare.
    """
    blocks, rows = smoothing.band.corrected(delay, gains).folds(problem.model), problem.folds
    if estimate.posterior is None or not comparable(problem, blocks):
        return None
    candidates = estimate_solvers(problem, estimate, kinds)
    rest = [merged(rows, without=k) for k in range(len(rows))]
    errors = {name: held_out_error(blocks, list(map(f, rest))) for name, f in candidates.items()}
    name = best_predictor(errors)
    if name != CONSISTENT and contradicts_robot(problem, estimate, candidates[name], errors):
        name = CONSISTENT
    predictor = Predictor(
        name=name,
        base=candidates[name](problem.total),
        cutoff=smoothing.band.cutoff,
        errors={key: error.total for key, error in errors.items()},
    )
    described = held_out_error(blocks, list(map(as_described(problem, estimate), rest)))
    others: dict[tuple[float, str] | None, HeldOutError] = {None: described}
    if plain:
        others.update(smoothing.plain.items())
    best = min(others, key=lambda key: others[key].total)
    if not others[best].is_less(errors[name]):
        return PredictorChoice(predictor, candidates[name])
    return PredictorChoice(predictor, candidates[name], plain=best, described=best is None)


def best_predictor(errors: Mapping[str, HeldOutError]) -> str:
    """Return the candidate that predicts: the consistent one unless another is clearly better."""
    name = min(errors, key=lambda each: errors[each].total)
    better = errors[name].is_better(errors[CONSISTENT], THRESHOLDS.least_consistency_gain)
    return name if better else CONSISTENT


def contradicts_robot(
    problem: Problem, estimate: Estimate, solve: Solve, errors: Mapping[str, HeldOutError]
) -> bool:
    """Return whether parameters differ from the consistent robot far beyond its held-out error.

    At states that take each moving joint from another sample. Where joints moved one at a time,
    blocks of the log do not show how parameters without constraints extrapolate.
    """
    assert estimate.parameters is not None
    model, count = problem.model, THRESHOLDS.compared_states
    moving = shuffled_states(problem.samples, count, THRESHOLDS.rest_speed)
    states = model.feasible_states(*moving)
    Y, base = model.rows(*states), problem.base.values(estimate.parameters)
    torque, other = Y @ base, Y @ solve(problem.total)
    difference = np.linalg.norm(other - torque) / max(float(np.linalg.norm(torque)), 1e-300)
    return bool(difference > THRESHOLDS.largest_contradiction * errors[CONSISTENT].total)


def comparable(problem: Problem, blocks: Sequence[Accumulator]) -> bool:
    """Return whether every block has rows, and the others enough of them to estimate from."""
    rows = problem.folds
    if len(blocks) != len(rows) or not all(sum(fold.counts) for fold in (*blocks, *rows)):
        return False
    most = max(sum(fold.counts) for fold in rows)
    return sum(problem.total.counts) - most >= 2 * problem.base.n_base


def estimate_solvers(
    problem: Problem, estimate: Estimate, kinds: Sequence[str]
) -> dict[str, Solve]:
    """Return the candidates as functions of the folded rows, by name."""
    assert estimate.parameters is not None
    posterior_of_all = estimate.posterior
    assert posterior_of_all is not None
    with_prior = prior_solver(
        problem, estimate, posterior_of_all.coordinates, posterior_of_all.weights
    )
    shift = problem.base.values(estimate.parameters) - with_prior(problem.total)
    weights = weighted(problem.total, problem.prior, 2)[1]
    solvers: dict[str, Solve] = {
        CONSISTENT: lambda rows: with_prior(rows) + shift,
        UNCONSTRAINED: with_prior,
        WLS: lambda rows: least_squares(rows.triangle(weights), problem.prior),
        OLS: lambda rows: least_squares(rows.triangle(), problem.prior),
    }
    return {name: solve for name, solve in solvers.items() if name in (CONSISTENT, *kinds)}


def prior_solver(problem: Problem, estimate: Estimate, where: Coordinates, weights: Array) -> Solve:
    """Return the posterior mean (b,) as a function of the folded rows, without constraints.

    Directions that the samples do not excite keep the description.
    """
    assert estimate.posterior is not None
    vague = estimate.posterior.vague
    noise = problem.regressor_noise.triangle(estimate.weights)[:-1, :-1]
    spectrum = excitation(problem.total.triangle(estimate.weights), noise)

    def solve(rows: Accumulator) -> Array:
        triangle = trimmed(rows.triangle(estimate.weights), spectrum)
        return problem.base.values(
            posterior(problem.model, triangle, weights, where, vague).parameters
        )

    return solve


def as_described(problem: Problem, estimate: Estimate) -> Solve:
    """Return the posterior mean with the links as they are described."""
    prior = body_prior(problem.model)
    weights = np.full(prior.bodies, THRESHOLDS.exact_prior)
    return prior_solver(problem, estimate, coordinates(problem.model, prior), weights)
