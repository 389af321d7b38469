"""Dry friction without chatter: a joint that moves rubs to one side for a whole step, and a joint that sticks, sticks.

Friction as a function of the velocity jumps where the velocity is zero. For the length of a step every joint is therefore on one side of
the jump, or held: a joint at rest is held as long as the torque that holds it is within what its friction can bear. Releasing one joint
changes what others must bear, so that the question is asked again, as often as there are joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.scalar import Scalar, absolute, is_zero, sign, where
from ..dynamics.crba import mass_matrix
from ..dynamics.forward.by_crba import factorise, solve
from ..dynamics.joint_torques import friction_torque
from ..dynamics.rnea import inverse_dynamics
from ..mechanism.tree import Tree

DRY = ("coulomb", "negative", "stiction", "load")
CREEP = 1e-12  # rad/s|m/s: a velocity whose friction is that of the side it is on


def dry_joints(tree: Tree) -> tuple[int, ...]:
    """The coordinates whose friction jumps at rest."""
    rough = [any(not is_zero(terms.get(key, 0.0)) for key in DRY) and "width" not in terms for terms in tree.terms]
    return tuple(c for c, jumps in enumerate(rough) if jumps)


class Sides(NamedTuple):
    """Per coordinate 1 where it moves forward, -1 backward and 0 where it is held; coordinates without dry friction have None."""

    side: list[Scalar | None]

    def held(self, c: int) -> Scalar:
        """1 where the coordinate is held, else 0."""
        side = self.side[c]
        return 0.0 if side is None else 1.0 - side * side

    def rate(self, c: int, qd: Scalar) -> Scalar:
        """The velocity that friction feels: never beyond rest on the other side."""
        side = self.side[c]
        return qd if side is None else side * where(side * qd > CREEP, side * qd, CREEP)


def sides(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]) -> Sides:
    """On which side of its friction each joint is at a state under torques tau [N m|N], held joints found in turn."""
    dry = dry_joints(tree)
    found = Sides([sign(qd[c]) if c in dry else None for c in range(tree.n)])
    M, left, bounds = mass_matrix(tree, q), driven(tree, q, qd, tau), breakaway(tree, q, qd)
    for _ in dry:
        must = needed(tree, M, left, found, q, qd)
        found = Sides([_released(found.side[c], must[c], bounds[0][c], bounds[1][c]) for c in range(tree.n)])
    return found


def turned_round(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], before: Sequence[Scalar], found: Sides, h: Scalar
) -> tuple[list[Scalar], Scalar]:
    """Velocities at the end of a step of h [s], put right where joints came to rest and turned round in it, and the heat of that [J].

    Since then their friction had the wrong sign. The impulse that is missing, twice the friction times what was left of the step, is given
    as far as it brings the joint to rest; the others feel it through the mass matrix, but for those that are held or were just stopped.
    """
    M, after, heat = mass_matrix(tree, q), list(qd), 0.0
    free = [1.0 - found.held(c) for c in range(tree.n)]
    for c in dry_joints(tree):
        side = found.side[c]
        assert side is not None
        column = solve(factorise(_masked(M, free)), [free[c] if i == c else 0.0 for i in range(tree.n)])
        turned = side * after[c] < 0.0
        left = where(turned, after[c] / where(turned, after[c] - before[c], 1.0), 0.0)  # the part of the step after the turn
        jump = _friction_jump(tree, q, after, c)
        missing, stops = jump * left * h, absolute(after[c]) / where(turned, column[c], 1.0)
        impulse = side * where(turned, where(missing < stops, missing, stops), 0.0)
        still = where(turned, where(missing < stops, 0.0, 1.0), 0.0)
        heat = heat - impulse * (after[c] + 0.5 * impulse * column[c])
        after = [v + impulse * m for v, m in zip(after, column, strict=True)]
        after[c] = where(still > 0.0, 0.0, after[c])
        free[c] = free[c] * (1.0 - still)
    return after, heat


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


def needed(
    tree: Tree, M: Sequence[Sequence[Scalar]], left: Sequence[Scalar], found: Sides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """The friction torque that keeps each held joint at rest while the others accelerate; `left` is `driven`."""
    qdd = accelerations(tree, M, left, found, q, qd)
    inertial = [_dot(row, qdd) for row in M]
    return [a - b for a, b in zip(left, inertial, strict=True)]


def breakaway(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """The least and the largest friction torque with which joints at rest can be held."""
    dry = dry_joints(tree)
    low, high = (friction_torque(tree, [way * CREEP if c in dry else x for c, x in enumerate(qd)], q) for way in (-1.0, 1.0))
    return low, high


def held_dynamics(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], found: Sides
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations with friction on given sides, zero where joints are held, and the friction torques of those that move."""
    qdd = accelerations(tree, mass_matrix(tree, q), driven(tree, q, qd, tau), found, q, qd)
    return qdd, friction_torque(tree, [found.rate(c, x) for c, x in enumerate(qd)], q)


def accelerations(
    tree: Tree, M: Sequence[Sequence[Scalar]], left: Sequence[Scalar], found: Sides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """M qdd = left - friction for the joints that are free; a held joint has a row of its own, qdd = 0."""
    friction = friction_torque(tree, [found.rate(c, x) for c, x in enumerate(qd)], q)
    free = [1.0 - found.held(c) for c in range(tree.n)]
    return solve(factorise(_masked(M, free)), [f * (a - b) for f, a, b in zip(free, left, friction, strict=True)])


def _masked(M: Sequence[Sequence[Scalar]], free: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix of the joints that are free; the others have a one on the diagonal and nothing beside it."""
    n = range(len(M))
    return [[free[i] * free[j] * M[i][j] if i != j else free[i] * M[i][i] + (1.0 - free[i]) for j in n] for i in n]


def driven(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """What is left of the torques for friction and acceleration: tau - C qd - g."""
    bias = inverse_dynamics(tree.without_friction(), q, qd, [0.0] * tree.n)
    return [a - b for a, b in zip(tau, bias, strict=True)]


def _dot(row: Sequence[Scalar], x: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for a, b in zip(row, x, strict=True):
        total = total + a * b
    return total
