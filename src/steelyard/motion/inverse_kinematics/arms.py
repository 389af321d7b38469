"""Position of an arm: the moves of up to three joints that bring a point w to a place p, E_1 E_2 E_3 w = p, over any scalar.

Each way fits a kind of geometry. `applies` looks at joints of floats, `solve` runs on joints and points of any scalar. Seen from the other
end the same joints bring p to w, so that every way also serves the reversed arm.
Pieper 1968; Elias and Wen, "IK-Geo", 2025, table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, sqrt, where
from ...algebra.vector import Vector
from .chain import TOLERANCE, Joint, Move, across, distance, foot, parallel, share_point
from .subproblems import AT_REST, CLOSE, Pair, Turn, angle_between, angle_to_plane, both, linear_in_turn, second_of_two


class Branch(NamedTuple):
    """One solution: its name in parts, the moves in the order of the joints, and whether it reaches (1) or not (0)."""

    name: tuple[str, ...]
    moves: tuple[Move, ...]
    reach: Scalar


class Way(NamedTuple):
    """A kind of arm by its joints (R turns, P slides), how to tell it, and how to solve it."""

    kinds: str
    applies: Callable[[Sequence[Joint], Vector], bool]
    solve: Callable[[Sequence[Joint], Vector, Vector], Iterator[Branch]]


def square(x: Vector) -> Scalar:
    return v3.dot(x, x)


def flat(k: Vector, x: Vector) -> Vector:
    """The part of a vector across a unit axis."""
    return v3.sub(x, v3.scale(v3.dot(k, x), k))


def planar(a: Joint, b: Joint, w: Vector, p: Vector) -> Iterator[tuple[str, Turn, Turn, Scalar]]:
    """Two parallel axes bring w over p, in the plane across them: b gives the distance; + is less than half a turn beyond stretched."""
    k = a.h
    upper, lower, target = flat(k, v3.sub(b.p, a.p)), flat(k, v3.sub(w, b.p)), flat(k, v3.sub(p, a.p))
    C = 0.5 * (square(target) - square(upper) - square(lower))
    pair = linear_in_turn(v3.dot(upper, v3.cross(b.h, lower)), v3.dot(upper, lower), C, b.rest)
    for sign, second in pair.items():
        tip = v3.add(upper, second.apply(b.h, lower))
        yield sign, angle_between(k, tip, target, a.rest), second, pair.reach


def _last_two_parallel(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """R1 brings p into the plane of the other two, which are a planar arm."""
    a, b, c = joints
    u = v3.sub(p, a.p)
    shoulder = _turned_into_plane(u, a, b.h, v3.dot(b.h, v3.sub(w, a.p)))
    for s1, first in shoulder.items():
        place = v3.add(a.p, first.inverse.apply(a.h, u))
        for s3, second, third, reach in planar(b, c, w, place):
            moves = Move(a, first), Move(b, second), Move(c, third)
            yield Branch((f"shoulder {s1}", f"elbow {s3}"), moves, both(shoulder.reach, reach))


def _turned_into_plane(u: Vector, a: Joint, normal: Vector, d: Scalar) -> Pair:
    """The turns R of a with normal . R^T u = d."""
    return angle_to_plane(u, a.h, normal, d, a.rest)


def _first_two_meet(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """R3 gives the distance from the point where the first two meet, which then turn it into place."""
    a, b, c = joints
    u, upper, lower = v3.sub(p, a.p), v3.sub(c.p, a.p), v3.sub(w, c.p)
    elbow = angle_to_plane(upper, c.h, lower, 0.5 * (square(u) - square(upper) - square(lower)), c.rest)
    for s3, third in elbow.items():
        v = v3.add(upper, third.apply(c.h, lower))
        yield from _about_a_point(a, b, v, u, (f"elbow {s3}",), Move(c, third), elbow.reach)


def _about_a_point(a: Joint, b: Joint, v: Vector, u: Vector, name: tuple[str, ...], last: Move, reach: Scalar) -> Iterator[Branch]:
    """Two axes through a point bring v, seen from it, to u."""
    pair = second_of_two(a.h, b.h, v, u, b.rest, a.cosine(b))
    for s2, second in pair.items():
        first = angle_between(a.h, second.apply(b.h, v), u, a.rest)
        yield Branch((f"shoulder {s2}", *name), (Move(a, first), Move(b, second), last), both(reach, pair.reach))


def _turn_of_a_plane(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """R1, then two slides: R1 brings p into the plane that the slides reach."""
    a, b, c = joints
    u, normal = v3.sub(p, a.p), v3.cross(b.h, c.h)
    shoulder = _turned_into_plane(u, a, normal, v3.dot(normal, v3.sub(w, a.p)))
    for s1, first in shoulder.items():
        d = v3.sub(v3.add(a.p, first.inverse.apply(a.h, u)), w)
        second, third = v3.dot(v3.cross(d, c.h), normal) / square(normal), v3.dot(v3.cross(b.h, d), normal) / square(normal)
        yield Branch((f"shoulder {s1}",), (Move(a, first), _slide(b, second), _slide(c, third)), shoulder.reach)


def _height_first(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Two parallel axes, then a slide that alone gives the height along them."""
    a, b, c = joints
    height = v3.dot(a.h, v3.sub(p, w)) / v3.dot(a.h, c.h)
    for s2, first, second, reach in planar(a, b, v3.add(w, v3.scale(height, c.h)), p):
        yield Branch((f"elbow {s2}",), (Move(a, first), Move(b, second), _slide(c, height)), reach)


