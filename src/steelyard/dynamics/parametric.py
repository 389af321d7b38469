"""The vector pi of a tree's parameters, out of the tree and back into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..algebra.scalar import Scalar
from ..algebra.spatial import Inertia
from ..algebra.vector import Symmetric
from ..errors import CallError
from ..mechanism.mechanism import Friction
from ..mechanism.tree import Tree

LINK_TERMS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
JOINT_TERMS = ("Ia", "Fv", "Fc", "F0")


def parameter_vector(tree: Tree) -> list[Scalar]:
    """pi: ten per body (m [kg], mc [kg m], I [kg m2] about the body's origin), then the terms present of Ia, Fv, Fc, F0 per coordinate."""
    links = [x for body in tree.bodies for x in (body.inertia.m, *body.inertia.h, *body.inertia.I)]
    return links + [term for terms in joint_terms(tree) for term in terms if term is not None]


def parameter_names(tree: Tree) -> list[str]:
    """Labels of pi, such as link3.m and joint3.Fv."""
    links = [f"{body.name}.{term}" for body in tree.bodies for term in LINK_TERMS]
    joints = zip(tree.coordinates, joint_terms(tree), strict=True)
    return links + [f"{name}.{label}" for name, terms in joints for label, term in zip(JOINT_TERMS, terms, strict=True) if term is not None]


def with_scalars(tree: Tree, pi: Sequence[Scalar]) -> Tree:
    """The same tree with the parameters pi (any scalars), in the order of `parameter_vector`; terms that it lacks stay absent."""
    expected = 10 * len(tree.bodies) + sum(term is not None for terms in joint_terms(tree) for term in terms)
    if len(pi) != expected:
        raise CallError(f"pi has {len(pi)} entries, expected {expected}: ten for each of {len(tree.bodies)} bodies, then the joint terms present")
    rest = iter(pi)
    bodies = tuple(replace(body, inertia=_take_inertia(rest)) for body in tree.bodies)
    terms = [[None if term is None else next(rest) for term in row] for row in joint_terms(tree)]
    return replace(tree, bodies=bodies, armature=tuple(row[0] for row in terms), friction=tuple(Friction(*row[1:]) for row in terms))


def joint_terms(tree: Tree) -> list[tuple[Scalar | None, ...]]:
    """Ia, Fv, Fc, F0 of every coordinate, None where absent."""
    return [(Ia, f.viscous, f.coulomb, f.offset) for Ia, f in zip(tree.armature, tree.friction, strict=True)]


def _take_inertia(rest) -> Inertia:  # type: ignore[no-untyped-def]
    m, x, y, z, *inertia = (next(rest) for _ in range(10))
    return Inertia(m, (x, y, z), Symmetric(*inertia))
