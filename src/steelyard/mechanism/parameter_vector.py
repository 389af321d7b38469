"""The vector pi of dynamic parameters of a tree, and its way back into links and joints.

Ten numbers per body, then the joint terms that are present, coordinate by coordinate, then the
terms of couplings. Lecture "Newton-Euler formulation and dynamic parameter identification": tau =
Y(q, qd, qdd) pi.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..algebra.scalar import Scalar, Scalars
from ..algebra.spatial import Inertia, minus, moved
from ..algebra.vector import Symmetric
from ..errors import CallError
from .check import is_physical
from .fold_terms import folded
from .joint_terms import BY_KEY, COUNTERPART, KNOWN_TORQUE, Terms
from .model import Joint, Mechanism
from .reduce import reduce, tie
from .tree import Tree

LINK_TERMS: dict[str, str] = {  # label and unit of a body's ten numbers, about its frame's origin
    "m": "kg", "mcx": "kg m", "mcy": "kg m", "mcz": "kg m",
    "Ixx": "kg m2", "Ixy": "kg m2", "Ixz": "kg m2", "Iyy": "kg m2", "Iyz": "kg m2", "Izz": "kg m2",
}  # fmt: skip


def parameters(tree: Tree) -> tuple[Any, ...]:
    """Return pi: m [kg], mc [kg m], I [kg m2] about the origin of every body, then joint terms."""
    links = [x for body in tree.bodies for x in (body.inertia.m, *body.inertia.h, *body.inertia.I)]
    return (*links, *(use.value for use in tree.joint_terms))


def root_parameters(tree: Tree) -> tuple[Any, ...]:
    """Return the ten numbers of the base and all links fixed to it; none without inertia."""
    m, h, I = tree.base_inertia  # noqa: E741
    ten = (m, *h, *I)
    return ten if any(not (isinstance(x, float) and x == 0.0) for x in ten) else ()


def parameter_names(tree: Tree) -> tuple[str, ...]:
    """Return labels of pi, such as link3.m, link3.mcx, link3.Ixx, joint3.Ia, joint3.Fv."""
    links = [f"{body.name}.{term}" for body in tree.bodies for term in LINK_TERMS]
    return (*links, *(f"{use.owner}.{use.row.symbol}" for use in tree.joint_terms))


def parameter_units(tree: Tree) -> tuple[str, ...]:
    """Return units of pi, such as kg, kg m, kg m2, N m s/rad; N s/m of a prismatic joint."""
    slides = [
        next(body.kind == "prismatic" for body in tree.bodies if body.coordinate == c)
        for c in range(tree.n)
    ]
    links = [unit for _ in tree.bodies for unit in LINK_TERMS.values()]
    return (*links, *(use.row.unit[slides[use.coordinates[-1]]] for use in tree.joint_terms))


def with_scalars(tree: Tree, pi: Scalars) -> Tree:
    """Replace the parameters of a tree by pi (any scalars), in the order of `parameters`.

    Terms that it lacks stay absent.
    """
    expected = 10 * len(tree.bodies) + len(tree.joint_terms)
    if len(pi) != expected:
        raise CallError(f"pi has {len(pi)} entries, expected {expected}: {_layout(tree)}")
    rest = iter(pi)
    bodies = tuple(replace(body, inertia=_inertia(rest)) for body in tree.bodies)
    return replace(tree, bodies=bodies).with_joint_terms(list(rest))


def with_parameters(mechanism: Mechanism, pi: Iterable[float]) -> Mechanism:
    """Return the mechanism with parameters pi in its links and joints.

    A body is a moving link and the links fixed to it. Those keep their inertia and the moving link
    takes the remainder: I_link = I_body - sum of X I X^T. Where the remainder is physically
    impossible though the body is possible, the moving link takes all of it and a remark reports it.
    """
    tree = reduce(mechanism)
    values = _checked(pi, tree)
    rest = iter(values)
    inertias, remarks = _split(mechanism, tree, [_inertia(rest) for _ in tree.bodies])
    links = tuple(
        replace(link, inertia=inertias.get(link.name, link.inertia)) for link in mechanism.links
    )
    edited = replace(mechanism, links=links, remarks=(*mechanism.remarks, *remarks))
    new = dict(zip(tree.joint_terms, rest, strict=True))
    joint_values: dict[str, dict[str, float]] = {}
    for use, value in new.items():
        if len(use.coordinates) == 1 and use.row is not KNOWN_TORQUE and value != use.value:
            joint_values.setdefault(use.owner, {})[use.row.key] = value
    shared = {
        (use.owner, use.row.key): value for use, value in new.items() if len(use.coordinates) > 1
    }
    couplings = tuple(
        replace(
            each,
            terms=each.terms.changed(
                {
                    key: shared[each.joint_b, key]
                    for key in each.terms
                    if (each.joint_b, key) in shared
                }
            ),
        )
        for each in mechanism.couplings
    )
    scales = {use.owner: value for use, value in new.items() if use.row is KNOWN_TORQUE}
    known = tuple(
        replace(each, scale=scales.get(each.joint, each.scale)) for each in mechanism.known
    )
    return replace(with_joint_values(edited, joint_values), couplings=couplings, known=known)


def with_joint_values(
    mechanism: Mechanism, by_joint: Mapping[str, Mapping[str, float]]
) -> Mechanism:
    """Give coordinates the joint terms wanted[coordinate][key].

    Where mimic joints share a coordinate they keep their terms and the leading joint takes the
    rest; where that would be less than a real joint can have though the whole is not, the leading
    joint takes all.
    """
    ties = {
        joint.name: tie(mechanism, joint) for joint in mechanism.joints if joint.kind != "fixed"
    }
    terms = {joint.name: joint.terms for joint in mechanism.joints}
    for leader, values in by_joint.items():
        ratios = {
            name: t.multiplier
            for name, t in ties.items()
            if t.joint == leader and name != leader and t.multiplier != 0.0
        }
        terms |= _split_terms(leader, values, ratios, terms)
    return replace(
        mechanism, joints=tuple(_with_terms(joint, terms[joint.name]) for joint in mechanism.joints)
    )


def _with_terms(joint: Joint, terms: Terms) -> Joint:
    return joint if terms is joint.terms else replace(joint, terms=terms)


def _split_terms(
    leader: str,
    values: Mapping[str, float],
    ratios: Mapping[str, float],
    terms: Mapping[str, Terms],
) -> dict[str, Terms]:
    """Return the terms of a leading joint and its mimics that give the coordinate these values."""
    shapes = {key: value for key, value in values.items() if not BY_KEY[key].linear}
    linear = {key: value for key, value in values.items() if BY_KEY[key].linear}
    target = {
        **_only_linear(
            folded(
                [(terms[leader], 1.0), *((terms[name], k) for name, k in ratios.items())], leader
            )
        ),
        **linear,
    }
    new = {leader: terms[leader].changed(values)}
    for name, k in ratios.items():
        shaped_terms = [
            key
            for key in terms[name]
            if BY_KEY[key].linear and set(BY_KEY[key].shapes) & set(shapes)
        ]
        new[name] = terms[name].changed(
            {key: value / BY_KEY[key].fold(k) for key, value in shapes.items()}
            if shaped_terms
            else {}
        )
    theirs = _mimic_contribution(new, ratios, target, leader)
    over = [
        key
        for key, value in linear.items()
        if value - theirs.get(key, 0.0) < BY_KEY[key].least <= value
    ]
    taken = {*over, *(COUNTERPART[key] for key in over if key in COUNTERPART)}
    for name in ratios if over else ():
        new[name] = new[name].changed(dict.fromkeys(taken))
    theirs = _mimic_contribution(new, ratios, target, leader) if over else theirs
    # the leader's own follow what is changed
    implied = {COUNTERPART[key] for key in linear if key in COUNTERPART} - set(terms[leader])
    changed = {
        key: target[key] - theirs.get(key, 0.0)
        for key in {*linear, *taken, *implied}
        if key in target
    }
    new[leader] = new[leader].changed(changed)
    return new


def _mimic_contribution(
    terms: Mapping[str, Terms],
    ratios: Mapping[str, float],
    target: Mapping[str, float],
    leader: str,
) -> Terms:
    """Return the contribution of mimic joints to a coordinate with the terms of `target`."""
    # forward and backward terms are separate if they are in the target
    alike = [(Terms.of({key: 0.0 for key in COUNTERPART if key in target}), 1.0)]
    return folded([*alike, *((_only_linear(terms[name]), k) for name, k in ratios.items())], leader)


def _only_linear(terms: Terms) -> Terms:
    return Terms.of({key: value for key, value in terms.items() if BY_KEY[key].linear})


def _split(
    mechanism: Mechanism, tree: Tree, totals: list[Inertia]
) -> tuple[dict[str, Inertia | None], list[str]]:
    changed: dict[str, Inertia | None] = {}
    remarks = []
    for i, (body, total) in enumerate(zip(tree.bodies, totals, strict=True)):
        if total == body.inertia:
            continue
        carried = [
            link
            for link in mechanism.links
            if tree.frames[link.name].body == i
            and link.name != body.name
            and link.inertia is not None
        ]
        others = sum(
            (moved(link.inertia or Inertia(), tree.frames[link.name].pose) for link in carried),
            start=Inertia(),
        )
        changed[body.name] = minus(total, others) if carried else total
        if carried and is_physical(total) and not is_physical(minus(total, others)):
            changed |= {link.name: Inertia() for link in carried} | {body.name: total}
            names = ", ".join(link.name for link in carried)
            remarks.append(
                f"link {body.name!r} now has the whole inertia of its body; the links fixed to it "
                f"have none: {names}"
            )
    return changed, remarks


def _inertia(rest: Iterator[Scalar]) -> Inertia:
    m, x, y, z, *six = (next(rest) for _ in range(10))
    return Inertia(m, (x, y, z), Symmetric(*six))


def _layout(tree: Tree) -> str:
    return f"ten for each of {len(tree.bodies)} bodies, then the joint terms that are present"


def _checked(pi: Iterable[float], tree: Tree) -> tuple[float, ...]:
    expected = len(parameters(tree))
    try:
        values = tuple(float(x) for x in pi)
    except (TypeError, ValueError):
        values = ()
    if len(values) != expected:
        count = f"{len(values)} numbers" if values else repr(pi)
        raise CallError(f"pi has {count}; expected {expected}: {_layout(tree)}")
    if not all(map(math.isfinite, values)):
        raise CallError(
            f"pi[{next(i for i, x in enumerate(values) if not math.isfinite(x))}] is not finite"
        )
    return values
