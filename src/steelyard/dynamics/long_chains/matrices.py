"""Joint-space matrices from screws and composite bodies in the base frame.

Sums over the points of a joint's subtree are moments of its composite body. For the screws s_i and
s_j of two joints, j an ancestor of i, and the points dm of the subtree of i: M_ij = sum of
s_i . s_j dm, C_ij = sum of s_i . s_j' dm, C_ji = sum of s_j . s_i' dm. A unit of a joint's position
moves the points of its subtree by its screw s and changes their accelerations by s''. Echeandia and
Wensing 2021 (C and its symbols); Singh, Russell and Wensing 2022 (derivatives); both in spatial
vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...algebra.spatial import Force, Inertia, Motion
from ...algebra.vector import Vector
from ...mechanism.tree import Tree
from ..coriolis import CompositeFlow, body_flow, sum_of_flows, trace_less
from ..joint_torques import inertial_matrix
from ..kinematics import carriers
from ..rnea import BodyMotion, net_force, spin_matrix
from ..rotors import rotor_coriolis, rotor_matrix, rotor_symbols
from .screws import BodyInBase, Screw, bodies_in_base, force_of, inertia_in_base, power

Rows = list[list[Scalar]]
Contribution = tuple[int, int, Scalar, Scalar]
MotionOrForce = TypeVar("MotionOrForce", Motion, Force)


def mass_matrix(tree: Tree, q: Scalars) -> Rows:
    """Return M(q), n x n; see `crba.mass_matrix`. q: n scalars [rad|m]."""
    still = [0.0] * tree.n
    bodies, screws = bodies_in_base(tree, q, still, still)
    M = _zeros(tree)
    for i, inertia in enumerate(composite_inertias(tree, inertias_in_base(tree, bodies))):
        unit = force_of(inertia, screws[i].unit)
        for j in carriers(tree, i):
            iteration(unit)
            _enter_twice(tree, M, i, j, power(screws[j].unit, unit))
    return with_drives(tree, q, M)


def with_drives(tree: Tree, q: Scalars, M: Rows) -> Rows:
    """Add the inertia of drives and the spin of their rotors to the mass matrix of rigid bodies."""
    return _add_matrices(M, inertial_matrix(tree), rotor_matrix(tree, q))


def coriolis_matrix(tree: Tree, q: Scalars, qd: Scalars) -> Rows:
    """Return C(q, qd) of the Christoffel symbols, n x n. q [rad|m], qd: n scalars each."""
    bodies, screws = bodies_in_base(tree, q, qd, [0.0] * tree.n)
    C = _zeros(tree)
    for i, flow in enumerate(composite_flows(tree, inertias_in_base(tree, bodies), bodies)):
        unit, rate, twist = (
            force_of(flow.inertia, screws[i].unit),
            rate_force(screws[i], flow),
            velocity_moment(screws[i], flow),
        )
        for j in carriers(tree, i):
            iteration(unit)
            if i != j:
                _enter(tree, C, i, j, power(screws[j].rate, unit) + v3.dot(screws[j].unit.w, twist))
            _enter(tree, C, j, i, power(screws[j].unit, rate))
    return _add_matrices(C, rotor_coriolis(tree, q, qd))


def derivatives(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> tuple[Rows, Rows, Rows]:
    """Return d tau / dq, d tau / dqd of bodies and spinning rotors, and M with drives, each n x n.

    q [rad|m], qd, qdd: n scalars each. For the bodies d tau / dqd = 2 C.
    """
    bodies, screws = bodies_in_base(tree, q, qd, qdd)
    inertias = inertias_in_base(tree, bodies)
    flows, nets = (
        composite_flows(tree, inertias, bodies),
        composite_forces(tree, body_forces(inertias, bodies)),
    )
    rates = [_twice(screw.rate) for screw in screws]
    by_q, by_qd, M = (_zeros(tree) for _ in range(3))
    for i, (screw, flow, net) in enumerate(zip(screws, flows, nets, strict=True)):
        iteration(flow.inertia)
        unit, twist = force_of(flow.inertia, screw.unit), velocity_moment(screw, flow)
        rate, change, twist2 = (
            _twice(rate_force(screw, flow)),
            derivative_force(screw, flow, net),
            v3.scale(2.0, twist),
        )
        for j in carriers(tree, i):
            iteration(unit)
            near = screws[j]
            _enter_twice(tree, M, i, j, power(near.unit, unit))
            _enter(tree, by_qd, j, i, power(near.unit, rate))
            _enter(tree, by_q, j, i, power(near.unit, change))
            if i != j:
                _enter(tree, by_qd, i, j, power(rates[j], unit) + v3.dot(near.unit.w, twist2))
                _enter(tree, by_q, i, j, power(near.second, unit) + v3.dot(rates[j].w, twist))
    for row, column, by_position, by_rate in rotor_derivatives(tree, bodies, screws, qd, qdd):
        by_q[row][column] = by_q[row][column] + by_position
        by_qd[row][column] = by_qd[row][column] + by_rate
    return by_q, by_qd, with_drives(tree, q, M)


def rotor_derivatives(
    tree: Tree, bodies: Sequence[BodyInBase], screws: Sequence[Screw], qd: Scalars, qdd: Scalars
) -> Iterator[Contribution]:
    """Yield row, column and the rotors' contributions to d tau / dq and d tau / dqd there.

    An entry may occur several times. A rotor on a body has the spin s per unit rate of its
    coordinate c, fixed to the body. The moment m = d(qd_c s)/dt acts on the joints z_i that move
    the body, and s . dw on its own coordinate. Rotating joint j rotates s and the bodies after j,
    and changes w by z_j' + z_j x w.
    """
    for mounted in tree.rotors:
        Ia, c = tree.terms[mounted.coordinate].get("armature"), mounted.coordinate
        if Ia is None or mounted.mount < 0:  # one on the base feels no joint
            continue
        body = bodies[mounted.mount]
        s = v3.apply(body.R, v3.scale(Ia * (1.0 / mounted.ratio), mounted.axis))
        sd = v3.cross(body.w, s)
        moment = v3.add(v3.scale(qdd[c], s), v3.scale(qd[c], sd))
        turning = [i for i in carriers(tree, mounted.mount) if tree.bodies[i].kind == "revolute"]
        for j in turning:
            iteration((s, moment))
            z, zd, zdd = screws[j].unit.w, screws[j].rate.w, screws[j].second.w
            column, multiplier = tree.bodies[j].coordinate, tree.bodies[j].multiplier
            on_rotor = (
                v3.dot(s, v3.add(zdd, v3.cross(zd, body.w))),
                v3.dot(s, v3.add(v3.scale(2.0, zd), v3.cross(z, body.w))),
            )
            yield c, column, multiplier * on_rotor[0], multiplier * on_rotor[1]
            yield column, c, 0.0, multiplier * v3.dot(z, sd)
            after = v3.scale(qd[c], v3.cross(zd, s))
            before, by_rate = v3.add(v3.cross(z, moment), after), v3.scale(qd[c], v3.cross(z, s))
            for i in turning:
                iteration((s, moment))
                axis, scale = screws[i].unit.w, multiplier * tree.bodies[i].multiplier
                by_position = v3.dot(axis, before if i < j else after)
                yield (
                    tree.bodies[i].coordinate,
                    column,
                    scale * by_position,
                    scale * v3.dot(axis, by_rate),
                )


def christoffel(tree: Tree, q: Scalars) -> list[Rows]:
    """Return c_ijk(q) = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, n x n x n.

    C_ij = sum over k of c_ijk qd_k. q: n scalars [rad|m]. For joints k, j, i from the base on,
    c_ijk = -c_jik = w_k . sum of s_j x s_i dm and c_kij = sum of s_k . (w_j x s_i) dm.
    Lecture "Lagrangian of a robot", Christoffel symbols; Siciliano et al. 2009, eq. (7.45).
    """
    still = [0.0] * tree.n
    bodies, screws = bodies_in_base(tree, q, still, still)
    symbols: list[Rows] = [_zeros(tree) for _ in range(tree.n)]
    for i, inertia in enumerate(composite_inertias(tree, inertias_in_base(tree, bodies))):
        flow = flow_of(inertia, screws[i].unit)
        for j in carriers(tree, i):
            iteration(inertia)
            twist, force = velocity_moment(screws[j], flow), rotation_force(screws[j].unit.w, flow)
            for k in carriers(tree, j):
                iteration(inertia)
                _enter_symbols(
                    tree,
                    symbols,
                    i,
                    j,
                    k,
                    -v3.dot(screws[k].unit.w, twist),
                    power(screws[k].unit, force),
                )
    for (i, j, k), value in rotor_symbols(tree, q):
        symbols[i][j][k] = symbols[i][j][k] + value
    return symbols


def inertias_in_base(tree: Tree, bodies: Sequence[BodyInBase]) -> list[Inertia]:
    """Return the inertias of all bodies in the base frame."""
    result = []
    for body, placed in zip(tree.bodies, bodies, strict=True):
        iteration(placed)
        result.append(inertia_in_base(body.inertia, placed))
    return result


def composite_inertias(tree: Tree, inertias: Sequence[Inertia]) -> list[Inertia]:
    """Return the composite inertia of each body's subtree."""
    total = list(inertias)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + total[i]
    return total


