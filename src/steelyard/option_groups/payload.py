"""Options of payload identification: the frame of the load, the logs, and static poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..option_values import NUMBERS, numbers_parser
from ..options import option
from .collision import CollisionOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LOAD, POSES = "Load", "Static poses"
APPROACH = 0.05  # [rad|m]


@dataclass(frozen=True, kw_only=True)
class LoadFrameOptions:
    """Where the load is, and the frame of its numbers."""

    link: str | None = option(
        None,
        help="Link that carries the load; the end-effector by default.",
        metavar="LINK",
        panel=LOAD,
    )
    frame: str | None = option(
        None,
        help="Frame in which the results are expressed; the frame of the link by default.",
        metavar="FRAME",
        panel=LOAD,
    )


@dataclass(frozen=True, kw_only=True)
class PayloadOptions(LoadFrameOptions):
    """Options of `payload`."""

    static: bool | None = option(
        None,
        help="Use only static segments of the logs, or their motion; by default as the logs move.",
        flag="--static/--moving",
        panel=LOAD,
    )
    torque_scale_std: float | None = option(
        None,
        help="Relative standard deviation of the torque scale, such as 0.02.",
        metavar="FRACTION",
        least=0.0,
        panel=LOAD,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticPoseOptions(LoadFrameOptions, CollisionOptions):
    """Options of `static_poses` beside the number of poses."""

    sigma: ArrayLike = option(
        1.0,
        help="Standard deviation of a torque at rest: one number, or one per joint.",
        unit="N m|N",
        metavar="SIGMA",
        parse=numbers_parser(),
        schema={"anyOf": [{"type": "number"}, NUMBERS]},
        panel=POSES,
    )
    margin: float = option(
        0.9, help="Fraction of every joint's range that is used; 0.9 if not given.", panel=POSES
    )
    approach: float = option(
        APPROACH,
        help="Distance from which a pose is approached from either side; 0.05 if not given.",
        unit="rad|m",
        metavar="DISTANCE",
        panel=POSES,
    )
    seed: int = option(0, help="The same seed gives the same poses.", least=0, panel=POSES)
