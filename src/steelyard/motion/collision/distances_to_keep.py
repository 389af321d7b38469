"""All distances that a motion keeps: between links, to walls and to the ground.

They list the pairs that are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...arguments import real_number
from ...errors import CallError, suggest
from ...option_groups.collision import CLEARANCE, COLLISION
from ...robot import Robot
from ..trajectories.limits import TrajectoryLimits
from .clearance import Clearance
from .ground import ground_height
from .robot_shapes import absent_meshes, links_without_shape, robot_shapes
from .sweep import Gaps
from .walls import Boxes, HalfSpace, Walls, walls

Ground = float | str | None


@dataclass(frozen=True, eq=False)
class DistancesToKeep:
    """Distances that a motion keeps.

    `gaps` are compared with their least values; `what` names what is compared, `unchecked` what
    is not; `remarks` are sentences on pairs and links that are left out by design.
    """

    gaps: tuple[Gaps, ...] = ()
    what: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    remarks: str = ""

    def least(self, label: str) -> float:
        """Return the least distance of a label [m]; 0 for one that is unknown."""
        for each in self.gaps:
            if label in each.labels:
                return float(each.least[each.labels.index(label)])
        return 0.0


def distances_to_keep(
    robot: Robot,
    limits: TrajectoryLimits,
    collision: str = "auto",
    clearance: float = CLEARANCE,
    ground: Ground = "base",
    workspace: Boxes | None = None,
    half_spaces: Sequence[HalfSpace] = (),
) -> DistancesToKeep:
    """Return the distances between links, and to walls and the ground, of a robot.

    Parameters
    ----------
    robot : the robot
    limits : limits of the motion; positions within them decide which pairs count
    collision : "auto", "shapes", "capsules" or "none"
    clearance : least distance between links and to the ground [m]
    ground : "base" for the plane z = 0 of the base frame, a height [m], or None
    workspace : frame or link -> (low, high) corners (3,) of a box [m]
    half_spaces : further walls, n . x <= offset [m]

    Returns
    -------
    The distances, and which pairs are not checked.
    """
    if collision not in COLLISION:
        raise CallError(
            f"collision = {collision!r}; {suggest(str(collision), COLLISION)}", argument="collision"
        )
    least, level = real_number("clearance", clearance, 0.0, unit="m"), ground_height(ground)
    needed = collision != "none" or level is not None or workspace or half_spaces
    kind = "auto" if collision == "none" else collision
    shapes = robot_shapes(robot, kind) if needed else ()
    shapeless = links_without_shape(robot, kind) if needed else ()
    travel = (limits.lower, limits.upper)
    around = walls(robot, shapes, workspace, half_spaces, level, least, travel)
    what, unchecked = [], []
    between = None
    if collision == "none":
        unchecked.append("distances between links")
    else:
        between = Clearance.of(robot, shapes, *travel, least)
        what.append(f"{len(set(between.labels))} pairs of links")
    if shapeless:
        unchecked.append(f"links of unknown shape: {', '.join(shapeless)}")
    if level is None:
        unchecked.append("ground")
    else:
        what.append(f"ground at z = {level:g} m")
    gaps = (between, around)
    return DistancesToKeep(
        gaps=tuple(each for each in gaps if each is not None and each.labels),
        what=tuple(what),
        unchecked=tuple(unchecked),
        remarks=" ".join(_remarks(robot, between, around, kind, shapeless)),
    )


def _remarks(
    robot: Robot, between: Clearance | None, around: Walls, kind: str, shapeless: tuple[str, ...]
) -> list[str]:
    """Return sentences on pairs left out by design, and on shapes that are assumed."""
    sentences = []
    if between is not None:
        pairs = dict.fromkeys(between.left_out)
        close = "; ".join(f"{a} and {b}" for a, b in pairs)
        sentences.append("Links that a joint joins were not checked against each other")
        sentences[0] += f", nor links that are built close together: {close}." if close else "."
    if around.standing:
        links = ", ".join(around.standing)
        sentences.append(
            f"Links that cannot leave the ground were not checked against it: {links}."
        )
    replaced = (link for link in absent_meshes(robot) if link not in shapeless)
    absent = ", ".join(replaced) if kind != "capsules" else ""
    if absent:
        sentences.append(
            f"Collision meshes whose files are absent were replaced by capsules: {absent}."
        )
    return sentences
