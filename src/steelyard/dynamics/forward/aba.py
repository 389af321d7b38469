"""Forward dynamics by the articulated-body algorithm, in O(n)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, is_zero, iteration
from ...algebra.spatial import ArticulatedInertia, Force, Inertia, Motion
from ...algebra.vector import ZERO, Matrix, Symmetric, Vector
from ...errors import ModelError
from ...mechanism.tree import Tree
from ..crba import effort
from ..joint import JointMotion, joint_motions, joint_rates, principal
from ..joint_torques import friction_torque, inertial_matrix
from ..rnea import BodyMotion, cross_constant, net_force, spin_matrix, to_parent
from ..wrench import wrench_torque


class VelocityTerms(NamedTuple):
    """Velocity-dependent terms of a body.

    Its angular velocity, the acceleration of its origin in the parent's frame, and the acceleration
    of its joint in its own frame.
    """

    w: Vector
    origin: Vector
    body: Motion


class JointSolve(NamedTuple):
    """Solution for a joint's acceleration: qdd = bias - gain . (acceleration of the parent)."""

    gain: Force  # force of a unit acceleration of the joint, over its inertia
    bias: Scalar  # acceleration of the joint under its torque and the velocity terms alone


def aba(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None = None
) -> list[Scalar]:
    """Return qdd = (M + diag(Ia))^-1 (tau - C qd - g - tau_f(qd) + J^T wrench), in O(n).

    q [rad|m], qd, tau [N m|N]: n scalars each; wrench: six scalars per body as in `rnea`. Returns n
    accelerations [rad/s2|m/s2]. Refuses coupled joints. Featherstone 2008, table 7.1; lecture
    "Recursive dynamic method", the three phases.
    """
    return aba_motion(tree, q, qd, tau, wrench)[0]


def aba_motion(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None = None
) -> tuple[list[Scalar], list[Force]]:
    """Return accelerations as in `aba`, and the wrench on every body's subtree in its frame.

    f_i = I_i a_i + bias_i of the articulated body. Lecture "Recursive dynamic method", phase 3 with
    the optional f_i.
    """
    refuse_couplings(tree)
    joints = joint_motions(tree, q)
    velocity_terms = propagate_velocity_terms(tree, joints, qd)  # base to tip
    solves, inertias, biases = accumulate_articulated_bodies(
        tree, joints, velocity_terms, net_torque(tree, q, qd, tau, wrench)
    )  # tip to base
    qdd, accelerations = propagate_acceleration(tree, joints, velocity_terms, solves)  # base to tip
    return qdd, [
        inertia.force(a) + bias
        for inertia, a, bias in zip(inertias, accelerations, biases, strict=True)
    ]


def refuse_couplings(tree: Tree) -> None:
    """Raise ModelError for mimic joints, spinning rotors and shared motors, which couple joints."""
    if tree.is_uncoupled:
        return
    for k, name in enumerate(tree.coordinates):
        tied = ", ".join(body.joint for body in tree.bodies if body.coordinate == k)
        if "," in tied:
            raise ModelError(f"joints {tied} move together with '{name}'; {_NEEDS_UNCOUPLED}")
    raise ModelError(
        "rotors that spin on moving bodies, or motors that joints share, couple joints that are not"
        f" neighbours; {_NEEDS_UNCOUPLED}"
    )


_NEEDS_UNCOUPLED = "the articulated-body algorithm needs uncoupled joints; use forward_by_crba"


def net_torque(
    tree: Tree, q: Scalars, qd: Scalars, tau: Scalars, wrench: Sequence[Scalars] | None
) -> list[Scalar]:
    """Return the torques on the rigid bodies: tau - tau_f + J^T wrench."""
    net = [a - b for a, b in zip(tau, friction_torque(tree, qd, q), strict=True)]
    return (
        net
        if wrench is None
        else [a + b for a, b in zip(net, wrench_torque(tree, q, wrench), strict=True)]
    )


