"""Rotors that spin on moving bodies: what their momentum does beyond the inertia Ia that the joint feels.

A rotor of inertia I_m turns at k qd_c about an axis z fixed to the body that carries it. Locked, it is part of that body. Turning, it adds
the energy Ia qd_c^2 / 2 + qd_c s . w with the armature Ia = k^2 I_m, the spin s = (Ia / k) z per unit rate and the carrier's angular
velocity w. The first is the armature's; the second is here, and all that follows from it.
Lecture "Newton-Euler formulation", augmented link, forward and backward equations; Siciliano et al. 2009, section 7.2.2.
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
    """A rotor in its carrier's frame: spin per unit rate of the coordinate, the axes of the turning joints below it, base first, and the
    base's angular velocity and acceleration.
    """

    mounted: MountedRotor
    s: Vector
    axes: list[tuple[int, Vector]]  # body and axis
    base_w: Vector = ZERO
    base_dw: Vector = ZERO

    def velocity(self, rates: Scalars) -> Vector:
        """Angular velocity of the carrier: the base's, and the sum of the axes times the joints' rates."""
        w = self.base_w
        for i, axis in self.axes:
            w = v3.add(w, v3.scale(rates[i], axis))
        return w

    def acceleration(self, rates: Scalars, accelerations: Scalars) -> Vector:
        """Angular acceleration of the carrier, in its frame: each axis turns with the base and the joints before it."""
        w, dw = self.base_w, self.base_dw
        for i, axis in self.axes:
            along = v3.scale(rates[i], axis)
            dw = v3.add(dw, v3.add(v3.scale(accelerations[i], axis), v3.cross(w, along)))
            w = v3.add(w, along)
        return dw

    def moment(self, rate: Scalar, acceleration: Scalar, rates: Scalars) -> Vector:
        """The moment that the spin takes of the carrier: s qdd_c + qd_c w x s."""
        return v3.add(v3.scale(acceleration, self.s), v3.scale(rate, v3.cross(self.velocity(rates), self.s)))


def spinning_rotors(tree: Tree, q: Scalars, unit: bool = False, on_base: bool = False) -> Iterator[SpinningRotor]:
    """Every rotor that sits on a moving body, or on a base that moves; `on_base` with those on a base at rest, which no joint feels.

    Of `unit` armature, or of its own.
    """
    joints = joint_motions(tree, q)
    for mounted in tree.rotors:
        Ia = tree.terms[mounted.coordinate].get("armature")
        Ia = 1.0 if unit and Ia is not None else Ia
        if Ia is not None and (on_base or mounted.mount >= 0 or tree.moving is not None):
            spin, mount = v3.scale(Ia * (1.0 / mounted.ratio), mounted.axis), mounted.mount
            base = (in_frame_of(tree, joints, mount, v) for v in (tree.base.w, tree.base.dw))
            yield SpinningRotor(mounted, spin, carrier_axes(tree, joints, mount), *base)


def carrier_axes(tree: Tree, joints: Sequence[JointMotion], body: int) -> list[tuple[int, Vector]]:
    """The axes of the joints that turn a body, base first, in its frame."""
    if body < 0:
        return []
    below = carrier_axes(tree, joints, tree.bodies[body].parent)
    own = [(body, joints[body].axis)] if joints[body].revolute else []
    return [(i, joints[body].down(axis)) for i, axis in below] + own


def in_frame_of(tree: Tree, joints: Sequence[JointMotion], body: int, v: Vector) -> Vector:
    """A vector of the base's frame, in a body's."""
    return v if body < 0 else joints[body].down(in_frame_of(tree, joints, tree.bodies[body].parent, v))


def rotor_torque(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """Torques that the rotors' spin takes beside Ia qdd, n scalars [N m|N].

    The coordinate feels s . dw/dt; the joints below the carrier feel the moment s qdd_c + qd_c w x s.
    Lecture "Newton-Euler formulation", algorithm 1 line 11 and algorithm 2 lines 8 and 9.
    """
    tau: list[Scalar] = [0.0] * tree.n
    for rotor in spinning_rotors(tree, q):
        for row, value in rotor_rows(tree, rotor, qd, qdd):
            tau[row] = tau[row] + value
    return tau


def rotor_rows(tree: Tree, rotor: SpinningRotor, qd: Scalars, qdd: Scalars) -> Iterator[tuple[int, Scalar]]:
    """What one rotor adds to the torque of each coordinate it is coupled with."""
    rates, accelerations = joint_rates(tree, qd), joint_rates(tree, qdd)
    c = rotor.mounted.coordinate
    yield c, v3.dot(rotor.s, rotor.acceleration(rates, accelerations))
    moment = rotor.moment(qd[c], qdd[c], rates)
    for i, axis in rotor.axes:
        yield tree.bodies[i].coordinate, tree.bodies[i].multiplier * v3.dot(axis, moment)


def rotor_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """What the rotors' spin adds to the mass matrix, n x n: s . axis between the coordinate and every joint below the carrier."""
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
    """What the rotors' spin adds to the Coriolis matrix of the Christoffel symbols, n x n."""
    C: list[list[Scalar]] = [[0.0] * tree.n for _ in range(tree.n)]
    for (i, j, k), symbol in rotor_symbols(tree, q):
        C[i][j] = C[i][j] + symbol * qd[k]
    return C


