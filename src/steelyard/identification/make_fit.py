"""make_fit: from a prepared problem and its estimate to a fit.

The identified robot, the uncertainty, the validation on its own samples, the inputs of the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot import Robot
from ..robot.known_function import with_function
from ..signals.log import Log
from ..signals.segments import split
from .build_problem import PreparedProblem
from .doctor.wrong_robot import is_placeholder
from .estimators.least_squares import Estimate, Estimator, weighted
from .estimators.prior_weight import PriorWeight
from .estimators.sdp import SDP, consistent
from .friction.residual_split import ResidualSplit, noise_share, split_residuals
from .identification_thresholds import THRESHOLDS
from .model.known import KnownFunction
from .model.problem import Problem
from .observations.observation import DELAY, DIAGNOSIS
from .residual.learn import KeptStates, learn_residual
from .residual.learned import LearnedResidual, StateBox
from .result.collect_inputs import collect_inputs, files_of, mass_inputs, rated_torques
from .result.expected_error import (
    ExpectedError,
    RestingTorque,
    expected_error,
    friction_drift,
    resting_torque,
)
from .result.fit import Fit
from .result.held_out import HeldOut, held_out, odd_log, row_solver
from .result.held_out_motion import held_out_motion
from .result.nuisance_information import NuisanceInformation, information_of_nuisance
from .result.pipeline import SamplePipeline
from .result.prediction import Region, covered_region
from .result.presliding_uncertainty import distance_std, memory_note
from .result.residuals import Residuals, residuals
from .result.state_coverage import state_coverage
from .result.torque_noise import torque_noise
from .result.uncertainty import Uncertainty, uncertainty
from .result.validation import Validation, kept_states, predicted_torque
from .result.verdict.inputs import LogInputs, MassInputs
from .selection.choose_predictor import Predictor, PredictorChoice

Array = NDArray[np.float64]


def with_elasticity(fit: Fit, problem: Problem, logs: Sequence[Log]) -> Fit:
    """Return a fit with stiffness and damping of the requested joints, and sentences on them."""
    from .elastic.deflection import estimate_elasticity

    elasticity = estimate_elasticity(
        problem,
        fit.estimate,
        fit.uncertainty.parameter_root,
        logs,
        fit.options.model.elastic_joints,
    )
    estimate = replace(fit.estimate, notes=fit.estimate.notes + elasticity.notes)
    return replace(fit, pipeline=replace(fit.pipeline, elasticity=elasticity), estimate=estimate)


def make_fit(
    prepared: PreparedProblem,
    estimate: Estimate,
    *,
    provenance: dict[str, Any],
    region: Region | None = None,
    compute_residuals: Callable[[Problem, Array, Array], Residuals] = residuals,
    choice: PredictorChoice | None = None,
) -> Fit:
    """Build the fit of an estimate: identified robot, uncertainty, self-validation and verdict.

    Parameters
    ----------
    prepared : prepared problem; carries robot, samples, options and nuisance estimates
    estimate : base parameters (b,) with the weights of the rows (n,), and parameters (p,)
    provenance : digests and versions for the report
    region : states that all logs cover; the states of the problem's samples by default
    compute_residuals : function of problem, base parameters (b,) and weights (n,)
    choice : what predicts torques; the estimate's own base parameters by default

    Returns
    -------
    Fit, with residuals over the problem's own samples [N m|N].
    """
    problem, options = prepared.problem, prepared.options
    model, observation = problem.model, problem.model.observation
    parameters = estimate.parameters
    assert parameters is not None
    identified = model.identified(parameters)
    torque = observation.predictor(identified, known=model.known, structure=model.robot)
    region = region or covered_region(prepared.robot, prepared.samples)
    errors = compute_residuals(problem, estimate.base, estimate.weights)
    predictor = None if choice is None else choice.predictor
    other = None if choice is None or choice.predictor.is_consistent else choice
    predicted = errors
    if other is not None:
        predicted = compute_residuals(problem, other.predictor.base, estimate.weights)
    validation = self_validation(prepared, predicted, region)
    presliding = distance_std(problem, identified, errors)
    notes = prepared.notes + fit_notes(problem, estimate, predictor, validation.measured)
    estimate = replace(estimate, notes=notes + memory_note(identified, presliding))
    spread = estimate_uncertainty(prepared, estimate, errors, identified, torque)
    cross_validation = held_out(problem, estimate, other)
    learned = learned_residual(prepared, estimate, choice, validation, errors)
    if learned is not None:
        estimate = replace(estimate, notes=(*estimate.notes, learned.note))
    shown, judged = with_learned(validation, cross_validation, learned, identified)
    expected = unseen_error(prepared, identified, torque, spread, judged)
    causes = residual_causes(
        problem, estimate.base if other is None else other.predictor.base, predicted
    )
    rest = error_at_rest(prepared, shown)
    pipeline = replace(
        sample_pipeline(prepared, region),
        rest=rest,
        learned=learned,
        residual_split=causes,
        predictor=predictor,
        presliding_std=presliding,
        problem=replace(problem),
    )
    if observation.has_joint_rows:
        base = problem.base.values(parameters) if other is None else other.predictor.base
        gains = prepared.nuisance.gains.values
        motions = held_out_motion(problem, cross_validation, base, gains)
        pipeline = replace(pipeline, held_out=motions)
    verdict_inputs = collect_inputs(
        validation=shown,
        expected=expected,
        cross_validation=judged,
        noise_floor=causes.floor,
        uncertainty=spread,
        units=model.row_units,
        rated=rated_torques(prepared.robot),
        region=region,
        masses=link_masses(prepared, estimate, identified),
        log=log_inputs(prepared, estimate, validation),
        predictor=predictor,
        rest=rest,
    )
    return Fit(
        robot=with_function(identified, model.known),
        initial=prepared.robot,
        model=model,
        estimate=estimate,
        uncertainty=spread,
        validation=shown,
        pipeline=pipeline,
        options=options,
        provenance=provenance,
        verdict_inputs=verdict_inputs,
    )


def learned_residual(
    prepared: PreparedProblem,
    estimate: Estimate,
    choice: PredictorChoice | None,
    validation: Validation,
    errors: Residuals,
) -> LearnedResidual | None:
    """Return the learned residual of what predicts torques, None unless it was asked for.

    Parameters
    ----------
    prepared, estimate : the problem and its solution
    choice : what predicts torques; the estimate's own base parameters if None
    validation, errors : the fit on its own samples
    """
    problem = prepared.problem
    if prepared.options.model.residual is None:
        return None
    assert estimate.parameters is not None
    assert validation.states is not None
    q, qd, qdd = validation.states
    load = problem.model.identified(estimate.parameters).gravity_torque(q)
    cells = np.concatenate(errors.cells.numbers)
    states = KeptStates(q=q, qd=qd, qdd=qdd, load=load, keep=validation.keep, cells=cells)
    region = covered_region(prepared.robot, prepared.samples)
    box = StateBox.of(region.q_low, region.q_high, region.qd_most, region.qdd_most)
    if choice is None:
        base = problem.base.values(estimate.parameters)
        return learn_residual(problem, row_solver(problem, estimate), base, states, box)
    return learn_residual(problem, choice.solve, choice.predictor.base, states, box)


def with_learned(
    validation: Validation,
    cross_validation: HeldOut,
    learned: LearnedResidual | None,
    identified: Robot,
) -> tuple[Validation, HeldOut]:
    """Return errors on the fit's own samples, and of held-out parts, with the learned residual.

    Parameters
    ----------
    validation, cross_validation : without it
    learned : the learned residual, None unless it was asked for
    identified : the identified robot
    """
    if learned is None or not learned.kept:
        return validation, cross_validation
    assert validation.states is not None
    q, qd, qdd = validation.states
    predicted = validation.predicted + learned.torque(q, qd, qdd, identified.gravity_torque(q))
    squares = cross_validation.residual_squares * learned.error_ratios
    return (
        replace(validation, predicted=predicted),
        replace(cross_validation, residual_squares=squares),
    )


def unseen_error(
    prepared: PreparedProblem,
    identified: Robot,
    torque: Callable[..., Array],
    spread: Uncertainty,
    cross_validation: HeldOut,
) -> ExpectedError:
    """Return the torque error that unseen motions hardly exceed.

    Parameters
    ----------
    prepared : the problem
    identified : the identified robot
    torque : function (q, qd, qdd, ...) -> rows (N, n) of the identified robot
    spread : uncertainty of the base parameters
    cross_validation : errors of parts of the samples predicted from the others
    """
    problem, drift = prepared.problem, prepared.nuisance.friction.drift_rms
    return expected_error(
        problem.model,
        problem.samples,
        torque,
        spread.covariance,
        cross_validation,
        friction_drift(identified, problem.samples, drift) if np.any(drift) else 0.0,
    )


def error_at_rest(prepared: PreparedProblem, validation: Validation) -> RestingTorque | None:
    """Return the errors of joints at rest; None where all rows are in use."""
    if not prepared.problem.model.observation.has_joint_rows:
        return None
    speeds = prepared.options.preparation.least_speeds(prepared.robot.joint_names)
    return resting_torque(validation, speeds)


def sample_pipeline(prepared: PreparedProblem, region: Region) -> SamplePipeline:
    """Return what was done to the samples."""
    nuisance = prepared.nuisance
    return SamplePipeline(
        preparation=prepared.options.preparation,
        delay=nuisance.delay,
        gains=nuisance.gains,
        interval=prepared.interval,
        region=region,
        path=state_coverage(prepared.samples),
        drift=nuisance.friction.drift_rms,
        friction_terms=nuisance.friction.added,
    )


def estimate_uncertainty(
    prepared: PreparedProblem,
    estimate: Estimate,
    errors: Residuals,
    identified: Robot,
    torque: Callable[..., Array],
) -> Uncertainty:
    """Return the uncertainty of an estimate, of its drive gains and of the torque scale.

    Parameters
    ----------
    prepared, estimate : the problem and its solution
    errors : residuals of the solution
    identified : the identified robot
    torque : function (q, qd, qdd, ...) -> rows (N, n) of the identified robot
    """
    problem = prepared.problem
    noise = torque_noise(problem.samples, torque)
    nuisance = estimated_nuisance(prepared, estimate, errors, identified)
    spread = uncertainty(problem, estimate, errors, noise, nuisance)
    spread = spread.with_gains(prepared.nuisance.gains, estimate.posterior)
    scale_std = prepared.options.model.torque_scale_std
    return replace(spread, scale_std=scale_std, scaled=estimate.parameters)


def estimated_nuisance(
    prepared: PreparedProblem, estimate: Estimate, errors: Residuals, identified: Robot
) -> NuisanceInformation | None:
    """Return the information on friction shapes and delays that were estimated; None for none.

    Samples of an archive are not in memory: its nuisance parameters count as known.
    """
    problem, options = prepared.problem, prepared.options
    observation, names = problem.model.observation, prepared.robot.joint_names
    if not (observation.has_joint_rows and problem.has_consecutive_folds) or estimate.parts:
        return None
    is_free = options.preparation.given_delay(names) is None and not prepared.nuisance.short
    late = DELAY in observation.allowed and is_free
    return information_of_nuisance(
        problem,
        identified,
        errors,
        estimate.weights,
        widths=options.model.given_width(names) is None,
        delays=prepared.nuisance.delay if late else None,
    )


def residual_causes(problem: Problem, base: Array, errors: Residuals) -> ResidualSplit:
    """Split the residuals by cause; rows other than joints show only their noise."""
    if problem.model.observation.has_joint_rows:
        return split_residuals(problem, base)
    noise = noise_share([errors.values[part] for part in split(errors.t)])
    shares = np.column_stack([noise, np.zeros((len(noise), 2)), 1.0 - noise])
    return ResidualSplit(problem.model.row_names, shares)


def link_masses(prepared: PreparedProblem, estimate: Estimate, identified: Robot) -> MassInputs:
    """Return what the verdict depends on of the links."""
    model, details = prepared.problem.model, estimate.details
    examined = DIAGNOSIS in model.observation.allowed and "descriptions_not_used" not in details
    return mass_inputs(
        identified,
        prepared.robot,
        prepared.options.model.known_mass is not None,
        examined and is_placeholder(model),
        details.get("descriptions_not_used", ()),
        prepared.scale_std,
    )


def log_inputs(prepared: PreparedProblem, estimate: Estimate, validation: Validation) -> LogInputs:
    """Return what the verdict depends on of the logs."""
    problem = prepared.problem
    files = files_of(prepared.robot, problem.samples)
    if DIAGNOSIS not in problem.model.observation.allowed:
        return LogInputs(examinable=False, robot=files["robot"], log=files["log"])
    return LogInputs(
        findings=prepared.findings,
        examinable=not problem.model.moving,
        too_short=prepared.nuisance.short,
        odd_log=odd_log(problem, estimate, validation.total_relative_error),
        robot=files["robot"],
        log=files["log"],
    )


def self_validation(prepared: PreparedProblem, errors: Residuals, region: Region) -> Validation:
    """Return the validation of a fit on its own samples, beside the robot as given."""
    problem, model = prepared.problem, prepared.problem.model
    torque = model.observation.predictor(
        prepared.robot, known=prepared.options.model.known, structure=model.robot
    )
    states = kept_states(problem.samples, problem.decimate)
    before = Validation(
        t=errors.t,
        predicted=predicted_torque(problem.samples, problem.decimate, torque),
        measured=errors.measured,
        keep=errors.keep,
        joint_names=model.row_names,
        inside=region.contains(*states),
        states=states,
    )
    return replace(before, predicted=errors.predicted, before=before)


def known_note(known: KnownFunction, problem: Problem, measured: Array) -> str:
    """Return a sentence on a known torque that cannot be traced, with its size."""
    unloaded = [replace(s, payload_torque=None) for s in problem.samples]
    share = np.linalg.norm(predicted_torque(unloaded, problem.decimate, known)) / np.linalg.norm(
        measured
    )
    return (
        f"The known torque, {share:.1%} of the measured torque, is a Python function that cannot be"
        " traced: fit.robot calls it. Exports, derivatives and regressors of fit.robot are"
        " refused; write it with arithmetic and NumPy's functions of q and qd, np.zeros_like(q) in"
        " place of np.zeros, to have them."
    )


def solve_problem(problem: Problem, estimator: Estimator) -> tuple[Problem, Estimate]:
    """Return the problem that was solved, and its estimate with parameters of a real robot.

    Where friction depends on the load, the load is computed from the identified links: the first
    one follows from weighted least squares, each next one from the last estimate, until it
    converges.
    """
    estimate = estimator.fit(problem)
    problem = estimate.linearised or problem
    if problem.model.reads_load:
        problem = at_load(problem, weighted(problem.total, problem.prior, 2)[0])
        estimate = estimator.fit(problem)
        for _ in range(THRESHOLDS.load_rounds):
            before = problem.model.load_parameters
            problem = at_load(problem, estimate.base)
            change = np.linalg.norm(problem.model.load_parameters - before)
            if change <= THRESHOLDS.load_tolerance * np.linalg.norm(before):
                break
            estimate = estimator.fit(problem)
    return problem, to_physical(problem, replace(estimate, linearised=None))


def at_load(problem: Problem, base: Array) -> Problem:
    """Return the problem with load friction by the weight of links with base parameters (b,)."""
    return replace(problem, model=problem.model.with_load(problem.model.nearest(base)))


def to_physical(problem: Problem, estimate: Estimate) -> Estimate:
    """Return the estimate with parameters (p,) of a real robot.

    They have the base values of the estimate, or the nearest to them in torque.
    """
    if estimate.parameters is not None:
        return estimate
    triangle = estimate.triangle(problem.total)
    triangle[:-1, -1] = triangle[:-1, :-1] @ estimate.base
    triangle[-1, -1] = 0.0
    physical = consistent(
        problem.model,
        triangle,
        estimate.base,
        SDP(1e-3, problem.model.bounds, exact=True),
        PriorWeight(1e-3),
    )
    squares = [
        problem.total.residual_squares(base).sum()
        for base in (problem.base.values(physical.parameters), estimate.base)
    ]
    error, least = np.sqrt(np.array(squares) / problem.total.torque_squares().sum())
    note = (
        "No real robot has exactly these base parameters: fit.robot has the nearest ones, whose"
        f" error is {100 * (error - least):.2f} points larger."
    )
    return replace(
        estimate,
        parameters=physical.parameters,
        notes=estimate.notes + ((note,) if error - least >= 1e-6 else ()),
    )


def fit_notes(
    problem: Problem, estimate: Estimate, predictor: Predictor | None, measured: Array
) -> tuple[str, ...]:
    """Return sentences on samples, estimate, predictor and known torque."""
    notes = sample_notes(problem) + estimate.notes
    if predictor is not None:
        notes += (predictor.note,)
    if problem.model.known is not None:
        notes += (known_note(problem.model.known, problem, measured),)
    return notes


def sample_notes(problem: Problem) -> tuple[str, ...]:
    """Return sentences on the samples: remarks of the logs and the decimation."""
    notes = [remark for s in problem.samples for remark in s.remarks]
    if problem.decimate > 1:
        rate = 1 / (float(np.median(np.diff(problem.samples[0].t))) * problem.decimate)
        notes.append(
            f"Torque and regressor were low-passed and one in {problem.decimate} samples kept:"
            f" {rate:.3g} Hz."
        )
    return tuple(dict.fromkeys(notes))