def composite_flows(
    tree: Tree, inertias: Sequence[Inertia], bodies: Sequence[BodyInBase]
) -> list[CompositeFlow]:
    """Return the flow of each body's subtree: inertia and moments of the points' velocities."""
    total = body_flows(inertias, bodies)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            iteration(total[i])
            total[parent] = sum_of_flows(total[parent], total[i])
    return total


def body_flows(inertias: Sequence[Inertia], bodies: Sequence[BodyInBase]) -> list[CompositeFlow]:
    """Return the flow of each body alone."""
    flows = []
    for inertia, body in zip(inertias, bodies, strict=True):
        iteration(body)
        flows.append(flow_of(inertia, Motion(body.w, v3.sub(body.u, v3.cross(body.w, body.p)))))
    return flows


def composite_forces(tree: Tree, forces: Sequence[Force]) -> list[Force]:
    """Return the net force of each body's subtree, which its joint transmits."""
    total = list(forces)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + total[i]
    return total


def body_forces(inertias: Sequence[Inertia], bodies: Sequence[BodyInBase]) -> list[Force]:
    """Return the net force of each body."""
    forces = []
    for inertia, body in zip(inertias, bodies, strict=True):
        iteration(body)
        U = spin_matrix(body.w, body.dw)
        forces.append(
            net_force(inertia, BodyMotion(body.w, body.dw, U, v3.sub(body.a, v3.apply(U, body.p))))
        )
    return forces


