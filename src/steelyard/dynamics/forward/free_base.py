"""Dynamics of a robot with a free (floating) base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars
from ...algebra.spatial import Motion
from ...algebra.vector import ZERO, vector
from ...errors import ModelError
from ...mechanism.tree import BaseMotion, Tree
from ..crba import composite_inertias, inertia_to_parent, mass_matrix, unit_force
from ..energy import body_momentum, propagate_velocity
from ..joint import JointMotion, joint_motions
from ..reactions import accumulate_to_base, base_wrench
from ..rnea import bias_torque, to_parent
from ..rotors import spinning_rotors, to_body_frame
from .by_crba import factorise, solve_factored


def free_mass_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """Return the lower triangle of the mass matrix of base and joints, (6 + n) x (6 + n).

    Coordinates are the base's acceleration and angular acceleration, in its own frame, then qdd. q:
    n scalars [rad|m]. Entries in kg, kg m, kg m2. Featherstone 2008, section 9.2 (floating bases).
    """
    joints = joint_motions(tree, q)
    inertias = composite_inertias(tree, joints)
    whole = tree.base_inertia
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in range(tree.n)]
    for i, body in enumerate(tree.bodies):
        whole = whole + inertia_to_parent(joints[i], inertias[i]) if body.parent < 0 else whole
        force, j = unit_force(joints[i], inertias[i]), i
        while j >= 0:
            force, j = to_parent(joints[j], force), tree.bodies[j].parent
        previous = columns[body.coordinate]
        columns[body.coordinate] = [
            a + body.multiplier * b for a, b in zip(previous, (*force.f, *force.n), strict=True)
        ]
    for c, spin in rotor_spins(tree, q, joints):
        columns[c][3:] = v3.add(vector(columns[c][3:]), spin)
    m, h, I = whole  # noqa: E741
    linear = [[m if i == j else 0.0 for j in range(3)] + [0.0] * 3 for i in range(3)]
    angular = [[*cross, *row] for cross, row in zip(v3.cross_matrix(h), v3.full(I), strict=True)]
    low = [[*linear[i], *[0.0] * tree.n] for i in range(3)] + [
        [*angular[i], *[0.0] * tree.n] for i in range(3)
    ]
    return low + [
        [*column, *row] for column, row in zip(columns, mass_matrix(tree, q), strict=True)
    ]


def rotor_spins(
    tree: Tree, q: Scalars, joints: Sequence[JointMotion]
) -> list[tuple[int, tuple[Scalar, Scalar, Scalar]]]:
    """Return (coordinate, angular momentum per unit rate in the base frame) of every rotor."""
    units = {
        body: [to_body_frame(tree, joints, body, e) for e in v3.IDENTITY]
        for body in {rotor.mount for rotor in tree.rotors}
    }
    spins = []
    for rotor in spinning_rotors(tree, q, on_base=True):
        x, y, z = (v3.dot(e, rotor.s) for e in units[rotor.mounted.mount])
        spins.append((rotor.mounted.coordinate, (x, y, z)))
    return spins


def free_momentum(tree: Tree, q: Scalars, qd: Scalars, twist: Scalars) -> list[Scalar]:
    """Return linear [kg m/s] and angular momentum [kg m2/s] of the whole robot, six scalars.

    In the base frame about its origin. q [rad|m], qd: n scalars each; twist: velocity [m/s] and
    angular velocity [rad/s] of the base, in its own frame. Featherstone 2008, section 9.4.
    """
    joints, base = joint_motions(tree, q), Motion(vector(twist[3:]), vector(twist[:3]))
    motions = [*propagate_velocity(tree, joints, qd, base), base]
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]
    momenta = [
        body_momentum(inertia, motion) for inertia, motion in zip(inertias, motions, strict=True)
    ]
    total = accumulate_to_base(tree, joints, momenta)[-1]
    spins = [v3.scale(qd[c], spin) for c, spin in rotor_spins(tree, q, joints)]
    return [*total.f, *v3.add(total.n, v3.total(spins))]


def free_energy(
    tree: Tree, q: Scalars, qd: Scalars, twist: Scalars, position: Scalars, gravity: Scalars
) -> Scalar:
    """Return kinetic and potential energy [J] of the whole robot.

    twist as in `free_momentum`; position of the base's origin [m] and gravity [m/s2], both in the
    base's own axes, three scalars each.
    """
    M = free_mass_matrix(tree, q)
    speeds = [*twist, *qd]
    full = [[M[max(i, j)][min(i, j)] for j in range(len(speeds))] for i in range(len(speeds))]
    kinetic = sum(
        (
            0.5 * speeds[i] * sum((a * b for a, b in zip(row, speeds, strict=True)), 0.0)
            for i, row in enumerate(full)
        ),
        0.0,
    )
    m, h = full[0][0], (full[5][1], full[3][2], full[4][0])  # [h]x is below the mass
    moment = v3.add(v3.scale(m, vector(position)), h)
    return kinetic - v3.dot(vector(gravity), moment)


def free_forward_dynamics(
    tree: Tree,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    w: Scalars,
    wrench: Sequence[Scalars] | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Return accelerations of joints (n) and motion of the base (9) under given torques.

    Parameters
    ----------
    tree : the robot, whose base no support holds
    q, qd, tau : n scalars each [rad|m], [rad/s|m/s], [N m|N]
    w : angular velocity of the base in its own frame [rad/s], three scalars
    wrench : as in `rnea`, with a further row for the base

    Returns
    -------
    qdd, and a, w, dw of `BaseMotion`. a is the proper acceleration, which gravity does not change.
    Featherstone 2008, section 9.4.
    """
    if any("load" in use.row.reads for use in tree.joint_terms):
        raise ModelError(
            "free_forward_dynamics: friction that grows with the load depends on the base's"
            " acceleration, which is unknown; remove the load term of the friction (with_friction)"
        )
    M, right = free_equations(tree, q, qd, tau, w, wrench)
    solved = solve_factored(factorise(M), right)
    return solved[6:], [*solved[:3], *w, *solved[3:6]]


def free_equations(
    tree: Tree,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    w: Scalars,
    wrench: Sequence[Scalars] | None = None,
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Return M and b of M [a, dw, qdd] = b, (6 + n) x (6 + n) and 6 + n scalars.

    a and dw are proper and angular acceleration of the base in its own frame. Arguments as in
    `free_forward_dynamics`.
    """
    still = replace(tree, moving=BaseMotion(ZERO, vector(w), ZERO))
    bias = [*base_wrench(still, q, qd, [0.0] * tree.n, wrench), *bias_torque(still, q, qd, wrench)]
    return free_mass_matrix(tree, q), [a - b for a, b in zip([*[0.0] * 6, *tau], bias, strict=True)]
