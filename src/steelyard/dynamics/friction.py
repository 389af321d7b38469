"""Joint friction and rotor inertia: the terms of a coordinate that no rigid body has."""

from __future__ import annotations

from ..algebra import scalar
from ..algebra.scalar import Scalar, Scalars
from ..mechanism.tree import Tree

Terms = tuple[Scalar | None, Scalar | None, Scalar | None]  # Fv, Fc, F0 of a coordinate, None where absent


def friction_torque(tree: Tree, qd: Scalars) -> list[Scalar]:
    """Torque that overcomes friction: tau_f = Fv qd + Fc sign(qd) + F0, absent terms left out; sign(0) = 0.

    qd: n scalars [rad/s|m/s]. Returns n scalars [N m|N]. Lecture "Dynamic parameter identification", friction contributions.
    """
    return [friction_at(terms, rate) for terms, rate in zip(friction_coefficients(tree), qd, strict=True)]


def friction_at(terms: Terms, rate: Scalar) -> Scalar:
    """Friction of one coordinate, from its Fv, Fc, F0."""
    return sum((term * factor for term, factor in zip(terms, friction_factors(rate), strict=True) if term is not None), 0.0)


def friction_coefficients(tree: Tree) -> list[Terms]:
    """Fv, Fc, F0 of every coordinate."""
    return [(f.viscous, f.coulomb, f.offset) for f in tree.friction]


def friction_factors(rate: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """What Fv, Fc and F0 are multiplied by."""
    return (rate, scalar.sign(rate), 1.0)


def armature_torque(tree: Tree, qdd: Scalars) -> list[Scalar]:
    """Torque that accelerates the rotors: tau_a = Ia qdd. qdd: n scalars [rad/s2|m/s2]. Returns n scalars [N m|N]."""
    return [0.0 if Ia is None else Ia * acceleration for Ia, acceleration in zip(tree.armature, qdd, strict=True)]
