"""Validation of a robot on a log, and blocked cross-validation of an identification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import whole_number
from ..errors import CallError, refuse_loops, require_robot
from ..robot import Robot
from ..signals.log import Log
from .build_problem import Progress
from .identify import identify
from .model.accumulator import on_one_core
from .model.known import Torque
from .model.linear_model import build_model
from .nuisance.log_payloads import with_payloads
from .nuisance.torque_delay import estimate_torque_delay
from .options import IdentifyArguments
from .result.fit import Fit
from .result.prediction import Region
from .result.validation import Validation, validation_samples
from .samples.preparation import Preparation
from .samples.samples import list_of_logs, require_log
from .samples.samples_thresholds import THRESHOLDS as SAMPLES_THRESHOLDS

if TYPE_CHECKING:
    from typing_extensions import Unpack


def validate_robot(robot: Robot, log: Log, preparation: Preparation | None = None) -> Validation:
    """Return predicted against measured torque of a robot on a log. See `validate_robots`."""
    require_robot(robot, "validate_robot", known_function=True)
    return validate_robots((robot,), log, preparation)[0]


@on_one_core
def validate_robots(
    robots: Sequence[Robot],
    log: Log,
    preparation: Preparation | None = None,
    progress: Progress | None = None,
    gains: ArrayLike = 1.0,
    region: Region | None = None,
) -> tuple[Validation, ...]:
    """Return predicted against measured torque of several robots on the same samples.

    The log is prepared once, by the default preparation unless another is given. The delay of its
    torque is one for all robots: unless it is given, it is estimated with the kinematics of the
    first robot, independent of its parameters and friction. Torque and predictions pass the same
    low-pass. `progress(sentence, share)` is called as the work goes on. `gains` (n,) are the drive
    gains that predictions are divided by, `region` the states that a fit covers.
    """
    tell = progress or (lambda sentence, share: None)
    if not robots:
        raise CallError("validate_robots needs one robot or several")
    for robot in robots:
        require_robot(robot, "validate_robots", known_function=True)
        refuse_loops(
            robot,
            "validate_robots",
            "identify(robot, log) gives a fit, whose validate(log) takes another log",
        )
    torques = [torque_in_order(robot, robots[0].joint_names) for robot in robots]
    tell("preparing the samples", 0.0)
    samples = validation_samples(robots[0], log, preparation, region)
    with_payloads(samples.samples, ())  # refuses a payload that is not known
    delay = None if preparation is None else preparation.given_delay(samples.joint_names)
    if delay is None:
        tell("finding the delay of the torque", 0.3)
        delay, _ = estimate_torque_delay(
            build_model(robots[0].without_friction().without_rotors()), (samples.samples,)
        )
    scored = []
    for number, (robot, torque) in enumerate(zip(robots, torques, strict=True)):
        tell(f"predicting the torques of {robot.name}", 0.6 + 0.4 * number / len(robots))
        scored.append(samples.score(torque, delay, gains))
    return tuple(scored)


def torque_in_order(robot: Robot, joint_names: tuple[str, ...]) -> Torque:
    """Return a robot's torque function of q, qd, qdd, each (N, n), in another joint order."""
    names = robot.joint_names
    if set(names) != set(joint_names):
        raise CallError(
            f"validate: {robot.name} has the joints {', '.join(names)}; expected the joints of "
            f"the first robot, {', '.join(joint_names)}"
        )
    there, back = (
        [joint_names.index(name) for name in names],
        [names.index(name) for name in joint_names],
    )
    return lambda q, qd, qdd: robot.inverse_dynamics(q[:, there], qd[:, there], qdd[:, there])[
        :, back
    ]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """One fit and its validation for each part that was left out."""

    fits: tuple[Fit, ...]
    validations: tuple[Validation, ...]

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over all parts that were left out."""
        e = sum(float(np.sum(v.residuals**2)) for v in self.validations)
        tau = sum(float(np.sum((v.measured * v.keep) ** 2)) for v in self.validations)
        return float(np.sqrt(e / tau)) if tau else 0.0

    def __str__(self) -> str:
        rows = [
            f"part {k}: {v.total_relative_error:.2%}" for k, v in enumerate(self.validations, 1)
        ]
        return "\n".join([*rows, f"total: {self.total_relative_error:.2%}"])


def cross_validate(
    robot: Robot,
    log: Log | Iterable[Log],
    blocks: int = 4,
    **options: Unpack[IdentifyArguments],
) -> CrossValidation:
    """Identify from all logs but one and validate on that one, in turn.

    A single log is cut into consecutive blocks.

    Neighbouring samples are not independent, so blocks are left out and not single samples.
    `options` are options of `identify`; with equal preparation, parts are scored on the same
    samples even if other options differ, see `Fit.validate`. Roberts et al., Ecography 40 (2017),
    p. 913.
    """
    require_robot(robot, "cross_validate", known_function=True)
    logs = list_of_logs(log)
    if len(logs) == 1:
        require_log(logs[0])
        number = whole_number(
            "cross_validate: the number of blocks",
            blocks,
            2,
            max(2, logs[0].N // SAMPLES_THRESHOLDS.least_samples),
        )
        edges = np.linspace(0, logs[0].N, number + 1).astype(int)
        logs = [logs[0][a:b] for a, b in pairwise(edges)]
    options = {"diagnose": False, **options}
    fits = tuple(
        identify(robot, [other for j, other in enumerate(logs) if j != k], **options)
        for k in range(len(logs))
    )
    return CrossValidation(
        fits, tuple(fit.validate(one) for fit, one in zip(fits, logs, strict=True))
    )
