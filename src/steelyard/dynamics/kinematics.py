"""Where every body is: poses in the base frame."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalars
from ..algebra.spatial import Pose
from ..algebra.vector import Vector
from ..mechanism.tree import Frame, Tree
from .joint_motion import joint_motions


def poses(tree: Tree, q: Scalars) -> list[Pose]:
    """Pose X_0i of every body's frame in the base frame, base to tip: X_0i = X_0p X_pi(q).

    q: n scalars [rad|m]. Returns a Pose (R, p [m]) per body. Featherstone 2008, section 4.2; a row of R_0i is the row of R_0p brought down.
    """
    result: list[Pose] = []
    for body, joint in zip(tree.bodies, joint_motions(tree, q), strict=True):
        parent = result[body.parent] if body.parent >= 0 else Pose()
        x, y, z = (joint.down(row) for row in parent.R)
        result.append(Pose((x, y, z), parent.point(joint.p)))
    return result


def forward_kinematics(tree: Tree, q: Scalars, frame: str | Frame) -> Pose:
    """Pose of a frame, by name or as a Frame, in the base frame. q: n scalars [rad|m]. Returns a Pose (R, p [m])."""
    body, pose = find_frame(tree, frame)
    return poses(tree, q)[body].compose(pose) if body >= 0 else pose


def find_frame(tree: Tree, frame: str | Frame) -> Frame:
    """A frame of the tree by its name; a Frame is itself."""
    return tree.frame(frame) if isinstance(frame, str) else frame


def joint_axes(tree: Tree, where: Sequence[Pose]) -> list[Vector]:
    """The axis of every body's joint in the base frame."""
    return [v3.apply(pose.R, body.axis) for body, pose in zip(tree.bodies, where, strict=True)]
