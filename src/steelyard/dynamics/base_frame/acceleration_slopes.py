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
from ...algebra.spatial import ArticulatedInertia, Force, Inertia, Motion
from ...algebra.vector import Matrix, Symmetric, Vector
from ...mechanism.tree import Tree
from ..coriolis import CompositeFlow
from ..forward.aba import UPPER, less, refuse_couplings, scaled
from ..joint_torques import inertial_matrix
from .matrices import body_flows, body_forces, composite_forces, inertias_in_base
from .screws import Screw, carriers, force_of, place, power

Rows = list[list[Scalar]]
AT_REST = Motion()
TOGETHER = 3  # joints whose entries are made together


class Drag(NamedTuple):
    """The force that gives each point of a body the acceleration c' x u: f = F c', n = N c'."""

    F: Matrix
    N: Matrix

    def force(self, c: Vector) -> Force:
        """The force of a vector c'."""
        return Force(v3.apply(self.F, c), v3.apply(self.N, c))

    def on(self, motion: Motion) -> Vector:
        """The power on a motion, as the vector whose product with c' it is."""
        return v3.add(v3.apply(v3.transpose(self.F), motion.v), v3.apply(v3.transpose(self.N), motion.w))


class Mobility(NamedTuple):
    """How a body accelerates under a force: v = A f + B n, w = B^T f + C n."""

    A: Symmetric
    B: Matrix
    C: Symmetric

    def motion(self, force: Force) -> Motion:
        """The acceleration under a force."""
        v = v3.add(v3.apply_symmetric(self.A, force.f), v3.apply(self.B, force.n))
        return Motion(v3.add(v3.apply(v3.transpose(self.B), force.f), v3.apply_symmetric(self.C, force.n)), v)


class Joint(NamedTuple):
    """A joint that gives way, qdd = torque / D + gain . a + drift . c', under an acceleration a of its parent and c' of all behind it.

    With the articulated inertia I and drag of its body, and its screw s: D = s . I s, gain = -I s / D.
    """

    inertia: ArticulatedInertia
    drag: Drag
    inverse: Scalar  # 1 / D
    gain: Force
    drift: Vector


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
        changes.append((by_position(screw, _of_parent(tree, accelerations, i), joint, net), by_rate(screw, joint)))
    made = slopes_of(tree, screws, joints, changes)
    return in_coordinates(tree, made.by_q), in_coordinates(tree, made.by_qd), in_coordinates(tree, made.inverse)


def gather(
    tree: Tree, screws: Sequence[Screw], inertias: Sequence[Inertia], flows: Sequence[CompositeFlow], nets: Sequence[Force], tau: Scalars
) -> tuple[list[Joint], list[Scalar]]:
    """All joints with what they carry, tip to base, and the acceleration of each under its torque while its parent does not accelerate."""
    total = [ArticulatedInertia.rigid(inertia) for inertia in inertias]
    drags, biases = [drag_of(flow) for flow in flows], list(nets)
    rotors = [row[i] for i, row in enumerate(inertial_matrix(tree))]
    joints: list[Joint] = []
    free: list[Scalar] = []
    for i in reversed(range(len(total))):
        iteration(biases[i])
        body, s = tree.bodies[i], screws[i].unit
        unit, felt = total[i].force(s), drags[i].on(s)
        inverse = 1.0 / (power(s, unit) + rotors[body.coordinate])
        joint = Joint(total[i], drags[i], inverse, scaled(-inverse, unit), v3.scale(-inverse, felt))
        torque = tau[body.coordinate] - power(s, biases[i])
        joints.append(joint)
        free.append(inverse * torque)
        if body.parent >= 0:
            total[body.parent] = total[body.parent] + less(total[i], scaled(-1.0, unit), joint.gain)
            drags[body.parent] = _sum(drags[body.parent], drags[i], joint.gain, felt)
            biases[body.parent] = biases[body.parent] + (biases[i] + scaled(-torque, joint.gain))
    return joints[::-1], free[::-1]


