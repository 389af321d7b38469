"""Joint friction and rotor inertia: the terms of a coordinate that no rigid body has."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import scalar
from ..algebra.scalar import Scalar
from ..mechanism.tree import Tree


def friction_torque(tree: Tree, qd: Sequence[Scalar]) -> list[Scalar]:
    """Torque that overcomes friction: tau_f = Fv qd + Fc sign(qd) + F0, absent terms left out; sign(0) = 0.

    qd: n scalars [rad/s|m/s]. Returns n scalars [N m|N]. Lecture "Dynamic parameter identification", friction contributions.
    """
    return [_sum(coefficient * factor for coefficient, factor in zip(coefficients, friction_factors(rate), strict=True) if coefficient is not None)
            for coefficients, rate in zip(friction_coefficients(tree), qd, strict=True)]  # fmt: skip


def friction_coefficients(tree: Tree) -> list[tuple[Scalar | None, Scalar | None, Scalar | None]]:
    """Fv, Fc, F0 of every coordinate, None where absent."""
    return [(f.viscous, f.coulomb, f.offset) for f in tree.friction]


def friction_factors(rate: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """What Fv, Fc and F0 are multiplied by."""
    return (rate, scalar.sign(rate), 1.0)


def armature_torque(tree: Tree, qdd: Sequence[Scalar]) -> list[Scalar]:
    """Torque that accelerates the rotors: tau_a = Ia qdd. qdd: n scalars [rad/s2|m/s2]. Returns n scalars [N m|N]."""
    return [0.0 if Ia is None else Ia * acceleration for Ia, acceleration in zip(tree.armature, qdd, strict=True)]


def _sum(terms: object) -> Scalar:
    return sum(terms, 0.0)  # type: ignore[call-overload]
