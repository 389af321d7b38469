"""Bounds that a user sets on parameters, as linear inequalities A pi <= b with a name for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import numbers, real_number, short_repr
from ...errors import CallError, suggest
from ...mechanism.joint_terms import BY_KEY, BY_SYMBOL
from ...option_groups.identification import Bounds

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inequalities:
    """A pi <= b, row by row, (k, p) and (k,); `names` has the bound that each row belongs to."""

    A: Array
    b: Array
    names: tuple[str, ...]

    def without(self, name: str) -> Inequalities:
        """Return all rows except the rows of one bound."""
        keep = [i for i, label in enumerate(self.names) if label != name]
        return Inequalities(self.A[keep], self.b[keep], tuple(self.names[i] for i in keep))

    def violation(self, pi: Array) -> float:
        """Return the largest A pi - b relative to the size of b; at most 0 if all hold."""
        return float(
            np.max((self.A @ pi - self.b) / np.maximum(np.abs(self.b), 1.0), initial=-np.inf)
        )


def check_bounds(bounds: object) -> Bounds | None:
    """Return bounds by name, or None; raise CallError if they are not a mapping."""
    if bounds is not None and not (
        isinstance(bounds, Mapping) and all(isinstance(name, str) for name in bounds)
    ):
        raise CallError(
            f"bounds must be a mapping such as {{'link3.m': (1, 4)}}, not {short_repr(bounds)}",
            argument="bounds",
        )
    return bounds


def physical_limits(names: Sequence[str], free: Sequence[int]) -> Inequalities:
    """Return rows for the physical limits of free joint terms.

    Friction is not negative, stiction is not below sliding friction, and a gear does not lose more
    than it transmits.
    """
    rows: list[tuple[Array, float, str]] = []
    where = {name: i for i, name in enumerate(names)}
    for i, name in enumerate(names):
        owner, _, symbol = name.rpartition(".")
        row = BY_SYMBOL.get(symbol)
        if row is None:
            continue
        if i in free and np.isfinite(row.least):
            rows.append((-direction(name, names), -row.least, f"{name} >= {row.least:g}"))
        if i in free and np.isfinite(row.valid[1]):
            rows.append((direction(name, names), row.valid[1], f"{name} <= {row.valid[1]:g}"))
        lower = [
            index
            for key in row.above
            if (index := where.get(f"{owner}.{BY_KEY[key].symbol}")) is not None
            and {i, index} & set(free)
        ]
        rows += [
            (
                direction(names[index], names) - direction(name, names),
                0.0,
                f"{name} >= {names[index]}",
            )
            for index in lower
        ]
    return stacked(rows, len(names))


def stacked(rows: Sequence[tuple[Array, float, str]], p: int) -> Inequalities:
    """Return rows a pi <= b with their names as inequalities on p parameters."""
    return Inequalities(
        np.array([a for a, _, _ in rows]).reshape(-1, p),
        np.array([b for _, b, _ in rows]),
        tuple(n for _, _, n in rows),
    )


def inequalities(bounds: Bounds | None, names: Sequence[str]) -> Inequalities:
    """Return rows for bounds by name.

    For example {'link3.m': (1, 4), 'link2.com': ((-.1, -.1, 0), (.1, .1, .5)), 'total_mass':
    (20, 30)}. None leaves a side open. Masses [kg], centres of mass as a box in the link's frame
    [m], any other parameter in its unit. A centre of mass within the convex hull of points of the
    link, such as the corners of its mesh: {'link2.com_hull': points (k, 3) [m]}.
    """
    rows: list[tuple[Array, float, str]] = []
    for name, limits in (bounds or {}).items():
        if name.endswith(".com_hull"):
            rows += hull(name, limits, names)
            continue
        low, high = pair(name, limits)
        if name.endswith(".com"):
            rows += box(name, low, high, names)
        else:
            rows += interval(name, direction(name, names), low, high)
    return stacked(rows, len(names))


def pair(name: str, limits: Any) -> tuple[Any, Any]:
    """Return (lowest, highest); raise CallError for anything else."""
    try:
        low, high = limits
    except (TypeError, ValueError):
        raise CallError(
            f"bounds: {name!r} needs (lowest, highest), not {short_repr(limits)}",
            argument="bounds",
        ) from None
    return low, high


def bound(name: str, value: Any) -> float:
    """Return one side of a bound; raise CallError if it is not a number."""
    return real_number(f"bounds: a side of {name!r}", value)


def direction(name: str, names: Sequence[str]) -> Array:
    """Return the row that selects a parameter, or sums the masses for `total_mass`."""
    row = np.zeros(len(names))
    if name == "total_mass":
        row[[i for i, label in enumerate(names) if label.endswith(".m")]] = 1.0
    elif name in names:
        row[list(names).index(name)] = 1.0
    else:
        links = [label[:-2] + ".com" for label in names if label.endswith(".m")]
        raise CallError(
            f"bounds: nothing is called {name!r}; {suggest(name, (*names, 'total_mass', *links))}",
            argument="bounds",
        )
    return row


def interval(name: str, row: Array, low: Any, high: Any) -> list[tuple[Array, float, str]]:
    """Return rows for low <= row pi <= high."""
    low, high = (None if side is None else bound(name, side) for side in (low, high))
    text = (
        f"{name} in [{low if low is not None else '-inf'}, {high if high is not None else 'inf'}]"
    )
    if low is not None and high is not None and low > high:
        raise CallError(f"bounds: {text} is empty", argument="bounds")
    return ([] if low is None else [(-row, -low, text)]) + (
        [] if high is None else [(row, high, text)]
    )


def hull(name: str, points: Any, names: Sequence[str]) -> list[tuple[Array, float, str]]:
    """Return rows for n . mc <= d m, for every face n . x <= d of the points' convex hull.

    Wensing, Kim and Slotine 2018, section III-C.
    """
    from scipy.spatial import ConvexHull, QhullError

    mass, moments = link_rows(name, ".com_hull", names)
    try:
        corners = numbers(f"bounds: {name!r}", points).reshape(-1, 3)
        faces = ConvexHull(corners).equations
    except (QhullError, ValueError):
        raise CallError(
            f"bounds: {name!r} needs at least four points (k, 3) [m] that span a volume",
            argument="bounds",
        ) from None
    return [
        (normal @ moments + offset * mass, 0.0, f"{name} of {len(corners)} points")
        for *normal, offset in faces
    ]


def link_rows(name: str, ending: str, names: Sequence[str]) -> tuple[Array, Array]:
    """Return the rows that select a link's mass (p,) and first moments (3, p)."""
    link = name[: -len(ending)]
    if f"{link}.m" not in names:
        raise CallError(
            f"bounds: no link is called {link!r};"
            f" {suggest(link, [label[:-2] for label in names if label.endswith('.m')])}",
            argument="bounds",
        )
    return direction(f"{link}.m", names), np.array(
        [direction(f"{link}.mc{axis}", names) for axis in "xyz"]
    )


def box(name: str, low: Any, high: Any, names: Sequence[str]) -> list[tuple[Array, float, str]]:
    """Return rows for low m <= mc <= high m, axis by axis: the centre of mass in a box."""
    mass, moments = link_rows(name, ".com", names)
    text, rows = f"{name} in [{low}, {high}]", []
    lowest, highest = (None if side is None else corner(name, side) for side in (low, high))
    if lowest is not None and highest is not None and np.any(lowest > highest):
        raise CallError(f"bounds: {text} is empty", argument="bounds")
    for k, moment in enumerate(moments):
        rows += [] if lowest is None else [(lowest[k] * mass - moment, 0.0, text)]
        rows += [] if highest is None else [(moment - highest[k] * mass, 0.0, text)]
    return rows


def corner(name: str, value: Any) -> Array:
    """Return a corner of a box, (3,) [m]; raise CallError for anything else."""
    point = numbers(f"bounds: a corner of {name!r}", value)
    if point.shape != (3,) or not np.all(np.isfinite(point)):
        raise CallError(
            f"bounds: a corner of {name!r} must be three numbers [m], not {short_repr(value)}",
            argument="bounds",
        )
    return point
