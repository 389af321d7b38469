"""`steelyard export ROBOT --urdf FILE`: write a robot in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import CallError
from ..files import free_path


def export(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name or a file.")],
    urdf: Annotated[Path | None, typer.Option(help="Write a URDF file here.")] = None,
    toml: Annotated[Path | None, typer.Option(help="Write a TOML file here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists.")] = False,
) -> None:
    """Write a robot as URDF or TOML. Nothing is written over unless --force says so."""
    from ..loading import load

    targets = {kind: path for kind, path in (("urdf", urdf), ("toml", toml)) if path is not None}
    if not targets:
        raise CallError("export needs to know what to write: --urdf FILE, --toml FILE or both")
    for path in targets.values():
        free_path(path, force)
    loaded = load(robot)
    for kind, path in targets.items():
        getattr(loaded, f"to_{kind}")(path, overwrite=force)
        print(f"wrote {path}")
