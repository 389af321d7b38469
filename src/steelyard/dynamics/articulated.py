"""Forward dynamics by the articulated-body algorithm: its cost grows linearly with the number of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra import vector as v3
from ..algebra.scalar import Scalar
from ..algebra.spatial import ArticulatedInertia, Force, Motion
from ..algebra.vector import ZERO, Matrix, Symmetric, Vector
from ..errors import ModelError
from ..mechanism.tree import Tree
from .composite import effort
from .external import wrench_torque
from .friction import friction_torque
from .joint_motion import JointMotion, joint_motions, joint_rates, principal
from .newton_euler import BodyMotion, cross_constant, lift, net_force, spin_matrix


class Handle(NamedTuple):
    """What is left to do at a joint when the acceleration of its parent is known: qdd = rest - pull . acceleration."""

    pull: Force  # force of a unit acceleration of the joint over its inertia
    rest: Scalar  # acceleration of the joint under its torque and the bias alone


class Drift(NamedTuple):
    """The part of a body's acceleration that velocities alone cause: of its origin in the parent's frame, and about its own axes."""

    origin: Vector
    body: Motion


def articulated(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], wrench: Sequence | None = None) -> list[Scalar]:
    """Accelerations under given torques: qdd = (M + diag(Ia))^-1 (tau - C qd - g - tau_f(qd) + J^T wrench), in O(n).

    q [rad|m], qd, tau [N m|N]: n scalars each; wrench: six scalars per body as in `newton_euler`. Returns n accelerations [rad/s2|m/s2].
    Refuses mimic joints. Featherstone 2008, table 7.1; lecture "Recursive dynamic method", the three phases.
    """
    return articulated_motion(tree, q, qd, tau, wrench)[0]


def articulated_motion(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], wrench: Sequence | None = None
) -> tuple[list[Scalar], list[Force]]:
    """Accelerations as in `articulated`, and with them the net force of every body with all that it carries, in its frame about its origin:
    f_i = I_i a_i + bias_i of the articulated body. Lecture "Recursive dynamic method", phase 3 with the optional f_i."""
    refuse_ties(tree)
    joints = joint_motions(tree, q)
    velocities, drifts = spread_velocity(tree, joints, qd)  # base to tip
    driven = net_torque(tree, q, qd, tau, wrench)
    handles, inertias, biases = gather_inertia(tree, joints, velocities, drifts, driven)  # tip to base
    qdd, accelerations = spread_acceleration(tree, joints, drifts, handles)  # base to tip
    return qdd, [inertia.force(a) + bias for inertia, a, bias in zip(inertias, accelerations, biases, strict=True)]


def refuse_ties(tree: Tree) -> None:
    """A clear error where two joints share a coordinate, or the spin of a rotor ties them."""
    for k, name in enumerate(tree.coordinates):
        tied = [body.joint for body in tree.bodies if body.coordinate == k]
        if len(tied) != 1:
            raise ModelError(f"joints {', '.join(tied)} move together with '{name}': the articulated-body algorithm needs joints that "
                             "move alone; use composite_forward, which takes mimic joints")  # fmt: skip
    if any(gear.mount >= 0 for gear in tree.gears):
        raise ModelError("rotors that spin on moving bodies couple joints that are no neighbours: use composite_forward, which takes them")


def net_torque(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], wrench: Sequence | None) -> list[Scalar]:
    """What the rigid bodies feel of the torques: tau - tau_f + J^T wrench."""
    net = [a - b for a, b in zip(tau, friction_torque(tree, qd), strict=True)]
    return net if wrench is None else [a + b for a, b in zip(net, wrench_torque(tree, q, wrench), strict=True)]


def spread_velocity(tree: Tree, joints: Sequence[JointMotion], qd: Sequence[Scalar]) -> tuple[list[Vector], list[Drift]]:
    """Angular velocities and velocity-caused accelerations of all bodies."""
    ws: list[Vector] = []
    drifts: list[Drift] = []
    for body, joint, rate in zip(tree.bodies, joints, joint_rates(tree, qd), strict=True):
        parent = ws[body.parent] if body.parent >= 0 else ZERO
        w, along = joint.down(parent), joint.along(rate)
        turned = v3.cross(w, along)
        drifts.append(Drift(v3.apply(spin_matrix(parent, ZERO), joint.p),
                            Motion(w=turned) if joint.revolute else Motion(v=v3.scale(2.0, turned))))  # fmt: skip
        ws.append(v3.add(w, along) if joint.revolute else w)
    return ws, drifts


def gather_inertia(
    tree: Tree, joints: Sequence[JointMotion], ws: Sequence[Vector], drifts: Sequence[Drift], driven: Sequence[Scalar]
) -> tuple[list[Handle], list[ArticulatedInertia], list[Force]]:
    """Articulated inertias and biases, each passed on to the parent free of what its own joint lets go."""
    inertias = [ArticulatedInertia.rigid(body.inertia) for body in tree.bodies]
    biases = [net_force(body.inertia, BodyMotion(w, ZERO, spin_matrix(w, ZERO), ZERO)) for body, w in zip(tree.bodies, ws, strict=True)]
    handles: list[Handle] = []
    for i in reversed(range(len(joints))):
        body, joint = tree.bodies[i], joints[i]
        armature = tree.armature[body.coordinate]
        inertia, bias = inertias[i], biases[i]
        unit = axis_force(joint, inertia)
        weight = effort(joint, unit) * (body.multiplier * body.multiplier)
        inverse = 1.0 / (weight if armature is None else weight + armature)
        unit = _scale(body.multiplier, unit)
        pull = _scale(inverse, unit)
        torque = driven[body.coordinate] - body.multiplier * effort(joint, bias)
        handles.append(Handle(pull, inverse * torque))
        if body.parent >= 0:
            freed = free(joint, inertia, unit, pull, keeps_axis=armature is not None)
            felt = bias + freed.force(drifts[i].body) + _scale(torque, pull)
            lifted, force = lift_articulated(joint, freed, felt, drifts[i].origin)
            inertias[body.parent] = inertias[body.parent] + lifted
            biases[body.parent] = biases[body.parent] + force
    return handles[::-1], inertias, biases


def spread_acceleration(
    tree: Tree, joints: Sequence[JointMotion], drifts: Sequence[Drift], handles: Sequence[Handle]
) -> tuple[list[Scalar], list[Motion]]:
    """Joint accelerations, and with them the bodies' own."""
    qdd: list[Scalar] = [0.0] * tree.n
    accelerations: list[Motion] = []
    base = Motion(v=v3.neg(tree.gravity))
    for body, joint, drift, handle in zip(tree.bodies, joints, drifts, handles, strict=True):
        parent = accelerations[body.parent] if body.parent >= 0 else base
        origin = v3.add(v3.add(parent.v, drift.origin), v3.cross(parent.w, joint.p))
        w, v = v3.add(joint.down(parent.w), drift.body.w), v3.add(joint.down(origin), drift.body.v)
        qdd[body.coordinate] = handle.rest - (v3.dot(handle.pull.f, v) + v3.dot(handle.pull.n, w))
        own = joint.along(body.multiplier * qdd[body.coordinate])
        accelerations.append(Motion(v3.add(w, own), v) if joint.revolute else Motion(w, v3.add(v, own)))
    return qdd, accelerations


