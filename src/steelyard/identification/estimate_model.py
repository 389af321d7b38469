"""estimate_model: the estimate of a prepared problem, and what predicts torques best held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..option_groups.identification import AUTO
from ..signals.log import Log
from .build_problem import PreparedProblem, Progress, build_problem
from .estimators.least_squares import Estimate
from .estimators.sdp import SDP
from .estimators.simulated.automatic import Automatic
from .make_fit import solve_problem
from .options import Options
from .selection.choose_predictor import UNCONSTRAINED, PredictorChoice, choose_predictor
from .selection.choose_smoothing import butterworth_preparation
from .selection.held_out_torque import WLS
from .selection.selection_thresholds import THRESHOLDS

PLAIN_FRICTION = ("viscous", "coulomb", "offset")


@dataclass(frozen=True, eq=False)
class ModelEstimate:
    """A prepared problem, its estimate, and what predicts torques; None: the estimate itself."""

    prepared: PreparedProblem
    estimate: Estimate
    choice: PredictorChoice | None = None


def estimate_model(
    prepared: PreparedProblem, logs: Sequence[Log], progress: Progress
) -> ModelEstimate:
    """Estimate the parameters; by default, held-out torque decides on model and predictor.

    The default estimator keeps its estimate unless a larger weight of the description, or plain
    least squares with another filter, predicts held-out torque better: then the problem is solved
    again with these options. What the caller gave is never replaced.

    Parameters
    ----------
    prepared : the problem
    logs : its logs
    progress : function (sentence, share of the work)
    """
    first = solve_prepared(prepared)
    choice = predictor_choice(prepared, first, (), plain=allows_plain(prepared.options))
    if choice is None:
        return first
    if choice.plain is not None:
        progress("preparing the plain model", 0.6)
        kinds = (choice.plain[1],)
        prepared = plain_problem(prepared, logs, choice.plain, progress)
        first = solve_prepared(prepared)
        choice = predictor_choice(prepared, first, kinds, plain=False)
    if choice is not None and choice.described:
        options = with_prior_weight(prepared.options, THRESHOLDS.exact_prior)
        first = solve_prepared(replace(prepared, options=options))
        choice = predictor_choice(first.prepared, first, (), plain=False)
    return replace(first, choice=choice)


def solve_prepared(prepared: PreparedProblem) -> ModelEstimate:
    """Return the estimate of a prepared problem, with the problem that was solved."""
    problem, estimate = solve_problem(prepared.problem, prepared.options.estimator)
    return ModelEstimate(replace(prepared, problem=problem), estimate)


def predictor_choice(
    prepared: PreparedProblem, first: ModelEstimate, kinds: tuple[str, ...], *, plain: bool
) -> PredictorChoice | None:
    """Return the choice for the default estimator, None for others.

    `kinds` are further candidates without constraints, see `choose_predictor`.
    """
    options, smoothing = prepared.options, prepared.smoothing
    if smoothing is None or not isinstance(options.estimator, Automatic):
        return None
    problem, nuisance = first.prepared.problem, prepared.nuisance
    if any(s.smoothed is not None for s in problem.samples):
        return None
    return choose_predictor(
        problem,
        first.estimate,
        smoothing,
        nuisance.delay,
        nuisance.gains.values,
        kinds=() if options.model.bounds else (UNCONSTRAINED, WLS, *kinds),
        plain=plain,
    )


def allows_plain(options: Options) -> bool:
    """Return whether nothing was given that plain least squares would replace."""
    model, estimator = options.model, options.estimator
    return (
        tuple(model.friction) == AUTO
        and model.coulomb_width == "estimate"
        and not model.bounds
        and not model.drive_gains
        and model.prior is None
        and options.preparation.delay == "estimate"
        and isinstance(estimator, Automatic)
        and estimator == Automatic()
    )


def plain_problem(
    prepared: PreparedProblem,
    logs: Sequence[Log],
    plain: tuple[float, str],
    progress: Progress,
) -> PreparedProblem:
    """Return the problem of plain least squares: one filter, the usual friction, no delay."""
    options, smoothing = prepared.options, prepared.smoothing
    assert smoothing is not None
    undelayed = replace(options.preparation, delay=0.0, decimate=smoothing.given_decimation)
    preparation = butterworth_preparation(undelayed, plain[0], prepared.samples)
    model = replace(options.model, friction=PLAIN_FRICTION, coulomb_width=THRESHOLDS.coulomb_width)
    simple = build_problem(
        prepared.robot,
        logs,
        replace(options, preparation=preparation, model=model),
        diagnose=False,
        progress=progress,
        force=smoothing.force,
    )
    note = (
        f"A zero-phase Butterworth filter at {plain[0]:g} Hz with viscous and Coulomb friction"
        " predicts held-out torque better than the chosen delay and friction terms."
    )
    return replace(
        simple,
        findings=prepared.findings,
        notes=(*simple.notes, note),
        smoothing=smoothing,
    )


def with_prior_weight(options: Options, weight: float) -> Options:
    """Return the options with a weight of the description."""
    estimator = options.estimator
    assert isinstance(estimator, Automatic)
    return replace(options, estimator=replace(estimator, inner=SDP(weight)))
