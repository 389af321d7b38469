"""Closed forms for the position of an arm: E_1 E_2 E_3 w = p for up to three joints.

They run over any scalar. Each geometry has a test `applies` on joints of floats, and `solve` on
joints and points of any scalar. From the other end the same joints bring p to w, so that each
geometry also serves the reversed arm. Pieper 1968; Elias and Wen, "IK-Geo", 2025, table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, sqrt, where
from ...algebra.vector import Vector
from .chain import (
    ChainJoint,
    FrameMove,
    are_parallel,
    are_perpendicular,
    distance,
    nearest_on_axis,
    share_point,
)
from .inverse_kinematics_thresholds import THRESHOLDS
from .subproblems import (
    AT_REST,
    Pair,
    Turn,
    angle_between,
    angle_to_plane,
    both,
    linear_in_turn,
    second_of_two,
)


class Branch(NamedTuple):
    """One solution: parts of its name, the joint moves, and 1 if it reaches the target, else 0."""

    name: tuple[str, ...]
    moves: tuple[FrameMove, ...]
    reach: Scalar


class ArmGeometry(NamedTuple):
    """A kind of arm: its joints (R revolute, P prismatic), its test, and its solver."""

    kinds: str
    applies: Callable[[Sequence[ChainJoint], Vector], bool]
    solve: Callable[[Sequence[ChainJoint], Vector, Vector], Iterator[Branch]]


def square(x: Vector) -> Scalar:
    return v3.dot(x, x)


def flat(k: Vector, x: Vector) -> Vector:
    """Return the component of a vector perpendicular to a unit axis."""
    return v3.sub(x, v3.scale(v3.dot(k, x), k))


def planar(
    a: ChainJoint, b: ChainJoint, w: Vector, p: Vector
) -> Iterator[tuple[str, Turn, Turn, Scalar]]:
    """Solve two parallel axes that bring w to p in the plane perpendicular to them.

    Joint b sets the distance; the branch "+" turns it by less than half a turn.
    """
    k = a.h
    upper, lower, target = (
        flat(k, v3.sub(b.p, a.p)),
        flat(k, v3.sub(w, b.p)),
        flat(k, v3.sub(p, a.p)),
    )
    C = 0.5 * (square(target) - square(upper) - square(lower))
    pair = linear_in_turn(v3.dot(upper, v3.cross(b.h, lower)), v3.dot(upper, lower), C, b.rest)
    for sign, second in pair.items():
        tip = v3.add(upper, second.apply(b.h, lower))
        yield sign, angle_between(k, tip, target, a.rest), second, pair.reach


def _last_two_parallel(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve R1 so that p is in the plane of axes 2 and 3, then these as a planar arm."""
    a, b, c = joints
    u = v3.sub(p, a.p)
    shoulder = _turned_into_plane(u, a, b.h, v3.dot(b.h, v3.sub(w, a.p)))
    for s1, first in shoulder.items():
        target = v3.add(a.p, first.inverse.apply(a.h, u))
        for s3, second, third, reach in planar(b, c, w, target):
            moves = FrameMove(a, first), FrameMove(b, second), FrameMove(c, third)
            yield Branch((f"shoulder {s1}", f"elbow {s3}"), moves, both(shoulder.reach, reach))


def _turned_into_plane(u: Vector, a: ChainJoint, normal: Vector, d: Scalar) -> Pair:
    """Return the turns R of joint a with normal . R^T u = d."""
    return angle_to_plane(u, a.h, normal, d, a.rest)