def axis_force(joint: JointMotion, inertia: ArticulatedInertia) -> Force:
    """Force of a unit acceleration of the joint on the articulated body."""
    return inertia.force(Motion(w=joint.axis) if joint.revolute else Motion(v=joint.axis))


def free(joint: JointMotion, inertia: ArticulatedInertia, unit: Force, pull: Force, keeps_axis: bool) -> ArticulatedInertia:
    """The inertia less what the joint lets go, I - U U^T / D. Without a rotor nothing is left about the axis: those entries are exactly zero."""
    M = _less(inertia.M, unit.f, pull.f)
    I = _less(inertia.I, unit.n, pull.n)  # noqa: E741
    H: Matrix = tuple(v3.sub(row, v3.scale(n, unit.f)) for row, n in zip(inertia.H, pull.n, strict=True))  # type: ignore[assignment]
    k = principal(joint.axis)
    if keeps_axis or k is None:
        return ArticulatedInertia(M, H, I)
    if joint.revolute:
        return ArticulatedInertia(M, _zero_row(H, k), _zero_axis(I, k))
    return ArticulatedInertia(_zero_axis(M, k), v3.transpose(_zero_row(v3.transpose(H), k)), I)


def lift_articulated(joint: JointMotion, inertia: ArticulatedInertia, felt: Force, drift: Vector) -> tuple[ArticulatedInertia, Force]:
    """Inertia and bias of a child, in its parent's frame about the parent's origin; the drift of the child's origin joins the bias there."""
    M, H, I = joint.up_symmetric(inertia.M), joint.up_matrix(inertia.H), joint.up_symmetric(inertia.I)  # noqa: E741
    force = lift(joint, felt)
    extra = v3.apply_symmetric(M, drift)
    bias = force + Force(extra, v3.add(v3.apply(H, drift), cross_constant(joint.p, extra)))
    return _shifted(M, H, I, joint.p), bias


def _shifted(M: Symmetric, H: Matrix, I: Symmetric, p: Vector) -> ArticulatedInertia:  # noqa: E741
    """About the parent's origin: H' = H + [p]x M, I' = I - H [p]x + [p]x H'^T."""
    columns = v3.full(M)
    moved: Matrix = tuple(v3.add(row, extra) for row, extra in zip(H, v3.transpose(tuple(cross_constant(p, c) for c in columns)), strict=True))  # type: ignore
    rows = [cross_constant(p, row) for row in H]  # -H [p]x by rows: (p x row)
    columns_of = [cross_constant(p, row) for row in moved]  # [p]x H'^T by columns
    entry = [[rows[i][j] + columns_of[j][i] for j in range(3)] for i in range(3)]
    return ArticulatedInertia(M, moved, v3.add_symmetric(I, Symmetric(*(entry[i][j] for i in range(3) for j in range(i, 3)))))


def _less(s: Symmetric, u: Vector, t: Vector) -> Symmetric:
    return Symmetric(*(entry - u[i] * t[j] for entry, (i, j) in zip(s, ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), strict=True)))


def _zero_row(m: Matrix, k: int) -> Matrix:
    return tuple(ZERO if i == k else row for i, row in enumerate(m))  # type: ignore[return-value]


def _zero_axis(s: Symmetric, k: int) -> Symmetric:
    full = v3.full(s)
    return Symmetric(*(0.0 if k in (i, j) else full[i][j] for i in range(3) for j in range(i, 3)))


def _scale(s: Scalar, force: Force) -> Force:
    return Force(v3.scale(s, force.f), v3.scale(s, force.n))
