"""Options of `simulate`: how time is divided into steps, and what is simulated besides the arm."""

from __future__ import annotations

from dataclasses import dataclass

from ..option_groups.simulation import PLANT, SimulationFieldKeywords, SimulationFields
from ..options import option
from .drives import Drive


@dataclass(frozen=True, eq=False)
class SimulationOptions(SimulationFields):
    """Options of the simulated plant: free base, torque limits, joint stops and drives.

    Examples
    --------
    >>> options = sy.simulation.SimulationOptions(saturate=True)
    >>> sy.simulate(sy.load("planar_2r"), seconds=0.1, options=options).steps
    100
    """

    drive: Drive | None = option(
        None,
        help="Model of the drives between controller and joints: Elastic or Motor.",
        python_only=True,
        panel=PLANT,
    )


class SimulationKeywords(SimulationFieldKeywords, total=False):
    """Keywords of `simulate` that make a `SimulationOptions`."""

    drive: Drive | None
