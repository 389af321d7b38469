"""What joints bear: the whole force and moment that a joint passes on to its body, of which the drive gives only the part along the axis;
and what the base needs of its support.

In the body's own frame, about its origin: force [N] then moment [N m], six scalars per body.
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
from .rnea import base_motion, gather_forces, lift, net_force, spread_motion
from .rotors import spinning_rotors


def joint_reactions(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None = None
) -> list[list[Scalar]]:
    """Force and moment that each joint passes on to its body in a motion: f_i, mu_i of the backward recursion, bodies x 6.

    q [rad|m], qd, qdd: n scalars each; wrench as in `rnea`. The moment of a spinning rotor loads the joints below its carrier.
    Lecture "Newton-Euler formulation", algorithm 2, lines 7 and 8.
    """
    return _rows(transmitted(tree, q, qd, qdd, wrench)[:-1])


def base_wrench(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None = None
) -> list[Scalar]:
    """Force [N] and moment [N m] that its support passes on to the base in a motion, in the base's frame about its origin: six scalars.

    q [rad|m], qd, qdd: n scalars each; wrench as in `rnea`. What the links that are fixed to the base weigh is part of it.
    Lecture "Newton-Euler formulation", algorithm 2, continued to link 0.
    """
    force = transmitted(tree, q, qd, qdd, wrench)[-1]
    return [*force.f, *force.n]


def transmitted(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None
) -> list[Force]:
    """What each body with all that it carries needs of the joint before it, in its frame; the last is the base's, from its support."""
    joints = joint_motions(tree, q)
    motions = [*spread_motion(tree, joints, qd, qdd), base_motion(tree)]
    inertias = [*(body.inertia for body in tree.bodies), tree.base_inertia]
    forces = [net_force(inertia, motion) for inertia, motion in zip(inertias, motions, strict=True)]
    for rotor in spinning_rotors(tree, q, on_base=True):
        c, mount = rotor.mounted.coordinate, rotor.mounted.mount
        forces[mount] = forces[mount] + Force(n=rotor.moment(qd[c], qdd[c], joint_rates(tree, qd)))
    return _less_wrench(tree, q, joints, gathered_to_base(tree, joints, forces), wrench)


def gathered_to_base(tree: Tree, joints: Sequence[JointMotion], forces: Sequence[Force]) -> list[Force]:
    """What `gather_forces` gives for the bodies, and last the sum at the base."""
    *own, base = forces
    total = gather_forces(tree, joints, own)
    for body, joint, force in zip(tree.bodies, joints, total, strict=True):
        base = base + lift(joint, force) if body.parent < 0 else base
    return [*total, base]


def forward_reactions(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None = None
) -> list[list[Scalar]]:
    """The same under given torques, bodies x 6: the reactions of the accelerations that they give, for any robot.

    q [rad|m], qd, tau [N m|N]: n scalars each.
    """
    return joint_reactions(tree, q, qd, forward_by_crba(tree, q, qd, tau, wrench), wrench)


def forward_reactions_by_aba(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None = None
) -> list[list[Scalar]]:
    """The same straight from the articulated bodies, without inverse dynamics; only where `tree.stands_alone`.

    Lecture "Recursive dynamic method", phase 3: f_i = N_i C_i a_p(i) + gamma_i.
    """
    _, forces = aba_motion(tree, q, qd, tau, wrench)
    return _rows(_less_wrench(tree, q, joint_motions(tree, q), [*forces, Force()], wrench)[:-1])


def _less_wrench(
    tree: Tree, q: Sequence[Scalar], joints: Sequence[JointMotion], forces: list[Force], wrench: Sequence[Sequence[Scalar]] | None
) -> list[Force]:
    """What the environment gives need not pass through the joint."""
    if wrench is None:
        return forces
    turned = [*(v3.transpose(pose.R) for pose in poses(tree, q)), v3.IDENTITY]
    rows = [*wrench, [0.0] * 6][: len(turned)]  # nothing acts on the base unless its row is there
    given = [Force(v3.apply(R, (w[0], w[1], w[2])), v3.apply(R, (w[3], w[4], w[5]))) for R, w in zip(turned, rows, strict=True)]
    return [Force(v3.sub(a.f, b.f), v3.sub(a.n, b.n)) for a, b in zip(forces, gathered_to_base(tree, joints, given), strict=True)]


def _rows(forces: Sequence[Force]) -> list[list[Scalar]]:
    return [[*force.f, *force.n] for force in forces]
