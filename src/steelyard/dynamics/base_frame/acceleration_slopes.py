"""How accelerations change with positions, rates and torques, by articulated bodies in the base's frame: some products a pair of joints.

A unit of the position of joint j, or of its rate, changes the accelerations of the points behind it by c + c' x u, with a rigid motion c, a
vector c' and their velocities u. The joints after j give way, and the force that is left at body j, that of articulated bodies, acts on j
and on all joints that are not after it. The joints after j feel that motion of body j together with c, and c'.
Featherstone 2008, section 7.3 (articulated bodies); Carpentier and Mansard 2018 (the same slopes, through the inverse of M).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...algebra.spatial import Force, Motion
from ...algebra.vector import Vector
from ...mechanism.tree import Tree
from ..forward.aba import refuse_couplings, scaled
from .articulated import AT_REST, Joint, Mobility, gather, more_mobile, of_parent, plus, spread
from .matrices import body_flows, body_forces, composite_forces, inertias_in_base
from .screws import Screw, carriers, force_of, place, power

Rows = list[list[Scalar]]
TOGETHER = 3  # joints whose entries are made together


class Change(NamedTuple):
    """What a unit of a joint's position, or of its rate, does to all that it carries: c, c', and the force that is left at its body."""

    c: Motion
    turn: Vector
    force: Force


def acceleration_slopes(tree: Tree, q: Scalars, qd: Scalars, tau: Scalars) -> tuple[Rows, Rows, Rows]:
    """d qdd / dq, d qdd / dqd and d qdd / dtau = M^-1 under torques that do not change, each n x n.

    q [rad|m], qd, tau [N m|N] without friction: n scalars each. Refuses mimic joints, spinning rotors and motors that joints share.
    """
    refuse_couplings(tree)
    bodies, screws = place(tree, q, qd, [0.0] * tree.n)
    inertias = inertias_in_base(tree, bodies)
    nets = body_forces(inertias, bodies)
    joints, free = gather(tree, screws, inertias, body_flows(inertias, bodies), nets, tau)  # tip to base
    accelerations = spread(tree, screws, joints, free)  # base to tip
    nets = [net + force_of(inertia, a) for net, inertia, a in zip(nets, inertias, accelerations, strict=True)]
    changes = []
    for i, (screw, joint, net) in enumerate(zip(screws, joints, composite_forces(tree, nets), strict=True)):
        iteration(net)
        changes.append((by_position(screw, of_parent(tree, accelerations, i), joint, net), by_rate(screw, joint)))
    made = slopes_of(tree, screws, joints, changes)
    return in_coordinates(tree, made.by_q), in_coordinates(tree, made.by_qd), in_coordinates(tree, made.inverse)


def by_position(screw: Screw, above: Motion, joint: Joint, net: Force) -> Change:
    """Of a unit of position: its points accelerate by s'' besides, and the force on it turns. `above`: as of `spread`, of the parent."""
    w, v = screw.unit
    second = Motion(
        v3.add(screw.second.w, v3.cross(above.w, w)),
        v3.add(screw.second.v, v3.add(v3.cross(above.w, v), v3.cross(above.v, w))),
    )
    turn = v3.scale(2.0, screw.rate.w)
    turned = Force(v3.cross(w, net.f), v3.add(v3.cross(w, net.n), v3.cross(v, net.f)))
    return Change(second, turn, joint.inertia.force(second) + joint.drag.force(turn) + turned)


def by_rate(screw: Screw, joint: Joint) -> Change:
    """Of a unit of rate: its points accelerate by 2 s' besides."""
    c, turn = Motion(v3.scale(2.0, screw.rate.w), v3.scale(2.0, screw.rate.v)), v3.scale(2.0, screw.unit.w)
    return Change(c, turn, joint.inertia.force(c) + joint.drag.force(turn))


