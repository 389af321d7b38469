"""build_problem: from logs to the problem that an estimator solves.

The observation, the samples, the diagnosis of the log, and the nuisance parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import CallError, mention
from ..robot import Robot
from ..signals.log import Log
from .doctor.excitation import too_short
from .doctor.finding import FAULTS, THIRD_SOURCE, Finding
from .model.linear_model import Model, build_model
from .model.problem import Problem
from .nuisance.drive_gains import asked_joints
from .nuisance.nuisance_estimates import NuisanceEstimates, estimate_nuisance, without_memory
from .observations.base_wrenches import BASE_WRENCHES
from .observations.drive_torques import DRIVE_TORQUES
from .observations.joint_torques import JOINT_TORQUES
from .observations.observation import (
    CONTROLLER,
    DELAY,
    DIAGNOSIS,
    DRIVE_GAINS,
    ELASTIC,
    RESIDUAL,
    Observation,
)
from .observations.prepare import prepare_all
from .options import Options
from .samples.decimation import common_decimation
from .samples.late_states import without_late_states
from .samples.samples import Samples
from .samples.smoothing import has_states
from .selection.choose_rows import RestingRows
from .selection.choose_smoothing import SmoothingChoice, choose_smoothing
from .selection.external_force import ExternalForce

AUTO_SMOOTHING = "auto"
Progress = Callable[[str, float], None]
# the first that applies is taken
OBSERVATIONS: tuple[Observation, ...] = (BASE_WRENCHES, DRIVE_TORQUES, JOINT_TORQUES)


@dataclass(frozen=True, eq=False)
class PreparedProblem:
    """A problem that is ready for an estimator, and how it came about.

    Parameters
    ----------
    robot : the robot as given
    options : what was asked for
    problem : rows in true units, without delay, drift and drive gains
    samples : with torques as measured but for delay and drift
    nuisance : delay, gains and friction
    findings : faults of the logs
    notes : sentences on what was done
    smoothing : how the smoothing was chosen, None where it was given or the samples are too few
    """

    robot: Robot
    options: Options
    problem: Problem
    samples: tuple[Samples, ...]
    nuisance: NuisanceEstimates
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    smoothing: SmoothingChoice | None = None

    @property
    def interval(self) -> float:
        """The time between kept samples [s]."""
        return self.problem.decimate * float(np.median(np.diff(self.samples[0].t)))

    @property
    def scale_std(self) -> float:
        """Relative standard deviation of the torque scale, as given and by the drive gains."""
        gains = self.nuisance.gains
        return float(np.hypot(self.options.model.torque_scale_std, gains.scale_std))


def choose_observation(robot: Robot, logs: Sequence[Log]) -> Observation:
    """Return what these logs measure: wrenches of the base, torques of drives, or of joints."""
    return next(each for each in OBSERVATIONS if each.applies(robot, logs))


def build_problem(
    robot: Robot,
    logs: Sequence[Log],
    options: Options,
    *,
    diagnose: bool,
    progress: Progress,
    drifting: bool = True,
    force: ExternalForce | None = None,
) -> PreparedProblem:
    """Build the problem of some logs, with everything that an estimator takes as given.

    Parameters
    ----------
    robot : the robot as described
    logs : logs of its motion
    options : preparation, model and estimator
    diagnose : whether the logs are examined for faults, where the observation allows it
    progress : function (sentence, share of the work)
    drifting : whether torque that drifts along the logs is taken out
    force : samples in which an external force acts, where the smoothing is given

    Returns
    -------
    PreparedProblem
    """
    observation = choose_observation(robot, logs)
    refuse_unused(robot, options, observation)
    if options.model.elastic_joints:
        from .elastic.deflection import require_visible

        require_visible(robot, logs, options.model.elastic_joints)
    model = build_model(robot, options.model, observation)
    progress("preparing the samples", 0.0)
    samples = prepare_all(robot, logs, options.preparation, observation)
    if any(s.base is not None for s in samples):
        refuse_residual(options)
        model = build_model(robot, options.model, observation, moving=True)
    choice = None
    if chooses_by_held_out_torque(options, model, logs) and not too_short(model, samples):
        progress("choosing the smoothing", 0.1)
        choice = choose_smoothing(robot, logs, samples, options.preparation, model, observation)
    if choice is not None and choice.preparation != options.preparation:
        options = replace(options, preparation=choice.preparation)
        samples = prepare_all(robot, logs, options.preparation, observation)
    rest = None if choice is None else choice.rest
    force = force if choice is None else choice.force
    samples = samples if force is None else force.masked(samples)
    samples = samples if rest is None else rest.masked(samples)
    progress("looking for faults of the log", 0.2)
    decimate = options.preparation.decimate
    problem = Problem(
        model, samples, decimate or common_decimation(samples), automatic_rate=decimate is None
    )
    problem.check_rows()
    findings: tuple[Finding, ...] = ()
    if diagnose and DIAGNOSIS in observation.allowed and not model.moving:
        from .doctor.examine import examine

        findings = examine(model, samples, logs)
        findings = tuple(each for each in findings if not is_estimated(each, robot, options))
    problem = options.estimator.prepare(problem)
    progress("finding delay and friction", 0.3)
    problem, samples, nuisance = estimate_nuisance(problem, options, rest, drifting=drifting)
    rest = without_memory(rest, problem.model)
    if rest is not None:
        options = replace(options, preparation=rest.prepared(options.preparation))
    problem.check_rows()
    return PreparedProblem(
        robot=robot,
        options=options,
        problem=problem,
        samples=samples,
        nuisance=nuisance,
        findings=findings,
        notes=(
            observation.notes(robot)
            + smoothing_notes(choice, rest)
            + problem.notes
            + nuisance.notes
        ),
        smoothing=choice,
    )


def chooses_by_held_out_torque(options: Options, model: Model, logs: Sequence[Log]) -> bool:
    """Return whether held-out torque decides on the smoothing: where nothing about it is given.

    Logs with measured accelerations, moving bases and rows other than joints keep their states.
    """
    return (
        options.preparation.smoothing == AUTO_SMOOTHING
        and options.preparation.period is None
        and options.preparation.controller is None
        and model.observation.has_joint_rows
        and not model.moving
        and not all(has_states(log) for log in map(without_late_states, logs))
    )


def smoothing_notes(choice: SmoothingChoice | None, rest: RestingRows | None) -> tuple[str, ...]:
    """Return sentences on the smoothing and the rows, where other than the usual were chosen."""
    notes = () if choice is None or not choice.note else (choice.note,)
    if choice is not None and choice.force is not None:
        notes = (*notes, choice.force.note)
    return notes if rest is None else (*notes, rest.note)


def is_estimated(finding: Finding, robot: Robot, options: Options) -> bool:
    """Return whether a finding is a factor of torques that `drive_gains` estimates."""
    asked = asked_joints(robot.joint_names, options.model.drive_gains)
    gains = {name for name, is_asked in zip(robot.joint_names, asked, strict=True) if is_asked}
    is_factor = FAULTS[finding.fault].corrected_by == THIRD_SOURCE
    return is_factor and set(finding.joints or robot.joint_names) <= gains


def refuse_residual(options: Options) -> None:
    """Raise CallError for a learned residual of a robot whose base moves."""
    if options.model.residual is not None:
        raise CallError(
            f"{mention(RESIDUAL)} is not used for a log with a moving base: the load of its joints"
            " depends on the base's motion; leave it out",
            argument=RESIDUAL,
        )


def refuse_unused(robot: Robot, options: Options, observation: Observation) -> None:
    """Raise CallError for options that rows of this kind do not allow."""
    delay = options.preparation.given_delay(robot.joint_names)
    requested = {
        DELAY: delay is not None and bool(np.any(delay)),
        DRIVE_GAINS: bool(options.model.drive_gains),
        ELASTIC: bool(options.model.elastic),
        CONTROLLER: options.preparation.controller is not None,
        RESIDUAL: options.model.residual is not None,
    }
    for name, is_requested in requested.items():
        if is_requested and name not in observation.allowed:
            raise CallError(
                f"{mention(name)} is not used for {observation.case}: leave it out, and shift or"
                " scale the signals of the log if they need it"
            )
