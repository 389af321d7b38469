"""Structured spatial quantities of any scalar: Pose, Motion, Force, Inertia, ArticulatedInertia.

Frame notation: a Pose X_AB = (R_AB, p_AB) maps coordinates in B to coordinates in A: x_A = R x_B + p.
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
        """X_AC = X_AB X_BC."""
        return Pose(v3.matmul(self.R, other.R), v3.add(v3.apply(self.R, other.p), self.p))

    def inverse(self) -> Pose:
        """X_BA."""
        Rt = v3.transpose(self.R)
        return Pose(Rt, v3.neg(v3.apply(Rt, self.p)))

    def point(self, x: Vector) -> Vector:
        """A point given in B, in A."""
        return v3.add(v3.apply(self.R, x), self.p)


class Motion(NamedTuple):
    """Angular velocity w [rad/s] of a body and linear velocity v [m/s] of its frame's origin (or the accelerations of both)."""

    w: Vector = ZERO
    v: Vector = ZERO


class Force(NamedTuple):
    """Force f [N] and moment n [N m] about the frame's origin."""

    f: Vector = ZERO
    n: Vector = ZERO

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(v3.add(self.f, other.f), v3.add(self.n, other.n))


class Inertia(NamedTuple):
    """Ten numbers of a rigid body: mass m [kg], first moment h = m c [kg m], inertia I [kg m2] about the frame's origin."""

    m: Scalar = 0.0
    h: Vector = ZERO
    I: Symmetric = Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # noqa: E741

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        return Inertia(self.m + other.m, v3.add(self.h, other.h), Symmetric(*(a + b for a, b in zip(self.I, other.I, strict=True))))

    def second_moments(self) -> Symmetric:
        """S = sum of r r^T dm [kg m2], which the inertia holds as I = trace(S) 1 - S."""
        xx, xy, xz, yy, yz, zz = self.I
        return Symmetric(0.5 * (yy + zz - xx), -xy, -xz, 0.5 * (xx + zz - yy), -yz, 0.5 * (xx + yy - zz))


class ArticulatedInertia(NamedTuple):
    """What a body with freely jointed bodies on it opposes to acceleration: f = M a + H^T dw, n = H a + I dw.

    M [kg] and I [kg m2] are symmetric, H [kg m] is any 3x3 matrix. A rigid body has M = m 1 and H = [h]x.
    """

    M: Symmetric
    H: Matrix
    I: Symmetric  # noqa: E741

    @staticmethod
    def rigid(inertia: Inertia) -> ArticulatedInertia:
        """The articulated inertia of a lone rigid body."""
        m, h, I = inertia  # noqa: E741
        return ArticulatedInertia(Symmetric(m, 0.0, 0.0, m, 0.0, m), v3.cross_matrix(h), I)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        H = tuple(v3.add(a, b) for a, b in zip(self.H, other.H, strict=True))
        return ArticulatedInertia(v3.add_symmetric(self.M, other.M), H, v3.add_symmetric(self.I, other.I))  # type: ignore[arg-type]

    def force(self, motion: Motion) -> Force:
        """The force that an acceleration takes."""
        f = v3.add(v3.apply_symmetric(self.M, motion.v), v3.apply(v3.transpose(self.H), motion.w))
        return Force(f, v3.add(v3.apply(self.H, motion.v), v3.apply_symmetric(self.I, motion.w)))
