"""Identification from the wrench of the base alone, as a force plate under the robot measures it: no joint torque is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cached import cached_property
from ..errors import CallError, LogError
from ..parameters.base import exciting_states
from ..robot import Robot
from ..signals.clean import clean
from ..signals.log import WRENCH, Log
from ..signals.segments import split
from .estimators.drive_gains import DriveGains
from .estimators.least_squares import Estimate
from .friction.residual_split import ResidualSplit, noise_share
from .model.linear_model import Model, build_model, exciting_base
from .model.problem import Problem
from .model.rows import gathered
from .options import Options
from .result.collect_inputs import collect_inputs, files_of, mass_inputs, rated_torques
from .result.expected_error import expected_error
from .result.fit import Fit
from .result.held_out import held_out
from .result.pipeline import SamplePipeline
from .result.prediction import Prediction, covered_region, states
from .result.provenance import provenance
from .result.residuals import residuals
from .result.state_coverage import state_coverage
from .result.torque_noise import torque_noise
from .result.uncertainty import uncertainty
from .result.validation import Validation, ValidationSamples, kept_states, predicted_torque
from .result.verdict.inputs import LogInputs
from .samples.decimation import common_factor, natural_factor
from .samples.preparation import Preparation
from .samples.samples import Samples, at_rest, base_motion, refuse_degrees, require_enough, require_finite, require_log, require_numbers
from .samples.smoothing import drawn_errors, smoothed, standing

Array = NDArray[np.float64]
Torque = Callable[..., Array]
FitKind = TypeVar("FitKind", bound=Fit)
CHANNELS = tuple(WRENCH)
UNSEEN = "Friction, offsets and rotor inertias that only joints feel do not reach the base: they are those of the description."
EMPTY = "The plate is taken to show what the whole robot weighs; the base's own inertia is that of the description."


@dataclass(frozen=True, eq=False)
class BaseWrenchModel(Model):
    """A model whose rows are the six components of the base's wrench: w = Y_b(q, qd, qdd, base) b + that of the base's own inertia.

    Khalil and Dombre 2002, section 12.5; Grotjahn, Daemi and Heimann 2001.
    """

    @property
    def n(self) -> int:
        return len(CHANNELS)

    @property
    def row_names(self) -> tuple[str, ...]:
        return CHANNELS

    @property
    def row_units(self) -> tuple[str, ...]:
        return tuple(WRENCH.values())

    @cached_property
    def _sampled(self) -> Array:
        made = exciting_states(self.robot.tree)
        motion = exciting_base(len(made[0])) if self.moving else None
        return np.asarray(self.robot.base_wrench_regressor(*made, motion)[..., : len(self.names)]).reshape(-1, len(self.names))

    def columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[int], *base: Array) -> Array:
        """Return some columns of the regressor, (N, 6, k)."""
        return np.asarray(self.robot.base_wrench_regressor(q, qd, qdd, *base)[..., list(columns)])

    def entries(self, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return the entries of the base columns in reach, (N, P)."""
        return gathered(self.rows(q, qd, qdd, *base), self.reach)

    def known_torque(self, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return the wrench (N, 6) of the held parameters and of the base's own inertia."""
        values = np.zeros(len(self.names))
        for index, value in self.held:
            values[index] = value
        own = self.robot.root_parameters
        return np.asarray(self.robot.base_wrench_regressor(q, qd, qdd, *base) @ np.concatenate([values, own]))


class BaseWrenchFit(Fit):
    """A fit from wrenches of the base: `validation`, `residuals` and `rms` are of the wrench, fx to mz; `predict` is of joint torques."""

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, cutoff: float | None = None, t: ArrayLike | None = None) -> Prediction:
        """Return the joint torques (..., n) [N m|N] with the uncertainty of the links; friction is the description's, its error unknown."""
        shaped = states(self.robot.n, q, qd, qdd)
        Y, links = self.robot.regressor(*shaped), self.uncertainty.parameters
        lift = np.linalg.pinv(self.base.matrix)
        covariance = lift @ self.covariance @ lift.T if links is None else links
        std = np.sqrt(np.maximum(np.einsum("...jp,pq,...jq->...j", Y, covariance, Y), 0.0))
        return Prediction(np.asarray(self.robot.inverse_dynamics(*shaped)), std, self.region.contains(*shaped))

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None) -> Array:
        """Return the joint torque of `robot`, (..., n) [N m|N]."""
        return np.asarray(self.robot.inverse_dynamics(q, qd, qdd, base=base))

    def validate(self, log: Log, other: Robot | Fit | None = None, preparation: Preparation | None = None) -> Validation:
        """Return the validation on another log with wrenches of the base, beside the robot as given and, if named, another model."""
        if other is not None and not isinstance(other, (Robot, Fit)):
            raise CallError(f"other must be a Robot or a Fit, not {type(other).__name__}")
        chosen = preparation or self.preparation
        samples = prepare_wrenches(self.robot, log, chosen)
        scored = ValidationSamples(samples, chosen.decimate or natural_factor(samples.t, samples.qd), CHANNELS, self.region)
        result = replace(scored.score(self.robot.base_wrench), before=scored.score(self.initial.base_wrench))
        third = other.robot if isinstance(other, Fit) else other
        rival = None if third is None else scored.score(third.base_wrench)
        return replace(result, other=rival, verdict_inputs=self.verdict_inputs)


def has_only_wrenches(logs: Sequence[Any]) -> bool:
    """Return whether some log has wrenches of the base and no joint torques; raise LogError where others differ."""
    plates = [isinstance(log, Log) and log.tau is None and log.base_wrench is not None for log in logs]
    if any(plates) and not all(plates):
        raise LogError(f"log {plates.index(False) + 1} of {len(logs)} has joint torques, others wrenches of the base: identify them apart")
    return any(plates)


