"""The joints between base and frame as axes in space: a product of exponentials, whatever frames the description uses.

The frame's pose is T(q) = E_1(q_1) ... E_n(q_n) T(0), where E_i turns about the axis of joint i at q = 0, or slides along it.
Brockett 1984; Lynch and Park, Modern Robotics, 2017, section 4.1.
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
from .subproblems import AT_REST, Turn, perpendicular

TOLERANCE = 1e-9  # [m or rad] for axes that meet or are parallel; what is smaller than 1e-13 is zero
_ZERO = 1e-13


class Joint(NamedTuple):
    """An axis h through a point p [m] at q = 0, and a unit vector `side` across it. `at` is its place in the chain.

    `rest` is where the joint stays if any position will do. `home` is the axis before the joints `carried_by`, which are held, moved it.
    """

    turns: bool
    h: Vector
    p: Vector
    side: Vector
    at: int
    home: Vector
    rest: Turn = AT_REST
    carried_by: tuple[int, ...] = ()

    @property
    def reversed(self) -> Joint:
        """The same joint seen from the frame."""
        return self._replace(h=v3.neg(self.h), home=v3.neg(self.home))

    def cosine(self, other: Joint) -> Scalar:
        """h . h' of two axes: a float where both were carried alike, which leaves the angle between them as it was."""
        return v3.dot(self.home, other.home) if self.carried_by == other.carried_by else v3.dot(self.h, other.h)


class Move(NamedTuple):
    """A joint that has moved: by a turn, or by a slide of so many metres (then the turn is none)."""

    joint: Joint
    turn: Turn
    slide: Scalar = 0.0

    @property
    def value(self) -> Scalar:
        return self.turn.value if self.joint.turns else self.slide

    def rotate(self, v: Vector) -> Vector:
        """A vector that the joint carries."""
        return self.turn.apply(self.joint.h, v) if self.joint.turns else v

    def unrotate(self, v: Vector) -> Vector:
        return self.turn.inverse.apply(self.joint.h, v) if self.joint.turns else v

    def carry(self, x: Vector) -> Vector:
        """A point that the joint carries."""
        if not self.joint.turns:
            return v3.add(x, v3.scale(self.slide, self.joint.h))
        return v3.add(self.joint.p, self.rotate(v3.sub(x, self.joint.p)))

    def uncarry(self, x: Vector) -> Vector:
        if not self.joint.turns:
            return v3.sub(x, v3.scale(self.slide, self.joint.h))
        return v3.add(self.joint.p, self.unrotate(v3.sub(x, self.joint.p)))


class Chain(NamedTuple):
    """Joints from base to frame, by the coordinates that move them and how far per unit; `before` T `after` is E_1 ... E_n."""

    joints: tuple[Joint, ...]
    coordinates: tuple[int, ...]
    multipliers: tuple[float, ...]
    before: Pose
    after: Pose
    tool: Vector

    @property
    def n(self) -> int:
        return len(self.joints)


def chain_of(tree: Tree, frame: str) -> Chain | None:
    """The chain of a frame; None where joints on the way share a coordinate."""
    body, _ = find_frame(tree, frame)
    bodies = carriers(tree, body)
    coordinates = tuple(tree.bodies[i].coordinate for i in bodies)
    if len(set(coordinates)) < len(coordinates):
        return None
    where = poses(tree, [0.0] * tree.n)
    axes = joint_axes(tree, where)
    X = _aligned([axes[i] for i in bodies])
    joints = [_joint(tree.bodies[i].kind == "revolute", X.R, axes[i], where[i].p, at) for at, i in enumerate(bodies)]
    home = X.compose(forward_kinematics(tree, [0.0] * tree.n, frame))
    after = home.inverse()
    multipliers = tuple(tree.bodies[i].multiplier for i in bodies)
    return Chain(_placed(joints, home.p), coordinates, multipliers, _clean_pose(X), _clean_pose(after), _clean(home.p))


