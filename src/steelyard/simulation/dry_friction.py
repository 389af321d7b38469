"""Dry friction and joint stops without chatter.

Dry friction is discontinuous at zero velocity. For one step every joint is therefore on one side of
the discontinuity, or locked. A joint at rest is locked while the torque that keeps it at rest is
within its breakaway torques. Releasing one joint changes the torques of the others, so that the
test is repeated as often as there are joints. A stop at a position limit acts as friction without
bound in one direction, as long as the joint is pushed against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.scalar import Scalar, absolute, dot, is_zero, sign, where
from ..dynamics.crba import mass_matrix
from ..dynamics.forward.by_crba import factorise, solve_factored
from ..dynamics.joint_torques import friction_torque
from ..dynamics.rnea import inverse_dynamics
from ..mechanism.joint_terms import JOINT_TERMS, JointTerm, Terms
from ..mechanism.tree import Tree
from .simulation_thresholds import THRESHOLDS

DRY = tuple(row for row in JOINT_TERMS if row.dry)


def remembers(row: JointTerm, terms: Terms) -> bool:
    """Return whether a term follows the presliding state of its joint: it is continuous then."""
    return bool(row.memory) and terms.get(row.memory) is not None


def dry_joints(tree: Tree) -> tuple[int, ...]:
    """Return the coordinates whose friction is discontinuous at zero velocity."""
    discontinuous = [
        any(not is_zero(terms.get(row.key, 0.0)) for row in DRY if not remembers(row, terms))
        and "width" not in terms
        for terms in tree.terms
    ]
    return tuple(c for c, jumps in enumerate(discontinuous) if jumps)


class FrictionSides(NamedTuple):
    """Side of the friction discontinuity on which each coordinate is.

    Parameters
    ----------
    side : 1 forward, -1 backward, 0 locked by friction; None without dry friction
    stopped : 1 where a stop locks the coordinate, else 0
    """

    side: list[Scalar | None]
    stopped: list[Scalar]

    def locked(self, c: int) -> Scalar:
        """Return 1 where the coordinate is locked, else 0."""
        side, stopped = self.side[c], self.stopped[c]
        return stopped if side is None else 1.0 - side * side * (1.0 - stopped)

    def mask(self, first: int) -> list[Scalar]:
        """Return 1 for free coordinates, else 0; the `first` ones, of a free base, are free."""
        return [1.0] * first + [1.0 - self.locked(c) for c in range(len(self.side))]

    def rate(self, c: int, qd: Scalar) -> Scalar:
        """Return the velocity at which friction is evaluated: on the coordinate's side of zero."""
        side = self.side[c]
        return (
            qd
            if side is None
            else side
            * where(side * qd > THRESHOLDS.creep_velocity, side * qd, THRESHOLDS.creep_velocity)
        )


class Equations(NamedTuple):
    """Equations of motion M a = rhs - friction; a free base adds six rows first."""

    M: Sequence[Sequence[Scalar]]
    rhs: Sequence[Scalar]


