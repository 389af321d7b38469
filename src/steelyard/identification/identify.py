"""identify: from a robot and its logs to a model with its uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief
from ..errors import CallError, LogError, SteelyardWarning, require_robot
from ..robot import Robot
from ..signals.log import Log
from .base_wrench import has_only_wrenches, wrench_fit, wrench_problem
from .closed_loops import closed_fit, closed_problem
from .doctor.examine import examine
from .doctor.excitation import too_short
from .doctor.finding import Finding
from .doctor.wrong_robot import is_placeholder
from .elastic.deflection import estimate_elasticity, require_visible
from .estimators.drive_gains import estimate_gains
from .estimators.least_squares import Estimate, Estimator, weighted
from .estimators.prior_weight import PriorWeight
from .estimators.sdp import SDP, consistent
from .estimators.shape import estimate_friction_shape
from .estimators.simulated.didim import problem_for, samples_for
from .estimators.torque_delay import estimate_delay
from .friction.choice import FrictionChoice, choose_friction
from .friction.residual_split import split_residuals
from .model.accumulator import on_one_core
from .model.joint_terms import gear_ratios
from .model.known import Known, KnownFunction, resolve_known, torque_of
from .model.linear_model import Model, build_model
from .model.model_options import AUTO, ModelOptions
from .model.problem import Problem
from .options import Options, make_options
from .result.fit import Fit
from .result.held_out import held_out, odd_log
from .result.pipeline import SamplePipeline
from .result.prediction import Region, covered_region
from .result.promise import promise
from .result.provenance import provenance
from .result.residuals import Residuals, residuals
from .result.torque_noise import torque_noise
from .result.uncertainty import uncertainty
from .result.validation import Validation, kept_states, predicted_torque
from .result.verdict import Evidence
from .result.visited import visited_path
from .samples.decimation import common_factor
from .samples.preparation import Preparation
from .samples.samples import Samples, list_of_logs, prepare

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]
LOAD_ROUNDS, SAME_LOAD = 20, 1e-4  # fits at most, and the relative change of the load that needs no further one


@on_one_core
def identify(
    robot: Robot,
    log: Log | Iterable[Log],
    estimator: str | Estimator | None = None,
    *,
    preparation: Preparation | None = None,
    model: ModelOptions | None = None,
    diagnose: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Fit:
    """Identify the dynamic parameters of a robot from one or more logs: min |tau - Y(q, qd, qdd) pi|, every link a real body.

    By default viscous and Coulomb friction, offsets and rotor inertias are found with the links, further friction terms where the log
    shows them, each joint is weighted by its noise, every pseudo-inertia is positive definite, and what the log does not show stays near
    the description.
    `estimator`: 'auto' (default: 'sdp', on the motion that explains the torque best), 'sdp', 'wls', 'ols', 'irls', 'ridge', 'lasso',
    'elastic_net', 'tls', 'ml', 'momentum', 'energy', 'sequential', 'iv', 'didim', 'cloe', or an instance.
    `preparation` says how samples are made, `model` what is to be found. `options` are single fields of the two: smoothing, cutoff [Hz],
    decimate, mask [rad/s|m/s], delay [s], controller of `Preparation`; friction, gear_ratio, rotor, coulomb_width [rad/s|m/s], hold,
    bounds, prior, coupling, known, drive_gains, known_mass, elastic of `ModelOptions`. Unless `diagnose` is False the log is examined for
    faults first, as by `doctor`, and what is found reaches `fit.verdict`. Where the base moves, `base` (N, 9) of the log is its motion;
    faults are not looked for then. Logs with `base_wrench` (N, 6) and without torques are identified from what a force plate under the
    robot measures; friction cannot be seen there. A robot with loops is identified from its drives alone.
    Lecture "Newton-Euler formulation and dynamic parameter identification"; Swevers et al. 2007; Wensing, Kim and Slotine 2018.

    Example:
        >>> robot = sy.load("planar_2r")
        >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
        >>> sy.identify(robot, log, "wls").verdict.word in ("trusted", "trusted within")
        True
    """
    require_robot(robot, "identify")
    if progress is not None and not callable(progress):
        raise CallError(f"progress must be a function (sentence, share) or None, not {brief(progress)}")
    tell = progress or (lambda text, share: None)
    chosen = make_options(estimator, preparation, model, **options)
    chosen = replace(chosen, model=replace(chosen.model, known=resolve_known(robot, chosen.model.known)))
    logs = list_of_logs(log)
    if has_only_wrenches(logs):
        refuse_unused(robot, chosen, "a log of base wrenches")
        plate = wrench_problem(robot, logs, chosen)
        return wrench_fit(robot, plate, to_physical(plate, chosen.estimator.fit(plate)), chosen, logs)
    if robot.tree.loops:
        refuse_unused(robot, chosen, "a robot with loops")
        closed = closed_problem(robot, logs, chosen)
        return closed_fit(robot, closed, to_physical(closed, chosen.estimator.fit(closed)), chosen, logs)
    unknowns = build_model(robot, chosen.model)
    if chosen.model.elastic_joints:
        require_visible(robot, logs, chosen.model.elastic_joints)
    tell("preparing the samples", 0.0)
    samples = prepare_all(robot, logs, chosen.preparation)
    tell("looking for faults of the log", 0.2)
    unknowns = replace(unknowns, moving=any(s.base is not None for s in samples))
    given = chosen.preparation.decimate
    Problem(unknowns, samples, given or common_factor(samples)).check_rows()
    findings = examine(unknowns, samples, logs) if diagnose and not unknowns.moving else ()
    samples, simulated = samples_for(chosen.estimator, unknowns, samples, given)
    factor = given or common_factor(samples)
    tell("finding delay and friction", 0.3)
    gains = estimate_gains(unknowns, samples, chosen.model.drive_gains, factor)
    short = too_short(unknowns, samples)
    unknowns, delay, notes = estimate_shape_and_delay(unknowns, gains.apply(samples), chosen, bool(short))
    samples = tuple(s.advanced(delay) for s in samples)
    choice = chosen_friction(unknowns, gains.apply(samples), factor, chosen, bool(short))
    unknowns, samples = choice.model, choice.without_drift(samples, gains.values)
    gains = estimate_gains(unknowns, samples, chosen.model.drive_gains, factor)
    tell("folding the samples", 0.5)
    problem = Problem(unknowns, gains.apply(samples), factor)
    problem.check_rows()
    problem, estimate = fit_at_own_load(problem_for(chosen.estimator, problem), chosen.estimator)
    tell("computing the uncertainty", 0.8)
    estimate = replace(estimate, notes=simulated + notes + choice.notes + gains.notes + sample_notes(problem) + estimate.notes)
    interval = factor * float(np.median(np.diff(samples[0].t)))
    covered = covered_region(robot, samples), visited_path(samples)
    pipeline = SamplePipeline(chosen.preparation, delay, gains, interval, *covered, choice.drift_rms, choice.added)
    fit = make_fit(robot, problem, estimate, pipeline, chosen, provenance(robot, logs), findings, short)
    tell("done", 1.0)
    return with_elasticity(fit, problem, logs) if chosen.model.elastic_joints else fit


def with_elasticity(fit: Fit, problem: Problem, logs: Sequence[Log]) -> Fit:
    """Return a fit with stiffness and damping of the joints that were asked for, and sentences on them."""
    found = estimate_elasticity(problem, fit.estimate, fit.uncertainty.parameter_root, logs, fit.options.model.elastic_joints)
    estimate = replace(fit.estimate, notes=fit.estimate.notes + found.notes)
    return replace(fit, pipeline=replace(fit.pipeline, elasticity=found), estimate=estimate)


def refuse_unused(robot: Robot, options: Options, case: str) -> None:
    """Raise CallError for options that an identification of `case` would not use."""
    delay = options.preparation.given_delay(robot.joint_names)
    given: dict[str, Any] = {
        "delay": delay is not None and np.any(delay),
        "drive_gains": options.model.drive_gains,
        "elastic": options.model.elastic,
        "controller": options.preparation.controller is not None,
    }
    for name, value in given.items():
        if value:
            raise CallError(f"{name}= is not used for {case}: leave it out, and shift or scale the signals of the log if they need it")


def prepare_all(robot: Robot, logs: Sequence[Log], preparation: Preparation) -> tuple[Samples, ...]:
    """Return the samples of every log. An error names the log by its number where there are several."""

    def prepared(number: int, log: Log) -> Samples:
        try:
            return prepare(robot, log, preparation)
        except LogError as error:
            raise (LogError(f"log {number} of {len(logs)}: {error}") if len(logs) > 1 else error) from None

    return tuple(prepared(number, log) for number, log in enumerate(logs, 1))


def estimate_shape_and_delay(
    model: Model, samples: tuple[Samples, ...], options: Options, short: bool = False
) -> tuple[Model, Array, tuple[str, ...]]:
    """Return the model with its friction shapes, the delay (n,) [s] and notes; what is given in the options is not estimated.

    `short` samples show no delay: whatever it is, some parameters make up for it.
    """
    joint_names = model.robot.joint_names
    width, delay = options.model.given_width(joint_names), options.preparation.given_delay(joint_names)
    if width is not None:
        model = model.with_shape("width", width.tolist())
    model = estimate_friction_shape(model, samples, width is None)
    given = np.zeros(model.n) if delay is None and short else delay
    lag, notes = estimate_delay(model, samples) if given is None else (given, ())
    if np.any(lag):
        model = estimate_friction_shape(model, tuple(s.advanced(lag) for s in samples), width is None)
    wide = [f"{name} {w:.3g}" for name, w in zip(joint_names, model.shape("width"), strict=True) if w > 0]
    return model, lag, notes + ((f"Coulomb friction rises over a speed [rad/s|m/s] of: {', '.join(wide)}.",) if wide else ())


def chosen_friction(model: Model, samples: tuple[Samples, ...], factor: int, options: Options, short: bool = False) -> FrictionChoice:
    """Return the model with the friction terms that the samples show, if that is left to them; as it is otherwise, or if they are short."""
    if options.model.friction != AUTO:
        return FrictionChoice(model)
    if short:
        return FrictionChoice(model, notes=("Friction: viscous, Coulomb and offset; the log is too short to show a further term.",))
    gears = gear_ratios(model.robot, options.model.gear_ratio)
    return choose_friction(model, samples, factor, gears, options.model.given_width(model.robot.joint_names) is None)


def make_fit(
    robot: Robot,
    problem: Problem,
    estimate: Estimate,
    pipeline: SamplePipeline,
    options: Options,
    origin: dict[str, Any],
    findings: tuple[Finding, ...] = (),
    short: str = "",
) -> Fit:
    """Return the fit of an estimate: the identified robot, the uncertainty, and the validation on its own samples."""
    model = problem.model
    left = residuals(problem, estimate.base, estimate.weights)
    own = self_validation(problem, left, robot, options.model.known, pipeline.region)
    if model.known is not None:
        warn_of_known(model.known, problem, own.measured)
    assert estimate.parameters is not None
    identified = model.identified(estimate.parameters)
    known = uncertainty(problem, estimate, left, torque_noise(problem.samples, torque_of(identified, model.known)))
    if pipeline.gains.base_covariance is not None:
        known = replace(known, covariance=known.covariance + pipeline.gains.base_covariance)
    left_out = held_out(problem, estimate)
    expected = promise(model, problem.samples, torque_of(identified, model.known), known.covariance, left_out)
    aside = estimate.details.get("set_aside", ())
    causes = split_residuals(problem, estimate.base)
    mass, vain = options.model.known_mass is not None, "set_aside" not in estimate.details and is_placeholder(model)
    odd = odd_log(problem, estimate, own.total_relative_error)
    evidence = Evidence(left_out, expected, causes, findings, tuple(aside), mass, not model.moving, vain, short, odd)
    return Fit(identified, robot, model, estimate, known, own, pipeline, options, origin, evidence)


def self_validation(problem: Problem, left: Residuals, robot: Robot, known: Known | None, region: Region) -> Validation:
    """Return the validation of a fit on its own samples, beside the robot as given."""
    given = predicted_torque(problem.samples, problem.decimate, torque_of(robot, known))
    states = kept_states(problem.samples, problem.decimate)
    before = Validation(left.t, given, left.measured, left.keep, robot.joint_names, inside=region.contains(*states), states=states)
    return replace(before, predicted=left.predicted, before=before)


def warn_of_known(known: KnownFunction, problem: Problem, measured: Array) -> None:
    """Warn of a known torque that fit.robot cannot carry, with its size."""
    unloaded = [replace(s, payload_torque=None) for s in problem.samples]
    share = np.linalg.norm(predicted_torque(unloaded, problem.decimate, known)) / np.linalg.norm(measured)
    message = (
        f"fit.robot does not carry the known torque, {share:.1%} of the measured torque: it cannot be traced. fit.torque has it. "
        "Write it with arithmetic and NumPy's functions of q and qd, np.zeros_like(q) in place of np.zeros, to have it in the robot"
    )
    warnings.warn(message, SteelyardWarning, stacklevel=2)


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
