"""Matrices of the joint space by screws and composite bodies in the base's frame: a few scalar products for each pair of joints.

Sums over the points that a joint carries are moments of its composite body. With the screws s_i and s_j of two joints, i carried by j,
and the points dm that i carries: M_ij = sum of s_i . s_j dm, C_ij = sum of s_i . s_j' dm, C_ji = sum of s_j . s_i' dm; a unit of a joint's
position moves the points behind it by its screw s, and changes their accelerations by s''.
Echeandia and Wensing 2021 (C and its symbols); Singh, Russell and Wensing 2022 (slopes); both in spatial vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...algebra.spatial import Force, Inertia, Motion
from ...algebra.vector import Vector
from ...mechanism.tree import Tree
from ..coriolis import CompositeFlow, body_flow, sum_of_flows, trace_less
from ..joint_torques import inertial_matrix
from ..rnea import BodyMotion, net_force, spin_matrix
from ..rotors import rotor_coriolis, rotor_matrix, rotor_symbols
from .rotor_slopes import rotor_slopes
from .screws import Placed, Screw, carriers, force_of, inertia_in_base, place, power

Rows = list[list[Scalar]]
MotionOrForce = TypeVar("MotionOrForce", Motion, Force)


def mass_matrix(tree: Tree, q: Scalars) -> Rows:
    """M(q), n x n, as of the composite-rigid-body algorithm. q: n scalars [rad|m]."""
    still = [0.0] * tree.n
    bodies, screws = place(tree, q, still, still)
    M = _zeros(tree)
    for i, inertia in enumerate(composite_inertias(tree, inertias_in_base(tree, bodies))):
        unit = force_of(inertia, screws[i].unit)
        for j in carriers(tree, i):
            iteration(unit)
            _enter_twice(tree, M, i, j, power(screws[j].unit, unit))
    return with_drives(tree, q, M)


def with_drives(tree: Tree, q: Scalars, M: Rows) -> Rows:
    """The mass matrix of rigid bodies, with the inertia of drives and the spin of their rotors."""
    return _sum(M, inertial_matrix(tree), rotor_matrix(tree, q))


def coriolis_matrix(tree: Tree, q: Scalars, qd: Scalars) -> Rows:
    """C(q, qd) that belongs to the Christoffel symbols, n x n. q [rad|m], qd: n scalars each."""
    bodies, screws = place(tree, q, qd, [0.0] * tree.n)
    C = _zeros(tree)
    for i, flow in enumerate(composite_flows(tree, inertias_in_base(tree, bodies), bodies)):
        unit, rate, twist = force_of(flow.inertia, screws[i].unit), rate_force(screws[i], flow), unit_twist(screws[i], flow)
        for j in carriers(tree, i):
            iteration(unit)
            if i != j:
                _enter(tree, C, i, j, power(screws[j].rate, unit) + v3.dot(screws[j].unit.w, twist))
            _enter(tree, C, j, i, power(screws[j].unit, rate))
    return _sum(C, rotor_coriolis(tree, q, qd))


def derivatives(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> tuple[Rows, Rows, Rows]:
    """d tau / dq and d tau / dqd of bodies and spinning rotors, and M with the drives, each n x n. q [rad|m], qd, qdd: n scalars each.

    Of the bodies d tau / dqd = 2 C.
    """
    bodies, screws = place(tree, q, qd, qdd)
    inertias = inertias_in_base(tree, bodies)
    flows, nets = composite_flows(tree, inertias, bodies), composite_forces(tree, body_forces(inertias, bodies))
    rates = [_doubled(screw.rate) for screw in screws]
    by_q, by_qd, M = (_zeros(tree) for _ in range(3))
    for i, (screw, flow, net) in enumerate(zip(screws, flows, nets, strict=True)):
        iteration(flow.inertia)
        unit, twist = force_of(flow.inertia, screw.unit), unit_twist(screw, flow)
        rate, slope, twist2 = _doubled(rate_force(screw, flow)), slope_force(screw, flow, net), v3.scale(2.0, twist)
        for j in carriers(tree, i):
            iteration(unit)
            near = screws[j]
            _enter_twice(tree, M, i, j, power(near.unit, unit))
            _enter(tree, by_qd, j, i, power(near.unit, rate))
            _enter(tree, by_q, j, i, power(near.unit, slope))
            if i != j:
                _enter(tree, by_qd, i, j, power(rates[j], unit) + v3.dot(near.unit.w, twist2))
                _enter(tree, by_q, i, j, power(near.second, unit) + v3.dot(rates[j].w, twist))
    for row, column, by_position, by_rate in rotor_slopes(tree, bodies, screws, qd, qdd):
        by_q[row][column] = by_q[row][column] + by_position
        by_qd[row][column] = by_qd[row][column] + by_rate
    return by_q, by_qd, with_drives(tree, q, M)


def christoffel(tree: Tree, q: Scalars) -> list[Rows]:
    """c_ijk(q) = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, n x n x n, so that C_ij = sum over k of c_ijk qd_k. q: n scalars [rad|m].

    Of joints k, j, i from the base on, c_ijk = -c_jik = w_k . sum of s_j x s_i dm and c_kij = sum of s_k . (w_j x s_i) dm.
    Lecture "Lagrangian of a robot", Christoffel symbols; Siciliano et al. 2009, eq. (7.45).
    """
    still = [0.0] * tree.n
    bodies, screws = place(tree, q, still, still)
    symbols: list[Rows] = [_zeros(tree) for _ in range(tree.n)]
    for i, inertia in enumerate(composite_inertias(tree, inertias_in_base(tree, bodies))):
        flow = flow_of(inertia, screws[i].unit)
        for j in carriers(tree, i):
            iteration(inertia)
            twist, force = unit_twist(screws[j], flow), turned_force(screws[j].unit.w, flow)
            for k in carriers(tree, j):
                iteration(inertia)
                _enter_symbols(tree, symbols, i, j, k, -v3.dot(screws[k].unit.w, twist), power(screws[k].unit, force))
    for (i, j, k), value in rotor_symbols(tree, q):
        symbols[i][j][k] = symbols[i][j][k] + value
    return symbols


def inertias_in_base(tree: Tree, bodies: Sequence[Placed]) -> list[Inertia]:
    """The inertias of all bodies in the base's frame."""
    made = []
    for body, placed in zip(tree.bodies, bodies, strict=True):
        iteration(placed)
        made.append(inertia_in_base(body.inertia, placed))
    return made


