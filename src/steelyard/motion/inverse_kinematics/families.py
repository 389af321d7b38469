"""Families of arms with a closed form, told by where their axes meet and are parallel, and solved over any scalar.

- An arm of up to three joints, then a wrist: up to three revolute joints whose axes meet in a point. Pieper 1968.
- Six revolute joints, of which 2, 3 and 4 are parallel and 5 and 6 meet, as in the arms of Universal Robots. Hawkins 2013.
- Either of them seen from the frame: the shoulder is then the wrist.
- Any of them once some joints are held at given positions: arms with more than six joints. He and Liu 2021 (Panda).
A slide along an axis commutes with turns about it, so that the order of such neighbours is free.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, where
from ...algebra.spatial import Pose
from ...algebra.vector import IDENTITY, Vector
from .arms import Branch, Way, find_way, planar, solve_arm, square, turned_round
from .chain import Joint, Move, parallel, share_point
from .subproblems import AT_REST, Turn, angle_between, angle_to_plane, both, second_of_two, turn_of

REACHED = 1e-9  # [m or rad] an arm with fewer than six joints reaches a pose that it meets within this

Solver = Callable[[Sequence[Joint], Pose], Iterator[Branch]]


class Family(NamedTuple):
    """How the joints of a chain are solved: `solve` takes them, with any scalars, and E_1 ... E_n, and yields all branches."""

    name: str
    held: tuple[int, ...]
    solve: Callable[[Sequence[Joint], Pose, Sequence[Move]], Iterator[Branch]]


def find_family(joints: Sequence[Joint], tool: Vector, held: Sequence[int] = ()) -> Family | None:
    """The family of a chain of floats with some joints held; None where it has no closed form here."""
    samples = [_sample(joints, held, random.Random(seed)) for seed in range(3)]
    free = samples[0][0]
    for reverse in (False, True):
        for order in _orders(free):
            views = [_view(joints_, pose, order, reverse) for joints_, pose in samples]
            found = _wrist_family(views, tool, reverse) or _parallel_family(views)
            if found is not None:
                name, solver = found
                return Family(f"{name}, seen from the frame" if reverse else name, tuple(held), _whole(solver, order, reverse, tuple(held)))
    return None


def _sample(joints: Sequence[Joint], held: Sequence[int], rng: random.Random) -> tuple[list[Joint], Pose]:
    """The chain with its held joints at random positions, and the pose E_1 ... E_n at a random position of the others."""
    moves = [_moved(joint, rng.uniform(-1.5, 1.5)) for joint in joints]
    X = Pose()
    for move in moves:
        columns = [move.rotate(column) for column in IDENTITY]
        X = X.compose(Pose(v3.transpose((columns[0], columns[1], columns[2])), move.carry((0.0, 0.0, 0.0))))
    return hold(joints, X, [moves[at] for at in held])


def _moved(joint: Joint, by: float) -> Move:
    return Move(joint, Turn(math.cos(by), math.sin(by), by)) if joint.turns else Move(joint, AT_REST, by)


def hold(joints: Sequence[Joint], X: Pose, moves: Sequence[Move]) -> tuple[list[Joint], Pose]:
    """The other joints and their E_1 ... E_n when some joints have moved for good. The side with fewer joints moves with each of them."""
    left = list(joints)
    for move in moves:
        i = next(i for i, joint in enumerate(left) if joint.at == move.joint.at)
        here = move._replace(joint=left[i])
        if i < len(left) - 1 - i:
            left = [_moved_back(joint, here) for joint in left[:i]] + left[i + 1 :]
            columns = [here.unrotate(column) for column in v3.transpose(X.R)]
            X = Pose(v3.transpose((columns[0], columns[1], columns[2])), here.uncarry(X.p))
        else:
            left = left[:i] + [_moved_on(joint, here) for joint in left[i + 1 :]]
            rows = [here.rotate(row) for row in X.R]
            X = Pose((rows[0], rows[1], rows[2]), X.point(here.uncarry((0.0, 0.0, 0.0))))
    return left, X


def _moved_on(joint: Joint, move: Move) -> Joint:
    carried_by = (*joint.carried_by, move.joint.at)
    return joint._replace(h=move.rotate(joint.h), p=move.carry(joint.p), side=move.rotate(joint.side), carried_by=carried_by)


def _moved_back(joint: Joint, move: Move) -> Joint:
    carried_by = (*joint.carried_by, move.joint.at)
    return joint._replace(h=move.unrotate(joint.h), p=move.uncarry(joint.p), side=move.unrotate(joint.side), carried_by=carried_by)


def _orders(joints: Sequence[Joint]) -> list[tuple[int, ...]]:
    """The orders that exchanges of neighbours give of which one slides along the axis of the other; the given one first."""
    found = [tuple(range(len(joints)))]
    for order in found:
        for i, (a, b) in enumerate(pairwise(order)):
            exchanged = (*order[:i], b, a, *order[i + 2 :])
            if joints[a].turns != joints[b].turns and parallel(joints[a], joints[b]) and exchanged not in found:
                found.append(exchanged)
    return found


def _view(joints: Sequence[Joint], X: Pose, order: Sequence[int], reverse: bool) -> tuple[list[Joint], Pose]:
    ordered = [joints[i] for i in order]
    return (turned_round(ordered), X.inverse()) if reverse else (ordered, X)


def _whole(solver: Solver, order: tuple[int, ...], reverse: bool, held: tuple[int, ...]) -> Callable[..., Iterator[Branch]]:
    """Solve the joints that are not held in their order, and return the moves of all in that of the chain."""

    def solve(joints: Sequence[Joint], X: Pose, fixed: Sequence[Move]) -> Iterator[Branch]:
        left, pose = hold(joints, X, fixed)
        view, seen = _view(left, pose, order, reverse)
        for branch in solver(view, seen):
            moves = sorted((*branch.moves, *fixed), key=lambda move: move.joint.at)
            yield branch._replace(moves=tuple(moves))

    return solve


View = tuple[list[Joint], Pose]


def _wrist_family(views: Sequence[View], tool: Vector, reverse: bool) -> tuple[str, Solver] | None:
    """An arm and a wrist, the largest wrist first."""
    n = len(views[0][0])
    for size in range(min(3, n), -1, -1):
        if n - size > 3 or (size == 0 and reverse) or not all(_is_wrist(joints[n - size :]) for joints, _ in views):
            continue
        points = [joints[-1].p if size else tool for joints, _ in views]
        way = find_way([(joints[: n - size], w, X.point(w)) for (joints, X), w in zip(views, points, strict=True)])
        if way is not None:
            return _WRISTS[size], _arm_and_wrist(way, size, tool)
    return None


_WRISTS = ("position alone", "one axis at the end", "two axes that meet at the end", "spherical wrist")


def _is_wrist(joints: Sequence[Joint]) -> bool:
    if not joints:
        return True
    return share_point(*joints) and not any(parallel(a, b) for a, b in pairwise(joints))


def _arm_and_wrist(way: tuple[Way, bool], size: int, tool: Vector) -> Solver:
    def solve(joints: Sequence[Joint], X: Pose) -> Iterator[Branch]:
        n = len(joints)
        arm, wrist = joints[: n - size], joints[n - size :]
        w = wrist[-1].p if wrist else tool
        for branch in solve_arm(way, arm, w, X.point(w)):
            for ending in _turned(wrist, X, branch.moves):
                whole = Branch((*branch.name, *ending.name), (*branch.moves, *ending.moves), both(branch.reach, ending.reach))
                yield whole if n >= 6 else whole._replace(reach=both(whole.reach, _reached(whole.moves, w, X)))

    return solve


def _turned(wrist: Sequence[Joint], X: Pose, before: Sequence[Move]) -> Iterator[Branch]:
    """All turns of a wrist that give the orientation that is left after the moves before it."""
    if not wrist:
        yield Branch((), (), 1.0)
        return
    axis, side, before = wrist[-1].h, wrist[-1].side, _merged(before)
    u, t = _left(before, v3.apply(X.R, axis)), _left(before, v3.apply(X.R, side))
    if len(wrist) == 3:
        yield from _spherical(wrist, u, t, side)
        return
    first = (angle_between(wrist[0].h, axis, u, wrist[0].rest),) if len(wrist) == 2 else ()
    moves = [Move(joint, turn) for joint, turn in zip(wrist, first, strict=False)]
    yield Branch((), (*moves, Move(wrist[-1], _last_turn(moves, axis, side, t))), 1.0)


def _merged(moves: Sequence[Move]) -> list[Move]:
    """The moves with turns about neighbouring parallel axes of floats taken together, as far as rotations are concerned."""
    merged: list[Move] = []
    for move in moves:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.joint.h == move.joint.h
            and last.joint.turns
            and move.joint.turns
            and isinstance(move.joint.h[0], float)
        ):
            merged[-1] = Move(last.joint, last.turn.plus(move.turn))
        elif move.joint.turns:
            merged.append(move)
    return merged


def _left(moves: Sequence[Move], v: Vector) -> Vector:
    for move in moves:
        v = move.unrotate(v)
    return v


def _last_turn(moves: Sequence[Move], axis: Vector, side: Vector, t: Vector) -> Turn:
    """The turn of the last joint that brings `side` to what is left of t."""
    x = _left(moves, t)
    return turn_of(v3.dot(x, side), v3.dot(x, v3.cross(axis, side)))


def _spherical(wrist: Sequence[Joint], u: Vector, t: Vector, side: Vector) -> Iterator[Branch]:
    """R4 R5 R6 is known by what it makes of the last axis, u, and of a vector across it, t."""
    a, b, c = wrist
    pair = second_of_two(a.h, b.h, c.h, u, b.rest, a.cosine(b))
    first: tuple[Turn, Turn] | None = None
    for sign, second in pair.items():
        if first is None or not _right_angled(wrist):
            turn = angle_between(a.h, second.apply(b.h, c.h), u, a.rest)
            first = turn, _last_turn((Move(a, turn), Move(b, second)), c.h, side, t)
        else:  # half a turn of the outer two undoes the change of sign of the middle one
            first = first[0].opposite, first[1].opposite
        yield Branch((f"wrist {sign}",), (Move(a, first[0]), Move(b, second), Move(c, first[1])), pair.reach)


def _right_angled(wrist: Sequence[Joint]) -> bool:
    return all(isinstance(d, float) and d == 0.0 for d in (v3.dot(wrist[0].h, wrist[1].h), v3.dot(wrist[1].h, wrist[2].h)))


def _reached(moves: Sequence[Move], w: Vector, X: Pose) -> Scalar:
    """Whether the moves carry three points to where the pose has them."""
    error: Scalar = 0.0
    for e in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        point = v3.add(w, e)
        goal = X.point(point)
        for move in reversed(moves):
            point = move.carry(point)
        error = error + square(v3.sub(point, goal))
    return where(error < REACHED * REACHED, 1.0, 0.0)


def _parallel_family(views: Sequence[View]) -> tuple[str, Solver] | None:
    """Three parallel axes in the middle, and two that meet at the end."""
    for joints, _ in views:
        if len(joints) != 6 or not all(joint.turns for joint in joints):
            return None
        a, b, c, d, e, f = joints
        middle = parallel(b, c) and parallel(c, d) and not parallel(a, b) and not parallel(d, e)
        if not (middle and share_point(e, f) and not parallel(e, f)):
            return None
    return "three parallel axes", _three_parallel


def _three_parallel(joints: Sequence[Joint], X: Pose) -> Iterator[Branch]:
    """The point where the last two axes meet stays in a plane across the parallel ones: that gives the first turn.

    The three parallel turns act as one on orientations, so that it, the fifth and the sixth are a wrist; what is left is a planar arm.
    """
    a, b, c, d, e, f = joints
    u = v3.sub(X.point(f.p), a.p)
    shoulder = angle_to_plane(u, a.h, b.h, v3.dot(b.h, v3.sub(f.p, a.p)), a.rest)
    for s1, first in shoulder.items():
        centre = v3.add(a.p, first.inverse.apply(a.h, u))
        for ending in _turned((b._replace(rest=_sum(b, c, d)), e, f), X, (Move(a, first),)):
            turned, fifth, sixth = ending.moves
            place = v3.add(centre, turned.rotate(v3.sub(d.p, f.p)))
            for s3, second, third, reach in planar(b, c, d.p, place):
                fourth = Turn(1.0, 0.0, _signed(b, d) * (turned.turn.value - second.value - _signed(b, c) * third.value))
                moves = Move(a, first), Move(b, second), Move(c, third), Move(d, fourth), fifth, sixth
                yield Branch((f"shoulder {s1}", f"elbow {s3}", *ending.name), moves, both(both(shoulder.reach, ending.reach), reach))


def _signed(a: Joint, b: Joint) -> float:
    """1 for parallel axes that point the same way, else -1."""
    same = v3.dot(a.h, b.h)
    return 1.0 if not isinstance(same, float) or same > 0.0 else -1.0


def _sum(*joints: Joint) -> Turn:
    """Where parallel joints rest together."""
    total = joints[0].rest
    for joint in joints[1:]:
        total = total.plus(joint.rest if _signed(joints[0], joint) > 0.0 else joint.rest.inverse)
    return total
