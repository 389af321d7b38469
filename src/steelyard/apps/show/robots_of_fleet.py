"""A fleet on the terminal and in a folder: outliers, every robot, and the type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import whole_folder, write_atomic
from ...reporting.fleet_page import render_fleet
from ..output import output

if TYPE_CHECKING:
    from ...experiments import Fleet


def show_fleet(fleet: Fleet) -> None:
    """Show the outliers, in sentences and in a table, every robot, and notes on the estimate."""
    screen = output()
    parts = [deviation.sentence for deviation in fleet.outliers]
    lead = (
        "No outliers in the fleet."
        if not parts
        else f"{len(parts)} outlier{'s' if len(parts) > 1 else ''} in the fleet."
    )
    screen.judge(
        lead,
        not parts,
        tuple(parts),
        "yellow" if parts else "green",
        word="outlier" if parts else "alike",
    )
    screen.show(
        *([fleet.deviation_table()] if parts else []),
        fleet.table(),
        *(f"• {note}" for note in fleet.type.status),
    )
    screen.record(fleet=fleet.to_dict())


def write_fleet(folder: Path, fleet: Fleet, overwrite: bool) -> None:
    """Write the page, all numbers, and a description of every robot, atomically."""
    with whole_folder(folder, overwrite) as target:
        write_atomic(target / "fleet.html", render_fleet(fleet))
        write_atomic(
            target / "fleet.json", json.dumps(fleet.to_dict(), indent=1, ensure_ascii=False) + "\n"
        )
        for name in fleet.names:
            fleet.robot(name).to_toml(target / f"{safe(name)}.toml")


def safe(name: str) -> str:
    """Return a name that is valid for a file."""
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(
            "."
        )
        or "_"
    )