def _distance_by_slide(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Two axes that meet, then a slide that gives the distance from where they meet, as in the Stanford arm."""
    a, b, c = joints
    u, v = v3.sub(p, a.p), v3.sub(w, a.p)
    half = v3.dot(c.h, v)
    inside = half * half - square(v) + square(u)
    reach = where(inside >= -CLOSE, 1.0, 0.0)
    root = sqrt(where(inside > 0.0, inside, 0.0))
    for sign, slide in (("+", root - half), ("-", -root - half)):
        yield from _about_a_point(a, b, v3.add(v, v3.scale(slide, c.h)), u, (f"slide {sign}",), _slide(c, slide), reach)


def _gantry(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Three slides."""
    a, b, c = (joint.h for joint in joints)
    volume, d = v3.dot(a, v3.cross(b, c)), v3.sub(p, w)
    slides = [v3.dot(d, normal) / volume for normal in (v3.cross(b, c), v3.cross(c, a), v3.cross(a, b))]
    yield Branch((), tuple(_slide(joint, x) for joint, x in zip(joints, slides, strict=True)), 1.0)


def _two_parallel(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    a, b = joints
    for s2, first, second, reach in planar(a, b, w, p):
        yield Branch((f"elbow {s2}",), (Move(a, first), Move(b, second)), reach)


def _two_that_turn(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """Two axes that are not parallel: the second gives the height along the first."""
    a, b = joints
    pair = angle_to_plane(a.h, b.h, v3.sub(w, b.p), v3.dot(a.h, v3.sub(p, b.p)), b.rest)
    for s2, second in pair.items():
        tip = Move(b, second).carry(w)
        first = angle_between(a.h, v3.sub(tip, a.p), v3.sub(p, a.p), a.rest)
        yield Branch((f"elbow {s2}",), (Move(a, first), Move(b, second)), pair.reach)


def _one(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    (a,) = joints
    move = Move(a, angle_between(a.h, v3.sub(w, a.p), v3.sub(p, a.p), a.rest)) if a.turns else _slide(a, v3.dot(a.h, v3.sub(p, w)))
    yield Branch((), (move,), 1.0)


def _none(joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    yield Branch((), (), 1.0)


def _slide(joint: Joint, by: Scalar) -> Move:
    return Move(joint, AT_REST, by)


def _off(joint: Joint, x: Vector) -> bool:
    """Whether a point lies off an axis."""
    return distance(foot(joint, x), x) > TOLERANCE


def _spans(a: Joint, b: Joint, c: Joint) -> bool:
    return abs(v3.dot(a.h, v3.cross(b.h, c.h))) > TOLERANCE


def _elbow_bends(upper: Vector, c: Joint, w: Vector) -> bool:
    """Whether turning c changes the distance of w from a point that `upper` leads away from."""
    k, lower = c.h, v3.sub(w, c.p)
    return square(flat(k, upper)) * square(flat(k, lower)) > TOLERANCE**4


WAYS = (
    Way(
        "RRR",
        lambda j, w: parallel(j[1], j[2]) and not parallel(j[0], j[1]) and _off(j[2], w) and _off(j[1], j[2].p),
        _last_two_parallel,
    ),
    Way(
        "RRR",
        lambda j, w: share_point(j[0], j[1]) and not parallel(j[0], j[1]) and _elbow_bends(v3.sub(j[2].p, j[0].p), j[2], w),
        _first_two_meet,
    ),
    Way("RPP", lambda j, w: not parallel(j[1], j[2]) and square(v3.cross(j[0].h, v3.cross(j[1].h, j[2].h))) > TOLERANCE, _turn_of_a_plane),
    Way("RRP", lambda j, w: parallel(j[0], j[1]) and not across(j[0], j[2]) and _off(j[0], j[1].p) and _off(j[1], w), _height_first),
    Way("RRP", lambda j, w: share_point(j[0], j[1]) and not parallel(j[0], j[1]), _distance_by_slide),
    Way("PPP", lambda j, w: _spans(*j), _gantry),
    Way("RR", lambda j, w: parallel(j[0], j[1]) and _off(j[0], j[1].p) and _off(j[1], w), _two_parallel),
    Way("RR", lambda j, w: not parallel(j[0], j[1]) and _off(j[1], w), _two_that_turn),
    Way("R", lambda j, w: True, _one),
    Way("P", lambda j, w: True, _one),
    Way("", lambda j, w: True, _none),
)


def kinds(joints: Sequence[Joint]) -> str:
    return "".join("R" if joint.turns else "P" for joint in joints)


def find_way(samples: Sequence[tuple[Sequence[Joint], Vector, Vector]]) -> tuple[Way, bool] | None:
    """The first way that fits all samples (joints, w, p) of an arm, and whether it is the reversed arm that it fits."""
    for reverse in (False, True):
        for way in WAYS:
            if all(_fits(way, reverse, *sample) for sample in samples):
                return way, reverse
    return None


def _fits(way: Way, reverse: bool, joints: Sequence[Joint], w: Vector, p: Vector) -> bool:
    ordered = turned_round(joints) if reverse else joints
    return way.kinds == kinds(ordered) and way.applies(ordered, p if reverse else w)


def solve_arm(found: tuple[Way, bool], joints: Sequence[Joint], w: Vector, p: Vector) -> Iterator[Branch]:
    """All ways to bring w to p."""
    way, reverse = found
    if not reverse:
        yield from way.solve(joints, w, p)
        return
    for branch in way.solve(turned_round(joints), p, w):
        moves = tuple(move._replace(joint=joint) for move, joint in zip(reversed(branch.moves), joints, strict=True))
        yield branch._replace(moves=tuple(Move(m.joint, m.turn, m.slide) for m in moves))


def turned_round(joints: Sequence[Joint]) -> list[Joint]:
    """The joints from frame to base."""
    return [joint.reversed for joint in reversed(joints)]
