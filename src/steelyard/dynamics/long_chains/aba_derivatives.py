"""Derivatives of forward dynamics by articulated bodies in the base frame, in O(n^2).

A unit of the position of joint j, or of its rate, changes the accelerations of the points of its
subtree by c + c' x u, with a rigid motion c, a vector c' and their velocities u. The joints of the
subtree accelerate in response. The remaining force at body j acts on j and on all joints outside
the subtree. Featherstone 2008, section 7.3 (articulated bodies); Carpentier and Mansard 2018 (the
same derivatives, through the inverse of M).
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
from ..forward.aba import refuse_couplings, scale_force
from ..kinematics import carriers
from .articulated import (
    AT_REST,
    ArticulatedJoint,
    Mobility,
    accumulate_articulated,
    add_scaled,
    parent_motion,
    propagate_mobilities,
    propagate_mobility,
)
from .matrices import body_flows, body_forces, composite_forces, inertias_in_base
from .screws import Screw, bodies_in_base, force_of, power

Rows = list[list[Scalar]]
TOGETHER = 3  # joints whose entries are computed together


class PerturbationForce(NamedTuple):
    """Effect of a unit of a joint's position, or of its rate, on its subtree.

    The rigid motion c, the vector c' (`turn`), and the remaining force at the joint's body.
    """

    c: Motion
    turn: Vector
    force: Force


def aba_derivatives(tree: Tree, q: Scalars, qd: Scalars, tau: Scalars) -> tuple[Rows, Rows, Rows]:
    """Return d qdd / dq, d qdd / dqd and d qdd / dtau = M^-1 at constant torques, each n x n.

    q [rad|m], qd, tau [N m|N] without friction: n scalars each. Refuses mimic joints, spinning
    rotors and shared motors.
    """
    refuse_couplings(tree)
    bodies, screws = bodies_in_base(tree, q, qd, [0.0] * tree.n)
    inertias = inertias_in_base(tree, bodies)
    nets = body_forces(inertias, bodies)
    # tip to base
    joints, free = accumulate_articulated(
        tree, screws, inertias, body_flows(inertias, bodies), nets, tau
    )
    accelerations = propagate_mobilities(tree, screws, joints, free)  # base to tip
    nets = [
        net + force_of(inertia, a)
        for net, inertia, a in zip(nets, inertias, accelerations, strict=True)
    ]
    changes = []
    for i, (screw, joint, net) in enumerate(
        zip(screws, joints, composite_forces(tree, nets), strict=True)
    ):
        iteration(net)
        changes.append(
            (
                by_position(screw, parent_motion(tree, accelerations, i), joint, net),
                by_rate(screw, joint),
            )
        )
    solution = solve_derivatives(tree, screws, joints, changes)
    return (
        in_coordinates(tree, solution.by_q),
        in_coordinates(tree, solution.by_qd),
        in_coordinates(tree, solution.inverse),
    )


def by_position(
    screw: Screw, above: Motion, joint: ArticulatedJoint, net: Force
) -> PerturbationForce:
    """Return the effect of a unit of position: accelerations s'', and a rotation of the force.

    `above` is the acceleration of the parent.
    """
    w, v = screw.unit
    second = Motion(
        v3.add(screw.second.w, v3.cross(above.w, w)),
        v3.add(screw.second.v, v3.add(v3.cross(above.w, v), v3.cross(above.v, w))),
    )
    turn = v3.scale(2.0, screw.rate.w)
    turned = Force(v3.cross(w, net.f), v3.add(v3.cross(w, net.n), v3.cross(v, net.f)))
    return PerturbationForce(
        second, turn, joint.inertia.force(second) + joint.coupling.force(turn) + turned
    )


def by_rate(screw: Screw, joint: ArticulatedJoint) -> PerturbationForce:
    """Return the effect of a unit of rate: accelerations 2 s'."""
    c, turn = (
        Motion(v3.scale(2.0, screw.rate.w), v3.scale(2.0, screw.rate.v)),
        v3.scale(2.0, screw.unit.w),
    )
    return PerturbationForce(c, turn, joint.inertia.force(c) + joint.coupling.force(turn))


