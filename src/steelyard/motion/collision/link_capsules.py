"""Capsules from the kinematics, link by link, for links without collision geometry."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ...mechanism.model import Joint, Link
from ...robot import Robot
from .clearance_thresholds import THRESHOLDS
from .shapes import ConvexShape, capsule_radius

Array = NDArray[np.float64]


def capsules_of_links(
    robot: Robot, links: Collection[str] | None = None
) -> tuple[ConvexShape, ...]:
    """Return capsules from the origin of each link to the joints that it carries, fixed ones too.

    One more capsule points to the centre of mass and is twice as long as its distance, because
    links are not straight. A link without mass and extent is only a frame and has no capsule: the
    capsule of its parent ends there.

    Parameters
    ----------
    robot : the robot
    links : names of the links that get capsules; all of them by default

    Returns
    -------
    Capsules of one radius, `capsule_radius`, each named after its link.
    """
    fixed = {name for name, frame in robot.tree.frames.items() if frame.body < 0}
    bases = [
        each for each in robot.mechanism.joints if each.parent in fixed and each.kind != "fixed"
    ]
    lengths = (float(np.linalg.norm(np.array(each.origin.p, dtype=float))) for each in bases)
    radius = capsule_radius(robot.tree, max(lengths, default=0.0))
    if not radius:
        return ()
    carried: dict[str, list[Joint]] = {}
    for joint in robot.mechanism.joints:
        carried.setdefault(joint.parent, []).append(joint)
    shapes: list[ConvexShape] = []
    for link in robot.mechanism.links:
        if links is None or link.name in links:
            shapes += _capsules(robot, link, carried, radius)
    return tuple(shapes)


def _capsules(
    robot: Robot, link: Link, carried: dict[str, list[Joint]], radius: float
) -> list[ConvexShape]:
    """Return the capsules of one link."""
    frame, joints = robot.tree.frames[link.name], carried.get(link.name, [])
    mass = 0.0 if link.inertia is None else float(link.inertia.m)
    if frame.body < 0 and not mass and all(joint.kind == "fixed" for joint in joints):
        return []  # a root such as "world" that places the base
    ends = [np.array(joint.origin.p, dtype=float) for joint in joints]
    if mass and link.inertia is not None:
        ends.append(2 * np.array(link.inertia.h, dtype=float) / mass)
    lengths = [float(np.linalg.norm(end)) for end in ends]
    if not mass and max(lengths, default=0.0) < THRESHOLDS.least_link_length:
        return []
    thin = THRESHOLDS.thinner_radii[-1] * radius
    tips = [end for end, length in zip(ends, lengths, strict=True) if length > thin]
    tips = tips or [max(ends, key=lambda end: float(np.linalg.norm(end)), default=np.zeros(3))]
    R, p = np.array(frame.pose.R, dtype=float), np.array(frame.pose.p, dtype=float)
    rows = (np.array([p, R @ tip + p]) for tip in _distinct(tips))
    return [ConvexShape(frame.body, link.name, points, radius) for points in rows]


def _distinct(tips: list[Array]) -> list[Array]:
    """Return the tips, farthest first, without tips that lie on the segment to a farther tip."""
    distinct: list[Array] = []
    for tip in sorted(tips, key=lambda each: -float(np.linalg.norm(each))):
        if not any(_passes(longer, tip) for longer in distinct):
            distinct.append(tip)
    return distinct


def _passes(longer: Array, tip: Array) -> bool:
    """Return whether a tip lies on the segment from the origin to a farther tip `longer`."""
    share = float(longer @ tip) / max(float(longer @ longer), THRESHOLDS.least_link_length**2)
    return share >= 0 and float(np.linalg.norm(share * longer - tip)) < THRESHOLDS.least_link_length
