"""Options of excitation: the motion, its limits, what is known, and the accuracy to reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..option_values import (
    NAMED_NUMBERS,
    NUMBERS,
    PAYLOAD_SCHEMA,
    PER_JOINT,
    PER_JOINT_SCHEMA,
    RANGES_SCHEMA,
    by_joint,
    named,
    numbers_parser,
    ranges,
)
from ..options import option
from .collision import CollisionKeywords, CollisionOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOTION, LIMITS, INFORMATION, SEARCH = "Motion", "Limits", "Information and accuracy", "Search"
SPEED = 0.5  # share of the velocity limits
PerJoint: TypeAlias = "float | Sequence[float] | Mapping[str, float] | None"


def _limit(text: str, unit: str) -> Any:
    """Declare a limit of every joint."""
    return option(
        None,
        help=text,
        unit=unit,
        metavar="LIMITS",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=LIMITS,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ExcitationOptions(CollisionOptions):
    """Options of `excite`, the design of a motion for identification."""

    seconds: float | None = option(
        None,
        help="Duration, or with an accuracy the longest one; 20 or 600 if not given.",
        unit="s",
        metavar="S",
        panel=MOTION,
    )
    harmonics: int | None = option(
        None, help="Harmonics of the base frequency; up to 0.5 Hz if not given.", panel=MOTION
    )
    base_frequency: float | None = option(
        None,
        help="Frequency of the first harmonic; periods of about 20 s if not given.",
        unit="Hz",
        metavar="HZ",
        panel=MOTION,
    )
    basis: str = option(
        "fourier",
        help="Functions of the motion; a Fourier series if not given.",
        choices=("fourier", "bspline"),
        panel=MOTION,
    )
    rate: float = option(
        100.0,
        help="Rate of the recording; 100 if not given.",
        unit="Hz",
        metavar="HZ",
        panel=MOTION,
    )
    margin: float = option(
        0.9, help="Fraction of every limit that may be used; 0.9 if not given.", panel=LIMITS
    )
    speed: float = option(
        SPEED,
        help="Share of the velocity limits that is used; 0.5 if not given.",
        metavar="SHARE",
        panel=LIMITS,
    )
    velocity: PerJoint = _limit(f"Velocity limits [rad/s|m/s]: {PER_JOINT}", "rad/s|m/s")
    acceleration: PerJoint = _limit(
        "Acceleration limits [rad/s2|m/s2]; the velocity limit after 0.5 s if not given.",
        "rad/s2|m/s2",
    )
    jerk: PerJoint = _limit("Jerk limits [rad/s3|m/s3].", "rad/s3|m/s3")
    effort: PerJoint = _limit("Torque limits [N m|N].", "N m|N")
    payload: float | Sequence[float] | None = option(
        None,
        help="Load of the robot: mass, and its centre in the end-effector's frame.",
        unit="kg, m",
        metavar="KG[,X,Y,Z]",
        parse=numbers_parser(1, 4),
        schema=PAYLOAD_SCHEMA,
        panel=INFORMATION,
    )
    gravity: ArrayLike | None = option(
        None,
        help="Gravity in the base frame, as the robot is mounted.",
        unit="m/s2",
        metavar="X,Y,Z",
        parse=numbers_parser(3),
        schema={**NUMBERS, "minItems": 3, "maxItems": 3},
        panel=INFORMATION,
    )
    noise: PerJoint = option(
        None,
        help=f"Standard deviation of a torque sample [N m|N]: {PER_JOINT}",
        unit="N m|N",
        metavar="NOISE",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=INFORMATION,
    )
    prior: float | None = option(
        None, help="Relative tolerance of the description, such as 0.2.", panel=INFORMATION
    )
    accuracy: Mapping[str, float] | None = option(
        None,
        help="Shortest motion that reaches it: link3.mcx=0.02.",
        metavar="NAME=SHARE",
        parse=named,
        schema=NAMED_NUMBERS,
        repeated=True,
        panel=INFORMATION,
    )
    torque_accuracy: float | None = option(
        None,
        help="The same for every joint's torque, such as 0.02.",
        metavar="SHARE",
        panel=INFORMATION,
    )
    region: Mapping[str, tuple[float, float]] | None = option(
        None,
        help="Positions at which the torque counts [rad|m].",
        unit="rad|m",
        metavar="JOINT=LOW,HIGH",
        parse=ranges,
        schema=RANGES_SCHEMA,
        repeated=True,
        panel=INFORMATION,
    )
    criterion: str = option(
        "D",
        help="D: volume of the uncertainty, A: mean variance, E: worst direction.",
        choices=("D", "A", "E"),
        panel=SEARCH,
    )
    starts: int | None = option(
        None, help="Random motions that are optimised; 8 if not given.", least=1, panel=SEARCH
    )
    candidates: int | None = option(
        None,
        help="Number of random motions to choose from instead of optimising: quick and worse.",
        least=1,
        command_line=False,
        panel=SEARCH,
    )
    seed: int = option(0, help="The same seed gives the same motion.", least=0, panel=SEARCH)


class ExcitationKeywords(CollisionKeywords, total=False):
    """Keywords of `excite` beside its named parameters."""

    basis: str
    rate: float
    margin: float
    speed: float
    velocity: PerJoint
    acceleration: PerJoint
    jerk: PerJoint
    effort: PerJoint
    payload: float | Sequence[float] | None
    gravity: ArrayLike | None
    noise: PerJoint
    prior: float | None
    accuracy: Mapping[str, float] | None
    torque_accuracy: float | None
    region: Mapping[str, tuple[float, float]] | None
    criterion: str
    starts: int | None
    candidates: int | None
