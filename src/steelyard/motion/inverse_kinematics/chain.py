"""The joints between base and frame as axes in space: a product of exponentials.

It does not depend on the frames of the description.

The frame's pose is T(q) = E_1(q_1) ... E_n(q_n) T(0), where E_i turns about the axis of joint i at
q = 0, or slides along it. Brockett 1984; Lynch and Park, Modern Robotics, 2017, section 4.1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar
from ...algebra.spatial import Pose
from ...algebra.vector import Matrix, Vector
from ...dynamics.kinematics import carriers, find_frame, forward_kinematics, joint_axes, poses
from ...mechanism.tree import Tree
from .inverse_kinematics_thresholds import THRESHOLDS
from .subproblems import AT_REST, Turn, perpendicular


class ChainJoint(NamedTuple):
    """An axis h through a point p [m] at q = 0, with a perpendicular unit vector `side`.

    `number` is its position in the chain. `rest` is the angle of the joint if any will do. `home`
    is the axis before the fixed joints `carried_by` moved it.
    """

    turns: bool
    h: Vector
    p: Vector
    side: Vector
    number: int
    home: Vector
    rest: Turn = AT_REST
    carried_by: tuple[int, ...] = ()

    @property
    def reversed(self) -> ChainJoint:
        """The same joint seen from the frame."""
        return self._replace(h=v3.neg(self.h), home=v3.neg(self.home))

    def cosine(self, other: ChainJoint) -> Scalar:
        """Return h . h' of two axes; a float where the same joints carry both."""
        return (
            v3.dot(self.home, other.home)
            if self.carried_by == other.carried_by
            else v3.dot(self.h, other.h)
        )


class FrameMove(NamedTuple):
    """The motion of a joint: a turn, or a slide [m] with no turn."""

    joint: ChainJoint
    turn: Turn
    slide: Scalar = 0.0

    @property
    def value(self) -> Scalar:
        return self.turn.value if self.joint.turns else self.slide

    def rotate(self, v: Vector) -> Vector:
        """Rotate a vector by the joint's motion."""
        return self.turn.apply(self.joint.h, v) if self.joint.turns else v

    def unrotate(self, v: Vector) -> Vector:
        return self.turn.inverse.apply(self.joint.h, v) if self.joint.turns else v

    def carry(self, x: Vector) -> Vector:
        """Move a point by the joint's motion."""
        if not self.joint.turns:
            return v3.add(x, v3.scale(self.slide, self.joint.h))
        return v3.add(self.joint.p, self.rotate(v3.sub(x, self.joint.p)))

    def uncarry(self, x: Vector) -> Vector:
        if not self.joint.turns:
            return v3.sub(x, v3.scale(self.slide, self.joint.h))
        return v3.add(self.joint.p, self.unrotate(v3.sub(x, self.joint.p)))


class Chain(NamedTuple):
    """Joints from base to frame, with the coordinates that move them and their multipliers.

    `before` T `after` is E_1 ... E_n.
    """

    joints: tuple[ChainJoint, ...]
    coordinates: tuple[int, ...]
    multipliers: tuple[float, ...]
    before: Pose
    after: Pose
    tool: Vector

    @property
    def n(self) -> int:
        return len(self.joints)


def chain_of(tree: Tree, frame: str) -> Chain | None:
    """Return the chain of a frame; None where joints share a coordinate."""
    body, _ = find_frame(tree, frame)
    bodies = carriers(tree, body)
    coordinates = tuple(tree.bodies[i].coordinate for i in bodies)
    if len(set(coordinates)) < len(coordinates):
        return None
    where = poses(tree, [0.0] * tree.n)
    axes = joint_axes(tree, where)
    X = _aligning_rotation([axes[i] for i in bodies])
    joints = [
        _joint(tree.bodies[i].kind == "revolute", X.R, axes[i], where[i].p, index)
        for index, i in enumerate(bodies)
    ]
    home = X.compose(forward_kinematics(tree, [0.0] * tree.n, frame))
    after = home.inverse()
    multipliers = tuple(tree.bodies[i].multiplier for i in bodies)
    return Chain(
        joints=_with_points(joints, home.p),
        coordinates=coordinates,
        multipliers=multipliers,
        before=_clean_pose(X),
        after=_clean_pose(after),
        tool=_clean(home.p),
    )