@dataclass(eq=False)
class Slopes:
    """d qdd / dq, d qdd / dqd and M^-1 in the order of the bodies, filled in joint by joint, base to tip.

    `reach` has for each body its acceleration by a unit torque of each joint that is not after it; `behind` what a unit of the position,
    and of the rate, of each joint that carries it adds to its acceleration. `left` are the forces that its own joint's changes take.
    """

    tree: Tree
    screws: Sequence[Screw]
    joints: Sequence[Joint]
    changes: Sequence[tuple[Change, Change]]

    def __post_init__(self) -> None:
        self.by_q, self.by_qd, self.inverse = ([[0.0] * self.tree.n for _ in self.joints] for _ in range(3))  # type: tuple[Rows, Rows, Rows]
        self.carriers = [carriers(self.tree, i) for i in range(len(self.joints))]
        self.mobilities = list[Mobility]()
        self.left = list[tuple[Force, Force]]()
        self.reach = list[dict[int, Motion]]()
        self.behind = list[dict[int, tuple[Motion, Motion]]]()

    def own(self, k: int) -> None:
        """Enter what joint k does to itself."""
        parent, s, joint = self.tree.bodies[k].parent, self.screws[k].unit, self.joints[k]
        yields = self.mobilities[parent].motion(joint.gain) if parent >= 0 else AT_REST
        self.inverse[k][k] = joint.inverse + power(yields, joint.gain)
        self.mobilities.append(more_mobile(self.mobilities[parent] if parent >= 0 else None, s, yields, self.inverse[k][k]))
        by_q, by_qd = self.changes[k]
        self.left.append((scaled(-1.0, by_q.force), scaled(-1.0, by_qd.force)))
        self.reach.append({})
        self._reached(k, k, plus(yields, self.inverse[k][k], s))
        first, second = (self.mobilities[k].motion(force) for force in self.left[k])
        self.behind.append({k: (plus(by_q.c, 1.0, first), plus(by_qd.c, 1.0, second))})

    def before(self, i: int, k: int) -> None:
        """Enter row i, column k of a joint i that is not after k."""
        joint, above = self.joints[k], self.reached(i, self.tree.bodies[k].parent)
        if i > k or k not in self.reach[i]:  # else M^-1 has the entry already, since it is symmetric
            self.inverse[i][k] = self.inverse[k][i] = power(above, joint.gain)
        self._reached(i, k, plus(above, self.inverse[i][k], self.screws[k].unit))

    def after(self, k: int, j: int) -> None:
        """Enter row k, column j of a joint j that carries k."""
        joint, s, above = self.joints[k], self.screws[k].unit, self.behind[self.tree.bodies[k].parent][j]
        for slope, motion, change in zip((self.by_q, self.by_qd), above, self.changes[j], strict=True):
            slope[k][j] = power(motion, joint.gain) + v3.dot(joint.drift, change.turn)
        self.behind[k][j] = plus(above[0], self.by_q[k][j], s), plus(above[1], self.by_qd[k][j], s)

    def _reached(self, i: int, k: int, acceleration: Motion) -> None:
        """Joint i accelerates by a force at body k as much as body k by a torque of joint i, for they are reciprocal."""
        self.reach[k][i] = acceleration
        self.by_q[i][k], self.by_qd[i][k] = (power(acceleration, force) for force in self.left[k])

    def reached(self, i: int, at: int) -> Motion:
        """The acceleration of a body by a unit torque of joint i; one that the body carries acts by the force that is left there."""
        if i in self.reach[at]:
            return self.reach[at][i]
        force, body = self.joints[i].gain, self.tree.bodies[i].parent
        while body != at:
            force = force + scaled(power(self.screws[body].unit, force), self.joints[body].gain)
            body = self.tree.bodies[body].parent
        return self.mobilities[at].motion(force)

    def not_after(self, k: int) -> list[int]:
        """The joints that joint k moves against and that are neither k nor after it: those that share a joint that carries them with k."""
        root = self.carriers[k][0]
        return [i for i, own in enumerate(self.carriers) if own[0] == root != k and k not in own]


def slopes_of(tree: Tree, screws: Sequence[Screw], joints: Sequence[Joint], changes: Sequence[tuple[Change, Change]]) -> Slopes:
    """The slopes of all accelerations by the changes that each joint makes. Some are entered together: they share what they read."""
    made = Slopes(tree, screws, joints, changes)
    for run in runs(tree):
        for k in run:
            iteration(joints[k].gain)
            made.own(k)
        shared = made.not_after(run[0])
        for i in shared:
            iteration(joints[run[0]].gain)
            for k in run:
                made.before(i, k)
        for j in made.carriers[run[0]][:-1]:
            iteration(joints[run[0]].gain)
            for k in run:
                made.after(k, j)
        for k in run:
            for i in (i for i in made.not_after(k) if i not in shared):
                iteration(joints[k].gain)
                made.before(i, k)
            for j in range(run[0], k):
                iteration(joints[k].gain)
                made.after(k, j)
    return made


def in_coordinates(tree: Tree, rows: Rows) -> Rows:
    """A matrix over the bodies as one over their coordinates."""
    order = sorted(range(tree.n), key=lambda i: tree.bodies[i].coordinate)
    return [[rows[i][k] for k in order] for i in order]


def runs(tree: Tree) -> list[range]:
    """The bodies in runs of at most TOGETHER, each but the first on the one before it."""
    made: list[range] = []
    for k, body in enumerate(tree.bodies):
        if made and body.parent == k - 1 and len(made[-1]) < TOGETHER:
            made[-1] = range(made[-1].start, k + 1)
        else:
            made.append(range(k, k + 1))
    return made
