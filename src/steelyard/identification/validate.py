"""Validation of a robot on a log, and blocked cross-validation of an identification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import CallError, require_robot
from ..robot import Robot
from ..signals.log import Log
from .estimators.torque_delay import estimate_delay
from .identify import identify
from .model.accumulator import on_one_core
from .model.model import build_model
from .model.model_options import ModelOptions
from .result.fit import Fit
from .result.validation import Validation, validate_torque
from .samples.decimation import natural_factor
from .samples.preparation import Preparation
from .samples.samples import prepare


@on_one_core
def validate_robot(robot: Robot, log: Log, preparation: Preparation | None = None) -> Validation:
    """Return predicted against measured torque of a robot on a log: the log is prepared as for `identify`, the delay of the torque is
    estimated, and torque and prediction pass the same low-pass.
    """
    require_robot(robot, "validate_robot")
    model = build_model(robot, ModelOptions(friction=(), rotor=False))
    samples = prepare(robot, log, preparation or Preparation())
    delay, _ = estimate_delay(model, (samples,))
    moved, torque = samples.advanced(delay), robot.inverse_dynamics
    return validate_torque(moved, natural_factor(moved.t, moved.qd), torque, torque, robot.joint_names)


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
        rows = [f"part {k}: {v.total_relative_error:.2%}" for k, v in enumerate(self.validations, 1)]
        return "\n".join([*rows, f"in all: {self.total_relative_error:.2%}"])


def cross_validate(robot: Robot, log: Log | Sequence[Log], blocks: int = 4, **options: Any) -> CrossValidation:
    """Identify from all logs but one and validate on that one, in turn; a single log is cut into consecutive blocks.

    Neighbouring samples are not independent, so blocks are left out and not single samples. `options` are those of `identify`.
    Roberts et al., Ecography 40 (2017), p. 913.
    """
    logs = list(log) if not isinstance(log, Log) else [log]
    if len(logs) == 1:
        if blocks < 2:
            raise CallError(f"cross_validate: at least two blocks are needed, not {blocks}")
        edges = np.linspace(0, logs[0].N, blocks + 1).astype(int)
        logs = [logs[0][a:b] for a, b in pairwise(edges)]
    fits = tuple(
        identify(robot, [other for j, other in enumerate(logs) if j != k], **{"diagnose": False, **options}) for k in range(len(logs))
    )
    return CrossValidation(fits, tuple(fit.validate(one) for fit, one in zip(fits, logs, strict=True)))