def rotor_symbols(tree: Tree, q: Scalars, unit: bool = False) -> Iterator[tuple[tuple[int, int, int], Scalar]]:
    """What the rotors' spin adds to the Christoffel symbols c_ijk, with i, j, k; several may be of the same symbol. `unit` as above.

    Of M_cj = s . a_j only the joints k between j and the carrier change anything: d_kj = dM_cj/dq_k = (a_k x s) . a_j for k after j.
    """
    for rotor in spinning_rotors(tree, q, unit):
        c = rotor.mounted.coordinate
        for at, (j, a) in enumerate(rotor.axes):
            for k, b in rotor.axes[at + 1 :]:
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
    """What the rotors' spin adds to the kinetic energy: qd_c s . w [J]."""
    rates = joint_rates(tree, qd)
    return sum((qd[s.mounted.coordinate] * v3.dot(s.s, s.velocity(rates)) for s in spinning_rotors(tree, q)), 0.0)


def rotor_momentum(tree: Tree, q: Scalars, qd: Scalars) -> list[Scalar]:
    """What the rotors' spin adds to the generalised momentum, n scalars [kg m2/s|kg m/s]."""
    p: list[Scalar] = [0.0] * tree.n
    rates = joint_rates(tree, qd)
    for rotor in spinning_rotors(tree, q):
        c = rotor.mounted.coordinate
        p[c] = p[c] + v3.dot(rotor.s, rotor.velocity(rates))
        for i, axis in rotor.axes:
            j = tree.bodies[i].coordinate
            p[j] = p[j] + tree.bodies[i].multiplier * (qd[c] * v3.dot(rotor.s, axis))
    return p


def rotor_columns(tree: Tree, q: Scalars, qd: Scalars, qdd: Scalars) -> dict[int, dict[int, Scalar]]:
    """Per coordinate with a rotor on a moving body, what its column of Ia has beside qdd: coordinate -> factor."""
    columns: dict[int, dict[int, Scalar]] = {}
    for rotor in spinning_rotors(tree, q, unit=True):
        column = columns.setdefault(rotor.mounted.coordinate, {})
        for row, value in rotor_rows(tree, rotor, qd, qdd):
            column[row] = column.get(row, 0.0) + value
    return columns


def rotor_force_columns(tree: Tree, q: Scalars, qd: Scalars) -> dict[int, dict[int, Scalar]]:
    """Per coordinate with a rotor on a moving body, what C^T qd has per unit of its Ia: coordinate -> factor."""
    columns: dict[int, dict[int, Scalar]] = {}
    for mounted in tree.rotors:
        column = columns.setdefault(mounted.coordinate, {})
        for (j, i, k), symbol in rotor_symbols(replace(tree, rotors=(mounted,)), q, unit=True):
            column[i] = column.get(i, 0.0) + symbol * (qd[j] * qd[k])
    return columns
