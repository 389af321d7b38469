"""`steelyard validate ROBOT LOG`: predicted against measured torque."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def validate(
    robot: Annotated[
        str, typer.Argument(metavar="ROBOT", help="A built-in name, a file, or the fit.json (or folder) that identify wrote.")
    ],
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log: csv, parquet, npz, mat, mcap, rosbag2.")],
    against: Annotated[str | None, typer.Option(metavar="ROBOT", help="Another robot to set beside it.")] = None,
    mapping: Annotated[Path | None, typer.Option(metavar="TOML", help="What the columns mean, where their names do not say it.")] = None,
    effort: Annotated[str | None, typer.Option(metavar="torque|current", help="What an `effort` column holds.")] = None,
) -> None:
    """Hold a robot against a log that it was not made from: RMS, relative error and R² of the torque, joint by joint."""
    from ...reporting.tables import compared_errors, torque_units
    from ..candidate import candidate, hold
    from ..inputs import read
    from ..show.console import console
    from ..show.result import drawn, progress

    candidates = [candidate(name) for name in (robot, against) if name is not None]
    first = candidates[0].robot
    measured = read(log, first, mapping, effort)
    with progress() as tell:
        results = []
        for k, one in enumerate(candidates):
            tell(f"predicting the torques of {one.robot.name}", k / len(candidates))
            results.append((("model", "other")[k] if against else "", hold(one, measured)))
    console().print(drawn(compared_errors(first.joint_names, results, torque_units(first))))
