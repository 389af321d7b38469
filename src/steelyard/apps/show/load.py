"""Show an identified payload in the terminal, and the static poses to measure it in.

Shown are the verdict, the ten inertial parameters, and the settings of a robot controller.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ...drawing.table import Table, named_columns
from ..output import output, rows_of
from .terminal import STYLES

if TYPE_CHECKING:
    from ...experiments.payload_identification.controller_load import ControllerLoad
    from ...experiments.payload_identification.payload import PayloadEstimate
    from ...experiments.payload_identification.static_poses import StaticPoses


def show_load(estimate: PayloadEstimate, settings: ControllerLoad | None = None) -> None:
    """Show the verdict, the ten parameters with standard deviations, and controller settings."""
    verdict, table = estimate.verdict, load_table(estimate)
    output().judge(
        str(verdict), verdict.trusted, verdict.reasons, STYLES[verdict.word], word=verdict.word
    )
    output().show(table)
    output().record(frame=estimate.frame, load=rows_of(table))
    if settings is not None:
        lines = (
            (f"\nFor the controller ({settings.controller}):", settings.text)
            if settings.text
            else ("",)
        )
        output().show(*lines, *settings.notes)
        output().record(
            controller={
                "name": settings.controller,
                "text": settings.text or None,
                "notes": list(settings.notes),
            }
        )


def load_table(estimate: PayloadEstimate) -> Table:
    """Return a table of the ten inertial parameters with their standard deviations."""
    names, values, std, units = (list(column) for column in zip(*estimate.rows(), strict=True))
    rows = [
        (name, f"{value:.5g}", f"{s:.2g}" if isfinite(s) else "not identified", unit)
        for name, value, s, unit in zip(names, values, std, units, strict=True)
    ]
    data = {"number": names, "value": values, "std": std, "unit": units}
    return Table(
        f"Load in the frame {estimate.frame}",
        named_columns("number", ">value", ">std", "unit"),
        tuple(rows),
        data=data,
    )


def pose_table(chosen: StaticPoses) -> Table:
    """Return a table of static poses."""
    rows = [(str(k), *(f"{x:.4f}" for x in q)) for k, q in enumerate(chosen.q, 1)]
    data = {
        "pose": list(range(1, len(rows) + 1)),
        **{name: chosen.q[:, j] for j, name in enumerate(chosen.joint_names)},
    }
    columns = named_columns("pose", *(f">{name}" for name in chosen.joint_names))
    return Table(
        "Static poses, each approached from both sides [rad|m]", columns, tuple(rows), data=data
    )
