"""The report of a fleet: outliers, every robot, and the type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..drawing.dot_rows import dot_rows
from ..drawing.numbers import percent, short
from ..drawing.table import Column, Table
from .template import asset, from_template

if TYPE_CHECKING:
    from ..experiments.fleet.fleet import Fleet

FARTHEST = 15.0  # standard deviations at which a dot is drawn that is farther
SHOWN = ("Fv", "Fc")  # terms of joints that are always drawn


def render_fleet(fleet: Fleet) -> str:
    """Return the page as text."""
    count = len(fleet.outliers)
    return from_template(
        "fleet.html",
        style=asset("style.css"),
        title=fleet.type.robot.name,
        facts=f"{len(fleet.names)} robots · {int(fleet.samples.sum()):,} samples".replace(
            ",", "\u202f"
        ),
        lead=(
            "No outliers in the fleet."
            if not count
            else f"{count} outlier{'s' if count > 1 else ''}: {robots_out(fleet)}."
        ),
        sentences=[deviation.sentence for deviation in fleet.outliers],
        picture=picture(fleet),
        deviations=fleet.deviation_table(),
        robots=fleet.table(),
        verdict=str(fleet.type.verdict),
        links=fleet.type.links.table(),
        spreads=spread_table(fleet),
        story=fleet.type.status,
    )


def robots_out(fleet: Fleet) -> str:
    """Return how many robots are outliers, in words."""
    count = len({deviation.robot for deviation in fleet.outliers})
    return f"{count} robot{'s' if count > 1 else ''}"


def picture(fleet: Fleet) -> str:
    """Return the deviations of friction, and of outliers, as rows of dots."""
    names, pooled = fleet.type.base.names, fleet.pooled
    named = {deviation.parameter for deviation in fleet.outliers}
    rows = [i for i, name in enumerate(names) if name.rpartition(".")[2] in SHOWN or name in named]
    scores = pooled.deviations / np.sqrt(pooled.spread**2 + pooled.std**2)
    marked = np.zeros(scores.shape, bool)
    for deviation in fleet.outliers:
        marked[fleet.number(deviation.robot), names.index(deviation.parameter)] = True
    values = np.clip(scores[:, rows], -FARTHEST, FARTHEST)
    return dot_rows(
        [names[i] for i in rows],
        fleet.names,
        values,
        marked[:, rows],
        "standard deviations of the fleet",
    )


def spread_table(fleet: Fleet) -> Table:
    """Return the type's base parameters with the spread of the robots about them."""
    pooled, base = fleet.pooled, fleet.type.base
    units = [fleet.type.robot.parameter_units[column] for column in base.columns]
    columns = (
        Column("parameter", numeric=False),
        Column("type"),
        Column("spread"),
        Column("", "%"),
        Column("unit", numeric=False),
    )
    each = zip(base.names, pooled.center, pooled.spread, units, strict=True)
    rows = tuple(
        (name, short(a), short(s), percent(s / abs(a) if a else None, 0), unit)
        for name, a, s, unit in each
    )
    return Table(
        "Base parameters of the type",
        columns,
        rows,
        "spread: standard deviation of the robots about the type.",
    )