def propagate_velocity_terms(
    tree: Tree, joints: Sequence[JointMotion], qd: Scalars
) -> list[VelocityTerms]:
    """Return angular velocities of all bodies and the velocity-dependent accelerations (pass 1)."""
    velocity_terms: list[VelocityTerms] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        iteration((joint.c, rate))
        above = velocity_terms[body.parent].w if body.parent >= 0 else tree.base.w
        w, along = joint.down(above), joint.along(rate)
        origin, coriolis = v3.apply(spin_matrix(above, ZERO), joint.p), v3.cross(w, along)
        if joint.revolute:
            velocity_terms.append(VelocityTerms(v3.add(w, along), origin, Motion(w=coriolis)))
        else:
            velocity_terms.append(VelocityTerms(w, origin, Motion(v=v3.scale(2.0, coriolis))))
    return velocity_terms


def accumulate_articulated_bodies(
    tree: Tree,
    joints: Sequence[JointMotion],
    velocity_terms: Sequence[VelocityTerms],
    driven: Scalars,
) -> tuple[list[JointSolve], list[ArticulatedInertia], list[Force]]:
    """Return articulated inertias and bias forces, tip to base (pass 2)."""
    inertias = [ArticulatedInertia.rigid(body.inertia) for body in tree.bodies]
    biases = []
    for body, terms in zip(tree.bodies, velocity_terms, strict=True):
        iteration(terms)
        biases.append(bias_force(body.inertia, terms))
    rotors = [row[i] for i, row in enumerate(inertial_matrix(tree))]
    solves: list[JointSolve] = []
    for i in reversed(range(len(joints))):
        iteration((driven[i], velocity_terms[i]))
        body, joint, added = tree.bodies[i], joints[i], rotors[tree.bodies[i].coordinate]
        unit = scale_force(body.multiplier, axis_force(joint, inertias[i]))
        weight = body.multiplier * effort(joint, unit)
        inverse = 1.0 / (weight + added)
        gain, torque = (
            scale_force(inverse, unit),
            driven[body.coordinate] - body.multiplier * effort(joint, biases[i]),
        )
        solves.append(JointSolve(gain, inverse * torque))
        if body.parent >= 0:
            inertia = across_free_joint(
                joint, inertias[i], unit, gain, keeps_axis=not is_zero(added)
            )
            lifted, force = force_to_parent(
                joint, velocity_terms[i], inertia, biases[i] + scale_force(torque, gain)
            )
            inertias[body.parent], biases[body.parent] = (
                inertias[body.parent] + lifted,
                biases[body.parent] + force,
            )
    return solves[::-1], inertias, biases


def bias_force(inertia: Inertia, terms: VelocityTerms) -> Force:
    """Return the force on a body that rotates at w without acceleration."""
    return net_force(inertia, BodyMotion(terms.w, ZERO, spin_matrix(terms.w, ZERO), ZERO))


def force_to_parent(
    joint: JointMotion, terms: VelocityTerms, inertia: ArticulatedInertia, bias: Force
) -> tuple[ArticulatedInertia, Force]:
    """Return a child's inertia and bias force as they act on its parent."""
    felt = rotate_to_parent(joint, inertia)
    push = felt.force(Motion(v=terms.origin))
    bias = to_parent(joint, bias + inertia.force(terms.body))
    return shift_origin(felt, joint.p), bias + Force(
        push.f, v3.add(push.n, cross_constant(joint.p, push.f))
    )


def propagate_acceleration(
    tree: Tree,
    joints: Sequence[JointMotion],
    velocity_terms: Sequence[VelocityTerms],
    solves: Sequence[JointSolve],
) -> tuple[list[Scalar], list[Motion]]:
    """Return the accelerations of joints and bodies, base to tip (pass 3)."""
    qdd: list[Scalar] = [0.0] * tree.n
    accelerations: list[Motion] = []
    for body, joint, terms, solve in zip(tree.bodies, joints, velocity_terms, solves, strict=True):
        iteration(solve)
        above = (
            accelerations[body.parent] if body.parent >= 0 else Motion(tree.base.dw, tree.base.a)
        )
        origin = v3.add(v3.add(above.v, terms.origin), v3.cross(above.w, joint.p))
        w, v = v3.add(joint.down(above.w), terms.body.w), v3.add(joint.down(origin), terms.body.v)
        qdd[body.coordinate] = solve.bias - (v3.dot(solve.gain.f, v) + v3.dot(solve.gain.n, w))
        along = joint.along(body.multiplier * qdd[body.coordinate])
        accelerations.append(
            Motion(v3.add(w, along), v) if joint.revolute else Motion(w, v3.add(v, along))
        )
    return qdd, accelerations


UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # indices of the entries of a Symmetric


def axis_force(joint: JointMotion, inertia: ArticulatedInertia) -> Force:
    """Return the force of a unit acceleration of the joint on the articulated body: U = I s."""
    return inertia.force(Motion(w=joint.axis) if joint.revolute else Motion(v=joint.axis))


def across_free_joint(
    joint: JointMotion, inertia: ArticulatedInertia, unit: Force, gain: Force, keeps_axis: bool
) -> ArticulatedInertia:
    """Return the articulated inertia across a free joint, I - U U^T / D, given U and U / D.

    Without a rotor the entries about the axis vanish: they are written as exact zeros, so that they
    cost nothing in the bodies below.
    """
    M, H, I = rank_one_downdate(inertia, unit, gain)  # noqa: E741
    k = principal(joint.axis)
    if keeps_axis or k is None:
        return ArticulatedInertia(M, H, I)
    if joint.revolute:
        return ArticulatedInertia(M, _without_row(H, k), _without_axis(I, k))
    return ArticulatedInertia(
        _without_axis(M, k), v3.transpose(_without_row(v3.transpose(H), k)), I
    )


def rank_one_downdate(inertia: ArticulatedInertia, unit: Force, gain: Force) -> ArticulatedInertia:
    """Return I - U G^T, which is symmetric for parallel forces U and G."""
    M, I = _downdate(inertia.M, unit.f, gain.f), _downdate(inertia.I, unit.n, gain.n)  # noqa: E741
    H = _rows(v3.sub(row, v3.scale(n, unit.f)) for row, n in zip(inertia.H, gain.n, strict=True))
    return ArticulatedInertia(M, H, I)


def rotate_to_parent(joint: JointMotion, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """Return a child's inertia in its parent's axes, about the child's origin."""
    return ArticulatedInertia(
        joint.up_symmetric(inertia.M), joint.up_matrix(inertia.H), joint.up_symmetric(inertia.I)
    )


def shift_origin(inertia: ArticulatedInertia, p: Vector) -> ArticulatedInertia:
    """Return the inertia about another origin, from which the present one is at p.

    H' = H + [p]x M, I' = I - H [p]x + [p]x H'^T.
    """
    M, H, I = inertia  # noqa: E741
    columns = _rows(cross_constant(p, column) for column in v3.full(M))
    moved = _rows(v3.add(row, extra) for row, extra in zip(H, v3.transpose(columns), strict=True))
    first, second = [cross_constant(p, row) for row in H], [cross_constant(p, row) for row in moved]
    return ArticulatedInertia(
        M, moved, v3.add_symmetric(I, Symmetric(*(first[i][j] + second[j][i] for i, j in UPPER)))
    )


def scale_force(s: Scalar, force: Force) -> Force:
    """Return s times a force."""
    return Force(v3.scale(s, force.f), v3.scale(s, force.n))


def _downdate(a: Symmetric, u: Vector, t: Vector) -> Symmetric:
    return Symmetric(*(entry - u[i] * t[j] for entry, (i, j) in zip(a, UPPER, strict=True)))


def _without_row(m: Matrix, k: int) -> Matrix:
    return _rows(ZERO if i == k else row for i, row in enumerate(m))


def _without_axis(a: Symmetric, k: int) -> Symmetric:
    return Symmetric(*(0.0 if k in index else entry for entry, index in zip(a, UPPER, strict=True)))


def _rows(rows: Iterable[Vector]) -> Matrix:
    x, y, z = rows
    return (x, y, z)
