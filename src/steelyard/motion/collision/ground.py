"""The ground: the points of links that must stay above it, found from the kinematics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...arguments import is_real
from ...errors import CallError, in_python
from ...robot import Robot
from .body_frames import BodyFrames
from .clearance_thresholds import THRESHOLDS
from .shapes import ConvexShape

Array = NDArray[np.float64]


def ground_height(ground: object) -> float | None:
    """Return the height of the ground in the base frame [m]; None where there is none.

    Parameters
    ----------
    ground : "base" for the base plane z = 0, a height [m], or None
    """
    if ground is None:
        return None
    if isinstance(ground, str) and ground == "base":
        return 0.0
    if not is_real(ground) or not np.isfinite(float(ground)):  # type: ignore[arg-type]
        raise CallError(
            f"ground = {ground!r}; expected 'base' for the base plane, a height"
            f" [m]{in_python(' or None')}",
            argument="ground",
        )
    return float(ground)  # type: ignore[arg-type]


def shapes_above_ground(
    robot: Robot,
    shapes: tuple[ConvexShape, ...],
    height: float,
    clearance: float,
    travel: tuple[Array, Array] | None,
) -> tuple[list[ConvexShape], tuple[str, ...]]:
    """Return the shapes of links and frames that must stay above the ground, and exempt links.

    The base does not count. Points that stay at their height wherever the joints go, in the ground
    or above it, do not count either, such as the ends of links at a shoulder in the base plane.
    Of a body whose origin stays at its height, points near the origin do not count
    if they are in the ground in its best position.

    Parameters
    ----------
    robot : the robot
    shapes : shapes of its links
    height : height of the ground in the base frame [m]
    clearance : distance to be kept [m]
    travel : ends of the positions, (n,) each [rad|m]; None counts every point

    Returns
    -------
    The shapes, with the points that count alone, and the names of links without such a point.
    """
    moving = [shape for shape in (*shapes, *_bare_frames(robot, shapes)) if shape.body >= 0]
    if travel is None:
        return moving, ()
    q = np.random.default_rng(0).uniform(*travel, (THRESHOLDS.ground_positions, robot.n))
    frames = BodyFrames.compute(robot, q)
    above, standing = [], []
    for shape in moving:
        counts = _points_that_count(shape, frames, height + clearance)
        if counts.any():
            above.append(replace(shape, points=shape.points[counts]))
        elif _lowest(shape, frames) < height + clearance:
            standing.append(shape.name)
    return above, tuple(dict.fromkeys(standing))


def _points_that_count(shape: ConvexShape, frames: BodyFrames, level: float) -> NDArray[np.bool_]:
    """Return which points (V,) of a shape have to stay above a level [m]."""
    points = frames.points(np.array([shape.body]), shape.points[None])[:, 0, :, 2]
    room = points - shape.radius - level
    stays = np.ptp(points, axis=0) < THRESHOLDS.level_height
    counts = ~(stays & ((room.max(axis=0) < 0) | (room.min(axis=0) > THRESHOLDS.level_height)))
    origin = frames.p[:, shape.body + 1, 2]
    if (
        np.ptp(origin) < THRESHOLDS.level_height
        and counts.any()
        and not np.any(np.all(room[:, counts] >= 0, axis=1))
    ):
        above = room >= 0
        best = np.lexsort((room.sum(axis=1), above[:, counts].sum(axis=1)))[-1]
        size = np.linalg.norm(shape.points, axis=1)
        counts &= above[best] | (size > THRESHOLDS.grounded_size * size.max())
    return counts


def _lowest(shape: ConvexShape, frames: BodyFrames) -> float:
    """Return the least height of a shape [m]."""
    points = frames.points(np.array([shape.body]), shape.points[None])
    return float(points[..., 2].min()) - shape.radius


def _bare_frames(robot: Robot, shapes: tuple[ConvexShape, ...]) -> list[ConvexShape]:
    """Return the origins of frames that no shape of their body contains, one set per body."""
    rows: dict[int, list[tuple[str, Array]]] = {}
    for name, frame in robot.tree.frames.items():
        point = np.array(frame.pose.p, dtype=float)
        alone = ConvexShape(frame.body, name, point[None])
        if frame.body >= 0 and not any(each.holds(alone) for each in shapes):
            rows.setdefault(frame.body, []).append((name, point))
    return [
        ConvexShape(body, row[-1][0], np.array([point for _, point in row]))
        for body, row in rows.items()
    ]
