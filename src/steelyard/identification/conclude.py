"""From a settled problem to a fit: the estimate, its uncertainty, the identified robot, and the evidence for a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot import Robot
from ..robot.known_function import carrying
from ..signals.log import Log
from .doctor.wrong_robot import is_placeholder
from .elastic.deflection import estimate_elasticity
from .estimators.least_squares import Estimate, Estimator, weighted
from .estimators.prior_weight import PriorWeight
from .estimators.sdp import SDP, consistent
from .friction.residual_split import split_residuals
from .model.known import Known, KnownFunction, torque_of
from .model.problem import Problem
from .options import Options
from .result.collect_inputs import collect_inputs, files_of, mass_inputs, rated_torques
from .result.expected_error import expected_error
from .result.fit import Fit
from .result.held_out import held_out, odd_log
from .result.held_out_motion import held_out_motion
from .result.pipeline import SamplePipeline
from .result.prediction import Region, covered_region
from .result.residuals import Residuals, residuals
from .result.state_coverage import state_coverage
from .result.torque_noise import torque_noise
from .result.uncertainty import uncertainty
from .result.validation import Validation, kept_states, predicted_torque
from .result.verdict.inputs import LogInputs
from .settle import Settled

Array = NDArray[np.float64]
LOAD_ROUNDS, SAME_LOAD = 20, 1e-4  # fits at most, and the relative change of the load that needs no further one


def with_elasticity(fit: Fit, problem: Problem, logs: Sequence[Log]) -> Fit:
    """Return a fit with stiffness and damping of the joints that were asked for, and sentences on them."""
    found = estimate_elasticity(problem, fit.estimate, fit.uncertainty.parameter_root, logs, fit.options.model.elastic_joints)
    estimate = replace(fit.estimate, notes=fit.estimate.notes + found.notes)
    return replace(fit, pipeline=replace(fit.pipeline, elasticity=found), estimate=estimate)


def conclude(
    robot: Robot,
    settled: Settled,
    problem: Problem,
    estimate: Estimate,
    options: Options,
    origin: dict[str, Any],
    region: Region | None = None,
    look: Callable[[Problem, Array, Array], Residuals] = residuals,
) -> Fit:
    """Return the fit of an estimate: the identified robot, the uncertainty, and the validation on the problem's own samples.

    `region` is what all states cover, that of the problem's samples unless given; `look` tells residuals from base parameters (b,) and
    weights (n,).
    """
    model = problem.model
    estimate = replace(estimate, notes=settled.notes + sample_notes(problem) + estimate.notes)
    covered, friction = region or covered_region(robot, settled.samples), settled.friction
    given = options.preparation, settled.delay, settled.gains, settled.interval
    pipeline = SamplePipeline(*given, covered, state_coverage(settled.samples), friction.drift_rms, friction.added)
    left = look(problem, estimate.base, estimate.weights)
    own = self_validation(problem, left, robot, options.model.known, pipeline.region)
    if model.known is not None:
        estimate = replace(estimate, notes=(*estimate.notes, known_note(model.known, problem, own.measured)))
    assert estimate.parameters is not None
    identified = model.identified(estimate.parameters)
    known = uncertainty(problem, estimate, left, torque_noise(problem.samples, torque_of(identified, model.known)))
    if pipeline.gains.base_covariance is not None:
        known = replace(known, covariance=known.covariance + pipeline.gains.base_covariance)
    left_out = held_out(problem, estimate)
    expected = expected_error(model, problem.samples, torque_of(identified, model.known), known.covariance, left_out)
    parts = held_out_motion(problem, left_out, problem.base.values(estimate.parameters), pipeline.gains.values)
    pipeline = replace(pipeline, held_out=parts)
    causes = split_residuals(problem, estimate.base)
    placeholder = "set_aside" not in estimate.details and is_placeholder(model)
    weighed = options.model.known_mass is not None
    inputs = collect_inputs(
        validation=own,
        expected=expected,
        cross_validation=left_out,
        noise_floor=causes.floor,
        uncertainty=known,
        units=model.row_units,
        rated=rated_torques(robot),
        region=covered,
        masses=mass_inputs(identified, robot, weighed, placeholder, estimate.details.get("set_aside", ())),
        log=log_inputs(robot, settled, problem, odd_log(problem, estimate, own.total_relative_error)),
    )
    return Fit(
        robot=carrying(identified, model.known),
        initial=robot,
        model=model,
        estimate=estimate,
        uncertainty=known,
        validation=own,
        pipeline=replace(pipeline, residual_split=causes),
        options=options,
        provenance=origin,
        verdict_inputs=inputs,
    )


def log_inputs(robot: Robot, settled: Settled, problem: Problem, odd: str) -> LogInputs:
    """Return what the verdict depends on of the log; `odd` is a sentence about a log that differs from the others."""
    files = files_of(robot, problem.samples)
    return LogInputs(
        findings=settled.findings,
        examinable=not problem.model.moving,
        too_short=settled.short,
        odd_log=odd,
        **files,
    )


def self_validation(problem: Problem, left: Residuals, robot: Robot, known: Known | None, region: Region) -> Validation:
    """Return the validation of a fit on its own samples, beside the robot as given."""
    given = predicted_torque(problem.samples, problem.decimate, torque_of(robot, known))
    states = kept_states(problem.samples, problem.decimate)
    before = Validation(left.t, given, left.measured, left.keep, robot.joint_names, inside=region.contains(*states), states=states)
    return replace(before, predicted=left.predicted, before=before)


def known_note(known: KnownFunction, problem: Problem, measured: Array) -> str:
    """Return a sentence on a known torque that cannot be traced, with its size."""
    unloaded = [replace(s, payload_torque=None) for s in problem.samples]
    share = np.linalg.norm(predicted_torque(unloaded, problem.decimate, known)) / np.linalg.norm(measured)
    return (
        f"The known torque, {share:.1%} of the measured torque, is a Python function that cannot be traced: fit.robot calls it. Exports, "
        "derivatives and regressors of fit.robot are refused; write it with arithmetic and NumPy's functions of q and qd, np.zeros_like(q) "
        "in place of np.zeros, to have them."
    )


def fit_at_own_load(problem: Problem, estimator: Estimator) -> tuple[Problem, Estimate]:
    """Return the problem and its estimate; where friction depends on the load, that of the links that were found.

    The first load is that of weighted least squares, the next that of the last estimate, until it changes no more.
    """
    rounds = LOAD_ROUNDS if problem.model.reads_load else 0
    if rounds:
        problem = at_load(problem, weighted(problem.total, problem.prior, 2)[0])
    estimate = estimator.fit(problem)
    for _ in range(rounds):
        before = problem.model.load_parameters
        problem = at_load(problem, estimate.base)
        if np.linalg.norm(problem.model.load_parameters - before) <= SAME_LOAD * np.linalg.norm(before):
            break
        estimate = estimator.fit(problem)
    return problem, to_physical(problem, estimate)


def at_load(problem: Problem, base: Array) -> Problem:
    """Return the problem with friction that depends on the weight of links with base parameters (b,)."""
    return replace(problem, model=problem.model.with_load(problem.model.nearest(base)))


def to_physical(problem: Problem, estimate: Estimate) -> Estimate:
    """Return the estimate with parameters (p,) of a real robot that has its base values, or the nearest to them in torque."""
    if estimate.parameters is not None:
        return estimate
    triangle = estimate.triangle(problem.total)
    triangle[:-1, -1] = triangle[:-1, :-1] @ estimate.base
    triangle[-1, -1] = 0.0
    found = consistent(problem.model, triangle, estimate.base, SDP(1e-3, problem.model.bounds, exact=True), PriorWeight(1e-3))
    squares = [problem.total.residual_squares(base).sum() for base in (problem.base.values(found.parameters), estimate.base)]
    worse, own = np.sqrt(np.array(squares) / problem.total.torque_squares().sum())
    price = f"{100 * (worse - own):.2f} points"
    note = f"No real robot has exactly these base parameters: fit.robot has the nearest ones, whose error is {price} larger."
    return replace(estimate, parameters=found.parameters, notes=estimate.notes + ((note,) if worse - own >= 1e-6 else ()))


def sample_notes(problem: Problem) -> tuple[str, ...]:
    """Return sentences on the samples: remarks of the logs and the decimation."""
    notes = [remark for s in problem.samples for remark in s.remarks]
    if problem.decimate > 1:
        rate = 1 / (float(np.median(np.diff(problem.samples[0].t))) * problem.decimate)
        notes.append(f"Torque and regressor were low-passed and one in {problem.decimate} samples kept: {rate:.3g} Hz.")
    return tuple(dict.fromkeys(notes))