def equations(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> Equations:
    """Return the equations of a robot on a fixed base under tau [N m|N]: rhs = tau - C qd - g."""
    bias = inverse_dynamics(tree.without_friction(), q, qd, [0.0] * tree.n)
    return Equations(mass_matrix(tree, q), [a - b for a, b in zip(tau, bias, strict=True)])


def friction_sides(
    tree: Tree, motion: Equations, q: Sequence[Scalar], qd: Sequence[Scalar], stops: bool = False
) -> FrictionSides:
    """Return the side of each joint's friction at a state; locked joints are released in turn.

    With `stops`, joints at rest at their limits stay there, unless they are pushed back by more
    than their friction.
    """
    dry, ends = dry_joints(tree), stop_joints(tree) if stops else ()
    upper, lower = (
        [_at_rest_beyond(side, q[c], qd[c], tree, c) if c in ends else 0.0 for c in range(tree.n)]
        for side in (1.0, -1.0)
    )
    sides = FrictionSides(
        [sign(qd[c]) if c in dry else None for c in range(tree.n)],
        [a + b for a, b in zip(upper, lower, strict=True)],
    )
    low, high = breakaway_torques(tree, q, qd)
    for _ in {*dry, *ends}:
        must = required_friction(tree, motion, sides, q, qd)
        side = [_breakaway_side(*each) for each in zip(sides.side, must, low, high, strict=True)]
        stopped = [
            _still_stopped(*each) for each in zip(upper, lower, must, low, high, strict=True)
        ]
        sides = FrictionSides(side, stopped)
    return sides


def _still_stopped(
    upper: Scalar, lower: Scalar, needed: Scalar, low: Scalar, high: Scalar
) -> Scalar:
    """Return 1 where a joint at its upper or lower stop stays there.

    A stop pushes against the joint only.
    """
    return where(needed < low, 0.0, upper) + where(needed > high, 0.0, lower)


def stop_joints(tree: Tree) -> tuple[int, ...]:
    """Return the coordinates with a finite position limit."""
    return tuple(
        c
        for c, limit in enumerate(tree.limits)
        if math.isfinite(limit.lower) or math.isfinite(limit.upper)
    )


def _at_rest_beyond(side: float, q: Scalar, qd: Scalar, tree: Tree, c: int) -> Scalar:
    """Return 1 where a joint rests at its upper (side 1) or lower (side -1) limit, else 0."""
    end = tree.limits[c].upper if side > 0 else tree.limits[c].lower
    if not math.isfinite(end):
        return 0.0
    return where(
        side * (q - end) >= 0.0, where(absolute(qd) <= THRESHOLDS.creep_velocity, 1.0, 0.0), 0.0
    )


def apply_stop_impulses(
    tree: Tree,
    M: Sequence[Sequence[Scalar]],
    q: Sequence[Scalar],
    u: Sequence[Scalar],
    sides: FrictionSides,
    restitution: Sequence[Scalar],
) -> tuple[list[Scalar], Scalar]:
    """Return velocities after impacts at stops, and the dissipated energy [J].

    A joint beyond its limit leaves with -restitution times its velocity; below `rest_velocity` it
    stays. The impulse acts on the other joints through the mass matrix M, except on locked ones. u
    has the velocities of a free base first.
    """
    after, heat, first = list(u), 0.0, len(u) - tree.n
    free = sides.mask(first)
    for c in stop_joints(tree):
        k, limit, v = first + c, tree.limits[c], after[first + c]
        column = _unit_response(M, free, k)
        out = (
            where(
                q[c] > limit.upper,
                where(v > 0.0, 1.0, 0.0),
                where(q[c] < limit.lower, where(v < 0.0, 1.0, 0.0), 0.0),
            )
            * free[k]
        )
        rebound = where(absolute(v) > THRESHOLDS.rest_velocity, restitution[c], 0.0)
        impulse = -out * (1.0 + rebound) * v / where(out > 0.0, column[k], 1.0)
        heat = heat - impulse * (v + 0.5 * impulse * column[k])
        after = [x + impulse * m for x, m in zip(after, column, strict=True)]
        after[k] = where(out > 0.0, -rebound * v, after[k])
        free[k] = free[k] * (1.0 - where(rebound > 0.0, 0.0, out))
    return after, heat


def apply_reversal_impulses(
    tree: Tree,
    M: Sequence[Sequence[Scalar]],
    q: Sequence[Scalar],
    u: Sequence[Scalar],
    before: Sequence[Scalar],
    sides: FrictionSides,
    h: Scalar,
) -> tuple[list[Scalar], Scalar]:
    """Correct velocities of joints that reversed in a step of h [s]; return the heat [J] too.

    After a reversal friction had the wrong sign. The missing impulse, the friction's jump times
    the remainder of the step, is applied as far as it brings the joint to rest. It acts on the
    other joints through the mass matrix M, except on locked ones. u has the velocities of a free
    base first; `before` are the joint velocities at the beginning.
    """
    after, heat, first = list(u), 0.0, len(u) - tree.n
    free = sides.mask(first)
    for c in dry_joints(tree):
        side, k = sides.side[c], first + c
        assert side is not None
        column = _unit_response(M, free, k)
        reversed_ = side * after[k] < 0.0
        # the fraction of the step after the reversal
        fraction = where(reversed_, after[k] / where(reversed_, after[k] - before[c], 1.0), 0.0)
        jump = _friction_jump(tree, q, after[first:], c)
        missing = jump * fraction * h
        stopping = absolute(after[k]) / where(reversed_, column[k], 1.0)
        impulse = side * where(reversed_, where(missing < stopping, missing, stopping), 0.0)
        still = where(reversed_, where(missing < stopping, 0.0, 1.0), 0.0)
        heat = heat - impulse * (after[k] + 0.5 * impulse * column[k])
        after = [v + impulse * m for v, m in zip(after, column, strict=True)]
        after[k] = where(still > 0.0, 0.0, after[k])
        free[k] = free[k] * (1.0 - still)
    return after, heat


def _unit_response(M: Sequence[Sequence[Scalar]], free: Sequence[Scalar], k: int) -> list[Scalar]:
    """Return the change of free velocities under a unit impulse on coordinate k."""
    return solve_factored(
        factorise(_masked(M, free)), [free[k] if i == k else 0.0 for i in range(len(M))]
    )


def _friction_jump(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], c: int) -> Scalar:
    """Return the jump of a joint's friction at zero velocity."""
    low, high = (
        [side * THRESHOLDS.creep_velocity if i == c else x for i, x in enumerate(qd)]
        for side in (-1.0, 1.0)
    )
    return friction_torque(tree, high, q)[c] - friction_torque(tree, low, q)[c]


