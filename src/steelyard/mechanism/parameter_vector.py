"""The parameters of a tree as one vector pi: ten per body, then what its joints have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..algebra.spatial import Inertia, minus, moved
from ..algebra.vector import Symmetric
from ..errors import CallError
from .check import is_physical
from .coordinate_terms import with_terms
from .model import Mechanism
from .reduce import reduce
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


def with_parameters(mechanism: Mechanism, pi: Iterable[float]) -> Mechanism:
    """The mechanism whose `parameters` are pi: ten numbers per body in the tree's order, then the joint terms that it has.

    A body is a moving link and the links fixed to it. Those keep their inertia and the moving link takes the rest: I_link = I_body -
    sum of X I X^T. Where the rest is no real body though the whole is one, the moving link takes all of it and a remark says so.
    """
    tree = reduce(mechanism)
    values = _checked(pi, tree)
    rest = iter(values)
    inertias, remarks = _split(mechanism, tree, [_inertia(rest) for _ in tree.bodies])
    links = tuple(replace(link, inertia=inertias.get(link.name, link.inertia)) for link in mechanism.links)
    wanted = {
        name: [None if term is None else next(rest) for term in row] for name, row in zip(tree.coordinates, joint_terms(tree), strict=True)
    }
    unchanged = values[10 * len(tree.bodies) :] == parameters(tree)[10 * len(tree.bodies) :]
    joints = mechanism.joints if unchanged else with_terms(mechanism, wanted, 0).joints
    return replace(mechanism, links=links, joints=joints, remarks=(*mechanism.remarks, *remarks))


def _split(mechanism: Mechanism, tree: Tree, totals: list[Inertia]) -> tuple[dict[str, Inertia | None], list[str]]:
    changed: dict[str, Inertia | None] = {}
    remarks = []
    for i, (body, total) in enumerate(zip(tree.bodies, totals, strict=True)):
        if total == body.inertia:
            continue
        carried = [
            link for link in mechanism.links if tree.frames[link.name].body == i and link.name != body.name and link.inertia is not None
        ]
        others = sum((moved(link.inertia, tree.frames[link.name].pose) for link in carried), start=Inertia())  # type: ignore[arg-type]
        changed[body.name] = minus(total, others) if carried else total
        if carried and is_physical(total) and not is_physical(minus(total, others)):
            changed |= {link.name: Inertia() for link in carried} | {body.name: total}
            names = ", ".join(link.name for link in carried)
            remarks.append(f"link {body.name!r} now holds the whole inertia of its body; the links fixed to it hold none: {names}")
    return changed, remarks


def _inertia(rest: Iterator[float]) -> Inertia:
    m, x, y, z, *six = (next(rest) for _ in range(10))
    return Inertia(m, (x, y, z), Symmetric(*six))


def _checked(pi: Iterable[float], tree: Tree) -> tuple[float, ...]:
    expected = len(parameters(tree))
    try:
        values = tuple(float(x) for x in pi)
    except (TypeError, ValueError):
        values = ()
    if len(values) != expected:
        count = f"{len(values)} numbers" if values else repr(pi)
        raise CallError(f"pi has {count}; expected {expected}: ten for each of {len(tree.bodies)} bodies, then the terms its joints have")
    if not all(map(math.isfinite, values)):
        raise CallError(f"pi[{next(i for i, x in enumerate(values) if not math.isfinite(x))}] is not finite")
    return values