def composite_inertias(tree: Tree, inertias: Sequence[Inertia]) -> list[Inertia]:
    """The inertia of each body with all that it carries."""
    total = list(inertias)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + total[i]
    return total


def composite_flows(tree: Tree, inertias: Sequence[Inertia], bodies: Sequence[Placed]) -> list[CompositeFlow]:
    """The flow of each body with all that it carries: its inertia, and the moments of its points' velocities."""
    total = body_flows(inertias, bodies)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            iteration(total[i])
            total[parent] = sum_of_flows(total[parent], total[i])
    return total


def body_flows(inertias: Sequence[Inertia], bodies: Sequence[Placed]) -> list[CompositeFlow]:
    """The flow of each body by itself."""
    flows = []
    for inertia, body in zip(inertias, bodies, strict=True):
        iteration(body)
        flows.append(flow_of(inertia, Motion(body.w, v3.sub(body.u, v3.cross(body.w, body.p)))))
    return flows


def composite_forces(tree: Tree, forces: Sequence[Force]) -> list[Force]:
    """What each joint transmits: the net force of its body and of all that it carries."""
    total = list(forces)
    for i in reversed(range(len(total))):
        parent = tree.bodies[i].parent
        if parent >= 0:
            total[parent] = total[parent] + total[i]
    return total


