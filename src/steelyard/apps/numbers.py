"""Numbers as people type them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError

if TYPE_CHECKING:
    from ..robot import Robot


def per_joint(option: str, text: str, robot: Robot) -> NDArray[np.float64]:
    """One number per joint from '0.1, 30deg, -2': in SI units, or in degrees where it says so."""
    joints = robot.joint_names
    slides = [robot.mechanism.joint(joint).kind == "prismatic" for joint in joints]
    cells = [cell.strip() for cell in text.split(",")]
    if len(cells) != len(joints):
        raise CallError(f"{option} has {len(cells)} numbers where {len(joints)} were expected, for {', '.join(joints)}")
    return np.array([_number(option, *cell) for cell in zip(cells, joints, slides, strict=True)])


def _number(option: str, cell: str, joint: str, slides: bool) -> float:
    digits, degrees = (cell[:-3], True) if cell.lower().endswith("deg") else (cell, False)
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CallError(f"{option}, joint {joint}: {cell!r} is not a number; write for example 0.5 or 30deg")
    if degrees and slides:
        raise CallError(f"{option}, joint {joint}: {cell!r} is an angle, but this joint slides; give metres")
    return math.radians(value) if degrees else value
