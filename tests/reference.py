"""Mechanics of a mechanism from nothing but the poses of its links, in NumPy.

A second opinion that shares no code with the package.

Velocities are complex steps of the poses, M is the sum of J^T I J over links and rotors, and all
else follows from M(q), U(q) and the friction of each joint by the equations of Lagrange, with
derivatives by differences of eighth order. Fixed links, mimic joints and rotors are bodies like any
other here: nothing is merged, folded or regrouped. Arrays are (..., n), batch dimensions first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.algebra.vector import full
from steelyard.mechanism.model import Coupling, Joint, Mechanism

Array = np.ndarray
Function = Callable[[Array], Array]
STEP, COMPLEX_STEP = 4e-3, 1e-40
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def rate(f: Callable[[float], Array], h: float = STEP) -> Array:
    """df/ds at s = 0, to order h^8. Fornberg 1988, table 1."""
    return sum(c * (f(k * h) - f(-k * h)) for k, c in STENCIL) / h


def finite_difference(f: Function, x: Array, h: float = STEP) -> Array:
    """df/dx of a function that takes any batch (..., n), with the direction as the last axis."""
    n = x.shape[-1]
    steps = np.array([s * k * h for k, _ in STENCIL for s in (1, -1)])
    weights = np.array([s * c / h for _, c in STENCIL for s in (1, -1)])
    moves = (steps[:, None, None] * np.eye(n)).reshape(len(steps), n, *[1] * (x.ndim - 1), n)
    return np.moveaxis(np.tensordot(weights, f(x + moves), 1), 0, -1)


def along(q: Array, qd: Array, qdd: Array, f: Callable[[Array, Array], Array]) -> Array:
    """d f(q, qd) / dt on the motion that has these derivatives now."""
    return rate(lambda s: f(q + s * qd + s * s / 2 * qdd, qd + s * qdd))


@dataclass(frozen=True)
class Reference:
    """A mechanism and the names of its coordinates, in the order of q."""

    mechanism: Mechanism
    coordinates: tuple[str, ...]

    @cached_property
    def ties(self) -> dict[str, tuple[Array, float]]:
        """Per moving joint its gradient (n,) and offset: position = gradient . q + offset."""
        return {
            joint.name: self._tie(joint) for joint in self.mechanism.joints if joint.kind != "fixed"
        }

    def _tie(self, joint: Joint) -> tuple[Array, float]:
        if joint.mimic is None:
            return np.eye(len(self.coordinates))[self.coordinates.index(joint.name)], 0.0
        gradient, offset = self._tie(self.mechanism.joint(joint.mimic.joint))
        return (
            joint.mimic.multiplier * gradient,
            joint.mimic.multiplier * offset + joint.mimic.offset,
        )

    def poses(self, q: Array) -> dict[str, Array]:
        """Homogeneous matrices (..., 4, 4) of all links in the base frame; q may be complex."""
        results = {
            self.mechanism.root: np.broadcast_to(np.eye(4, dtype=q.dtype), (*q.shape[:-1], 4, 4))
        }
        waiting = list(self.mechanism.joints)
        while waiting:
            joint = next(joint for joint in waiting if joint.parent in results)
            results[joint.child] = (
                results[joint.parent] @ homogeneous(*joint.origin) @ self._turned(joint, q)
            )
            waiting.remove(joint)
        return results

    def _turned(self, joint: Joint, q: Array) -> Array:
        if joint.kind == "fixed":
            return np.eye(4)
        gradient, offset = self.ties[joint.name]
        return displacement(joint.kind, np.array(joint.axis), q @ gradient + offset)

    def velocities(self, q: Array, qd: Array) -> dict[str, Array]:
        """Velocity of every link's origin, then its angular velocity, (..., 6) in the base
        frame.
        """
        return {
            name: twist(X.real, X.imag / COMPLEX_STEP)
            for name, X in self.poses(q + COMPLEX_STEP * 1j * qd).items()
        }

    def jacobians(self, q: Array) -> dict[str, Array]:
        """J of every link, (..., 6, n)."""
        n = q.shape[-1]
        columns = self.velocities(q, np.eye(n).reshape(n, *[1] * (q.ndim - 1), n))
        return {
            name: np.moveaxis(np.broadcast_to(V, (n, *V.shape[1:])), 0, -1)
            for name, V in columns.items()
        }

    def mass_matrix(self, q: Array) -> Array:
        """M (..., n, n) of links and rotors."""
        X, J, M = self.poses(q), self.jacobians(q), np.zeros((*q.shape, q.shape[-1]))
        for link in self.mechanism.links:
            if link.inertia is not None:
                M = (
                    M
                    + T(J[link.name])
                    @ spatial_inertia(link.inertia, X[link.name][..., :3, :3])
                    @ J[link.name]
                )
        for joint in self.mechanism.joints:
            if "armature" in joint.terms:
                M = M + self._rotor(joint, X, J)
        for coupling in self.mechanism.couplings:
            a, b = self._coupled(coupling)
            M = M + coupling.terms.get("armature", 0.0) * (np.outer(a, b) + np.outer(b, a))
        return M

    def _coupled(self, coupling: Coupling) -> tuple[Array, Array]:
        """The gradients of two joints that share a motor."""
        return self.ties[coupling.joint_a][0], self.ties[coupling.joint_b][0]

    def _rotor(self, joint: Joint, X: dict[str, Array], J: dict[str, Array]) -> Array:
        """Of a rotor that turns by k qd beside its carrier, without what it has while locked.

        Or felt at the joint alone.
        """
        own = self.ties[joint.name][0]
        if joint.rotor is None:
            return joint.terms["armature"] * np.outer(own, own)
        k, axis, mount = joint.rotor.ratio, joint.rotor.axis, joint.rotor.mount
        carried = np.einsum(
            "...ij,j,...ik->...k", X[mount][..., :3, :3], np.array(axis), J[mount][..., 3:, :]
        )
        whole = carried + k * own
        return joint.terms["armature"] / k**2 * (outer(whole) - outer(carried))

    def christoffel(self, q: Array) -> Array:
        """c_ijk (..., n, n, n) from the derivatives of M."""
        D = finite_difference(self.mass_matrix, q)
        return 0.5 * (D + np.swapaxes(D, -1, -2) - np.moveaxis(D, -1, -3))

    def kinetic_energy(self, q: Array, qd: Array) -> Array:
        return 0.5 * np.einsum("...i,...ij,...j->...", qd, self.mass_matrix(q), qd)

    def potential_energy(self, q: Array) -> Array:
        return -sum(self.weighing(q, name)[0] @ self.mechanism.gravity for name in self.moving(q))

    def moving(self, q: Array) -> list[str]:
        """Links with an inertia, apart from the base."""
        return [
            link.name
            for link in self.mechanism.links
            if link.inertia is not None and link.name != self.mechanism.root
        ]

    def weighing(self, q: Array, name: str) -> tuple[Array, float]:
        """First moment about the base's origin (..., 3) and mass of a link."""
        inertia, X = self.mechanism.link(name).inertia, self.poses(q)[name]
        return X[..., :3, :3] @ inertia.h + inertia.m * X[..., :3, 3], inertia.m

    def gravity_torque(self, q: Array) -> Array:
        return finite_difference(self.potential_energy, q)

    def friction_torque(self, qd: Array, q: Array) -> Array:
        """Each joint's own friction at its own rate, position and load, brought to the coordinates
        by virtual work.
        """
        total, load_torque = np.zeros(qd.shape), self.gravity_torque(q)
        for joint in self.mechanism.joints:
            if joint.kind != "fixed":
                gradient, offset = self.ties[joint.name]
                own = friction(joint, qd @ gradient, q @ gradient + offset, load_torque @ gradient)
                total = total + own[..., None] * gradient
        for coupling in self.mechanism.couplings:
            for one, other in (self._coupled(coupling), self._coupled(coupling)[::-1]):
                total = total + shared_friction(coupling, qd @ one, qd @ other)[..., None] * one
        return total

    def torques(self, q: Array, qd: Array, qdd: Array) -> Array:
        """tau = M qdd + C qd + g + friction."""
        inertial = np.einsum("...ij,...j->...i", self.mass_matrix(q), qdd)
        centrifugal = np.einsum("...ijk,...j,...k->...i", self.christoffel(q), qd, qd)
        return inertial + centrifugal + self.gravity_torque(q) + self.friction_torque(qd, q)

    def inertial_torque(self, qdd: Array) -> Array:
        """What accelerates rotors that the joints alone feel."""
        felt = [
            (self.ties[j.name][0], j.terms["armature"])
            for j in self.mechanism.joints
            if "armature" in j.terms
        ]
        total = sum(
            (Ia * (qdd @ own)[..., None] * own for own, Ia in felt),
            np.zeros(qdd.shape),
        )
        for coupling in self.mechanism.couplings:
            for one, other in (self._coupled(coupling), self._coupled(coupling)[::-1]):
                total = total + coupling.terms.get("armature", 0.0) * (qdd @ other)[..., None] * one
        return total

    def carried(self, name: str) -> list[str]:
        """A link and all that it carries."""
        return [
            name,
            *(
                link
                for joint in self.mechanism.joints
                if joint.parent == name
                for link in self.carried(joint.child)
            ),
        ]

    def reaction(self, q: Array, qd: Array, qdd: Array, name: str) -> Array:
        """Force and moment (..., 6) that a link needs from its joint.

        Rate of momentum less weight of all it carries, in its frame.
        """
        X = self.poses(q)[name]
        R, o = X[..., :3, :3], X[..., :3, 3]
        wrench = along(
            q, qd, qdd, lambda x, xd: self.momentum_about(o, name, x, xd)
        ) - self.weight_about(o, name, q)
        return np.concatenate(
            [np.einsum("...ji,...j->...i", R, half) for half in np.split(wrench, 2, axis=-1)],
            axis=-1,
        )

    def momentum_about(self, o: Array, name: str, q: Array, qd: Array) -> Array:
        """Momentum of a link and all that it carries, and angular momentum about the fixed point o,
        (..., 6).
        """
        X, V, total, links = (
            self.poses(q),
            self.velocities(q, qd),
            np.zeros((*q.shape[:-1], 6)),
            self.carried(name),
        )
        for link in links:
            inertia = self.mechanism.link(link).inertia
            if inertia is not None:
                own = np.einsum(
                    "...ij,...j->...i", spatial_inertia(inertia, X[link][..., :3, :3]), V[link]
                )
                total = total + shifted(own, X[link][..., :3, 3] - o)
        for joint in self.mechanism.joints:
            if joint.rotor is not None and joint.rotor.mount in links:
                spin = joint.terms["armature"] / joint.rotor.ratio * (qd @ self.ties[joint.name][0])
                total[..., 3:] += spin[..., None] * (
                    X[joint.rotor.mount][..., :3, :3] @ joint.rotor.axis
                )
        return total

    def weight_about(self, o: Array, name: str, q: Array) -> Array:
        total = np.zeros((*q.shape[:-1], 6))
        for link in self.carried(name):
            if self.mechanism.link(link).inertia is not None:
                h, m = self.weighing(q, link)
                total[..., :3] += m * np.array(self.mechanism.gravity)
                total[..., 3:] += np.cross(h - m * o, self.mechanism.gravity)
        return total


