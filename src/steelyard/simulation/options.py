"""Options of `simulate`: how time is divided into steps, and what is simulated besides the arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import real_number, whole_number
from ..errors import CallError
from ..options import option
from .drives import Drive, Stops
from .integrators import METHODS

Array = NDArray[np.float64]
STEP_PANEL = "Steps"
PLANT_PANEL = "Plant"


@dataclass(frozen=True)
class StepOptions:
    """Duration, step length and integrator of a simulation."""

    seconds: float = option(1.0, help="Duration.", unit="s", panel=STEP_PANEL)
    step: float = option(1e-3, help="Time step.", unit="s", panel=STEP_PANEL)
    method: str = option(
        "rk4",
        help="Integrator: Runge-Kutta of order 4 or 8, semi-implicit Euler, or adaptive DOP853.",
        choices=(*METHODS, "adaptive"),
        panel=STEP_PANEL,
    )
    every: int = option(1, help="Number of steps between two recorded samples.", panel=STEP_PANEL)


@dataclass(frozen=True, eq=False)
class SimulationOptions:
    """Options of the simulated plant: free base, torque limits, joint stops and drives.

    Examples
    --------
    >>> options = sy.simulation.SimulationOptions(saturate=True)
    >>> sy.simulate(sy.load("planar_2r"), seconds=0.1, options=options).steps
    100
    """

    base_pose0: ArrayLike | None = option(
        None,
        help="Position [m] and quaternion x y z w of a free base at the start, (..., 7).",
        unit="m|-",
        panel=PLANT_PANEL,
        command_line=False,
    )
    base_twist0: ArrayLike | None = option(
        None,
        help="Velocity and angular velocity of a free base at the start, world axes, (..., 6).",
        unit="m/s|rad/s",
        panel=PLANT_PANEL,
        command_line=False,
    )
    saturate: bool = option(
        False, help="Keep torques within the robot's effort limits.", panel=PLANT_PANEL
    )
    stops: bool | Stops = option(
        False, help="Keep joints within their position limits by stops.", panel=PLANT_PANEL
    )
    drive: Drive | None = option(
        None,
        help="Model of the drives between controller and joints: Elastic or Motor.",
        panel=PLANT_PANEL,
        command_line=False,
    )


class SimulationKeywords(TypedDict, total=False):
    """Keywords of `simulate` that make a `SimulationOptions`."""

    base_pose0: ArrayLike | None
    base_twist0: ArrayLike | None
    saturate: bool
    stops: bool | Stops
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
        """Numbers of the steps after which a sample is recorded: 0, every so many, and the last."""
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
