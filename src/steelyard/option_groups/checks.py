"""Options of the check of a robot by the laws of mechanics."""

from __future__ import annotations

from dataclasses import dataclass

from ..options import option

PANEL = "Random states"


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of `check`."""

    samples: int = option(
        64, help="Number of random states; 64 if not given.", metavar="N", least=1, panel=PANEL
    )
    seed: int = option(0, help="The same seed gives the same states.", least=0, panel=PANEL)
