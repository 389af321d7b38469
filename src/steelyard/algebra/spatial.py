"""Structured spatial quantities of any scalar: Pose, Motion, Force, Inertia, ArticulatedInertia.

Frame notation: a Pose X_AB = (R_AB, p_AB) maps coordinates in B to coordinates in A: x_A = R x_B +
p.
"""

from __future__ import annotations

from typing import NamedTuple

from . import vector as v3
from .scalar import Scalar
from .vector import IDENTITY, ZERO, Matrix, Symmetric, Vector


class Pose(NamedTuple):
    """Position and orientation of a frame B in a frame A: x_A = R x_B + p."""

    R: Matrix = IDENTITY
    p: Vector = ZERO

    def compose(self, other: Pose) -> Pose:
        """Return X_AC = X_AB X_BC."""
        return Pose(v3.matmul(self.R, other.R), v3.add(v3.apply(self.R, other.p), self.p))

    def inverse(self) -> Pose:
        """Return X_BA."""
        Rt = v3.transpose(self.R)
        return Pose(Rt, v3.neg(v3.apply(Rt, self.p)))

    def point(self, x: Vector) -> Vector:
        """Return a point of frame B in frame A."""
        return v3.add(v3.apply(self.R, x), self.p)


class Motion(NamedTuple):
    """Angular velocity w [rad/s] of a body and velocity v [m/s] of its origin, or accelerations."""

    w: Vector = ZERO
    v: Vector = ZERO


class Force(NamedTuple):
    """Force f [N] and moment n [N m] about the frame's origin."""

    f: Vector = ZERO
    n: Vector = ZERO

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(v3.add(self.f, other.f), v3.add(self.n, other.n))


class Inertia(NamedTuple):
    """Ten inertial parameters of a rigid body.

    Mass m [kg], first moment h = m c [kg m], inertia I [kg m2] about the frame's origin.
    """

    m: Scalar = 0.0
    h: Vector = ZERO
    I: Symmetric = Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # noqa: E741

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        return Inertia(
            self.m + other.m,
            v3.add(self.h, other.h),
            Symmetric(*(a + b for a, b in zip(self.I, other.I, strict=True))),
        )

    def second_moments(self) -> Symmetric:
        """Return S = sum of r r^T dm [kg m2], with I = trace(S) 1 - S."""
        xx, xy, xz, yy, yz, zz = self.I
        return Symmetric(
            0.5 * (yy + zz - xx), -xy, -xz, 0.5 * (xx + zz - yy), -yz, 0.5 * (xx + yy - zz)
        )


class ArticulatedInertia(NamedTuple):
    """Inertia of an articulated body: f = M a + H^T dw, n = H a + I dw.

    M [kg] and I [kg m2] are symmetric, H [kg m] is any 3x3 matrix. A rigid body has M = m 1 and
    H = [h]x.
    """

    M: Symmetric
    H: Matrix
    I: Symmetric  # noqa: E741

    @staticmethod
    def rigid(inertia: Inertia) -> ArticulatedInertia:
        """Return the articulated inertia of one rigid body."""
        m, h, I = inertia  # noqa: E741
        return ArticulatedInertia(Symmetric(m, 0.0, 0.0, m, 0.0, m), v3.cross_matrix(h), I)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        H = tuple(v3.add(a, b) for a, b in zip(self.H, other.H, strict=True))
        return ArticulatedInertia(
            v3.add_symmetric(self.M, other.M),
            H,  # type: ignore[arg-type]
            v3.add_symmetric(self.I, other.I),
        )

    def force(self, motion: Motion) -> Force:
        """Return the force of an acceleration."""
        f = v3.add(v3.apply_symmetric(self.M, motion.v), v3.apply(v3.transpose(self.H), motion.w))
        return Force(f, v3.add(v3.apply(self.H, motion.v), v3.apply_symmetric(self.I, motion.w)))


def steiner(m: Scalar, c: Vector) -> Symmetric:
    """Return the inertia of a point mass about the origin: m (c.c 1 - c c^T) [kg m2].

    Siciliano et al. 2009, eq. (7.60).
    """
    x, y, z = c
    return Symmetric(
        m * (y * y + z * z),
        -m * x * y,
        -m * x * z,
        m * (x * x + z * z),
        -m * y * z,
        m * (x * x + y * y),
    )


def from_com(m: Scalar, c: Vector, I_c: Symmetric) -> Inertia:
    """Return the inertia about the frame's origin: I = I_c + m (c.c 1 - c c^T).

    From mass m [kg], centre of mass c [m] and inertia I_c about it [kg m2].
    """
    return Inertia(m, v3.scale(m, c), _plus(I_c, steiner(m, c)))


def at_com(inertia: Inertia) -> tuple[Scalar, Vector, Symmetric]:
    """Return mass [kg], centre of mass c = h / m [m] and inertia about it [kg m2].

    The axes are the axes of the frame. The mass must not be zero.
    """
    c = v3.scale(1.0 / inertia.m, inertia.h)
    return inertia.m, c, _plus(inertia.I, steiner(-inertia.m, c))


def moved(inertia: Inertia, X_AB: Pose) -> Inertia:
    """Return an inertia of frame B in frame A.

    h_A = R h + m p, I_A = R I R^T + 2 (Rh.p) 1 - (Rh p^T + p (Rh)^T) + m (p.p 1 - p p^T). Massless
    bodies are allowed: there is no division by the mass. Featherstone 2008, eq. (2.66).
    """
    R, p = X_AB
    h = v3.apply(R, inertia.h)
    I = _plus(_plus(rotated(inertia.I, R), _cross_terms(h, p)), steiner(inertia.m, p))  # noqa: E741
    return Inertia(inertia.m, v3.add(h, v3.scale(inertia.m, p)), I)


def rotated(I: Symmetric, R: Matrix) -> Symmetric:  # noqa: E741
    """Return R I R^T."""
    return v3.symmetric(v3.matmul(v3.matmul(R, v3.full(I)), v3.transpose(R)))


def minus(a: Inertia, b: Inertia) -> Inertia:
    """Return a - b, entry by entry."""
    return Inertia(
        a.m - b.m, v3.sub(a.h, b.h), Symmetric(*(x - y for x, y in zip(a.I, b.I, strict=True)))
    )


def _cross_terms(h: Vector, p: Vector) -> Symmetric:
    (hx, hy, hz), (px, py, pz) = h, p
    x, y, z = hx * px, hy * py, hz * pz
    return Symmetric(
        2.0 * (y + z),
        -(hx * py + hy * px),
        -(hx * pz + hz * px),
        2.0 * (x + z),
        -(hy * pz + hz * py),
        2.0 * (x + y),
    )


def _plus(a: Symmetric, b: Symmetric) -> Symmetric:
    return Symmetric(*(x + y for x, y in zip(a, b, strict=True)))