@dataclass(eq=False)
class AbaDerivatives:
    """d qdd / dq, d qdd / dqd and M^-1 in the order of the bodies, filled joint by joint.

    `reach[k]` has the acceleration of body k per unit torque of each joint outside its subtree.
    `behind[k]` has the change of its acceleration per unit of position and of rate of each
    ancestor. `remaining[k]` are minus the forces of `changes[k]`.
    """

    tree: Tree
    screws: Sequence[Screw]
    joints: Sequence[ArticulatedJoint]
    changes: Sequence[tuple[PerturbationForce, PerturbationForce]]

    def __post_init__(self) -> None:
        self.by_q, self.by_qd, self.inverse = (
            [[0.0] * self.tree.n for _ in self.joints] for _ in range(3)
        )  # type: tuple[Rows, Rows, Rows]
        self.carriers = [carriers(self.tree, i) for i in range(len(self.joints))]
        self.mobilities = list[Mobility]()
        self.remaining = list[tuple[Force, Force]]()
        self.reach = list[dict[int, Motion]]()
        self.behind = list[dict[int, tuple[Motion, Motion]]]()

    def enter_diagonal(self, k: int) -> None:
        """Enter the diagonal entries of joint k."""
        parent, s, joint = self.tree.bodies[k].parent, self.screws[k].unit, self.joints[k]
        response = self.mobilities[parent].motion(joint.gain) if parent >= 0 else AT_REST
        self.inverse[k][k] = joint.inverse + power(response, joint.gain)
        self.mobilities.append(
            propagate_mobility(
                self.mobilities[parent] if parent >= 0 else None, s, response, self.inverse[k][k]
            )
        )
        by_q, by_qd = self.changes[k]
        self.remaining.append((scale_force(-1.0, by_q.force), scale_force(-1.0, by_qd.force)))
        self.reach.append({})
        self._enter_reciprocal(k, k, add_scaled(response, self.inverse[k][k], s))
        first, second = (self.mobilities[k].motion(force) for force in self.remaining[k])
        self.behind.append({k: (add_scaled(by_q.c, 1.0, first), add_scaled(by_qd.c, 1.0, second))})

    def enter_before(self, i: int, k: int) -> None:
        """Enter row i, column k of a joint i outside the subtree of k."""
        joint, above = self.joints[k], self.acceleration_by_torque(i, self.tree.bodies[k].parent)
        # else M^-1 has the entry already, since it is symmetric
        if i > k or k not in self.reach[i]:
            self.inverse[i][k] = self.inverse[k][i] = power(above, joint.gain)
        self._enter_reciprocal(i, k, add_scaled(above, self.inverse[i][k], self.screws[k].unit))

    def enter_after(self, k: int, j: int) -> None:
        """Enter row k, column j of an ancestor j of joint k."""
        joint, s, above = (
            self.joints[k],
            self.screws[k].unit,
            self.behind[self.tree.bodies[k].parent][j],
        )
        for matrix, motion, change in zip(
            (self.by_q, self.by_qd), above, self.changes[j], strict=True
        ):
            matrix[k][j] = power(motion, joint.gain) + v3.dot(joint.drift, change.turn)
        self.behind[k][j] = (
            add_scaled(above[0], self.by_q[k][j], s),
            add_scaled(above[1], self.by_qd[k][j], s),
        )

    def _enter_reciprocal(self, i: int, k: int, acceleration: Motion) -> None:
        """Enter row i, column k from the acceleration of body k by a unit torque of joint i.

        By reciprocity, joint i responds to a force at body k as body k responds to a torque of
        joint i.
        """
        self.reach[k][i] = acceleration
        self.by_q[i][k], self.by_qd[i][k] = (
            power(acceleration, force) for force in self.remaining[k]
        )

    def acceleration_by_torque(self, i: int, target: int) -> Motion:
        """Return the acceleration of a body by a unit torque of joint i.

        A joint in the body's subtree acts by the force that remains at the body.
        """
        if i in self.reach[target]:
            return self.reach[target][i]
        force, body = self.joints[i].gain, self.tree.bodies[i].parent
        while body != target:
            force = force + scale_force(
                power(self.screws[body].unit, force), self.joints[body].gain
            )
            body = self.tree.bodies[body].parent
        return self.mobilities[target].motion(force)

    def not_after(self, k: int) -> list[int]:
        """Return the joints with the same root joint as joint k, outside its subtree."""
        root = self.carriers[k][0]
        return [
            i for i, chain in enumerate(self.carriers) if chain[0] == root != k and k not in chain
        ]


def solve_derivatives(
    tree: Tree,
    screws: Sequence[Screw],
    joints: Sequence[ArticulatedJoint],
    changes: Sequence[tuple[PerturbationForce, PerturbationForce]],
) -> AbaDerivatives:
    """Return the derivatives of all accelerations from the effects of each joint.

    Joints of a run are entered together, since they read the same values.
    """
    solution = AbaDerivatives(tree, screws, joints, changes)
    for run in body_runs(tree):
        for k in run:
            iteration(joints[k].gain)
            solution.enter_diagonal(k)
        shared = solution.not_after(run[0])
        for i in shared:
            iteration(joints[run[0]].gain)
            for k in run:
                solution.enter_before(i, k)
        for j in solution.carriers[run[0]][:-1]:
            iteration(joints[run[0]].gain)
            for k in run:
                solution.enter_after(k, j)
        for k in run:
            for i in (i for i in solution.not_after(k) if i not in shared):
                iteration(joints[k].gain)
                solution.enter_before(i, k)
            for j in range(run[0], k):
                iteration(joints[k].gain)
                solution.enter_after(k, j)
    return solution


def in_coordinates(tree: Tree, rows: Rows) -> Rows:
    """Return a matrix over the bodies as a matrix over their coordinates."""
    order = sorted(range(tree.n), key=lambda i: tree.bodies[i].coordinate)
    return [[rows[i][k] for k in order] for i in order]


def body_runs(tree: Tree) -> list[range]:
    """Return the bodies in runs of at most TOGETHER, each a child of the one before it."""
    result: list[range] = []
    for k, body in enumerate(tree.bodies):
        if result and body.parent == k - 1 and len(result[-1]) < TOGETHER:
            result[-1] = range(result[-1].start, k + 1)
        else:
            result.append(range(k, k + 1))
    return result