def body_forces(inertias: Sequence[Inertia], bodies: Sequence[Placed]) -> list[Force]:
    """The net force of each body."""
    forces = []
    for inertia, body in zip(inertias, bodies, strict=True):
        iteration(body)
        U = spin_matrix(body.w, body.dw)
        forces.append(net_force(inertia, BodyMotion(body.w, body.dw, U, v3.sub(body.a, v3.apply(U, body.p)))))
    return forces


def flow_of(inertia: Inertia, motion: Motion) -> CompositeFlow:
    """The flow of a body whose points r move at v + w x r."""
    turning = body_flow(inertia, motion.w)
    x, y, z = (v3.add(row, v3.scale(v, inertia.h)) for row, v in zip(turning.K, motion.v, strict=True))
    return CompositeFlow(inertia, v3.add(turning.P, v3.scale(inertia.m, motion.v)), (x, y, z))


def turned_force(w: Vector, flow: CompositeFlow) -> Force:
    """The force that gives each point of a flow the acceleration w x u."""
    return Force(v3.cross(w, flow.P), trace_less(flow.K, w))


def unit_twist(screw: Screw, flow: CompositeFlow) -> Vector:
    """Sum of u x s dm, on which the spin of joints before this one acts."""
    return v3.add(trace_less(v3.transpose(flow.K), screw.unit.w), v3.cross(flow.P, screw.unit.v))


def rate_force(screw: Screw, flow: CompositeFlow) -> Force:
    """The force of the rate at which a screw changes."""
    return force_of(flow.inertia, screw.rate) + turned_force(screw.unit.w, flow)


def slope_force(screw: Screw, flow: CompositeFlow, net: Force) -> Force:
    """The force, on the joints before this one, of a unit of this joint's position."""
    w, v = screw.unit
    turned = Force(v3.cross(w, net.f), v3.add(v3.cross(w, net.n), v3.cross(v, net.f)))
    return force_of(flow.inertia, screw.second) + _doubled(turned_force(screw.rate.w, flow)) + turned


def _doubled(x: MotionOrForce) -> MotionOrForce:
    return type(x)(v3.scale(2.0, x[0]), v3.scale(2.0, x[1]))


def _zeros(tree: Tree) -> Rows:
    return [[0.0] * tree.n for _ in range(tree.n)]


def _sum(*matrices: Rows) -> Rows:
    return [[sum(entries[1:], entries[0]) for entries in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def _enter(tree: Tree, matrix: Rows, i: int, j: int, value: Scalar) -> None:
    """Add the entry of two bodies to that of their coordinates."""
    a, b = tree.bodies[i], tree.bodies[j]
    row, column = a.coordinate, b.coordinate
    matrix[row][column] = matrix[row][column] + a.multiplier * b.multiplier * value


def _enter_twice(tree: Tree, matrix: Rows, i: int, j: int, value: Scalar) -> None:
    """The same in a symmetric matrix."""
    _enter(tree, matrix, i, j, value)
    if i != j:
        _enter(tree, matrix, j, i, value)


def _enter_symbols(tree: Tree, symbols: list[Rows], i: int, j: int, k: int, c_ijk: Scalar, c_kij: Scalar) -> None:
    """Add the symbols of three joints, k before or at j before or at i, in all orders; those of equal joints once."""
    found: dict[tuple[int, int, int], Scalar] = {}
    if i != j:
        found |= {(i, j, k): c_ijk, (i, k, j): c_ijk, (j, i, k): -c_ijk, (j, k, i): -c_ijk}
    if j != k:
        found |= {(k, i, j): c_kij, (k, j, i): c_kij}
    for joints, value in found.items():
        a, b, c = (tree.bodies[at] for at in joints)
        row = symbols[a.coordinate][b.coordinate]
        row[c.coordinate] = row[c.coordinate] + a.multiplier * b.multiplier * c.multiplier * value
