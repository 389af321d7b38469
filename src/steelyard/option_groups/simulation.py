"""Options of simulation: start, steps, and the plant that is simulated besides the arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from ..option_values import NUMBERS
from ..options import option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

START, STEPS, PLANT = "Start", "Steps", "Plant"
METHODS = ("euler", "rk4", "rk8")  # of fixed steps
ADAPTIVE = "adaptive"


class JointStops(Protocol):
    """Stops at the joints' position limits, such as `Stops`."""

    @property
    def restitution(self) -> Any:
        """Share of a joint's velocity after an impact: one number, one per joint, or by name."""


@dataclass(frozen=True)
class StartOptions:
    """State at the start of a simulation."""

    q0: ArrayLike | None = option(
        None,
        help="Positions at the start, one number per joint, such as 0.5 or 30deg; zero by default.",
        unit="rad|m",
        metavar="Q",
        schema=NUMBERS,
        panel=START,
    )
    qd0: ArrayLike | None = option(
        None,
        help="Velocities at the start, one number per joint; zero by default.",
        unit="rad/s|m/s",
        metavar="QD",
        schema=NUMBERS,
        panel=START,
    )


@dataclass(frozen=True)
class StepOptions:
    """Duration, step length and integrator of a simulation."""

    seconds: float = option(
        1.0, help="Duration; 1 if not given.", unit="s", metavar="S", panel=STEPS
    )
    step: float = option(
        1e-3, help="Length of a step; 0.001 if not given.", unit="s", metavar="S", panel=STEPS
    )
    method: str = option(
        "rk4",
        help="Integrator: Runge-Kutta 4 or 8, semi-implicit Euler, adaptive; rk4 if not given.",
        choices=(*METHODS, ADAPTIVE),
        panel=STEPS,
    )
    every: int = option(
        1,
        help="Number of steps between two recorded samples; 1 if not given.",
        metavar="N",
        least=1,
        panel=STEPS,
    )


@dataclass(frozen=True, eq=False)
class SimulationFields:
    """Fields of `SimulationOptions` that need no class of the simulation."""

    base_pose0: ArrayLike | None = option(
        None,
        help="Position [m] and quaternion x y z w of a free base at the start, (..., 7).",
        unit="m|-",
        python_only=True,
        panel=PLANT,
    )
    base_twist0: ArrayLike | None = option(
        None,
        help="Velocity and angular velocity of a free base at the start, world axes, (..., 6).",
        unit="m/s|rad/s",
        python_only=True,
        panel=PLANT,
    )
    saturate: bool = option(
        False, help="Keep torques within the robot's effort limits.", panel=PLANT
    )
    stops: bool | JointStops = option(
        False,
        help="Keep joints within their position limits by stops.",
        switch=True,
        schema={"type": "boolean"},
        panel=PLANT,
    )


class SimulationFieldKeywords(TypedDict, total=False):
    """Keywords that are fields of `SimulationFields`."""

    base_pose0: ArrayLike | None
    base_twist0: ArrayLike | None
    saturate: bool
    stops: bool | JointStops
