"""A base that nothing holds: its accelerations follow from the joints' torques as theirs do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars
from ...algebra.spatial import Motion
from ...algebra.vector import ZERO, vector
from ...errors import ModelError
from ...mechanism.tree import BaseMotion, Tree
from ..crba import composite_inertias, lift_inertia, mass_matrix, unit_force
from ..energy import body_momentum, spread_velocity
from ..joint import JointMotion, joint_motions
from ..reactions import base_wrench, gathered_to_base
from ..rnea import bias_torque, lift
from ..rotors import in_frame_of, spinning_rotors
from .by_crba import factorise, solve


def free_mass_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """The mass matrix of base and joints, (6 + n) x (6 + n): of the base's acceleration, its angular acceleration, and qdd.

    q: n scalars [rad|m]. The base's coordinates are those of its own frame. Entries in kg, kg m, kg m2.
    Featherstone 2008, section 9.2 (floating bases).
    """
    joints = joint_motions(tree, q)
    inertias = composite_inertias(tree, joints)
    whole = tree.base_inertia
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in range(tree.n)]
    for i, body in enumerate(tree.bodies):
        whole = whole + lift_inertia(joints[i], inertias[i]) if body.parent < 0 else whole
        force, j = unit_force(joints[i], inertias[i]), i
        while j >= 0:
            force, j = lift(joints[j], force), tree.bodies[j].parent
        own = columns[body.coordinate]
        columns[body.coordinate] = [a + body.multiplier * b for a, b in zip(own, (*force.f, *force.n), strict=True)]
    for c, spin in rotor_spins(tree, q, joints):
        columns[c][3:] = v3.add(vector(columns[c][3:]), spin)
    m, h, I = whole  # noqa: E741
    linear = [[m if i == j else 0.0 for j in range(3)] + [0.0] * 3 for i in range(3)]
    angular = [[*cross, *row] for cross, row in zip(v3.cross_matrix(h), v3.full(I), strict=True)]
    low = [[*linear[i], *[0.0] * tree.n] for i in range(3)] + [[*angular[i], *[0.0] * tree.n] for i in range(3)]
    return low + [[*column, *row] for column, row in zip(columns, mass_matrix(tree, q), strict=True)]


def rotor_spins(tree: Tree, q: Scalars, joints: Sequence[JointMotion]) -> list[tuple[int, tuple[Scalar, Scalar, Scalar]]]:
    """The coordinate of every rotor and its angular momentum per unit rate, in the base's frame."""
    units = {body: [in_frame_of(tree, joints, body, e) for e in v3.IDENTITY] for body in {rotor.mount for rotor in tree.rotors}}
    found = []
    for rotor in spinning_rotors(tree, q, on_base=True):
        x, y, z = (v3.dot(e, rotor.s) for e in units[rotor.mounted.mount])
        found.append((rotor.mounted.coordinate, (x, y, z)))
    return found


def free_momentum(tree: Tree, q: Scalars, qd: Scalars, twist: Scalars) -> list[Scalar]:
    """Momentum [kg m/s] and angular momentum [kg m2/s] of the whole robot in the base's frame, about its origin: six scalars.

    q [rad|m], qd: n scalars each; twist: velocity [m/s] and angular velocity [rad/s] of the base, in its own frame, six scalars.
    Featherstone 2008, section 9.4.
    """
    joints, base = joint_motions(tree, q), Motion(vector(twist[3:]), vector(twist[:3]))
    motions = [*spread_velocity(tree, joints, qd, base), base]
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]
    momenta = [body_momentum(inertia, motion) for inertia, motion in zip(inertias, motions, strict=True)]
    total = gathered_to_base(tree, joints, momenta)[-1]
    spins = [v3.scale(qd[c], spin) for c, spin in rotor_spins(tree, q, joints)]
    return [*total.f, *v3.add(total.n, v3.total(spins))]


def free_energy(tree: Tree, q: Scalars, qd: Scalars, twist: Scalars, position: Scalars, gravity: Scalars) -> Scalar:
    """Kinetic and potential energy [J] of the whole robot.

    twist as in `free_momentum`; position of the base's origin and gravity [m/s2], both in the base's own axes, three scalars each.
    """
    M = free_mass_matrix(tree, q)
    speeds = [*twist, *qd]
    full = [[M[max(i, j)][min(i, j)] for j in range(len(speeds))] for i in range(len(speeds))]
    kinetic = sum((0.5 * speeds[i] * sum((a * b for a, b in zip(row, speeds, strict=True)), 0.0) for i, row in enumerate(full)), 0.0)
    m, h = full[0][0], (full[5][1], full[3][2], full[4][0])  # [h]x stands below the mass
    moment = v3.add(v3.scale(m, vector(position)), h)
    return kinetic - v3.dot(vector(gravity), moment)


def free_forward_dynamics(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, w: Scalars, wrench: Sequence[Scalars] | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations of the joints, n scalars, and motion of the base, nine, under given torques, where nothing holds the base.

    q [rad|m], qd, tau [N m|N]: n scalars each; w: angular velocity of the base in its own frame [rad/s], three scalars; wrench as in
    `rnea`, with a further row for what acts on the base. The nine are a, w, dw of `BaseMotion`: a is the proper acceleration, so that
    gravity, which pulls all parts alike, has no part in it. Featherstone 2008, section 9.4.
    """
    if any("load" in use.row.reads for use in tree.joint_terms):
        raise ModelError(
            "free_forward_dynamics: friction that grows with the load depends on the base's acceleration, which it is to give; "
            "take the load out of the friction (with_friction)"
        )
    M, right = free_equations(tree, q, qd, tau, w, wrench)
    solved = solve(factorise(M), right)
    return solved[6:], [*solved[:3], *w, *solved[3:6]]


def free_equations(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, w: Scalars, wrench: Sequence[Scalars] | None = None
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """M and b of M [a, dw, qdd] = b, (6 + n) x (6 + n) and 6 + n scalars: proper acceleration and angular acceleration of the base, in its
    own frame, then those of the joints. The arguments are those of `free_forward_dynamics`.
    """
    still = replace(tree, moving=BaseMotion(ZERO, vector(w), ZERO))
    bias = [*base_wrench(still, q, qd, [0.0] * tree.n, wrench), *bias_torque(still, q, qd, wrench)]
    return free_mass_matrix(tree, q), [a - b for a, b in zip([*[0.0] * 6, *tau], bias, strict=True)]
