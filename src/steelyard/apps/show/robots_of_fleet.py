"""A fleet on the terminal and in a folder: who stands out, every robot, and the type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import whole_folder, write_whole
from ...reporting.fleet_page import render_fleet
from ..output import output

if TYPE_CHECKING:
    from ...experiments import Fleet


def show_fleet(fleet: Fleet) -> None:
    """Show who stands out, in sentences and in a table, and every robot; last how it was found."""
    screen = output()
    parts = [deviation.sentence + "." for deviation in fleet.standing_out]
    lead = "No robot stands out." if not parts else f"{len(parts)} part{'s stand' if len(parts) > 1 else ' stands'} out."
    screen.judge(lead, not parts, tuple(parts), "yellow" if parts else "green", word="stands out" if parts else "alike")
    screen.show(*([fleet.deviation_table()] if parts else []), fleet.table(), *(f"• {note}" for note in fleet.type.status))
    screen.record(fleet=fleet.to_dict())


def write_fleet(folder: Path, fleet: Fleet, overwrite: bool) -> None:
    """Write the page, all numbers, and a description of every robot, whole or not at all."""
    with whole_folder(folder, overwrite) as place:
        write_whole(place / "fleet.html", render_fleet(fleet))
        write_whole(place / "fleet.json", json.dumps(fleet.to_dict(), indent=1, ensure_ascii=False) + "\n")
        for name in fleet.names:
            fleet.robot(name).to_toml(place / f"{safe(name)}.toml")


def safe(name: str) -> str:
    """Return a name that a file can have."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(".") or "_"
