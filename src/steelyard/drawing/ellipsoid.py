"""Ellipsoids that stand for matrices: of inertia, and of the velocities that a frame can have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Ellipsoid(NamedTuple):
    """Half axes (3,) and the rotation (3, 3) whose columns they lie along; right-handed."""

    axes: Array
    R: Array


def inertia_ellipsoid(mass: float, inertia: Array) -> Ellipsoid:
    """Return the ellipsoid of uniform density of a mass [kg] and inertia (3, 3) [kg m2].

    I1 = m (a2^2 + a3^2) / 5, so that a1^2 = 5 (I2 + I3 - I1) / (2 m). An axis that no body can have
    is 0. Goldstein 2002, section 5.3.
    """
    principal, R = np.linalg.eigh(np.asarray(inertia, dtype=float))
    squares = 2.5 * (principal.sum() - 2 * principal) / mass if mass > 0 else np.zeros(3)
    return Ellipsoid(np.sqrt(np.maximum(squares, 0.0)), right_handed(R))


def velocity_ellipsoid(jacobian: Array) -> Ellipsoid:
    """Return the velocity ellipsoid J qd [m/s], |qd| = 1, of linear Jacobian rows (3, n).

    Yoshikawa 1985.
    """
    U, singular, _ = np.linalg.svd(np.asarray(jacobian, dtype=float))
    return Ellipsoid(np.pad(singular, (0, 3 - len(singular))), right_handed(U))


def right_handed(R: Array) -> Array:
    """Return orthogonal axes (3, 3) as a rotation."""
    return np.asarray(R * np.array([1.0, 1.0, np.sign(np.linalg.det(R))]))
