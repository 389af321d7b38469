"""The parameters of a tree as one vector pi: ten per body, then what its joints have."""

from __future__ import annotations

from .tree import Tree

LINK_TERMS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
JOINT_TERMS = ("Ia", "Fv", "Fc", "F0", "Fn", "Fs")


def parameters(tree: Tree) -> tuple[float, ...]:
    """pi: m [kg], mc [kg m], I about the body's origin [kg m2] of every body, then per coordinate those it has of Ia, Fv, Fc, F0, Fn, Fs.

    Lecture "Newton-Euler formulation and dynamic parameter identification": tau = Y(q, qd, qdd) pi.
    """
    links = [x for body in tree.bodies for x in (body.inertia.m, *body.inertia.h, *body.inertia.I)]
    return tuple(links + [term for row in joint_terms(tree) for term in row if term is not None])


def parameter_names(tree: Tree) -> tuple[str, ...]:
    """Labels of pi, such as link3.m, link3.mcx, link3.Ixx, joint3.Ia, joint3.Fv."""
    links = [f"{body.name}.{term}" for body in tree.bodies for term in LINK_TERMS]
    for name, row in zip(tree.coordinates, joint_terms(tree), strict=True):
        links += [f"{name}.{label}" for label, term in zip(JOINT_TERMS, row, strict=True) if term is not None]
    return tuple(links)


def joint_terms(tree: Tree) -> list[tuple[float | None, ...]]:
    """Ia, Fv, Fc, F0, Fn, Fs of every coordinate, None where absent."""
    return [(Ia, *f.terms) for Ia, f in zip(tree.armature, tree.friction, strict=True)]
