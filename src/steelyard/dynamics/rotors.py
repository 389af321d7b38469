"""Dynamics of rotors that spin on moving bodies, beyond their reflected inertia Ia.

A rotor of inertia I_m rotates at k qd_c about an axis z fixed to its carrier. Locked, it is part of
the carrier. Spinning, it adds the energy Ia qd_c^2 / 2 + qd_c s . w, with the armature
Ia = k^2 I_m, the spin s = (Ia / k) z per unit rate and the carrier's angular velocity w. The first
term is the armature's, the second is treated here. Lecture "Newton-Euler formulation", augmented
link, forward and backward equations; Siciliano et al. 2009, section 7.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..algebra import vector as v3
from ..algebra.scalar import Scalar, Scalars, iteration
from ..algebra.vector import ZERO, Vector
from ..mechanism.tree import MountedRotor, Tree
from .joint import JointMotion, joint_motions, joint_rates


class SpinningRotor(NamedTuple):
    """A rotor in its carrier's frame.

    Spin s per unit rate of its coordinate, axes of the revolute joints that move the carrier (base
    first), and angular velocity and acceleration of the base.
    """

    mounted: MountedRotor
    s: Vector
    axes: list[tuple[int, Vector]]  # body and axis
    base_w: Vector = ZERO
    base_dw: Vector = ZERO

    def velocity(self, rates: Scalars) -> Vector:
        """Return the carrier's angular velocity: the base's, plus the sum of axis * rate."""
        w = self.base_w
        for i, axis in self.axes:
            w = v3.add(w, v3.scale(rates[i], axis))
        return w

    def acceleration(self, rates: Scalars, accelerations: Scalars) -> Vector:
        """Return the carrier's angular acceleration, in its frame.

        Each axis rotates with the base and with the joints before it.
        """
        w, dw = self.base_w, self.base_dw
        for i, axis in self.axes:
            along = v3.scale(rates[i], axis)
            dw = v3.add(dw, v3.add(v3.scale(accelerations[i], axis), v3.cross(w, along)))
            w = v3.add(w, along)
        return dw

    def moment(self, rate: Scalar, acceleration: Scalar, rates: Scalars) -> Vector:
        """Return the moment on the rotor by its carrier: s qdd_c + qd_c w x s."""
        return v3.add(
            v3.scale(acceleration, self.s), v3.scale(rate, v3.cross(self.velocity(rates), self.s))
        )


def spinning_rotors(
    tree: Tree, q: Scalars, unit: bool = False, on_base: bool = False
) -> Iterator[SpinningRotor]:
    """Yield every rotor on a moving body or on a moving base.

    `on_base` adds rotors on a base at rest, which act on no joint. `unit` sets every armature to 1.
    """
    joints = joint_motions(tree, q)
    for mounted in tree.rotors:
        Ia = tree.terms[mounted.coordinate].get("armature")
        Ia = 1.0 if unit and Ia is not None else Ia
        if Ia is not None and (on_base or mounted.mount >= 0 or tree.moving is not None):
            spin, mount = v3.scale(Ia * (1.0 / mounted.ratio), mounted.axis), mounted.mount
            base = (to_body_frame(tree, joints, mount, v) for v in (tree.base.w, tree.base.dw))
            yield SpinningRotor(mounted, spin, carrier_axes(tree, joints, mount), *base)


def carrier_axes(tree: Tree, joints: Sequence[JointMotion], body: int) -> list[tuple[int, Vector]]:
    """Return the axes of the revolute joints that move a body, base first, in its frame."""
    if body < 0:
        return []
    below = carrier_axes(tree, joints, tree.bodies[body].parent)
    last = [(body, joints[body].axis)] if joints[body].revolute else []
    return [(i, joints[body].down(axis)) for i, axis in below] + last


def to_body_frame(tree: Tree, joints: Sequence[JointMotion], body: int, v: Vector) -> Vector:
    """Return a vector of the base frame in a body's frame."""
    return (
        v
        if body < 0
        else joints[body].down(to_body_frame(tree, joints, tree.bodies[body].parent, v))
    )