def _joint(turns: bool, R: Matrix, axis: Vector, point: Vector, at: int) -> Joint:
    h = _clean(v3.apply(R, axis))
    return Joint(turns, h, v3.apply(R, point), perpendicular(h), at, h)


def _aligned(axes: Sequence[Vector]) -> Pose:
    """The rotation after which more components of the axes are zero: none, or that which makes the first axis z and the next (x, 0, z)."""
    if not axes:
        return Pose()
    z = axes[0]
    other = next((a for a in axes if v3.dot(v3.cross(z, a), v3.cross(z, a)) > 1e-6), None)
    if other is None:
        other = (1.0, 0.0, 0.0) if abs(z[0]) < 0.9 else (0.0, 1.0, 0.0)
    y = v3.cross(z, other)
    y = v3.scale(1.0 / math.sqrt(v3.dot(y, y)), y)
    R = (v3.cross(y, z), y, z)
    zeros = [sum(abs(x) < 1e-9 for axis in turned for x in axis) for turned in (axes, [v3.apply(R, a) for a in axes])]
    return Pose(R) if zeros[1] > zeros[0] else Pose()


def _clean(v: Vector) -> Vector:
    return tuple(float(round(x)) if abs(x - round(x)) < _ZERO else float(x) for x in v)  # type: ignore[return-value]


def _clean_pose(X: Pose) -> Pose:
    return Pose(tuple(_clean(row) for row in X.R), _clean(X.p))  # type: ignore[arg-type]


def _placed(joints: Sequence[Joint], tool: Vector) -> tuple[Joint, ...]:
    """Each axis with the point where it meets its neighbours, two or else one, from the frame on; or the foot of the point before."""
    points: dict[int, Vector] = {}
    for size in (3, 2):
        for first in reversed(range(len(joints) - size + 1)):
            group = joints[first : first + size]
            point = meeting_point(group)
            if point is not None and not any(joint.at in points for joint in group):
                points.update({joint.at: _clean(point) for joint in group})
    placed: list[Joint] = []
    for joint in joints:
        towards = points.get(joint.at - 1) or (placed[-1].p if placed else joint.p)
        point = points.get(joint.at) or _clean(foot(joint, towards))
        placed.append(joint._replace(p=point))
    return tuple(placed)


def foot(joint: Joint, x: Vector) -> Vector:
    """The point of an axis nearest to a point."""
    return v3.add(joint.p, v3.scale(v3.dot(joint.h, v3.sub(x, joint.p)), joint.h))


def distance(a: Vector, b: Vector) -> float:
    d = v3.sub(a, b)
    return math.sqrt(v3.dot(d, d))


def parallel(a: Joint, b: Joint) -> bool:
    n = v3.cross(a.h, b.h)
    return math.sqrt(v3.dot(n, n)) < TOLERANCE


def across(a: Joint, b: Joint) -> bool:
    """Whether two axes are at right angles."""
    return abs(v3.dot(a.h, b.h)) < TOLERANCE


def meeting_point(joints: Sequence[Joint]) -> Vector | None:
    """The only point that all axes of some revolute joints pass through, neighbours not parallel; None where there is none."""
    if not all(joint.turns for joint in joints) or any(parallel(a, b) for a, b in itertools.pairwise(joints)):
        return None
    a, b = joints[:2]
    n = v3.cross(a.h, b.h)
    d = v3.sub(b.p, a.p)
    t = v3.dot(v3.cross(d, b.h), n) / v3.dot(n, n)
    point = v3.add(a.p, v3.scale(t, a.h))
    return point if all(distance(foot(joint, point), point) < TOLERANCE for joint in joints) else None


def share_point(*joints: Joint) -> bool:
    """Whether axes were given the same point."""
    return all(joint.turns and distance(joint.p, joints[0].p) < TOLERANCE for joint in joints)
