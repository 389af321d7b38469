"""What the samples settle before anything is estimated: rate, gains, delay, the shapes and the terms of friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..robot import Robot
from ..signals.log import Log
from .doctor.examine import examine
from .doctor.excitation import too_short
from .doctor.finding import Finding
from .estimators.drive_gains import DriveGains, estimate_gains
from .estimators.shape import estimate_friction_shape
from .estimators.simulated.didim import samples_for
from .estimators.torque_delay import estimate_delay
from .friction.choice import FrictionChoice, choose_friction
from .model.joint_terms import gear_ratios
from .model.linear_model import Model, build_model
from .model.model_options import AUTO
from .model.problem import Problem
from .options import Options
from .samples.decimation import common_factor
from .samples.preparation import Preparation
from .samples.samples import Samples, prepare

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Settled:
    """A problem that is ready for an estimator, and what was found on the way to it.

    `samples` have torques as measured, the delay (n,) [s] and what drifts taken out; those of `problem` have the drive gains too.
    `findings` are faults of the logs, `short` says why the samples are too short to show friction and delay, '' if they are not.
    """

    problem: Problem
    samples: tuple[Samples, ...]
    delay: Array
    gains: DriveGains
    friction: FrictionChoice
    findings: tuple[Finding, ...]
    short: str
    notes: tuple[str, ...]

    @property
    def interval(self) -> float:
        """The time between kept samples [s]."""
        return self.problem.decimate * float(np.median(np.diff(self.samples[0].t)))


def settle(robot: Robot, logs: Sequence[Log], options: Options, diagnose: bool, tell: Progress, drifting: bool = True) -> Settled:
    """Return the problem of some logs with everything settled that an estimator takes as given; `diagnose` looks for faults first.

    What drifts along the logs is taken out of their torques, unless `drifting` is False: other logs drift in other ways.
    """
    unknowns = build_model(robot, options.model)
    tell("preparing the samples", 0.0)
    samples = prepare_all(robot, logs, options.preparation)
    tell("looking for faults of the log", 0.2)
    unknowns = replace(unknowns, moving=any(s.base is not None for s in samples))
    given = options.preparation.decimate
    Problem(unknowns, samples, given or common_factor(samples)).check_rows()
    findings = examine(unknowns, samples, logs) if diagnose and not unknowns.moving else ()
    samples, simulated = samples_for(options.estimator, unknowns, samples, given)
    factor = given or common_factor(samples)
    tell("finding delay and friction", 0.3)
    gains = estimate_gains(unknowns, samples, options.model.drive_gains, factor)
    short = too_short(unknowns, samples)
    unknowns, delay, notes = estimate_shape_and_delay(unknowns, gains.apply(samples), options, bool(short))
    samples = tuple(s.advanced(delay) for s in samples)
    choice = chosen_friction(unknowns, gains.apply(samples), factor, options, bool(short), drifting)
    unknowns, samples = choice.model, choice.without_drift(samples, gains.values)
    gains = estimate_gains(unknowns, samples, options.model.drive_gains, factor)
    problem = Problem(unknowns, gains.apply(samples), factor)
    problem.check_rows()
    return Settled(problem, samples, delay, gains, choice, findings, short, simulated + notes + choice.notes + gains.notes)


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


def chosen_friction(
    model: Model, samples: tuple[Samples, ...], factor: int, options: Options, short: bool = False, drifting: bool = True
) -> FrictionChoice:
    """Return the model with the friction terms that the samples show, if that is left to them; as it is otherwise, or if they are short."""
    if options.model.friction != AUTO:
        return FrictionChoice(model)
    if short:
        return FrictionChoice(model, notes=("Friction: viscous, Coulomb and offset; the log is too short to show a further term.",))
    gears = gear_ratios(model.robot, options.model.gear_ratio)
    return choose_friction(model, samples, factor, gears, options.model.given_width(model.robot.joint_names) is None, drifting)
