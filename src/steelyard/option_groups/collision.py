"""Options of collision checks: the distances that links keep, to each other and to walls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from ..option_values import (
    BOXES_SCHEMA,
    GROUND_SCHEMA,
    HALF_SPACES_SCHEMA,
    boxes,
    ground_height,
    half_spaces,
)
from ..options import option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PANEL = "Collisions"
CLEARANCE = 0.02  # [m]
COLLISION = ("auto", "shapes", "capsules", "none")
Boxes: TypeAlias = "Mapping[str, tuple[ArrayLike, ArrayLike]]"
HalfSpaces: TypeAlias = (
    "Sequence[tuple[ArrayLike, float] | tuple[ArrayLike, float, str | Sequence[str]]]"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CollisionOptions:
    """Options of the collision check of a motion, or of poses."""

    collision: str = option(
        "auto",
        help=(
            "Shapes of the links: from the description, capsules, or the description where it "
            "has them."
        ),
        choices=COLLISION,
        panel=PANEL,
    )
    clearance: float = option(
        CLEARANCE,
        help="Least distance between links, and to the ground; 0.02 if not given.",
        unit="m",
        metavar="M",
        panel=PANEL,
    )
    ground: float | str | None = option(
        "base",
        help="What links stay above: the base plane, nothing, a height [m]; base if not given.",
        unit="m",
        metavar="base|none|M",
        parse=ground_height,
        schema=GROUND_SCHEMA,
        panel=PANEL,
    )
    workspace: Boxes | None = option(
        None,
        help="A box that a frame or link, or * all links, stays in [m].",
        unit="m",
        metavar="FRAME=X0,Y0,Z0,X1,Y1,Z1",
        parse=boxes,
        schema=BOXES_SCHEMA,
        flag="--box",
        repeated=True,
        panel=PANEL,
    )
    half_spaces: HalfSpaces = option(
        (),
        help="Links stay where n.x <= d [m].",
        unit="m",
        metavar="NX,NY,NZ,D",
        parse=half_spaces,
        schema=HALF_SPACES_SCHEMA,
        flag="--half-space",
        repeated=True,
        panel=PANEL,
    )


class CollisionKeywords(TypedDict, total=False):
    """Keywords of the options of collision checks."""

    collision: str
    clearance: float
    ground: float | str | None
    workspace: Boxes | None
    half_spaces: HalfSpaces