def flow_of(inertia: Inertia, motion: Motion) -> CompositeFlow:
    """Return the flow of a body whose points r move at v + w x r."""
    turning = body_flow(inertia, motion.w)
    x, y, z = (
        v3.add(row, v3.scale(v, inertia.h)) for row, v in zip(turning.K, motion.v, strict=True)
    )
    return CompositeFlow(inertia, v3.add(turning.P, v3.scale(inertia.m, motion.v)), (x, y, z))


def rotation_force(w: Vector, flow: CompositeFlow) -> Force:
    """Return the force that accelerates each point of a flow by w x u."""
    return Force(v3.cross(w, flow.P), trace_less(flow.K, w))


def velocity_moment(screw: Screw, flow: CompositeFlow) -> Vector:
    """Return the sum of u x s dm, on which the angular velocity of ancestors acts."""
    return v3.add(trace_less(v3.transpose(flow.K), screw.unit.w), v3.cross(flow.P, screw.unit.v))


def rate_force(screw: Screw, flow: CompositeFlow) -> Force:
    """Return the force due to the rate of change of a screw."""
    return force_of(flow.inertia, screw.rate) + rotation_force(screw.unit.w, flow)


def derivative_force(screw: Screw, flow: CompositeFlow, net: Force) -> Force:
    """Return the force on the ancestors of a joint per unit of its position."""
    w, v = screw.unit
    turned = Force(v3.cross(w, net.f), v3.add(v3.cross(w, net.n), v3.cross(v, net.f)))
    return (
        force_of(flow.inertia, screw.second) + _twice(rotation_force(screw.rate.w, flow)) + turned
    )


def _twice(x: MotionOrForce) -> MotionOrForce:
    return type(x)(v3.scale(2.0, x[0]), v3.scale(2.0, x[1]))


def _zeros(tree: Tree) -> Rows:
    return [[0.0] * tree.n for _ in range(tree.n)]


def _add_matrices(*matrices: Rows) -> Rows:
    return [
        [sum(entries[1:], entries[0]) for entries in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def _enter(tree: Tree, matrix: Rows, i: int, j: int, value: Scalar) -> None:
    """Add the entry of two bodies to the entry of their coordinates."""
    a, b = tree.bodies[i], tree.bodies[j]
    row, column = a.coordinate, b.coordinate
    matrix[row][column] = matrix[row][column] + a.multiplier * b.multiplier * value


def _enter_twice(tree: Tree, matrix: Rows, i: int, j: int, value: Scalar) -> None:
    """Add the entry and its mirror image to a symmetric matrix."""
    _enter(tree, matrix, i, j, value)
    if i != j:
        _enter(tree, matrix, j, i, value)


def _enter_symbols(
    tree: Tree, symbols: list[Rows], i: int, j: int, k: int, c_ijk: Scalar, c_kij: Scalar
) -> None:
    """Add the symbols of joints k, j, i, in the order from base to tip, for all permutations.

    Symbols of equal joints are added once.
    """
    values: dict[tuple[int, int, int], Scalar] = {}
    if i != j:
        values |= {(i, j, k): c_ijk, (i, k, j): c_ijk, (j, i, k): -c_ijk, (j, k, i): -c_ijk}
    if j != k:
        values |= {(k, i, j): c_kij, (k, j, i): c_kij}
    for joints, value in values.items():
        a, b, c = (tree.bodies[index] for index in joints)
        row = symbols[a.coordinate][b.coordinate]
        row[c.coordinate] = row[c.coordinate] + a.multiplier * b.multiplier * c.multiplier * value
