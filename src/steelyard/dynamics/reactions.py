"""Reaction wrenches of joints and of the base.

A reaction is the whole wrench that a joint transmits to its body; the drive supplies its component
along the axis. In the body's frame, about its origin: force [N] then moment [N m].
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar
from ..algebra.spatial import Force
from ..mechanism.tree import Tree
from .forward.aba import aba_motion
from .forward.by_crba import forward_by_crba
from .joint import JointMotion, joint_motions, joint_rates
from .kinematics import poses
from .rnea import accumulate_forces, base_motion, net_force, propagate_motion, to_parent
from .rotors import spinning_rotors


def joint_reactions(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Sequence[Sequence[Scalar]] | None = None,
) -> list[list[Scalar]]:
    """Return the wrench that each joint transmits to its body in a motion, bodies x 6.

    q [rad|m], qd, qdd: n scalars each; wrench as in `rnea`. The moment of a spinning rotor acts on
    the ancestors of its carrier. Lecture "Newton-Euler formulation", algorithm 2, lines 7 and 8.
    """
    return _rows(transmitted_wrenches(tree, q, qd, qdd, wrench)[:-1])


def base_wrench(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Sequence[Sequence[Scalar]] | None = None,
) -> list[Scalar]:
    """Return the wrench of the support on the base: force [N] and moment [N m], six scalars.

    In the base frame about its origin, with the weight of links fixed to the base. q [rad|m], qd,
    qdd: n scalars each; wrench as in `rnea`. Lecture "Newton-Euler formulation", algorithm 2,
    continued to link 0.
    """
    force = transmitted_wrenches(tree, q, qd, qdd, wrench)[-1]
    return [*force.f, *force.n]


def transmitted_wrenches(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Sequence[Sequence[Scalar]] | None,
) -> list[Force]:
    """Return the wrench at each joint on its body's subtree, in its frame, and on the base last."""
    joints = joint_motions(tree, q)
    motions = [*propagate_motion(tree, joints, qd, qdd), base_motion(tree)]
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]
    forces = [net_force(inertia, motion) for inertia, motion in zip(inertias, motions, strict=True)]
    for rotor in spinning_rotors(tree, q, on_base=True):
        c, mount = rotor.mounted.coordinate, rotor.mounted.mount
        forces[mount] = forces[mount] + Force(n=rotor.moment(qd[c], qdd[c], joint_rates(tree, qd)))
    return _subtract_wrench(tree, q, joints, accumulate_to_base(tree, joints, forces), wrench)


def accumulate_to_base(
    tree: Tree, joints: Sequence[JointMotion], forces: Sequence[Force]
) -> list[Force]:
    """Return the result of `accumulate_forces` for the bodies, and the sum at the base last."""
    *on_bodies, base = forces
    total = accumulate_forces(tree, joints, on_bodies)
    for body, joint, force in zip(tree.bodies, joints, total, strict=True):
        base = base + to_parent(joint, force) if body.parent < 0 else base
    return [*total, base]


def forward_reactions(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrench: Sequence[Sequence[Scalar]] | None = None,
) -> list[list[Scalar]]:
    """Return the joint reactions under given torques, bodies x 6, by forward dynamics and RNEA.

    q [rad|m], qd, tau [N m|N]: n scalars each. For any robot.
    """
    return joint_reactions(tree, q, qd, forward_by_crba(tree, q, qd, tau, wrench), wrench)


def forward_reactions_by_aba(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrench: Sequence[Sequence[Scalar]] | None = None,
) -> list[list[Scalar]]:
    """Return the joint reactions under given torques from the articulated bodies, without RNEA.

    For trees with `tree.is_uncoupled`. Lecture "Recursive dynamic method", phase 3:
    f_i = N_i C_i a_p(i) + gamma_i.
    """
    _, forces = aba_motion(tree, q, qd, tau, wrench)
    return _rows(_subtract_wrench(tree, q, joint_motions(tree, q), [*forces, Force()], wrench)[:-1])


def _subtract_wrench(
    tree: Tree,
    q: Sequence[Scalar],
    joints: Sequence[JointMotion],
    forces: list[Force],
    wrench: Sequence[Sequence[Scalar]] | None,
) -> list[Force]:
    """Subtract external wrenches, accumulated to each joint, from the transmitted wrenches."""
    if wrench is None:
        return forces
    turned = [*(v3.transpose(pose.R) for pose in poses(tree, q)), v3.IDENTITY]
    rows = [*wrench, [0.0] * 6][: len(turned)]  # nothing acts on the base unless its row is there
    external = [
        Force(v3.apply(R, (w[0], w[1], w[2])), v3.apply(R, (w[3], w[4], w[5])))
        for R, w in zip(turned, rows, strict=True)
    ]
    return [
        Force(v3.sub(a.f, b.f), v3.sub(a.n, b.n))
        for a, b in zip(forces, accumulate_to_base(tree, joints, external), strict=True)
    ]


def _rows(forces: Sequence[Force]) -> list[list[Scalar]]:
    return [[*force.f, *force.n] for force in forces]
