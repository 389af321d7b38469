"""An identification on the terminal.

The verdict, errors before and after, links, base parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...reporting import base_table, error_table
from ...reporting.tables import region_table
from ..output import output
from .terminal import STYLES

if TYPE_CHECKING:
    from ...identification import Fit, Validation, Verdict


WORST = 10  # logs of many that are shown


def show_fit(fit: Fit, judged: Verdict, validation: Validation | None = None) -> None:
    """Show the verdict with its reasons and region.

    Torque errors before, after and, if given, on another motion; links; base parameters.

    Last what the identification chose by itself: friction terms, the weight of the description,
    delays.
    """
    show_verdict(judged)
    screen = output()
    screen.show(
        region_table(fit.region), error_table(fit, validation), fit.links.table(), base_table(fit)
    )
    if fit.archive is not None:
        screen.show(fit.archive.table(WORST))
    screen.show(*(f"• {note}" for note in fit.status))
    screen.record(fit=fit.to_dict(validation))


def show_verdict(judged: Verdict) -> None:
    """Show the verdict on a fit with its reasons and the next step, and the words of the joints."""
    screen = output()
    screen.judge(str(judged), judged.trusted, judged.lines, STYLES[judged.word])
    screen.record(verdict={"good": judged.trusted, **judged.to_dict()})
    screen.show(judged.table())
