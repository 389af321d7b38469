"""Torques of joint terms: friction, rotor inertia, couplings, from `mechanism.joint_terms`."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, Scalars
from ..errors import CallError
from ..mechanism.joint_terms import KNOWN_TORQUE, JointState, next_presliding_state
from ..mechanism.tree import TermUse, Tree
from .gravity import gravity_torque


def friction_torque(tree: Tree, qd: Scalars, q: Scalars | None = None) -> list[Scalar]:
    """Return the friction torques, n scalars [N m|N].

    They are the sum of value * factor over all terms that are not inertial, such as Fv qd + Fc
    sign(qd) + F0. qd: n scalars [rad/s|m/s]; q [rad|m] is needed if a term depends on the position
    or the load. With q, known torques are included. Lecture "Dynamic parameter identification",
    friction contributions.
    """
    uses = [
        use
        for use in tree.joint_terms
        if not use.row.inertial and (q is not None or use.row is not KNOWN_TORQUE)
    ]
    return _total(tree, uses, joint_states(tree, uses, q, qd, [0.0] * tree.n))


def inertial_torque(tree: Tree, qdd: Scalars) -> list[Scalar]:
    """Return the torques of rotor inertia, Ia qdd and Iam of couplings, n scalars [N m|N].

    qdd: n scalars [rad/s2|m/s2].
    """
    uses = [use for use in tree.joint_terms if use.row.inertial]
    return _total(tree, uses, [JointState(0.0, 0.0, x) for x in qdd])


def inertial_matrix(tree: Tree) -> list[list[Scalar]]:
    """Return the part of inertial terms in the mass matrix, n x n [kg m2|kg]."""
    columns = [
        inertial_torque(tree, [1.0 if i == j else 0.0 for i in range(tree.n)])
        for j in range(tree.n)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def term_columns(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[dict[int, Scalar]]:
    """Return the regressor's columns of the joint terms, in the order of `tree.joint_terms`.

    A column maps a coordinate to its torque per unit of the parameter.
    """
    states = joint_states(tree, tree.joint_terms, q, qd, qdd)
    return [use.column(states) for use in tree.joint_terms]


def joint_states(
    tree: Tree, uses: Sequence[TermUse], q: Scalars | None, qd: Scalars, qdd: Scalars
) -> list[JointState]:
    """Return the variables on which the factors of terms depend, for each coordinate.

    The load is computed only if a term reads it. Terms with memory have the tree's presliding
    state.
    """
    read = {name for use in uses for name in use.row.reads}
    if q is None and read:
        owners = ", ".join(
            dict.fromkeys(f"{use.owner}.{use.row.symbol}" for use in uses if use.row.reads)
        )
        raise CallError(
            f"friction depends on {' and '.join(sorted(read))} here ({owners}): give q too,"
            " friction_torque(qd, q)"
        )
    load_torques = (
        gravity_torque(tree.carrying, q) if q is not None and "load" in read else [0.0] * tree.n
    )
    where = q if q is not None else [0.0] * tree.n
    memory = tree.memory or [None] * tree.n
    return [
        JointState(q=position, qd=rate, qdd=acceleration, load=load, memory=z)
        for position, rate, acceleration, load, z in zip(
            where, qd, qdd, load_torques, memory, strict=True
        )
    ]


def presliding_state(tree: Tree, z: Scalars, dq: Scalars) -> list[Scalar]:
    """Return the presliding states after displacements dq [rad|m], n scalars in [-1, 1].

    z -> s - (s - z) exp(-|dq| / d), s = sign(dq); 0 for a coordinate whose friction has no memory.
    z: n scalars, the states before. P. Dahl, "A solid friction model", Aerospace Corporation
    TOR-158 (1968).
    """
    return [
        0.0 if distance is None else next_presliding_state(state, displacement, distance)
        for state, displacement, distance in zip(z, dq, tree.memory_distances, strict=True)
    ]


def presliding_torque(tree: Tree, qd: Scalars, z: Scalars) -> list[Scalar]:
    """Return the friction at presliding states minus the sliding value, n scalars [N m|N].

    (Fp + Fs exp(-(qd / vs)^2)) (z - sign(qd)), to be added to inverse dynamics. z: n scalars in
    [-1, 1]; qd [rad/s|m/s].
    """
    remembered = {c for c, d in enumerate(tree.memory_distances) if d is not None}
    uses = [use for use in tree.joint_terms if use.row.memory and remembered >= {*use.coordinates}]
    states = [JointState(0.0, rate, 0.0) for rate in qd]
    sliding = _total(tree, uses, states)
    partial = _total(tree, uses, [s._replace(memory=x) for s, x in zip(states, z, strict=True)])
    return [a - b for a, b in zip(partial, sliding, strict=True)]


def _total(tree: Tree, uses: Sequence[TermUse], states: Sequence[JointState]) -> list[Scalar]:
    tau: list[Scalar] = [0.0] * tree.n
    for use in uses:
        for row, factor in use.column(states).items():
            tau[row] = tau[row] + use.value * factor
    return tau
