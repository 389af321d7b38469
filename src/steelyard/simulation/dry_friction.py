"""Dry friction without chatter: a joint that moves rubs to one side for a whole step, and a joint that sticks, sticks.

Friction as a function of the velocity jumps where the velocity is zero. For the length of a step every joint is therefore on one side of
the jump, or held: a joint at rest is held as long as the torque that holds it is within what its friction can bear. Releasing one joint
changes what others must bear, so that the question is asked again, as often as there are joints. A stop at the end of a joint's range is
friction without limit in one direction, as long as it is pushed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.scalar import Scalar, absolute, dot, is_zero, sign, where
from ..dynamics.crba import mass_matrix
from ..dynamics.forward.by_crba import factorise, solve
from ..dynamics.joint_torques import friction_torque
from ..dynamics.rnea import inverse_dynamics
from ..mechanism.tree import Tree

DRY = ("coulomb", "negative", "stiction", "load")
REST = 0.02  # rad/s|m/s: velocity up to which a joint that strikes its stop stays there
CREEP = 1e-12  # rad/s|m/s: a velocity whose friction is that of the side it is on


def dry_joints(tree: Tree) -> tuple[int, ...]:
    """The coordinates whose friction jumps at rest."""
    rough = [any(not is_zero(terms.get(key, 0.0)) for key in DRY) and "width" not in terms for terms in tree.terms]
    return tuple(c for c, jumps in enumerate(rough) if jumps)


class Sides(NamedTuple):
    """Per coordinate 1 where it moves forward, -1 backward and 0 where friction holds it; coordinates without dry friction have None.

    `stopped` is 1 where a stop holds it, else 0.
    """

    side: list[Scalar | None]
    stopped: list[Scalar]

    def held(self, c: int) -> Scalar:
        """1 where the coordinate is held, else 0."""
        side, stopped = self.side[c], self.stopped[c]
        return stopped if side is None else 1.0 - side * side * (1.0 - stopped)

    def mask(self, first: int) -> list[Scalar]:
        """1 where a coordinate is free, else 0; the `first` ones, of a free base, always are."""
        return [1.0] * first + [1.0 - self.held(c) for c in range(len(self.side))]

    def rate(self, c: int, qd: Scalar) -> Scalar:
        """The velocity that friction feels: never beyond rest on the other side."""
        side = self.side[c]
        return qd if side is None else side * where(side * qd > CREEP, side * qd, CREEP)


class Equations(NamedTuple):
    """M a = left - friction, of the joints, or of the six coordinates of a free base and then of the joints."""

    M: Sequence[Sequence[Scalar]]
    left: Sequence[Scalar]


def equations(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]) -> Equations:
    """Those of a robot on its base under torques tau [N m|N]: left = tau - C qd - g."""
    bias = inverse_dynamics(tree.without_friction(), q, qd, [0.0] * tree.n)
    return Equations(mass_matrix(tree, q), [a - b for a, b in zip(tau, bias, strict=True)])


def sides(tree: Tree, given: Equations, q: Sequence[Scalar], qd: Sequence[Scalar], stops: bool = False) -> Sides:
    """On which side of its friction each joint is at a state, held joints found in turn.

    With `stops` joints that rest at their limits stay there, unless friction alone could not keep them from going back.
    """
    dry, ends = dry_joints(tree), stop_joints(tree) if stops else ()
    upper, lower = ([_at_rest_beyond(way, q[c], qd[c], tree, c) if c in ends else 0.0 for c in range(tree.n)] for way in (1.0, -1.0))
    found = Sides([sign(qd[c]) if c in dry else None for c in range(tree.n)], [a + b for a, b in zip(upper, lower, strict=True)])
    low, high = breakaway(tree, q, qd)
    for _ in {*dry, *ends}:
        must = needed(tree, given, found, q, qd)
        side = [_released(*each) for each in zip(found.side, must, low, high, strict=True)]
        stopped = [_still_stopped(*each) for each in zip(upper, lower, must, low, high, strict=True)]
        found = Sides(side, stopped)
    return found


def _still_stopped(upper: Scalar, lower: Scalar, needed: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """1 where a joint at its upper or lower stop stays there: the stop can give any torque against it, and none along."""
    return where(needed < low, 0.0, upper) + where(needed > high, 0.0, lower)


def stop_joints(tree: Tree) -> tuple[int, ...]:
    """The coordinates with an end to their range."""
    return tuple(c for c, limit in enumerate(tree.limits) if math.isfinite(limit.lower) or math.isfinite(limit.upper))


def _at_rest_beyond(way: float, q: Scalar, qd: Scalar, tree: Tree, c: int) -> Scalar:
    """1 where a joint rests at its upper (way 1) or lower (way -1) limit, else 0."""
    end = tree.limits[c].upper if way > 0 else tree.limits[c].lower
    if not math.isfinite(end):
        return 0.0
    return where(way * (q - end) >= 0.0, where(absolute(qd) <= CREEP, 1.0, 0.0), 0.0)


def struck(
    tree: Tree, M: Sequence[Sequence[Scalar]], q: Sequence[Scalar], u: Sequence[Scalar], found: Sides, restitution: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """Velocities after joints beyond their limits have struck their stops, each left with -restitution times its own, and the heat [J].

    The others feel the impulse through the mass matrix M, but for those that are held or were just stopped. u has the velocities of a free
    base first. A joint slower than REST stays.
    """
    after, heat, first = list(u), 0.0, len(u) - tree.n
    free = found.mask(first)
    for c in stop_joints(tree):
        k, limit, v = first + c, tree.limits[c], after[first + c]
        column = _unit_response(M, free, k)
        out = where(q[c] > limit.upper, where(v > 0.0, 1.0, 0.0), where(q[c] < limit.lower, where(v < 0.0, 1.0, 0.0), 0.0)) * free[k]
        back = where(absolute(v) > REST, restitution[c], 0.0)
        impulse = -out * (1.0 + back) * v / where(out > 0.0, column[k], 1.0)
        heat = heat - impulse * (v + 0.5 * impulse * column[k])
        after = [x + impulse * m for x, m in zip(after, column, strict=True)]
        after[k] = where(out > 0.0, -back * v, after[k])
        free[k] = free[k] * (1.0 - where(back > 0.0, 0.0, out))
    return after, heat


def turned_round(
    tree: Tree,
    M: Sequence[Sequence[Scalar]],
    q: Sequence[Scalar],
    u: Sequence[Scalar],
    before: Sequence[Scalar],
    found: Sides,
    h: Scalar,
) -> tuple[list[Scalar], Scalar]:
    """Velocities at the end of a step of h [s], put right where joints came to rest and turned round in it, and the heat of that [J].

    Since then their friction had the wrong sign. The impulse that is missing, twice the friction times what was left of the step, is given
    as far as it brings the joint to rest; the others feel it through the mass matrix M, but for those that are held or were just stopped.
    u has the velocities of a free base first; `before` are those of the joints at the beginning.
    """
    after, heat, first = list(u), 0.0, len(u) - tree.n
    free = found.mask(first)
    for c in dry_joints(tree):
        side, k = found.side[c], first + c
        assert side is not None
        column = _unit_response(M, free, k)
        turned = side * after[k] < 0.0
        left = where(turned, after[k] / where(turned, after[k] - before[c], 1.0), 0.0)  # the part of the step after the turn
        jump = _friction_jump(tree, q, after[first:], c)
        missing, stops = jump * left * h, absolute(after[k]) / where(turned, column[k], 1.0)
        impulse = side * where(turned, where(missing < stops, missing, stops), 0.0)
        still = where(turned, where(missing < stops, 0.0, 1.0), 0.0)
        heat = heat - impulse * (after[k] + 0.5 * impulse * column[k])
        after = [v + impulse * m for v, m in zip(after, column, strict=True)]
        after[k] = where(still > 0.0, 0.0, after[k])
        free[k] = free[k] * (1.0 - still)
    return after, heat


def _unit_response(M: Sequence[Sequence[Scalar]], free: Sequence[Scalar], k: int) -> list[Scalar]:
    """How velocities change under a unit impulse on coordinate k, of those that are free."""
    return solve(factorise(_masked(M, free)), [free[k] if i == k else 0.0 for i in range(len(M))])


def _friction_jump(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], c: int) -> Scalar:
    """How much the friction of a joint jumps where its velocity passes through zero."""
    low, high = ([way * CREEP if i == c else x for i, x in enumerate(qd)] for way in (-1.0, 1.0))
    return friction_torque(tree, high, q)[c] - friction_torque(tree, low, q)[c]


def _released(side: Scalar | None, needed: Scalar, low: Scalar, high: Scalar) -> Scalar | None:
    """The side of a joint: as it is where it moves, held where friction from `low` to `high` can give what is needed."""
    if side is None:
        return None
    broken = where(needed > high, 1.0, where(needed < low, -1.0, 0.0))
    return where(absolute(side) > 0.0, side, broken)


def needed(tree: Tree, given: Equations, found: Sides, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """The friction torque that keeps each held joint at rest while the others accelerate."""
    a, first = accelerations(tree, given, found, q, qd), len(given.left) - tree.n
    return [x - dot(row, a) for x, row in zip(given.left[first:], given.M[first:], strict=True)]


def breakaway(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The least and the largest friction torque with which joints at rest can be held."""
    dry = dry_joints(tree)
    low, high = (friction_torque(tree, [way * CREEP if c in dry else x for c, x in enumerate(qd)], q) for way in (-1.0, 1.0))
    return low, high


def held_dynamics(
    tree: Tree, given: Equations, found: Sides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations with friction on given sides, zero where joints are held, and the friction torques of those that move."""
    return accelerations(tree, given, found, q, qd), friction_torque(tree, [found.rate(c, x) for c, x in enumerate(qd)], q)


def accelerations(tree: Tree, given: Equations, found: Sides, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """M a = left - friction for the coordinates that are free; a held joint has a row of its own, qdd = 0."""
    first = len(given.left) - tree.n
    friction = [0.0] * first + friction_torque(tree, [found.rate(c, x) for c, x in enumerate(qd)], q)
    free = found.mask(first)
    return solve(factorise(_masked(given.M, free)), [f * (a - b) for f, a, b in zip(free, given.left, friction, strict=True)])


def _masked(M: Sequence[Sequence[Scalar]], free: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix of the joints that are free; the others have a one on the diagonal and nothing beside it."""
    n = range(len(M))
    return [[free[i] * free[j] * M[i][j] if i != j else free[i] * M[i][i] + (1.0 - free[i]) for j in n] for i in n]
