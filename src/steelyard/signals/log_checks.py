"""What is checked of a log when it is made, and of the robot that it is matched to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import CallError, LogError
from .schema import Payload

EFFORTS = ("torque", "current")


def joint_names_of(robot: Any) -> tuple[str, ...] | None:
    """Return the joint names of a robot or of a sequence of names; None for None."""
    if robot is None:
        return None
    names = getattr(robot, "joint_names", robot)
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise CallError(f"expected a robot with joint_names or a sequence of names, not {type(robot).__name__}")
    return tuple(str(name) for name in names)


def check_log(log: Any) -> None:
    """Raise LogError naming the first field that does not fit."""
    if np.ndim(log.t) != 1 or log.N == 0:
        raise LogError(f"{log.where}t must be one-dimensional with at least one sample, found shape {np.shape(log.t)}")
    if np.ndim(log.q) != 2:
        raise LogError(f"{log.where}q must be (N, n), found shape {np.shape(log.q)}")
    for name, row in log.schema.items():
        if (value := getattr(log, name)) is not None:
            row.check(value, log.N, log.n, log.where)
    names = log.joint_names
    if names is not None and len(names) != log.n:
        raise LogError(f"{log.where}{len(names)} joint names ({', '.join(names)}) for {log.n} columns of q")
    if names is not None and len(set(names)) != log.n:
        raise LogError(f"{log.where}a joint is named twice: {', '.join(names)}")
    if log.effort not in (None, *EFFORTS):
        raise LogError(f"{log.where}effort must be 'torque' or 'current', not {log.effort!r}")
    if not isinstance(log.payload, (Payload, type(None))):
        raise LogError(f"{log.where}payload must be a Payload or None, not {type(log.payload).__name__}")
