"""Checks of a log when it is created, and of its joints against a robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import CallError, LogError, suggest
from ..names import check_names
from ..option_groups.logs import EFFORTS
from .schema import Payload


def joint_names_of(robot: Any) -> tuple[str, ...] | None:
    """Return the joint names of a robot or of a sequence of names; None for None."""
    if robot is None:
        return None
    names = getattr(robot, "joint_names", robot)
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise CallError(
            f"expected a robot with joint_names or a sequence of names, not {type(robot).__name__}"
        )
    return tuple(str(name) for name in names)


def check_log(log: Any) -> None:
    """Raise LogError naming the first field that does not fit."""
    if np.ndim(log.t) != 1 or log.N == 0:
        raise LogError(
            f"{log.where}t must be one-dimensional with at least one sample, found shape"
            f" {np.shape(log.t)}"
        )
    if np.ndim(log.q) != 2:
        raise LogError(f"{log.where}q must be (N, n), found shape {np.shape(log.q)}")
    for name, row in log.schema.items():
        if (value := getattr(log, name)) is not None:
            row.check(value, log.N, log.n, log.where)
    names = log.joint_names
    check_names("joint", names or (), log.where.rstrip(": ") or "log", LogError)
    if names is not None and len(names) != log.n:
        raise LogError(
            f"{log.where}{len(names)} joint names ({', '.join(names)}) for {log.n} columns of q"
        )
    if names is not None and len(set(names)) != log.n:
        raise LogError(f"{log.where}a joint is named twice: {', '.join(names)}")
    if log.effort not in (None, *EFFORTS):
        raise LogError(f"{log.where}effort must be 'torque' or 'current', not {log.effort!r}")
    if not isinstance(log.payload, (Payload, type(None))):
        raise LogError(
            f"{log.where}payload must be a Payload or None, not {type(log.payload).__name__}"
        )


def match_joints(log: Any, names: tuple[str, ...] | None) -> Any:
    """Return a Log with its joints in the order of `names`; unnamed ones are taken in order."""
    if names is None or log.joint_names == names:
        return log
    if log.joint_names is None:
        if log.n != len(names):
            raise LogError(
                f"{log.where}the log has {log.n} joints without names, the robot {len(names)}:"
                f" {', '.join(names)}"
            )
        return log.replace(joint_names=names).remarked(
            "The log names no joints: they were taken in the robot's order."
        )
    missing = [name for name in names if name not in log.joint_names]
    if missing:
        raise LogError(
            f"{log.where}the log has no joint '{missing[0]}' ({len(missing)} of {len(names)}"
            f" missing): {suggest(missing[0], log.joint_names)}"
        )
    spare = [name for name in log.joint_names if name not in names]
    remarks = (
        [f"Joints that the robot does not have were left out: {', '.join(spare)}."] if spare else []
    )
    return log.select(names).remarked(*remarks)
