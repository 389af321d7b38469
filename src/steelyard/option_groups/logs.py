"""Options of logs: the joints that they have, the meaning of their columns, the gears of motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..option_values import PER_JOINT, PER_JOINT_SCHEMA, by_joint
from ..options import option

SELECTION, COLUMNS, GEARS = "Joints and log", "Columns of the log", "Gears"
EFFORTS = ("torque", "current")
NAMES: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
POSITIONS: Mapping[str, Any] = {
    "anyOf": [
        *NAMES["anyOf"],
        {"type": "object", "additionalProperties": {"type": ["number", "string"]}},
    ]
}


@dataclass(frozen=True, kw_only=True)
class JointSelectionOptions:
    """The joints of a robot that a log or a motion has."""

    joints: Sequence[str] | None = option(
        None,
        help="Joints that move, or patterns such as arm_*; the others are fixed.",
        metavar="JOINT,...",
        schema=NAMES,
        repeated=True,
        panel=SELECTION,
    )
    freeze: Sequence[str] | Mapping[str, float] | None = option(
        None,
        help="Joints that are fixed, at zero or at POSITION [rad|m].",
        unit="rad|m",
        metavar="JOINT=POSITION,...",
        schema=POSITIONS,
        repeated=True,
        panel=SELECTION,
    )


@dataclass(frozen=True, kw_only=True)
class EffortOptions:
    """Whether efforts are torques or currents."""

    effort: str | None = option(
        None, help="What an `effort` column holds.", choices=EFFORTS, panel=SELECTION
    )


@dataclass(frozen=True, kw_only=True)
class LogReadingOptions(EffortOptions):
    """Options of `read_log` that all commands with a log have."""

    mapping: Path | None = option(
        None,
        help="Mapping of columns to signals, where their names do not show it.",
        metavar="TOML",
        panel=SELECTION,
    )


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(EffortOptions):
    """Fields of `Mapping` that commands offer."""

    rate: float | None = option(
        None, help="Rate of a log that has no time.", unit="Hz", metavar="HZ", panel=COLUMNS
    )
    time_unit: str | None = option(
        None,
        help="Unit of the time, where its name does not say it.",
        metavar="s|ms|us|ns",
        panel=COLUMNS,
    )
    angle: str | None = option(
        None,
        help="Unit of angles, where their names do not say it.",
        metavar="rad|deg",
        panel=COLUMNS,
    )
    layout: str | None = option(
        None,
        help="What the columns of a file without header are.",
        metavar="'t q tau'",
        panel=COLUMNS,
    )
    topic: str | None = option(
        None, help="Topic of a bag that has several of joint states.", panel=COLUMNS
    )


@dataclass(frozen=True, kw_only=True)
class TransmissionOptions:
    """Options of `Transmission.of` that the command `new` has."""

    ratio: float | Sequence[float] | Mapping[str, float] | None = option(
        None,
        help=f"Gear ratio of each joint: {PER_JOINT}",
        metavar="N",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=GEARS,
    )
    torque_constant: float | Sequence[float] | Mapping[str, float] | None = option(
        None,
        help=f"Torque constant of each motor [N m/A]: {PER_JOINT}",
        unit="N m/A",
        metavar="K",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=GEARS,
    )
