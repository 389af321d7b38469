"""Inputs of verdicts and errors on other logs, made from a few numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.identification.result.prediction import Region
from steelyard.identification.result.verdict import ValidationErrors, VerdictInputs
from steelyard.identification.result.verdict.inputs import (
    ErrorInputs,
    ExcitationInputs,
    JointInputs,
    LogInputs,
    MassInputs,
)
from steelyard.identification.result.verdict.torque_errors import TorqueErrors


def joint(name: str = "joint1", **changes: Any) -> JointInputs:
    """A joint of 10 N m with an expected error of 2 %, rated at 100 N m."""
    usual = JointInputs(name, "N m", 100.0, 10.0, 0.2, 0.2, 0.02, 0.99, 0.0)
    return replace(usual, **changes)


def inputs(
    joints: tuple[JointInputs, ...] | None = None, **changes: dict[str, Any]
) -> VerdictInputs:
    """Inputs of a trusted fit of three joints, with fields of its groups replaced."""
    rows = joints or tuple(joint(f"joint{k}") for k in (1, 2, 3))
    names, ones = tuple(row.name for row in rows), np.ones(len(rows))
    usual = VerdictInputs(
        joints=rows,
        region=Region(names, ("rad",) * len(names), -ones, ones, ones, ones),
        errors=ErrorInputs(within=0.02, anywhere=0.02, worst_part=0.02, own=0.02, described=0.3),
        excitation=ExcitationInputs(rank=100, n_base=100),
        masses=MassInputs(identified=10.0, described=10.0, links=len(rows)),
        log=LogInputs(),
    )
    return replace(
        usual, **{name: replace(getattr(usual, name), **change) for name, change in changes.items()}
    )


def side(error: Any, joints: int = 3, samples: int = 100, torque: float = 10.0) -> TorqueErrors:
    """Errors of samples with a torque of 10 N m and a relative error, one or one per joint.

    None for None.
    """
    rows = np.full(joints, 0.0 if error is None else float(samples))
    squares = rows * torque**2
    relative = (
        np.zeros(joints) if error is None else np.broadcast_to(np.asarray(error, float), joints)
    )
    return TorqueErrors(squares * relative**2, squares, rows, int(rows[0]))


def errors(inside: Any, outside: Any, joints: int = 3, samples: int = 100) -> ValidationErrors:
    """Errors on another log with samples on each side of the region, none where the error is
    None.
    """
    return ValidationErrors(side(inside, joints, samples), side(outside, joints, samples))
