"""Re-expressing the ten numbers of a rigid body: through a pose, from and to its centre of mass. Of any scalar."""

from __future__ import annotations

from . import vector as v3
from .scalar import Scalar
from .spatial import Inertia, Pose
from .vector import Matrix, Symmetric, Vector


def steiner(m: Scalar, c: Vector) -> Symmetric:
    """Inertia of a point mass about the origin: m (c.c 1 - c c^T) [kg m2]. Siciliano et al. 2009, eq. (7.60)."""
    x, y, z = c
    return Symmetric(m * (y * y + z * z), -m * x * y, -m * x * z, m * (x * x + z * z), -m * y * z, m * (x * x + y * y))


def from_com(m: Scalar, c: Vector, I_c: Symmetric) -> Inertia:
    """Ten numbers about the frame's origin from mass [kg], centre of mass [m] and inertia about it [kg m2]: I = I_c + m (c.c 1 - c c^T)."""
    return Inertia(m, v3.scale(m, c), _plus(I_c, steiner(m, c)))


def at_com(inertia: Inertia) -> tuple[Scalar, Vector, Symmetric]:
    """Mass [kg], centre of mass c = h / m [m] and inertia about it, in the frame's axes [kg m2]. The mass must not be zero."""
    c = v3.scale(1.0 / inertia.m, inertia.h)
    return inertia.m, c, _plus(inertia.I, steiner(-inertia.m, c))


def moved(inertia: Inertia, X_AB: Pose) -> Inertia:
    """Ten numbers given in frame B, in frame A: h_A = R h + m p, I_A = R I R^T + 2 (Rh.p) 1 - (Rh p^T + p (Rh)^T) + m (p.p 1 - p p^T).

    Never divides by the mass, so a massless body moves too. Featherstone 2008, eq. (2.66).
    """
    R, p = X_AB
    h = v3.apply(R, inertia.h)
    I = _plus(_plus(rotated(inertia.I, R), _cross_terms(h, p)), steiner(inertia.m, p))  # noqa: E741
    return Inertia(inertia.m, v3.add(h, v3.scale(inertia.m, p)), I)


def rotated(I: Symmetric, R: Matrix) -> Symmetric:  # noqa: E741
    """R I R^T."""
    return v3.symmetric(v3.matmul(v3.matmul(R, v3.full(I)), v3.transpose(R)))


def minus(a: Inertia, b: Inertia) -> Inertia:
    """What is left of a when b is taken away, number by number."""
    return Inertia(a.m - b.m, v3.sub(a.h, b.h), Symmetric(*(x - y for x, y in zip(a.I, b.I, strict=True))))


def _cross_terms(h: Vector, p: Vector) -> Symmetric:
    (hx, hy, hz), (px, py, pz) = h, p
    x, y, z = hx * px, hy * py, hz * pz
    return Symmetric(2.0 * (y + z), -(hx * py + hy * px), -(hx * pz + hz * px), 2.0 * (x + z), -(hy * pz + hz * py), 2.0 * (x + y))


def _plus(a: Symmetric, b: Symmetric) -> Symmetric:
    return Symmetric(*(x + y for x, y in zip(a, b, strict=True)))
