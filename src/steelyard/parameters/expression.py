"""Combinations of parameters as short, readable sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..dynamics.parametric import JOINT_TERMS


def expression(row: NDArray[np.float64], first: int, names: Sequence[str]) -> str:
    """'Izz2 + Ia2 + 0.0506*m3 - mcx4' of one row of coefficients, beginning with the parameter `first`."""
    order = [first, *(int(j) for j in np.flatnonzero(row) if j != first)]
    text = ""
    for j in order:
        value = row[j]
        size = "" if abs(value) == 1 else f"{abs(value):.6g}*"
        sign = ("" if value > 0 else "-") if not text else (" + " if value > 0 else " - ")
        text += f"{sign}{size}{names[j]}"
    return text


def short_names(names: Sequence[str], links: Sequence[str] = (), joints: Sequence[str] = ()) -> tuple[str, ...]:
    """'upper_arm.mcx' -> 'mcx2', 'elbow.Fv' -> 'Fv3': the term and the number of its link or joint, counted from 1.

    `links` and `joints` are the owners in order. A name whose owner is neither stays as it is.
    """
    number = {("link", name): i for i, name in enumerate(links, 1)} | {("joint", name): i for i, name in enumerate(joints, 1)}
    short = []
    for name in names:
        owner, _, term = name.rpartition(".")
        index = number.get(("joint" if term in JOINT_TERMS else "link", owner))
        short.append(name if index is None else f"{term}{index}")
    return tuple(short)
