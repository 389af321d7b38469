"""Options of the model: what is to be found, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import brief, is_real, names, per_joint, yes_or_no
from ...errors import CallError, suggest
from ...mechanism.model import Coupling
from .bounds import Bounds, check_bounds
from .joint_terms import TERMS, USUAL, check_couplings
from .known import Known, check_known

Array = NDArray[np.float64]
AUTO = ("auto",)
ALL = ("all",)


@dataclass(frozen=True)
class ModelOptions:
    """What is to be found, and what is known about it.

    friction: 'auto' takes viscous and Coulomb friction and an offset at every joint, and further terms and drifts where they lower the
    held-out error by more than its noise; or terms of every joint, of 'viscous', 'coulomb', 'offset', 'negative' (Coulomb friction of
    backward motion), 'stribeck' (stiction that fades with speed), 'load' (Coulomb friction that grows with the gravity torque) and 'ripple'
    (of the motor angle).
    gear_ratio: of the motors, where the description does not tell it by its rotors; one number, one per joint, or joint -> number.
    rotor: whether rotor inertias are unknown. coulomb_width [rad/s|m/s]: speed over which Coulomb friction rises, one number or one per
    joint, 0 for sign(qd), or 'estimate'. hold: parameters, links or joints that keep the robot's values, or name -> value.
    bounds: name -> (lowest, highest), see `inequalities`. prior: 'cad' makes the description count for more.
    coupling: pairs of joints that share a motor, by name. known: torque that is not to be found, a function (q, qd, qdd) -> (N, n) or
    joint -> expression. drive_gains: joints whose measured torque is wrong by an unknown factor, or 'all'. known_mass [kg]: of all moving
    links together, or link -> mass of a moving link with all that is fixed to it. elastic: joints whose stiffness and damping are to be
    found, or True for all, from positions on both sides of their gears. A single name stands for a list of one.
    """

    friction: Sequence[str] = AUTO
    rotor: bool = True
    coulomb_width: str | float | Sequence[float] | Mapping[str, float] = "estimate"
    hold: Sequence[str] | Mapping[str, float | None] = ()
    bounds: Bounds | None = None
    prior: str | None = None
    coupling: Sequence[Coupling] = ()
    known: Known | None = None
    drive_gains: Sequence[str] = ()
    known_mass: float | Mapping[str, float] | None = None
    gear_ratio: float | Sequence[float] | Mapping[str, float] | None = None
    elastic: bool | str | Sequence[str] = False

    def __post_init__(self) -> None:
        checked = {
            "friction": names("friction", self.friction),
            "rotor": yes_or_no("rotor", self.rotor),
            "hold": dict(self.hold) if isinstance(self.hold, Mapping) else names("hold", self.hold),
            "bounds": check_bounds(self.bounds),
            "coupling": check_couplings(self.coupling),
            "known": check_known(self.known),
            "drive_gains": names("drive_gains", self.drive_gains),
            "known_mass": check_mass(self.known_mass),
            "elastic": self.elastic if self.elastic is False else check_elastic(self.elastic),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for term in self.friction:
            if term not in TERMS and self.friction != AUTO:
                raise CallError(f"friction {term!r} is unknown; {suggest(str(term), (*TERMS, *AUTO))}")
        if isinstance(self.coulomb_width, str) and self.coulomb_width != "estimate":
            raise CallError(f"coulomb_width must be 'estimate' or speeds [rad/s|m/s], not {self.coulomb_width!r}")

    @property
    def first_terms(self) -> Sequence[str]:
        """The friction terms of every joint from which a choice starts."""
        return USUAL if self.friction == AUTO else self.friction

    @property
    def elastic_joints(self) -> tuple[str, ...]:
        """The joints whose elasticity is to be found, ('all',) for all of them."""
        return check_elastic(self.elastic)

    def given_width(self, joint_names: Sequence[str]) -> Array | None:
        """The width of each joint's Coulomb step, (n,) [rad/s|m/s]; None if it is to be estimated."""
        return (
            None if isinstance(self.coulomb_width, str) else per_joint("coulomb_width", self.coulomb_width, joint_names, 0.0, "rad/s|m/s")
        )


def check_elastic(given: Any) -> tuple[str, ...]:
    """Return the joints that are asked for: none for False, ('all',) for True, or names."""
    if isinstance(given, (bool, np.bool_)):
        return ALL if given else ()
    return names("elastic", given)


def check_mass(given: Any) -> float | dict[str, float] | None:
    """Return what was given as known mass [kg], a number or link -> number; raise CallError for anything else."""
    if isinstance(given, Mapping):
        return {link: positive_mass(mass) for link, mass in given.items()}
    return None if given is None else positive_mass(given)


def positive_mass(mass: Any) -> float:
    """Return a mass as a number [kg]; raise CallError for anything else."""
    if not (is_real(mass) and 0 < mass < np.inf):
        raise CallError(f"known_mass must be a positive number [kg] or link -> number, not {brief(mass)}")
    return float(mass)
