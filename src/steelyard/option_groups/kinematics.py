"""Options of inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..option_values import NUMBERS, PER_JOINT_SCHEMA, numbers_parser
from ..options import option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PANEL = "Solution"
METHODS = (AUTO := "auto", CLOSED := "closed form", NUMERICAL := "numerical")
Free: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"


@dataclass(frozen=True, kw_only=True, eq=False)
class InverseKinematicsOptions:
    """Options of `inverse_kinematics`."""

    frame: str | None = option(
        None,
        help="Frame that is brought to the pose; the end-effector by default.",
        metavar="FRAME",
        panel=PANEL,
    )
    q0: ArrayLike | None = option(
        None,
        help="Preferred positions, one number per joint; the middle of the limits by default.",
        unit="rad|m",
        metavar="Q",
        schema=NUMBERS,
        panel=PANEL,
    )
    free: Free | None = option(
        None,
        help="Position of the joint that is too many, or several with commas between.",
        unit="rad|m",
        metavar="Q,...",
        parse=numbers_parser(),
        schema=PER_JOINT_SCHEMA,
        panel=PANEL,
    )
    method: str = option(
        "auto",
        help="Closed form, numerical search, or as the arm allows: auto, if not given.",
        choices=METHODS,
        panel=PANEL,
    )
