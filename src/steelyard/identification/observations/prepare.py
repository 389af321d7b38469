"""Prepare the samples of logs: select the signals, clean and smooth them, form the rows."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import LogError
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from ..samples.late_states import without_late_states
from ..samples.preparation import Preparation
from ..samples.samples import Samples, at_rest, require_enough, require_log
from ..samples.smoothing import smoothed, standing
from .joint_torques import JOINT_TORQUES
from .observation import Observation, SmoothedMotion


def prepare(
    robot: Robot, log: Log, options: Preparation, observation: Observation = JOINT_TORQUES
) -> Samples:
    """Return the samples of a log: joints in the robot's order, cleaned, smoothed, masked.

    Parameters
    ----------
    robot : the robot of the log
    log : measured signals
    options : how the log is smoothed and masked
    observation : which signals are the rows of a sample

    Returns
    -------
    Samples of the log whose acceleration is certain enough.
    """
    require_log(log)
    if observation.has_joint_rows:
        options.least_speeds(robot.joint_names)  # refuses a mask for joints that do not exist
    log = clean(observation.select(robot, log))
    require_enough(log)
    timely = without_late_states(log) if options.smoothing == "auto" else log
    states, used, noise, period = smoothed(timely, options)
    log = timely.replace(qd=log.qd, qdd=log.qdd)  # samples have the velocities as measured, too
    states = at_rest(*states, standing(log.q))
    motion = SmoothedMotion(states=states, used=used, noise=noise, period=period)
    return observation.samples(robot, log, motion, options)


def prepare_all(
    robot: Robot,
    logs: Sequence[Log],
    options: Preparation,
    observation: Observation = JOINT_TORQUES,
) -> tuple[Samples, ...]:
    """Return the samples of every log; an error names the log by its number."""

    def prepare_one(number: int, log: Log) -> Samples:
        try:
            return prepare(robot, log, options, observation)
        except LogError as error:
            if len(logs) == 1:
                raise
            raise LogError(f"log {number} of {len(logs)}: {error}") from None

    return tuple(prepare_one(number, log) for number, log in enumerate(logs, 1))
