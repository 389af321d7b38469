"""Can a body with these ten numbers exist: a mass, and principal moments about its centre that obey the triangle inequality."""

from __future__ import annotations

import numpy as np

from ..algebra.inertia import at_com
from ..algebra.spatial import Inertia
from ..algebra.vector import full

TOLERANCE = 1e-9  # of the largest moment: a rod or a plate sits exactly on the boundary
ROUNDING = 1e-14  # of the moments about the frame, from which those about the centre of mass are a difference


def flaw(inertia: Inertia | None) -> str:
    """A sentence about an inertia that no real body has, or nothing.

    The pseudo-inertia [[tr(I)/2 1 - I, h], [h^T, m]] must be positive semidefinite; about the centre of mass that is m > 0 and
    I1 <= I2 + I3 for the principal moments. Wensing, Kim and Slotine 2018, eq. (8).
    """
    if inertia is None or not any((inertia.m, *inertia.h, *inertia.I)):
        return ""
    if inertia.m <= 0.0:
        return f"its mass is {inertia.m:g} kg but it has a first moment or an inertia, which no real body has"
    small, middle, large = principal_moments(inertia)
    slack = TOLERANCE * abs(large) + ROUNDING * (abs(inertia.I.xx) + abs(inertia.I.yy) + abs(inertia.I.zz))
    if small < -slack:
        return f"its smallest principal moment about the centre of mass is {small:.6g} kg m2, which no real body has"
    if large > small + middle + slack:
        return (
            f"its principal moments about the centre of mass are {small:.6g}, {middle:.6g} and {large:.6g} kg m2;"
            " no real body has one larger than the sum of the others"
        )
    return ""


def is_physical(inertia: Inertia) -> bool:
    """Whether a real body can have this inertia; nothing at all counts as one."""
    return not flaw(inertia)


def principal_moments(inertia: Inertia) -> tuple[float, float, float]:
    """Principal moments about the centre of mass, ascending [kg m2]. The mass must not be zero."""
    small, middle, large = np.linalg.eigvalsh(np.array(full(at_com(inertia)[2]), dtype=float))
    return float(small), float(middle), float(large)
