"""Closure residuals of all kinds of loops."""

from __future__ import annotations

from collections.abc import Callable

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, sqrt, where
from ...algebra.spatial import Pose
from ...algebra.vector import Vector
from ...mechanism.known_torque import JointPositionAndRate, evaluate_expression
from ...mechanism.loops import Loop
from ...mechanism.tree import Frame, Tree, TreeLoop
from ..kinematics import poses

# squared cosine of half an angle below which frames are 180 deg apart and the axis is undefined
LEAST = 1e-12


def closure(tree: Tree, q: Scalars) -> list[Scalar]:
    """Return phi(q), which is zero where the loops are closed [m|rad].

    phi has the residuals `tree.rows` of all loops, in their order. q: n scalars [rad|m]. Positions
    are differences in the axes of frame a, rotations 2 sin(angle / 2) about them. Nikravesh 1988,
    "Computer-Aided Analysis of Mechanical Systems", section 7.2; lecture "Recursive direct
    dynamics", eq. of mixed type.
    """
    body_poses = poses(tree, q)
    residuals = [x for loop in tree.loops for x in loop_residual(loop, body_poses, q)]
    return [residuals[k] for k in tree.rows]


def loop_residual(loop: TreeLoop, body_poses: list[Pose], q: Scalars) -> list[Scalar]:
    """Return the residual of one loop from the poses of all bodies."""
    kind = loop.loop.kind
    if kind in ROWS:
        return ROWS[kind](
            loop.loop, _pose_in_base(body_poses, loop.a), _pose_in_base(body_poses, loop.b)
        )
    positions = {name: k * q[c] + offset for name, c, k, offset in loop.positions}
    if kind == "residual":
        return [
            evaluate_expression(
                text, {name: JointPositionAndRate(x, 0.0) for name, x in positions.items()}
            )
            for text in loop.loop.expressions
        ]
    return [positions[loop.loop.a] - (loop.loop.ratio * positions[loop.loop.b] + loop.loop.offset)]


def _pose_in_base(body_poses: list[Pose], frame: Frame) -> Pose:
    return body_poses[frame.body].compose(frame.pose) if frame.body >= 0 else frame.pose


def _point(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    """Return the origin of b in frame a."""
    return list(v3.apply(v3.transpose(a.R), v3.sub(b.p, a.p)))


def _line(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    return _point(loop, a, b)[:2]


def _plane(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    return _point(loop, a, b)[2:]


def _parallel(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    """Return 2 sin(angle / 2) between the z-axes, about x and y of frame a."""
    x, y, z = v3.apply(v3.transpose(a.R), _column(b, 2))
    return _half_angles((-y, x), 0.5 * (1.0 + z))


def _turn(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    """Return 2 sin(angle / 2) of the rotation from a to b, along its axis in frame a."""
    R = v3.matmul(v3.transpose(a.R), b.R)
    twice = (R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])  # 2 sin(angle) axis
    return _half_angles(tuple(0.5 * x for x in twice), 0.25 * (1.0 + (R[0][0] + R[1][1] + R[2][2])))


def _half_angles(sines: Scalars, squared: Scalar) -> list[Scalar]:
    """Return 2 sin(angle / 2) from sin(angle) and cos^2(angle / 2).

    Unlike the sine it does not vanish at half a revolution.
    """
    if all(isinstance(x, float) and x == 0.0 for x in sines) and isinstance(squared, float):
        return [0.0] * len(sines)
    defined = squared > LEAST
    inverse = 1.0 / sqrt(where(defined, squared, LEAST))
    return [where(defined, x * inverse, 0.0 if k else 2.0) for k, x in enumerate(sines)]


def _universal(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    return [*_point(loop, a, b), v3.dot(_column(a, 0), _column(b, 1))]


def _distance(loop: Loop, a: Pose, b: Pose) -> list[Scalar]:
    """Return (distance^2 - length^2) / (2 length), a smooth form of distance - length."""
    apart = v3.sub(b.p, a.p)
    return [(0.5 / loop.length) * v3.dot(apart, apart) - 0.5 * loop.length]


def _column(pose: Pose, k: int) -> Vector:
    return (pose.R[0][k], pose.R[1][k], pose.R[2][k])


ROWS: dict[str, Callable[[Loop, Pose, Pose], list[Scalar]]] = {
    "point": _point,
    "line": _line,
    "plane": _plane,
    "axis": lambda loop, a, b: [*_point(loop, a, b), *_parallel(loop, a, b)],
    "cylinder": lambda loop, a, b: [*_line(loop, a, b), *_parallel(loop, a, b)],
    "slider": lambda loop, a, b: [*_line(loop, a, b), *_turn(loop, a, b)],
    "universal": _universal,
    "parallel": _parallel,
    "weld": lambda loop, a, b: [*_point(loop, a, b), *_turn(loop, a, b)],
    "distance": _distance,
}
