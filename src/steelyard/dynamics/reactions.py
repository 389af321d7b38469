"""What joints bear: the whole force and moment that a joint passes on to its body, of which the drive gives only the part along the axis.

In the body's own frame, about its origin: force [N] then moment [N m], six scalars per body.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import vector as v3
from ..algebra.scalar import Scalar
from ..algebra.spatial import Force
from ..mechanism.tree import Tree
from .aba import aba_motion
from .forward_by_crba import forward_by_crba
from .joint import JointMotion, joint_motions, joint_rates
from .kinematics import poses
from .rnea import gather_forces, net_force, spread_motion
from .rotors import carrier_velocity, spinning_rotors


def joint_reactions(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], wrench: Sequence[Sequence[Scalar]] | None = None
) -> list[list[Scalar]]:
    """Force and moment that each joint passes on to its body in a motion: f_i, mu_i of the backward recursion, bodies x 6.

    q [rad|m], qd, qdd: n scalars each; wrench as in `rnea`. The moment of a spinning rotor loads the joints below its carrier.
    Lecture "Newton-Euler formulation", algorithm 2, lines 7 and 8.
    """
    joints = joint_motions(tree, q)
    motions = spread_motion(tree, joints, qd, qdd)
    forces = [net_force(body.inertia, motion) for body, motion in zip(tree.bodies, motions, strict=True)]
    for rotor in spinning_rotors(tree, q):
        c, mount = rotor.mounted.coordinate, rotor.mounted.mount
        w = carrier_velocity(rotor.axes, joint_rates(tree, qd))
        forces[mount] = forces[mount] + Force(n=v3.add(v3.scale(qdd[c], rotor.s), v3.scale(qd[c], v3.cross(w, rotor.s))))
    return _rows(_less_wrench(tree, q, joints, gather_forces(tree, joints, forces), wrench))


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
    return _rows(_less_wrench(tree, q, joint_motions(tree, q), forces, wrench))


def _less_wrench(
    tree: Tree, q: Sequence[Scalar], joints: Sequence[JointMotion], forces: list[Force], wrench: Sequence[Sequence[Scalar]] | None
) -> list[Force]:
    """What the environment gives need not pass through the joint."""
    if wrench is None:
        return forces
    turned = [v3.transpose(pose.R) for pose in poses(tree, q)]
    given = [Force(v3.apply(R, (w[0], w[1], w[2])), v3.apply(R, (w[3], w[4], w[5]))) for R, w in zip(turned, wrench, strict=True)]
    return [Force(v3.sub(a.f, b.f), v3.sub(a.n, b.n)) for a, b in zip(forces, gather_forces(tree, joints, given), strict=True)]


def _rows(forces: Sequence[Force]) -> list[list[Scalar]]:
    return [[*force.f, *force.n] for force in forces]