def _first_two_meet(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve R3 from the distance to the point where axes 1 and 2 meet, then R1 and R2."""
    a, b, c = joints
    u, upper, lower = v3.sub(p, a.p), v3.sub(c.p, a.p), v3.sub(w, c.p)
    elbow = angle_to_plane(
        upper, c.h, lower, 0.5 * (square(u) - square(upper) - square(lower)), c.rest
    )
    for s3, third in elbow.items():
        v = v3.add(upper, third.apply(c.h, lower))
        yield from _about_a_point(a, b, v, u, (f"elbow {s3}",), FrameMove(c, third), elbow.reach)


def _about_a_point(
    a: ChainJoint,
    b: ChainJoint,
    v: Vector,
    u: Vector,
    name: tuple[str, ...],
    last: FrameMove,
    reach: Scalar,
) -> Iterator[Branch]:
    """Solve two axes through a point that turn v into u, both relative to it."""
    pair = second_of_two(a.h, b.h, v, u, b.rest, a.cosine(b))
    for s2, second in pair.items():
        first = angle_between(a.h, second.apply(b.h, v), u, a.rest)
        yield Branch(
            (f"shoulder {s2}", *name),
            (FrameMove(a, first), FrameMove(b, second), last),
            both(reach, pair.reach),
        )


def _turn_of_a_plane(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve R1 so that p is in the plane of two slides, then the slides."""
    a, b, c = joints
    u, normal = v3.sub(p, a.p), v3.cross(b.h, c.h)
    shoulder = _turned_into_plane(u, a, normal, v3.dot(normal, v3.sub(w, a.p)))
    for s1, first in shoulder.items():
        d = v3.sub(v3.add(a.p, first.inverse.apply(a.h, u)), w)
        second, third = (
            v3.dot(v3.cross(d, c.h), normal) / square(normal),
            v3.dot(v3.cross(b.h, d), normal) / square(normal),
        )
        yield Branch(
            (f"shoulder {s1}",),
            (FrameMove(a, first), _slide(b, second), _slide(c, third)),
            shoulder.reach,
        )


def _height_first(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve the slide from the height along two parallel axes, then these."""
    a, b, c = joints
    height = v3.dot(a.h, v3.sub(p, w)) / v3.dot(a.h, c.h)
    for s2, first, second, reach in planar(a, b, v3.add(w, v3.scale(height, c.h)), p):
        yield Branch(
            (f"elbow {s2}",), (FrameMove(a, first), FrameMove(b, second), _slide(c, height)), reach
        )


def _distance_by_slide(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve two axes that meet, then a slide that gives the distance (Stanford arm)."""
    a, b, c = joints
    u, v = v3.sub(p, a.p), v3.sub(w, a.p)
    half = v3.dot(c.h, v)
    inside = half * half - square(v) + square(u)
    reach = where(inside >= -THRESHOLDS.axis_distance, 1.0, 0.0)
    root = sqrt(where(inside > 0.0, inside, 0.0))
    for sign, slide in (("+", root - half), ("-", -root - half)):
        yield from _about_a_point(
            a, b, v3.add(v, v3.scale(slide, c.h)), u, (f"slide {sign}",), _slide(c, slide), reach
        )


def _gantry(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve three prismatic joints."""
    a, b, c = (joint.h for joint in joints)
    volume, d = v3.dot(a, v3.cross(b, c)), v3.sub(p, w)
    slides = [
        v3.dot(d, normal) / volume for normal in (v3.cross(b, c), v3.cross(c, a), v3.cross(a, b))
    ]
    yield Branch((), tuple(_slide(joint, x) for joint, x in zip(joints, slides, strict=True)), 1.0)


def _two_parallel(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    a, b = joints
    for s2, first, second, reach in planar(a, b, w, p):
        yield Branch((f"elbow {s2}",), (FrameMove(a, first), FrameMove(b, second)), reach)


def _two_that_turn(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Solve two axes that are not parallel: the second sets the height along the first."""
    a, b = joints
    pair = angle_to_plane(a.h, b.h, v3.sub(w, b.p), v3.dot(a.h, v3.sub(p, b.p)), b.rest)
    for s2, second in pair.items():
        tip = FrameMove(b, second).carry(w)
        first = angle_between(a.h, v3.sub(tip, a.p), v3.sub(p, a.p), a.rest)
        yield Branch((f"elbow {s2}",), (FrameMove(a, first), FrameMove(b, second)), pair.reach)


def _one(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    (a,) = joints
    move = (
        FrameMove(a, angle_between(a.h, v3.sub(w, a.p), v3.sub(p, a.p), a.rest))
        if a.turns
        else _slide(a, v3.dot(a.h, v3.sub(p, w)))
    )
    yield Branch((), (move,), 1.0)


def _none(joints: Sequence[ChainJoint], w: Vector, p: Vector) -> Iterator[Branch]:
    yield Branch((), (), 1.0)


def _slide(joint: ChainJoint, by: Scalar) -> FrameMove:
    return FrameMove(joint, AT_REST, by)


def _off(joint: ChainJoint, x: Vector) -> bool:
    """Return whether a point lies off an axis."""
    return distance(nearest_on_axis(joint, x), x) > THRESHOLDS.axis_tolerance


def _spans(a: ChainJoint, b: ChainJoint, c: ChainJoint) -> bool:
    return abs(v3.dot(a.h, v3.cross(b.h, c.h))) > THRESHOLDS.axis_tolerance


def _elbow_bends(upper: Vector, c: ChainJoint, w: Vector) -> bool:
    """Return whether joint c changes the distance of w from the start of `upper`."""
    k, lower = c.h, v3.sub(w, c.p)
    return square(flat(k, upper)) * square(flat(k, lower)) > THRESHOLDS.axis_tolerance**4


ARM_GEOMETRIES = (
    ArmGeometry(
        "RRR",
        lambda j, w: (
            are_parallel(j[1], j[2])
            and not are_parallel(j[0], j[1])
            and _off(j[2], w)
            and _off(j[1], j[2].p)
        ),
        _last_two_parallel,
    ),
    ArmGeometry(
        "RRR",
        lambda j, w: (
            share_point(j[0], j[1])
            and not are_parallel(j[0], j[1])
            and _elbow_bends(v3.sub(j[2].p, j[0].p), j[2], w)
        ),
        _first_two_meet,
    ),
    ArmGeometry(
        "RPP",
        lambda j, w: (
            not are_parallel(j[1], j[2])
            and square(v3.cross(j[0].h, v3.cross(j[1].h, j[2].h))) > THRESHOLDS.axis_tolerance
        ),
        _turn_of_a_plane,
    ),
    ArmGeometry(
        "RRP",
        lambda j, w: (
            are_parallel(j[0], j[1])
            and not are_perpendicular(j[0], j[2])
            and _off(j[0], j[1].p)
            and _off(j[1], w)
        ),
        _height_first,
    ),
    ArmGeometry(
        "RRP",
        lambda j, w: share_point(j[0], j[1]) and not are_parallel(j[0], j[1]),
        _distance_by_slide,
    ),
    ArmGeometry("PPP", lambda j, w: _spans(*j), _gantry),
    ArmGeometry(
        "RR",
        lambda j, w: are_parallel(j[0], j[1]) and _off(j[0], j[1].p) and _off(j[1], w),
        _two_parallel,
    ),
    ArmGeometry("RR", lambda j, w: not are_parallel(j[0], j[1]) and _off(j[1], w), _two_that_turn),
    ArmGeometry("R", lambda j, w: True, _one),
    ArmGeometry("P", lambda j, w: True, _one),
    ArmGeometry("", lambda j, w: True, _none),
)


def kinds(joints: Sequence[ChainJoint]) -> str:
    return "".join("R" if joint.turns else "P" for joint in joints)


def find_arm_geometry(
    samples: Sequence[tuple[Sequence[ChainJoint], Vector, Vector]],
) -> tuple[ArmGeometry, bool] | None:
    """Return the first geometry that fits all samples (joints, w, p), and whether reversed."""
    for reverse in (False, True):
        for geometry in ARM_GEOMETRIES:
            if all(_fits(geometry, reverse, *sample) for sample in samples):
                return geometry, reverse
    return None


def _fits(
    geometry: ArmGeometry, reverse: bool, joints: Sequence[ChainJoint], w: Vector, p: Vector
) -> bool:
    ordered = reverse_joints(joints) if reverse else joints
    return geometry.kinds == kinds(ordered) and geometry.applies(ordered, p if reverse else w)


def solve_arm(
    match: tuple[ArmGeometry, bool], joints: Sequence[ChainJoint], w: Vector, p: Vector
) -> Iterator[Branch]:
    """Yield all branches that bring w to p."""
    geometry, reverse = match
    if not reverse:
        yield from geometry.solve(joints, w, p)
        return
    for branch in geometry.solve(reverse_joints(joints), p, w):
        moves = tuple(
            move._replace(joint=joint)
            for move, joint in zip(reversed(branch.moves), joints, strict=True)
        )
        yield branch._replace(moves=tuple(FrameMove(m.joint, m.turn, m.slide) for m in moves))


def reverse_joints(joints: Sequence[ChainJoint]) -> list[ChainJoint]:
    """Return the joints in order from frame to base."""
    return [joint.reversed for joint in reversed(joints)]