def _breakaway_side(
    side: Scalar | None, needed: Scalar, low: Scalar, high: Scalar
) -> Scalar | None:
    """Return the side of a joint: unchanged while it moves, 0 if `low` <= needed <= `high`."""
    if side is None:
        return None
    broken = where(needed > high, 1.0, where(needed < low, -1.0, 0.0))
    return where(absolute(side) > 0.0, side, broken)


def required_friction(
    tree: Tree, motion: Equations, sides: FrictionSides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """Return the friction torque that keeps each locked joint at rest while others accelerate."""
    a, first = accelerations(tree, motion, sides, q, qd), len(motion.rhs) - tree.n
    return [x - dot(row, a) for x, row in zip(motion.rhs[first:], motion.M[first:], strict=True)]


def breakaway_torques(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the smallest and largest friction torque of joints at rest."""
    dry = dry_joints(tree)
    low, high = (
        friction_torque(
            tree, [side * THRESHOLDS.creep_velocity if c in dry else x for c, x in enumerate(qd)], q
        )
        for side in (-1.0, 1.0)
    )
    return low, high


def locked_dynamics(
    tree: Tree, motion: Equations, sides: FrictionSides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return accelerations, zero for locked joints, and the friction torques of moving joints."""
    return accelerations(tree, motion, sides, q, qd), friction_torque(
        tree, [sides.rate(c, x) for c, x in enumerate(qd)], q
    )


def accelerations(
    tree: Tree, motion: Equations, sides: FrictionSides, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Scalar]:
    """Solve M a = rhs - friction for the free coordinates; a locked joint has the row qdd = 0."""
    first = len(motion.rhs) - tree.n
    friction = [0.0] * first + friction_torque(
        tree, [sides.rate(c, x) for c, x in enumerate(qd)], q
    )
    free = sides.mask(first)
    return solve_factored(
        factorise(_masked(motion.M, free)),
        [f * (a - b) for f, a, b in zip(free, motion.rhs, friction, strict=True)],
    )


def _masked(M: Sequence[Sequence[Scalar]], free: Sequence[Scalar]) -> list[list[Scalar]]:
    """Return the mass matrix with rows and columns of the identity for locked joints."""
    n = range(len(M))
    return [
        [free[i] * free[j] * M[i][j] if i != j else free[i] * M[i][i] + (1.0 - free[i]) for j in n]
        for i in n
    ]
