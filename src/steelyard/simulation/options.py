"""Options of `simulate`: how time is divided into steps, and what is simulated besides the arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arguments import real_number, whole_number
from ..errors import CallError
from ..option_groups.simulation import PLANT, SimulationFieldKeywords, SimulationFields, StepOptions
from ..options import option
from .drives import Drive

Array = NDArray[np.float64]


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


@dataclass(frozen=True)
class StepSchedule:
    """Number of steps, their length [s], and the number of steps between recorded samples."""

    steps: int
    step: float
    every: int

    @classmethod
    def of(cls, options: StepOptions) -> StepSchedule:
        """Return the schedule of options; raise CallError where not even one step fits."""
        length = real_number("simulate: step", options.step, unit="s")
        if length <= 0:
            raise CallError(
                f"simulate: step = {options.step!r}; expected a positive time [s], such as 1e-3"
            )
        return cls(
            steps=round(
                real_number("simulate: seconds", options.seconds, length, unit="s") / length
            ),
            step=length,
            every=whole_number("simulate: every", options.every, 1),
        )

    @property
    def recorded(self) -> NDArray[np.int64]:
        """Steps after which a sample is recorded: multiples of `every`, and the last."""
        multiples = np.arange(0, self.steps + 1, self.every)
        return multiples if multiples[-1] == self.steps else np.append(multiples, self.steps)

    @property
    def starts(self) -> Array:
        """Time at which each step begins (steps,) [s]."""
        return np.asarray(np.arange(self.steps) * self.step, dtype=np.float64)

    @property
    def times(self) -> Array:
        """Times of the recorded samples (T,) [s]."""
        return np.asarray(self.recorded * self.step, dtype=np.float64)