def spread(tree: Tree, screws: Sequence[Screw], joints: Sequence[Joint], free: Scalars) -> list[Motion]:
    """What the accelerations of joints add to those of the bodies, base to tip."""
    made: list[Motion] = []
    for i, (screw, joint) in enumerate(zip(screws, joints, strict=True)):
        iteration(joint.gain)
        above = _of_parent(tree, made, i)
        made.append(_plus(above, free[i] + power(above, joint.gain), screw.unit))
    return made


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
        self._reached(k, k, _plus(yields, self.inverse[k][k], s))
        first, second = (self.mobilities[k].motion(force) for force in self.left[k])
        self.behind.append({k: (_sum_of(first, by_q.c), _sum_of(second, by_qd.c))})

    def before(self, i: int, k: int) -> None:
        """Enter row i, column k of a joint i that is not after k."""
        joint, above = self.joints[k], self.reached(i, self.tree.bodies[k].parent)
        if i > k or k not in self.reach[i]:  # else M^-1 has the entry already, since it is symmetric
            self.inverse[i][k] = self.inverse[k][i] = power(above, joint.gain)
        self._reached(i, k, _plus(above, self.inverse[i][k], self.screws[k].unit))

    def after(self, k: int, j: int) -> None:
        """Enter row k, column j of a joint j that carries k."""
        joint, s, above = self.joints[k], self.screws[k].unit, self.behind[self.tree.bodies[k].parent][j]
        for slope, motion, change in zip((self.by_q, self.by_qd), above, self.changes[j], strict=True):
            slope[k][j] = power(motion, joint.gain) + v3.dot(joint.drift, change.turn)
        self.behind[k][j] = _plus(above[0], self.by_q[k][j], s), _plus(above[1], self.by_qd[k][j], s)

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
        above = carriers(self.tree, k)[:-1]
        every = [(i, carriers(self.tree, i)) for i in range(len(self.joints))]
        return [i for i, own in every if k not in own and above and own[0] == above[0]]


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
        for j in carriers(tree, run[0])[:-1]:
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


def more_mobile(parent: Mobility | None, s: Motion, yields: Motion, own: Scalar) -> Mobility:
    """The mobility of a body behind a joint: that of its parent, + s y^T + y s^T + own s s^T."""
    z = _plus(yields, 0.5 * own, s)
    A, C = (Symmetric(*(a[i] * b[j] + b[i] * a[j] for i, j in UPPER)) for a, b in ((s.v, z.v), (s.w, z.w)))
    x, y, w = (v3.add(v3.scale(a, z.w), v3.scale(b, s.w)) for a, b in zip(s.v, z.v, strict=True))
    if parent is None:
        return Mobility(A, (x, y, w), C)
    rows = zip(parent.B, (x, y, w), strict=True)
    B = tuple(v3.add(a, b) for a, b in rows)
    return Mobility(v3.add_symmetric(parent.A, A), B, v3.add_symmetric(parent.C, C))  # type: ignore[arg-type]


def drag_of(flow: CompositeFlow) -> Drag:
    """The drag of a flow: c' x P, and (trace(K) 1 - K) c'."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = flow.K
    return Drag(v3.cross_matrix(v3.neg(flow.P)), ((yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy)))


def _sum(parent: Drag, drag: Drag, gain: Force, felt: Vector) -> Drag:
    """The drag of a parent with that of a child whose joint gives way."""
    return Drag(*(_rows_sum(a, b, x, felt) for a, b, x in ((parent.F, drag.F, gain.f), (parent.N, drag.N, gain.n))))


def _rows_sum(a: Matrix, b: Matrix, x: Vector, felt: Vector) -> Matrix:
    rows = (v3.add(p, v3.add(q, v3.scale(s, felt))) for p, q, s in zip(a, b, x, strict=True))
    first, second, third = rows
    return (first, second, third)


def _of_parent(tree: Tree, motions: Sequence[Motion], i: int) -> Motion:
    return motions[tree.bodies[i].parent] if tree.bodies[i].parent >= 0 else AT_REST


def _plus(a: Motion, x: Scalar, b: Motion) -> Motion:
    """a + x b."""
    return Motion(v3.add(a.w, v3.scale(x, b.w)), v3.add(a.v, v3.scale(x, b.v)))


def _sum_of(a: Motion, b: Motion) -> Motion:
    return Motion(v3.add(a.w, b.w), v3.add(a.v, b.v))