def _joint(turns: bool, R: Matrix, axis: Vector, point: Vector, index: int) -> ChainJoint:
    h = _clean(v3.apply(R, axis))
    return ChainJoint(
        turns=turns, h=h, p=v3.apply(R, point), side=perpendicular(h), number=index, home=h
    )


def _aligning_rotation(axes: Sequence[Vector]) -> Pose:
    """Return a rotation that makes more components of the axes zero, or the identity.

    It turns the first axis into z and the next one into (x, 0, z).
    """
    if not axes:
        return Pose()
    z = axes[0]
    other = next((a for a in axes if v3.dot(v3.cross(z, a), v3.cross(z, a)) > 1e-6), None)
    if other is None:
        other = (1.0, 0.0, 0.0) if abs(z[0]) < 0.9 else (0.0, 1.0, 0.0)
    y = v3.cross(z, other)
    y = v3.scale(1.0 / math.sqrt(v3.dot(y, y)), y)
    R = (v3.cross(y, z), y, z)
    zeros = [
        sum(abs(x) < 1e-9 for axis in turned for x in axis)
        for turned in (axes, [v3.apply(R, a) for a in axes])
    ]
    return Pose(R) if zeros[1] > zeros[0] else Pose()


def _clean(v: Vector) -> Vector:
    tolerance = THRESHOLDS.zero_component
    x, y, z = (float(round(x)) if abs(x - round(x)) < tolerance else float(x) for x in v)
    return x, y, z


def _clean_pose(X: Pose) -> Pose:
    return Pose(tuple(_clean(row) for row in X.R), _clean(X.p))  # type: ignore[arg-type]


def _with_points(joints: Sequence[ChainJoint], tool: Vector) -> tuple[ChainJoint, ...]:
    """Return each axis with the point where it meets its neighbours.

    Groups of three first, then of two, from the frame on; else the point nearest to the one
    before.
    """
    points: dict[int, Vector] = {}
    for size in (3, 2):
        for first in reversed(range(len(joints) - size + 1)):
            group = joints[first : first + size]
            point = meeting_point(group)
            if point is not None and not any(joint.number in points for joint in group):
                points.update({joint.number: _clean(point) for joint in group})
    placed: list[ChainJoint] = []
    for joint in joints:
        towards = points.get(joint.number - 1) or (placed[-1].p if placed else joint.p)
        point = points.get(joint.number) or _clean(nearest_on_axis(joint, towards))
        placed.append(joint._replace(p=point))
    return tuple(placed)


def nearest_on_axis(joint: ChainJoint, x: Vector) -> Vector:
    """Return the point of an axis nearest to a point."""
    return v3.add(joint.p, v3.scale(v3.dot(joint.h, v3.sub(x, joint.p)), joint.h))


def distance(a: Vector, b: Vector) -> float:
    d = v3.sub(a, b)
    return math.sqrt(v3.dot(d, d))


def are_parallel(a: ChainJoint, b: ChainJoint) -> bool:
    n = v3.cross(a.h, b.h)
    return math.sqrt(v3.dot(n, n)) < THRESHOLDS.axis_tolerance


def are_perpendicular(a: ChainJoint, b: ChainJoint) -> bool:
    """Return whether two axes are at right angles."""
    return abs(v3.dot(a.h, b.h)) < THRESHOLDS.axis_tolerance


def meeting_point(joints: Sequence[ChainJoint]) -> Vector | None:
    """Return the point where all axes of revolute joints meet; None without.

    Neighbouring axes must not be parallel.
    """
    if not all(joint.turns for joint in joints) or any(
        are_parallel(a, b) for a, b in itertools.pairwise(joints)
    ):
        return None
    a, b = joints[:2]
    n = v3.cross(a.h, b.h)
    d = v3.sub(b.p, a.p)
    t = v3.dot(v3.cross(d, b.h), n) / v3.dot(n, n)
    point = v3.add(a.p, v3.scale(t, a.h))
    return (
        point
        if all(
            distance(nearest_on_axis(joint, point), point) < THRESHOLDS.axis_tolerance
            for joint in joints
        )
        else None
    )


def share_point(*joints: ChainJoint) -> bool:
    """Return whether axes have the same point."""
    return all(
        joint.turns and distance(joint.p, joints[0].p) < THRESHOLDS.axis_tolerance
        for joint in joints
    )