def wrench_problem(robot: Robot, logs: Sequence[Log], options: Options) -> Problem:
    """Return the problem of links and wrenches of the base: w = Y_b(q, qd, qdd, base) b + noise."""
    samples = tuple(prepare_wrenches(robot, log, options.preparation) for log in logs)
    model = wrench_model(robot, options, moving=any(s.base is not None for s in samples))
    problem = Problem(model, samples, options.preparation.decimate or common_factor(samples))
    problem.check_rows()
    return problem


def wrench_model(robot: Robot, options: Options, moving: bool) -> BaseWrenchModel:
    """Return the model: parameters that do not reach the base keep the robot's values, and what is to be held is held."""
    plain = build_model(robot, replace(options.model, friction=(), rotor=False, known=None, coupling=()))
    free = BaseWrenchModel(robot, (), None, plain.bounds, plain.total_mass, moving=moving)
    at = {name: i for i, name in enumerate(robot.parameter_names)}
    held = {at[plain.names[i]]: value for i, value in plain.held if plain.names[i] in at}
    blind = np.flatnonzero(~np.any(np.abs(free._sampled) > 0, axis=0))
    inner = 10 * len(robot.tree.bodies)
    held |= {int(i): float(robot.parameters[i]) for i in blind if i >= inner}
    return replace(free, held=tuple(sorted(held.items())))


def prepare_wrenches(robot: Robot, log: Log, options: Preparation) -> Samples:
    """Return the samples of a log: joints in the robot's order, cleaned and smoothed, with the wrench in the place of the torque."""
    require_log(log)
    if log.base_wrench is None:
        raise LogError(f"{log.where}the log has no base_wrench (N, 6); this fit was made from wrenches of the base")
    log = log.reordered(robot).replace(tau=None)
    require_numbers(log)
    refuse_degrees(robot, log)
    log = clean(log)
    require_finite(log, "base_wrench")
    require_enough(log)
    (q, qd, qdd), sure, noise, _ = smoothed(log, options)
    q, qd, qdd = at_rest(q, qd, qdd, standing(log.q))
    assert log.base_wrench is not None
    t, q, qd, qdd, wrench = (x[sure] for x in (log.t, q, qd, qdd, log.base_wrench))
    base = base_motion(robot, log)
    made = Samples(t, q, qd, qdd, wrench, None, log.remarks, log.source, base=None if base is None else base[sure])
    return replace(made, errors=drawn_errors(t[made.middle], noise))


def wrench_fit(robot: Robot, problem: Problem, estimate: Estimate, options: Options, logs: Sequence[Log]) -> BaseWrenchFit:
    """Return the fit of an estimate from wrenches of the base."""
    notes = UNSEEN, EMPTY
    return channel_fit(BaseWrenchFit, robot, problem, estimate, options, logs, CHANNELS, lambda made: made.base_wrench, notes)


def channel_fit(
    kind: type[FitKind],
    robot: Robot,
    problem: Problem,
    estimate: Estimate,
    options: Options,
    logs: Sequence[Log],
    channels: tuple[str, ...],
    torque: Callable[[Robot], Torque],
    notes: tuple[str, ...],
) -> FitKind:
    """Return the fit of an estimate with parameters of a real robot: the uncertainty, and the validation on its own samples.

    The rows are `channels` other than the joints; `torque(robot)` is the function (q, qd, qdd, ...) -> (N, channels) of a robot.
    """
    model, samples, factor = problem.model, problem.samples, problem.decimate
    remarks = tuple(dict.fromkeys(remark for s in samples for remark in s.remarks))
    estimate = replace(estimate, notes=(*notes, *remarks, *estimate.notes))
    assert estimate.parameters is not None
    identified = model.identified(estimate.parameters)
    left = residuals(problem, estimate.base, estimate.weights)
    region = covered_region(robot, samples)
    states = kept_states(samples, factor)
    given = predicted_torque(samples, factor, torque(robot))
    before = Validation(left.t, given, left.measured, left.keep, channels, inside=region.contains(*states), states=states)
    known = uncertainty(problem, estimate, left, torque_noise(samples, torque(identified)))
    left_out = held_out(problem, estimate)
    expected = expected_error(model, samples, torque(identified), known.covariance, left_out)
    noise = noise_share([left.values[part] for part in split(left.t)])
    shares = np.column_stack([noise, np.zeros((len(noise), 2)), 1.0 - noise])
    split_up = ResidualSplit(channels, shares)
    nothing, unit = np.zeros(len(channels)), np.ones(len(channels))
    interval = factor * float(np.median(np.diff(samples[0].t)))
    pipeline = SamplePipeline(options.preparation, nothing, DriveGains(unit, nothing), interval, region, state_coverage(samples), nothing)
    own = replace(before, predicted=left.predicted, before=before)
    set_aside = estimate.details.get("set_aside", ())
    inputs = collect_inputs(
        validation=own,
        expected=expected,
        cross_validation=left_out,
        noise_floor=split_up.floor,
        uncertainty=known,
        units=model.row_units,
        rated=rated_torques(robot),
        region=region,
        masses=mass_inputs(identified, robot, options.model.known_mass is not None, False, set_aside),
        log=LogInputs(examinable=False, **files_of(robot, samples)),
    )
    return kind(
        robot=identified,
        initial=robot,
        model=model,
        estimate=estimate,
        uncertainty=known,
        validation=own,
        pipeline=replace(pipeline, residual_split=split_up),
        options=options,
        provenance=provenance(robot, logs),
        verdict_inputs=inputs,
    )
