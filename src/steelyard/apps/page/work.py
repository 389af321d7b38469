"""Long computations of the page, each in a separate process.

Each function takes plain objects and reports its progress.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...experiments import PayloadEstimate, excite, payload
from ...identification import Fit, Validation, doctor, identify
from ...identification.doctor import Diagnosis
from ...motion import Trajectory
from ...robot import Robot
from ...signals.log import Log
from ...simulation import Run, simulate
from ..controllers import CONTROLLERS

Array = NDArray[np.float64]
Progress = Callable[[str, float], None]


def examined(robot: Robot, log: Log, progress: Progress) -> Diagnosis:
    """Return the diagnosis of a log."""
    progress("looking for faults of the log", 0.1)
    return doctor(robot, log)


def identified(robot: Robot, log: Log, options: Mapping[str, Any], progress: Progress) -> Fit:
    """Identify a robot from a log."""
    return identify(robot, log, **options, progress=progress)


def validate_log(fit: Fit, log: Log, progress: Progress) -> Validation:
    """Predict the torques of another log by a fit."""
    progress("validating", 0.1)
    return fit.validate(log)


def designed(robot: Robot, options: Mapping[str, Any], progress: Progress) -> Trajectory:
    """Design a motion for identification."""
    return excite(robot, **options, progress=progress)


def weighed(
    robot: Robot, loaded: Log, empty: Log | None, options: Mapping[str, Any], progress: Progress
) -> PayloadEstimate:
    """Estimate the load of a robot."""
    return payload(robot, loaded, empty, **options, progress=progress)


def simulated(
    robot: Robot,
    controller: str,
    start: Array,
    goal: Array,
    options: Mapping[str, Any],
    gains: tuple[float, float],
) -> Run:
    """Simulate a motion from start to goal, (n,) each [rad|m], under a controller.

    `options` are keywords of `simulate`; the motion lasts `seconds` [s] of them.
    """
    from ...motion import point_to_point

    reference = point_to_point(start, goal, options["seconds"], joint_names=robot.joint_names)
    law = CONTROLLERS[controller].make(reference, *gains)
    return simulate(robot, law, q0=start, **options)
