"""Symbols for the numbers of a tree: inertial and joint parameters, lengths, gravity.

A number that is zero stays zero.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..algebra.scalar import Scalar
from ..algebra.spatial import Inertia, Pose, at_com, from_com
from ..algebra.vector import Symmetric, Vector
from ..errors import CallError, suggest
from ..mechanism.joint_terms import BY_SYMBOL
from ..mechanism.parameter_vector import parameter_names, parameter_units, with_scalars
from ..mechanism.parameter_vector import parameters as parameter_values
from ..mechanism.tree import Tree

PARAMETERS = ("symbolic", "all", "barycentric", "numeric")
GEOMETRY = ("symbolic", "numeric")
STEMS = {"m": "m_", "mcx": "mc_x", "mcy": "mc_y", "mcz": "mc_z"} | {
    row.symbol: re.sub("[{}]", "", row.latex) for row in BY_SYMBOL.values()
}
ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")
TINY = 1e-12
WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)
RESERVED = re.compile(r"(q|qdot|qddot|x|s|c)_\d+")  # the motion and the named terms


@dataclass(frozen=True)
class Named:
    """A number of the robot that has a symbol: its name, value, unit and meaning."""

    name: str
    value: float
    unit: str
    meaning: str


class Naming:
    """Collector of the numbers of a tree that get a symbol.

    `scalar(k)` returns the scalar of the k-th number.
    """

    def __init__(self, scalar: Callable[[int], Scalar]) -> None:
        self.named: list[Named] = []
        self._scalar = scalar

    def __call__(
        self, name: str, value: float, unit: str, meaning: str, keep: bool = False
    ) -> Scalar:
        """Return the scalar for a number, or 0.0 if the number is zero and `keep` is not set."""
        if value == 0.0 and not keep:
            return 0.0
        self.named.append(Named(name, float(value), unit, meaning))
        return self._scalar(len(self.named) - 1)


def apply_names(named: Sequence[Named], names: Mapping[str, str]) -> tuple[Named, ...]:
    """Return the symbols under the user's names.

    Raise CallError for an unknown symbol, a bad name, or a name that is used twice.
    """
    known = [x.name for x in named]
    for name, new in names.items():
        if name not in known:
            raise CallError(f"names: no symbol is called {name!r}; {suggest(name, sorted(known))}")
        if not WORD.fullmatch(str(new)) or RESERVED.fullmatch(str(new)):
            allowed = (
                "letters, digits and _, and no symbol of motion (q_1, qdot_1) or of a named term"
                " (x_1, s_1, c_1)"
            )
            raise CallError(f"names: {name!r} cannot be called {new!r}; expected {allowed}")
    result = tuple(replace(x, name=names.get(x.name, x.name)) for x in named)
    for name, count in Counter(x.name for x in result).items():
        if count > 1:
            raise CallError(
                f"names: {name!r} would stand for several numbers; expected names that differ"
            )
    return result


def named_tree(
    tree: Tree, parameters: str, geometry: str, parameter: Naming, length: Naming
) -> Tree:
    """Return the tree with symbols in place of its parameters, lengths and gravity.

    An option of "numeric" keeps the numbers.
    """
    scalars = (
        tree
        if parameters == "numeric"
        else with_scalars(tree, _parameters(tree, parameters, parameter))
    )
    return scalars if geometry == "numeric" else _with_lengths(scalars, length)


def _parameters(tree: Tree, how: str, name: Naming) -> list[Scalar]:
    labels, values, units = parameter_names(tree), parameter_values(tree), parameter_units(tree)
    links = 10 * len(tree.bodies)
    numbers = {body: i for i, body in enumerate(tree.coordinates, 1)}
    pi: list[Scalar] = []
    if how == "barycentric":
        pi = [
            x
            for i, body in enumerate(tree.bodies, 1)
            for x in _barycentric(body.inertia, i, body.name, name)
        ]
    for k in range(len(pi), len(values)):
        owner, _, term = labels[k].rpartition(".")
        number = k // 10 + 1 if k < links else numbers.get(owner, k)
        pi.append(name(f"{_stem(term)}{number}", values[k], units[k], labels[k], keep=how == "all"))
    return pi


def _stem(term: str) -> str:
    return STEMS.get(term) or (f"I_{term[1:]}" if term[0] == "I" else f"{term}_")


def _barycentric(inertia: Inertia, i: int, link: str, name: Naming) -> list[Scalar]:
    """Return ten scalars about the link frame from mass, centre of mass and inertia about it."""
    if inertia.m == 0.0:
        raise CallError(
            f"parameters='barycentric': link {link!r} has no mass, so no centre of mass; use"
            " parameters='symbolic'"
        )
    m, c, I = at_com(inertia)  # noqa: E741
    size, reach = abs(I.xx) + abs(I.yy) + abs(I.zz), sum(abs(x) for x in c) + 1.0
    mass = name(f"m_{i}", m, "kg", f"mass of {link}")
    labels = _directions(f"l_c{i}", f"c_{{}}{i}", [abs(x) > TINY * reach for x in c])
    com = [
        name(label, x, "m", f"centre of mass of {link}") if label else 0.0
        for label, x in zip(labels, c, strict=True)
    ]
    meaning = f"inertia of {link} about its centre of mass"
    about = [
        name(f"I_c{e}{i}", x, "kg m2", meaning) if abs(x) > TINY * size else 0.0
        for e, x in zip(ENTRIES, I, strict=True)
    ]
    moved = from_com(mass, (com[0], com[1], com[2]), Symmetric(*about))
    return [moved.m, *moved.h, *moved.I]


def _directions(alone: str, several: str, present: Sequence[bool]) -> list[str]:
    """Return a name per nonzero coordinate, the short one if it is the only one."""
    return [
        (alone if sum(present) == 1 else several.format(axis)) if there else ""
        for axis, there in zip("xyz", present, strict=True)
    ]


def _with_lengths(tree: Tree, name: Naming) -> Tree:
    """Return the tree with distances between joints as l_i and gravity as g_0 times its direction.

    i is the number of the link on which the distance lies (0 for the base).
    """
    bodies = []
    for i, body in enumerate(tree.bodies):
        fork = sum(other.parent == body.parent for other in tree.bodies) > 1
        number = f"{body.parent + 1}_{i + 1}" if fork else f"{body.parent + 1}"
        p = body.placement.p
        labels = _directions(f"l_{number}", f"l_{number}{{}}", [x != 0.0 for x in p])
        where = (
            f"from {'the base' if body.parent < 0 else tree.bodies[body.parent].joint} to"
            f" {body.joint}"
        )
        x, y, z = (
            name(label, value, "m", where) if label else 0.0
            for label, value in zip(labels, p, strict=True)
        )
        bodies.append(replace(body, placement=Pose(body.placement.R, (x, y, z))))
    return replace(tree, bodies=tuple(bodies), gravity=_gravity(tree.gravity, name))


def _gravity(g: Vector, name: Naming) -> Vector:
    present = [x != 0.0 for x in g]
    if sum(present) == 1:
        k = present.index(True)
        size = name("g_0", abs(g[k]), "m/s2", "gravity")
        along: Any = size if g[k] > 0 else -size
        return tuple(along if j == k else 0.0 for j in range(3))  # type: ignore[return-value]
    x, y, z = (
        name(f"g_{axis}", value, "m/s2", f"gravity along {axis}")
        for axis, value in zip("xyz", g, strict=True)
    )
    return (x, y, z)
