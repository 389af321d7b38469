"""The vector pi of a tree's parameters, out of the tree and back into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Inertia
from ..algebra.vector import Symmetric
from ..errors import CallError
from ..mechanism import parameter_vector as vector
from ..mechanism.parameter_vector import JOINT_TERMS, LINK_TERMS, joint_terms
from ..mechanism.tree import Tree

__all__ = ["JOINT_TERMS", "LINK_TERMS", "parameter_names", "parameter_vector", "with_scalars"]


def parameter_vector(tree: Tree) -> list[Scalar]:
    """pi: ten per body (m [kg], mc [kg m], I [kg m2] about the body's origin), then the terms present of Ia, Fv, Fc, F0 per coordinate."""
    return list(vector.parameters(tree))


def parameter_names(tree: Tree) -> list[str]:
    """Labels of pi, such as link3.m and joint3.Fv."""
    return list(vector.parameter_names(tree))


def with_scalars(tree: Tree, pi: Scalars) -> Tree:
    """The same tree with the parameters pi (any scalars), in the order of `parameter_vector`; terms that it lacks stay absent."""
    expected = 10 * len(tree.bodies) + sum(term is not None for terms in joint_terms(tree) for term in terms)
    if len(pi) != expected:
        told = f"ten for each of {len(tree.bodies)} bodies, then the joint terms present"
        raise CallError(f"pi has {len(pi)} entries, expected {expected}: {told}")
    rest = iter(pi)
    bodies = tuple(replace(body, inertia=_take_inertia(rest)) for body in tree.bodies)
    terms = [[None if term is None else next(rest) for term in row] for row in joint_terms(tree)]
    friction = tuple(old.with_terms(row[1:]) for old, row in zip(tree.friction, terms, strict=True))
    return replace(tree, bodies=bodies, armature=tuple(row[0] for row in terms), friction=friction)


def _take_inertia(rest: Iterator[Scalar]) -> Inertia:
    m, x, y, z, *inertia = (next(rest) for _ in range(10))
    return Inertia(m, (x, y, z), Symmetric(*inertia))
