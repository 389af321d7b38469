"""Joint friction and rotor inertia: the terms of a coordinate that no rigid body has."""

from __future__ import annotations

from ..algebra import scalar
from ..algebra.scalar import Scalar, Scalars
from ..mechanism.model import Friction
from ..mechanism.tree import Tree


def friction_torque(tree: Tree, qd: Scalars) -> list[Scalar]:
    """Torque that overcomes friction: tau_f = Fv qd + Fc sign(qd) + F0, and its asymmetric, smooth and Stribeck forms; sign(0) = 0.

    qd: n scalars [rad/s|m/s]. Returns n scalars [N m|N]. Lecture "Dynamic parameter identification", friction contributions.
    """
    return [friction_at(friction, rate) for friction, rate in zip(tree.friction, qd, strict=True)]


def friction_at(friction: Friction, rate: Scalar) -> Scalar:
    """Friction of one coordinate at a rate."""
    pairs = zip(friction.terms, friction_factors(friction, rate), strict=True)
    return sum((term * factor for term, factor in pairs if term is not None), 0.0)


def friction_factors(friction: Friction, rate: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """What Fv, Fc, F0, Fn and Fs are multiplied by: the columns of the regressor."""
    direction = scalar.sign(rate) if friction.width is None else scalar.tanh(rate * (1.0 / friction.width))
    fading = 0.0
    if friction.stribeck is not None:
        slow = rate * (1.0 / friction.stribeck)
        fading = scalar.exp(-(slow * slow))
    sliding = direction - direction * fading
    if friction.negative is None:
        return (rate, sliding, 1.0, 0.0, direction * fading)
    size = scalar.absolute(sliding)
    return (rate, 0.5 * (sliding + size), 1.0, 0.5 * (sliding - size), direction * fading)


def armature_torque(tree: Tree, qdd: Scalars) -> list[Scalar]:
    """Torque that accelerates the rotors: tau_a = Ia qdd. qdd: n scalars [rad/s2|m/s2]. Returns n scalars [N m|N]."""
    return [0.0 if Ia is None else Ia * acceleration for Ia, acceleration in zip(tree.armature, qdd, strict=True)]
