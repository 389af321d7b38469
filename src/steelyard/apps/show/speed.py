"""Speeds, as ratios first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .console import table

if TYPE_CHECKING:
    from ...bench import Measurement, Startup

Targets = Mapping[tuple[str, str], float]


def speed_table(robot: str, rows: Sequence[Measurement], targets: Targets | None = None) -> Table:
    """One robot, kernel by kernel: nanoseconds per sample and the ratio to the rival; with targets, whether they are met."""
    columns = ["kernel", ">samples", ">ns each", ">rival", ">faster", *([">target"] if targets else []), "than"]
    made = table(f"Speed of {robot}", columns)
    for row in rows:
        ratio = row.ratio
        target = [_target(ratio, targets.get((robot, row.quantity)))] if targets else []
        faster = f"{ratio:.1f}×" if ratio else ""
        made.add_row(row.quantity, str(row.samples), _short(row.ours), _short(row.rival), faster, *target, row.how)
    return made


def startup_table(rows: Sequence[Startup], targets: Targets | None = None) -> Table:
    """How long the first answer takes, in milliseconds."""
    made = table(
        "Start-up [ms]", ["robot", "kernel", ">import", ">load", ">compile", ">from disk cache", ">allowed"], "each in a fresh process"
    )
    for row in rows:
        cells = [f"{1e3 * x:.0f}" for x in (row.importing, row.loading, row.compiling, row.cached)]
        allowed = (targets or {}).get((row.robot, row.quantity))
        made.add_row(row.robot, row.quantity, *cells, f"{1e3 * allowed:.0f}" if allowed else "")
    return made


def _short(nanoseconds: float | None) -> str:
    return "" if nanoseconds is None else f"{nanoseconds:.1f}" if nanoseconds < 1000 else f"{nanoseconds:.0f}"


def _target(ratio: float | None, target: float | None) -> Text:
    if ratio is None or target is None:
        return Text("")
    return Text(f"{target:g}× {'met' if ratio >= target else 'MISSED'}", style="green" if ratio >= target else "bold red")
