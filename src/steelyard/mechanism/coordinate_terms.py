"""Friction and rotor terms of coordinates, put where a mechanism keeps them: into its joints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ..errors import CallError, choices
from .model import Joint, Mechanism
from .reduce import Tie, tie
from .tree import Tree

PerJoint: TypeAlias = "float | Sequence[float] | Mapping[str, float] | None"
TERMS = ("armature", "viscous", "coulomb", "offset", "negative", "stiction")
_POWERS = (lambda k: k * k, lambda k: k * k, abs, lambda k: k, abs, abs)  # what a mimic joint's term weighs at the coordinate


def per_coordinate(what: str, value: PerJoint, tree: Tree) -> list[float | None]:
    """One value per coordinate, None where nothing is said: from a number, a sequence, or a mapping by joint name."""
    if value is None:
        return [None] * tree.n
    if isinstance(value, Mapping):
        for name in value:
            if name not in tree.coordinates:
                raise CallError(f"{what}: {name!r} is no moving joint of its own; {choices(str(name), tree.coordinates)}")
        column: list[Any] = [value.get(name) for name in tree.coordinates]
    else:
        column = [value] * tree.n if np.ndim(value) == 0 else list(value)  # type: ignore[arg-type]
    if len(column) != tree.n:
        raise CallError(f"{what} has {len(column)} numbers; expected one, or {tree.n}: one for each of {', '.join(tree.coordinates)}")
    return [None if x is None else _number(what, x) for x in column]


def with_terms(mechanism: Mechanism, wanted: Mapping[str, Sequence[float | None]], first: int) -> Mechanism:
    """Joints such that coordinate `name` has the terms wanted[name], which begin with the `first` of TERMS. None leaves a term as it is.

    Where mimic joints share a coordinate they keep their terms and the leading joint takes the rest; where that would be negative
    though the whole is not, the leading joint takes all.
    """
    ties = {joint.name: tie(mechanism, joint) for joint in mechanism.joints if joint.kind != "fixed"}
    terms = {joint.name: [joint.armature, *joint.friction.terms] for joint in mechanism.joints}
    for leader, values in wanted.items():
        followers = {name: t for name, t in ties.items() if t.joint == leader and name != leader}
        for column, value in enumerate(values, start=first):
            if value is not None:
                _assign(terms, leader, followers, column, value)
    return replace(mechanism, joints=tuple(_with(joint, terms[joint.name]) for joint in mechanism.joints))


def _assign(terms: dict[str, list[float | None]], leader: str, followers: dict[str, Tie], column: int, value: float) -> None:
    theirs = sum(_POWERS[column](t.multiplier) * (terms[name][column] or 0.0) for name, t in followers.items())
    if value - theirs < 0 <= value and TERMS[column] != "offset":
        theirs = 0.0
        for name in followers:
            terms[name][column] = None
    terms[leader][column] = value - theirs


def _with(joint: Joint, terms: Sequence[float | None]) -> Joint:
    return replace(joint, armature=terms[0], friction=joint.friction.with_terms(terms[1:]))


def _number(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise CallError(f"{what} = {value!r}; expected finite numbers")
    return number