def friction(joint: Joint, rate: Array, path: Array, load: Array) -> Array:
    """Armstrong-Helouvry 1994.

    Fv v + s(v) (Fc + (Fs - Fc) exp(-(v/vs)^2)) + F0, with Fn for Fc where v < 0.

    To it come Fl |load| s(v), with Fld where the motor drives the load, Flb where the load drives
    the motor, Fp sign(v) of a joint that slides, and the ripple, sum of Rs sin(h G q) +
    Rc cos(h G q).
    """
    f = joint.terms
    direction = np.sign(rate) if "width" not in f else np.tanh(rate / f["width"])
    forward = f.get("coulomb", 0.0)
    level = np.where(rate > 0, forward, f.get("negative", forward))
    stiction = 0.0
    if "stribeck" in f:
        fading = np.exp(-((rate / f["stribeck"]) ** 2))
        level = level - level * fading
        towards = np.sign(rate) if "distance" in f else direction
        stiction = towards * f.get("stiction", 0.0) * fading
    angles = {h: h * f.get("gear", 0.0) * path for h in (1, 2, 6)}
    waves = sum(
        f.get(f"sine{h}", 0.0) * np.sin(x) + f.get(f"cosine{h}", 0.0) * np.cos(x)
        for h, x in angles.items()
    )
    share = np.where(load * rate > 0, f.get("driving", 0.0), f.get("driven", 0.0))
    return (
        f.get("viscous", 0.0) * rate
        + direction * (level + (f.get("load", 0.0) + share) * np.abs(load))
        + stiction
        + f.get("presliding", 0.0) * np.sign(rate)
        + f.get("offset", 0.0)
        + waves
    )


