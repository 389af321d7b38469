"""A load on the terminal: the verdict, its ten numbers, what a controller asks for; and poses to weigh it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from .terminal import STYLES, judgement, table

if TYPE_CHECKING:
    from ...experiments.loads.controller_load import ControllerLoad
    from ...experiments.loads.payload import PayloadEstimate
    from ...experiments.loads.static_poses import StaticPoses


def load_outcome(found: PayloadEstimate, asked: ControllerLoad | None = None) -> RenderableType:
    """The verdict with its reasons, the ten numbers with their standard deviations, and the line for a controller."""
    verdict = found.verdict
    shown = table(f"The load in the frame {found.frame}", ("number", ">value", ">std", "unit"))
    for name, value, std, unit in found.rows():
        shown.add_row(name, f"{value:.5g}", f"{std:.2g}", unit)
    line = () if asked is None else (Text(f"\nFor the controller ({asked.controller}):", style="bold"), Text(asked.text))
    return Group(judgement(str(verdict), verdict.trusted, verdict.reasons, STYLES[verdict.word]), shown, *line)


def pose_table(chosen: StaticPoses) -> RenderableType:
    """The poses, and how well they show a load."""
    shown = table("Poses to rest in, each from both sides [rad|m]", ("pose", *(f">{name}" for name in chosen.joint_names)))
    for k, q in enumerate(chosen.q, 1):
        shown.add_row(str(k), *(f"{x:.4f}" for x in q))
    return Group(Text(str(chosen)), shown)
