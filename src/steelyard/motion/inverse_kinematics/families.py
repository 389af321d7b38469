"""Families of arms with a closed form, recognised by parallel and intersecting axes.

- An arm of up to three joints, then a wrist: up to three revolute joints whose axes meet in a
  point. Pieper 1968.
- Six revolute joints, of which 2, 3 and 4 are parallel and 5 and 6 meet, as in the arms of
  Universal Robots. Hawkins 2013.
- Either of them seen from the frame: the shoulder is then the wrist.
- Any of them once some joints are held at given positions: arms with more than six joints. He and
  Liu 2021 (Panda). A slide along an axis commutes with turns about it, so that the order of such
  neighbours is free.
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
from .arms import ArmGeometry, Branch, find_arm_geometry, planar, reverse_joints, solve_arm, square
from .chain import ChainJoint, FrameMove, are_parallel, share_point
from .inverse_kinematics_thresholds import THRESHOLDS
from .subproblems import AT_REST, Turn, angle_between, angle_to_plane, both, second_of_two, turn_of

Solver = Callable[[Sequence[ChainJoint], Pose], Iterator[Branch]]


class Family(NamedTuple):
    """A family of arms: `solve` takes the joints, of any scalar, and E_1 ... E_n.

    It yields all branches.
    """

    name: str
    fixed: tuple[int, ...]
    solve: Callable[[Sequence[ChainJoint], Pose, Sequence[FrameMove]], Iterator[Branch]]


def find_family(
    joints: Sequence[ChainJoint], tool: Vector, fixed: Sequence[int] = ()
) -> Family | None:
    """Return the family of a chain of floats with some joints fixed; None without a closed form."""
    samples = [_sample(joints, fixed, random.Random(seed)) for seed in range(3)]
    free = samples[0][0]
    for reverse in (False, True):
        for order in _orders(free):
            views = [_in_order(joints_, pose, order, reverse) for joints_, pose in samples]
            match = _wrist_family(views, tool, reverse) or _parallel_family(views)
            if match is not None:
                name, solver = match
                return Family(
                    f"{name}, seen from the frame" if reverse else name,
                    tuple(fixed),
                    _solve_free_joints(solver, order, reverse, tuple(fixed)),
                )
    return None


def _sample(
    joints: Sequence[ChainJoint], fixed: Sequence[int], rng: random.Random
) -> tuple[list[ChainJoint], Pose]:
    """Return the chain with fixed joints at random positions, and a random pose E_1 ... E_n."""
    moves = [_joint_move(joint, rng.uniform(-1.5, 1.5)) for joint in joints]
    X = Pose()
    for move in moves:
        columns = [move.rotate(column) for column in IDENTITY]
        X = X.compose(
            Pose(v3.transpose((columns[0], columns[1], columns[2])), move.carry((0.0, 0.0, 0.0)))
        )
    return fix_joints(joints, X, [moves[index] for index in fixed])


def _joint_move(joint: ChainJoint, by: float) -> FrameMove:
    return (
        FrameMove(joint, Turn(math.cos(by), math.sin(by), by))
        if joint.turns
        else FrameMove(joint, AT_REST, by)
    )


def fix_joints(
    joints: Sequence[ChainJoint], X: Pose, moves: Sequence[FrameMove]
) -> tuple[list[ChainJoint], Pose]:
    """Return the other joints and their E_1 ... E_n after some joints moved for good.

    The side with fewer joints moves with each of them.
    """
    remaining = list(joints)
    for move in moves:
        i = next(i for i, joint in enumerate(remaining) if joint.number == move.joint.number)
        here = move._replace(joint=remaining[i])
        if i < len(remaining) - 1 - i:
            remaining = [_uncarry_joint(joint, here) for joint in remaining[:i]] + remaining[
                i + 1 :
            ]
            columns = [here.unrotate(column) for column in v3.transpose(X.R)]
            X = Pose(v3.transpose((columns[0], columns[1], columns[2])), here.uncarry(X.p))
        else:
            remaining = remaining[:i] + [_carry_joint(joint, here) for joint in remaining[i + 1 :]]
            rows = [here.rotate(row) for row in X.R]
            X = Pose((rows[0], rows[1], rows[2]), X.point(here.uncarry((0.0, 0.0, 0.0))))
    return remaining, X


def _carry_joint(joint: ChainJoint, move: FrameMove) -> ChainJoint:
    carried_by = (*joint.carried_by, move.joint.number)
    return joint._replace(
        h=move.rotate(joint.h),
        p=move.carry(joint.p),
        side=move.rotate(joint.side),
        carried_by=carried_by,
    )


def _uncarry_joint(joint: ChainJoint, move: FrameMove) -> ChainJoint:
    carried_by = (*joint.carried_by, move.joint.number)
    return joint._replace(
        h=move.unrotate(joint.h),
        p=move.uncarry(joint.p),
        side=move.unrotate(joint.side),
        carried_by=carried_by,
    )


def _orders(joints: Sequence[ChainJoint]) -> list[tuple[int, ...]]:
    """Return the orders that commuting neighbours allow, the given one first.

    A slide along an axis commutes with a turn about it.
    """
    orders = [tuple(range(len(joints)))]
    for order in orders:
        for i, (a, b) in enumerate(pairwise(order)):
            exchanged = (*order[:i], b, a, *order[i + 2 :])
            if (
                joints[a].turns != joints[b].turns
                and are_parallel(joints[a], joints[b])
                and exchanged not in orders
            ):
                orders.append(exchanged)
    return orders


def _in_order(
    joints: Sequence[ChainJoint], X: Pose, order: Sequence[int], reverse: bool
) -> tuple[list[ChainJoint], Pose]:
    ordered = [joints[i] for i in order]
    return (reverse_joints(ordered), X.inverse()) if reverse else (ordered, X)


def _solve_free_joints(
    solver: Solver, order: tuple[int, ...], reverse: bool, fixed_joints: tuple[int, ...]
) -> Callable[..., Iterator[Branch]]:
    """Solve the joints that are not fixed, and return the moves of all joints in chain order."""

    def solve(
        joints: Sequence[ChainJoint], X: Pose, fixed: Sequence[FrameMove]
    ) -> Iterator[Branch]:
        remaining, pose = fix_joints(joints, X, fixed)
        view, seen = _in_order(remaining, pose, order, reverse)
        for branch in solver(view, seen):
            moves = sorted((*branch.moves, *fixed), key=lambda move: move.joint.number)
            yield branch._replace(moves=tuple(moves))

    return solve


View = tuple[list[ChainJoint], Pose]


def _wrist_family(views: Sequence[View], tool: Vector, reverse: bool) -> tuple[str, Solver] | None:
    """Find an arm followed by a wrist, the largest wrist first."""
    n = len(views[0][0])
    for size in range(min(3, n), -1, -1):
        if (
            n - size > 3
            or (size == 0 and reverse)
            or not all(_is_wrist(joints[n - size :]) for joints, _ in views)
        ):
            continue
        points = [joints[-1].p if size else tool for joints, _ in views]
        match = find_arm_geometry(
            [
                (joints[: n - size], w, X.point(w))
                for (joints, X), w in zip(views, points, strict=True)
            ]
        )
        if match is not None:
            return _WRISTS[size], _arm_and_wrist(match, size, tool)
    return None


_WRISTS = (
    "position alone",
    "one axis at the end",
    "two axes that meet at the end",
    "spherical wrist",
)


def _is_wrist(joints: Sequence[ChainJoint]) -> bool:
    if not joints:
        return True
    return share_point(*joints) and not any(are_parallel(a, b) for a, b in pairwise(joints))


def _arm_and_wrist(match: tuple[ArmGeometry, bool], size: int, tool: Vector) -> Solver:
    def solve(joints: Sequence[ChainJoint], X: Pose) -> Iterator[Branch]:
        n = len(joints)
        arm, wrist = joints[: n - size], joints[n - size :]
        w = wrist[-1].p if wrist else tool
        for branch in solve_arm(match, arm, w, X.point(w)):
            for ending in _wrist_branches(wrist, X, branch.moves):
                whole = Branch(
                    (*branch.name, *ending.name),
                    (*branch.moves, *ending.moves),
                    both(branch.reach, ending.reach),
                )
                yield (
                    whole
                    if n >= 6
                    else whole._replace(reach=both(whole.reach, _reached(whole.moves, w, X)))
                )

    return solve


def _wrist_branches(
    wrist: Sequence[ChainJoint], X: Pose, before: Sequence[FrameMove]
) -> Iterator[Branch]:
    """Yield the wrist turns that give the orientation after the moves before them."""
    if not wrist:
        yield Branch((), (), 1.0)
        return
    axis, side, before = wrist[-1].h, wrist[-1].side, _merge_parallel_turns(before)
    u, t = _unrotate(before, v3.apply(X.R, axis)), _unrotate(before, v3.apply(X.R, side))
    if len(wrist) == 3:
        yield from _spherical(wrist, u, t, side)
        return
    first = (angle_between(wrist[0].h, axis, u, wrist[0].rest),) if len(wrist) == 2 else ()
    moves = [FrameMove(joint, turn) for joint, turn in zip(wrist, first, strict=False)]
    yield Branch((), (*moves, FrameMove(wrist[-1], _last_turn(moves, axis, side, t))), 1.0)


def _merge_parallel_turns(moves: Sequence[FrameMove]) -> list[FrameMove]:
    """Merge turns about neighbouring parallel axes; for rotations only."""
    merged: list[FrameMove] = []
    for move in moves:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.joint.h == move.joint.h
            and last.joint.turns
            and move.joint.turns
            and isinstance(move.joint.h[0], float)
        ):
            merged[-1] = FrameMove(last.joint, last.turn.plus(move.turn))
        elif move.joint.turns:
            merged.append(move)
    return merged


def _unrotate(moves: Sequence[FrameMove], v: Vector) -> Vector:
    for move in moves:
        v = move.unrotate(v)
    return v


def _last_turn(moves: Sequence[FrameMove], axis: Vector, side: Vector, t: Vector) -> Turn:
    """Return the turn of the last joint that brings `side` to t in its own frame."""
    x = _unrotate(moves, t)
    return turn_of(v3.dot(x, side), v3.dot(x, v3.cross(axis, side)))


def _spherical(wrist: Sequence[ChainJoint], u: Vector, t: Vector, side: Vector) -> Iterator[Branch]:
    """Solve R4 R5 R6 from the images u of the last axis and t of a perpendicular vector."""
    a, b, c = wrist
    pair = second_of_two(a.h, b.h, c.h, u, b.rest, a.cosine(b))
    first: tuple[Turn, Turn] | None = None
    for sign, second in pair.items():
        if first is None or not _right_angled(wrist):
            turn = angle_between(a.h, second.apply(b.h, c.h), u, a.rest)
            first = turn, _last_turn((FrameMove(a, turn), FrameMove(b, second)), c.h, side, t)
        else:  # half a turn of the outer two undoes the change of sign of the middle one
            first = first[0].opposite, first[1].opposite
        yield Branch(
            (f"wrist {sign}",),
            (FrameMove(a, first[0]), FrameMove(b, second), FrameMove(c, first[1])),
            pair.reach,
        )


def _right_angled(wrist: Sequence[ChainJoint]) -> bool:
    return all(
        isinstance(d, float) and d == 0.0
        for d in (v3.dot(wrist[0].h, wrist[1].h), v3.dot(wrist[1].h, wrist[2].h))
    )


def _reached(moves: Sequence[FrameMove], w: Vector, X: Pose) -> Scalar:
    """Return 1 where the moves bring three points to the pose, else 0."""
    error: Scalar = 0.0
    for e in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        point = v3.add(w, e)
        goal = X.point(point)
        for move in reversed(moves):
            point = move.carry(point)
        error = error + square(v3.sub(point, goal))
    return where(error < THRESHOLDS.reached_error * THRESHOLDS.reached_error, 1.0, 0.0)


def _parallel_family(views: Sequence[View]) -> tuple[str, Solver] | None:
    """Find three parallel axes in the middle and two that meet at the end."""
    for joints, _ in views:
        if len(joints) != 6 or not all(joint.turns for joint in joints):
            return None
        a, b, c, d, e, f = joints
        middle = (
            are_parallel(b, c)
            and are_parallel(c, d)
            and not are_parallel(a, b)
            and not are_parallel(d, e)
        )
        if not (middle and share_point(e, f) and not are_parallel(e, f)):
            return None
    return "three parallel axes", _three_parallel


def _three_parallel(joints: Sequence[ChainJoint], X: Pose) -> Iterator[Branch]:
    """Solve arms with three parallel axes, such as Universal Robots.

    The point where the last two axes meet stays in a plane perpendicular to the parallel ones:
    that gives the first turn.

    The three parallel turns act as one on orientations. With the fifth and the sixth they are a
    wrist; a planar arm remains.
    """
    a, b, c, d, e, f = joints
    u = v3.sub(X.point(f.p), a.p)
    shoulder = angle_to_plane(u, a.h, b.h, v3.dot(b.h, v3.sub(f.p, a.p)), a.rest)
    for s1, first in shoulder.items():
        centre = v3.add(a.p, first.inverse.apply(a.h, u))
        for ending in _wrist_branches(
            (b._replace(rest=_sum_of_rests(b, c, d)), e, f), X, (FrameMove(a, first),)
        ):
            turned, fifth, sixth = ending.moves
            target = v3.add(centre, turned.rotate(v3.sub(d.p, f.p)))
            for s3, second, third, reach in planar(b, c, d.p, target):
                fourth = Turn(
                    1.0,
                    0.0,
                    _relative_sign(b, d)
                    * (turned.turn.value - second.value - _relative_sign(b, c) * third.value),
                )
                moves = (
                    FrameMove(a, first),
                    FrameMove(b, second),
                    FrameMove(c, third),
                    FrameMove(d, fourth),
                    fifth,
                    sixth,
                )
                yield Branch(
                    (f"shoulder {s1}", f"elbow {s3}", *ending.name),
                    moves,
                    both(both(shoulder.reach, ending.reach), reach),
                )


def _relative_sign(a: ChainJoint, b: ChainJoint) -> float:
    """Return 1 for parallel axes of the same direction, else -1."""
    same = v3.dot(a.h, b.h)
    return 1.0 if not isinstance(same, float) or same > 0.0 else -1.0


def _sum_of_rests(*joints: ChainJoint) -> Turn:
    """Return the sum of the rest turns of parallel joints."""
    total = joints[0].rest
    for joint in joints[1:]:
        total = total.plus(
            joint.rest if _relative_sign(joints[0], joint) > 0.0 else joint.rest.inverse
        )
    return total