def shared_friction(coupling: Coupling, own: Array, other: Array) -> Array:
    """What one joint feels of a motor that it shares.

    Fvm times the other's rate and Fcm in the direction of the sum.
    """
    terms, together = coupling.terms, own + other
    direction = np.tanh(together / terms["width"]) if "width" in terms else np.sign(together)
    return terms.get("viscous", 0.0) * other + terms.get("coulomb", 0.0) * direction


def T(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def outer(row: Array) -> Array:
    return row[..., :, None] * row[..., None, :]


def skew(v: Array) -> Array:
    zero = np.zeros(v.shape[:-1])
    x, y, z = np.moveaxis(v, -1, 0)
    return np.stack(
        [np.stack(row, -1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2
    )


def homogeneous(R: Array, p: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def displacement(kind: str, axis: Array, q: Array) -> Array:
    """A turn about the axis (Rodrigues) or a slide along it, (..., 4, 4)."""
    X = np.broadcast_to(np.eye(4), (*q.shape, 4, 4)).astype(q.dtype)
    if kind == "prismatic":
        X[..., :3, 3] = q[..., None] * axis
    else:
        K = skew(axis)
        X[..., :3, :3] += np.sin(q)[..., None, None] * K + (1 - np.cos(q))[..., None, None] * (
            K @ K
        )
    return X


def twist(X: Array, Xd: Array) -> Array:
    """Velocity of the origin and angular velocity from a pose and its rate."""
    W = Xd[..., :3, :3] @ T(X[..., :3, :3])
    return np.concatenate(
        [Xd[..., :3, 3], np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], -1)], -1
    )


def spatial_inertia(inertia: object, R: Array) -> Array:
    """6x6 about the link's origin in base axes: momentum = inertia (v, w)."""
    h, I = skew(R @ inertia.h), R @ np.array(full(inertia.I)) @ T(R)  # noqa: E741
    m = np.broadcast_to(inertia.m * np.eye(3), h.shape)
    return np.concatenate([np.concatenate([m, -h], -1), np.concatenate([h, I], -1)], -2)


def shifted(wrench: Array, r: Array) -> Array:
    """A wrench or momentum about a point, about another one from which the first is at r."""
    return np.concatenate([wrench[..., :3], wrench[..., 3:] + np.cross(r, wrench[..., :3])], -1)