def rotor_torque(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Return the torques of the rotors' spin in addition to Ia qdd, n scalars [N m|N].

    s . dw/dt acts on the rotor's coordinate, the moment s qdd_c + qd_c w x s on the joints that
    move the carrier. Lecture "Newton-Euler formulation", algorithm 1 line 11 and algorithm 2 lines
    8 and 9.
    """
    tau: list[Scalar] = [0.0] * tree.n
    for rotor in spinning_rotors(tree, q):
        for row, value in rotor_rows(tree, rotor, qd, qdd):
            tau[row] = tau[row] + value
    return tau


def rotor_rows(
    tree: Tree, rotor: SpinningRotor, qd: Scalars, qdd: Scalars
) -> Iterator[tuple[int, Scalar]]:
    """Yield the torque of one rotor on each coordinate to which it is coupled."""
    rates, accelerations = joint_rates(tree, qd), joint_rates(tree, qdd)
    c = rotor.mounted.coordinate
    yield c, v3.dot(rotor.s, rotor.acceleration(rates, accelerations))
    moment = rotor.moment(qd[c], qdd[c], rates)
    for i, axis in rotor.axes:
        yield tree.bodies[i].coordinate, tree.bodies[i].multiplier * v3.dot(axis, moment)


def rotor_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """Return the part of the rotors' spin in the mass matrix, n x n.

    s . axis couples the rotor's coordinate with every joint that moves the carrier.
    """
    M: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for rotor in spinning_rotors(tree, q):
        c = rotor.mounted.coordinate
        for i, axis in rotor.axes:
            j = tree.bodies[i].coordinate
            value = tree.bodies[i].multiplier * v3.dot(rotor.s, axis)
            M[c][j] = M[c][j] + value
            M[j][c] = M[j][c] + value
    return M


def rotor_coriolis(tree: Tree, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """Return the part of the rotors' spin in the Coriolis matrix, n x n."""
    C: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for (i, j, k), symbol in rotor_symbols(tree, q):
        C[i][j] = C[i][j] + symbol * qd[k]
    return C


def rotor_symbols(
    tree: Tree, q: Scalars, unit: bool = False
) -> Iterator[tuple[tuple[int, int, int], Scalar]]:
    """Yield (i, j, k) and the part of the rotors' spin in the Christoffel symbol c_ijk.

    A symbol may occur several times. `unit` sets every armature to 1. M_cj = s . a_j depends only
    on the joints k between j and the carrier: dM_cj/dq_k = (a_k x s) . a_j for k after j.
    """
    for rotor in spinning_rotors(tree, q, unit):
        c = rotor.mounted.coordinate
        for index, (j, a) in enumerate(rotor.axes):
            for k, b in rotor.axes[index + 1 :]:
                iteration((a, b))
                one, two = tree.bodies[j], tree.bodies[k]
                d = (0.5 * one.multiplier * two.multiplier) * v3.dot(v3.cross(b, rotor.s), a)
                J, K = one.coordinate, two.coordinate
                yield (c, J, K), d
                yield (c, K, J), d
                yield (J, c, K), d
                yield (K, c, J), -d
                yield (J, K, c), d
                yield (K, J, c), -d


def rotor_energy(tree: Tree, q: Scalars, qd: Scalars) -> Scalar:
    """Return the part of the rotors' spin in the kinetic energy: qd_c s . w [J]."""
    rates = joint_rates(tree, qd)
    return sum(
        (
            qd[s.mounted.coordinate] * v3.dot(s.s, s.velocity(rates))
            for s in spinning_rotors(tree, q)
        ),
        0.0,
    )


def rotor_momentum(tree: Tree, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Return the part of the rotors' spin in the momentum, n scalars [kg m2/s|kg m/s]."""
    p: list[Scalar] = [0.0] * tree.n
    rates = joint_rates(tree, qd)
    for rotor in spinning_rotors(tree, q):
        c = rotor.mounted.coordinate
        p[c] = p[c] + v3.dot(rotor.s, rotor.velocity(rates))
        for i, axis in rotor.axes:
            j = tree.bodies[i].coordinate
            p[j] = p[j] + tree.bodies[i].multiplier * (qd[c] * v3.dot(rotor.s, axis))
    return p


def rotor_columns(
    tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars
) -> dict[int, dict[int, Scalar]]:
    """Return the part of the rotors' spin in the regressor's columns of Ia.

    Maps the coordinate of each rotor on a moving body to its column, coordinate -> factor.
    """
    columns: dict[int, dict[int, Scalar]] = {}
    for rotor in spinning_rotors(tree, q, unit=True):
        column = columns.setdefault(rotor.mounted.coordinate, {})
        for row, value in rotor_rows(tree, rotor, qd, qdd):
            column[row] = column.get(row, 0.0) + value
    return columns


def rotor_force_columns(tree: Tree, q: Scalars, qd: Scalars) -> dict[int, dict[int, Scalar]]:
    """Return the part of the rotors' spin in C^T qd per unit of Ia.

    Maps the coordinate of each rotor on a moving body to its column, coordinate -> factor.
    """
    columns: dict[int, dict[int, Scalar]] = {}
    for mounted in tree.rotors:
        column = columns.setdefault(mounted.coordinate, {})
        for (j, i, k), symbol in rotor_symbols(replace(tree, rotors=(mounted,)), q, unit=True):
            column[i] = column.get(i, 0.0) + symbol * (qd[j] * qd[k])
    return columns
