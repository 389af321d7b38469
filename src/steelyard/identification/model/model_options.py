"""Options of the model: what is to be found, and what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import is_real, names, one_of, per_joint, real_number, short_repr, yes_or_no
from ...errors import CallError, suggest
from ...mechanism.model import Coupling
from ...option_groups.identification import AUTO, RESIDUALS, ModelFields
from .bounds import check_bounds
from .joint_terms import TERMS, USUAL, check_couplings
from .known import check_known

Array = NDArray[np.float64]
ALL = ("all",)


@dataclass(frozen=True)
class ModelOptions(ModelFields):
    """What is to be identified, and what is known about it.

    A single name stands for a list of one.

    Parameters
    ----------
    friction : 'auto' takes viscous and Coulomb friction and an offset at every joint, and further
        terms and drifts where they lower the held-out error by more than its noise; or terms of
        every joint, such as 'viscous', 'coulomb', 'offset', 'negative' (Coulomb friction of
        backward motion), 'stribeck' (stiction that fades with speed), 'load' (Coulomb friction that
        grows with the gravity torque), 'losses' (the same with one value for loads that the motor
        drives and one for loads that drive it) and 'ripple' (of the motor angle)
    rotor : whether rotor inertias are unknown
    coulomb_width : speed [rad/s|m/s] over which Coulomb friction rises: one number, one per joint,
        joint -> number, 0 for sign(qd), or 'estimate'
    hold : parameters, links or joints that are fixed at the robot's values, or name -> value
    bounds : name -> (lowest, highest), see `inequalities`
    prior : 'cad' gives the description more weight
    parameter_prior : Gaussian prior of parameters, name -> (mean, std), or mean (p,) and covariance
        (p, p) of the robot's parameters; beside the description, for 'sdp' and 'auto'
    constraints : linear equalities, ({'link2.m': 1, 'link3.m': 1}, 9.5), several of them, or A (k,
        p) and b (k,); for 'sdp', 'auto', 'wls' and 'ols'
    coupling : pairs of joints that share a motor, by name
    known : torque that is not identified, a function (q, qd, qdd) -> (N, n) or joint -> expression
    drive_gains : joints whose measured torque has an unknown factor, or 'all'
    known_mass : [kg] of all moving links together, or link -> mass of a moving link with all that
        is fixed to it
    torque_scale_std : relative standard deviation of the calibration that all torques share, a
        fraction: it is part of the standard deviations of masses, inertias and friction
    gear_ratio : of the motors, where the rotors of the description do not give it: one number, one
        per joint, or joint -> number
    elastic : joints whose stiffness and damping are identified, or True for all, from positions on
        both sides of their gears
    residual : 'learned' learns the torque that the model misses, for predictions inside the region,
        and keeps it where held-out torque gains by it; parameters do not depend on it
    """

    def __post_init__(self) -> None:
        checked = {
            "friction": names("friction", self.friction),
            "rotor": yes_or_no("rotor", self.rotor),
            "hold": dict(self.hold) if isinstance(self.hold, Mapping) else names("hold", self.hold),
            "bounds": check_bounds(self.bounds),
            "constraints": check_sequence("constraints", self.constraints),
            "coupling": check_couplings(self.coupling),
            "known": check_known(self.known),
            "drive_gains": names("drive_gains", self.drive_gains),
            "known_mass": check_mass(self.known_mass),
            "torque_scale_std": real_number("torque_scale_std", self.torque_scale_std, 0.0, 1.0),
            "residual": one_of("residual", self.residual, (None, *RESIDUALS)),
            "elastic": self.elastic if self.elastic is False else check_elastic(self.elastic),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        for term in self.friction:
            if term not in TERMS and self.friction != AUTO:
                raise CallError(
                    f"friction {term!r} is unknown; {suggest(str(term), (*TERMS, *AUTO))}",
                    argument="friction",
                )
        if isinstance(self.coulomb_width, str) and self.coulomb_width != "estimate":
            raise CallError(
                "coulomb_width must be 'estimate' or speeds [rad/s|m/s], not"
                f" {self.coulomb_width!r}",
                argument="coulomb_width",
            )

    @property
    def first_terms(self) -> Sequence[str]:
        """The friction terms of every joint from which a choice starts."""
        return USUAL if self.friction == AUTO else self.friction

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """Pairs of joints that share a motor."""
        return check_couplings(self.coupling)

    @property
    def elastic_joints(self) -> tuple[str, ...]:
        """The joints whose elasticity is to be found, ('all',) for all of them."""
        return check_elastic(self.elastic)

    def given_width(self, joint_names: Sequence[str]) -> Array | None:
        """Return the width of each joint's Coulomb step, (n,) [rad/s|m/s].

        None if it is to be estimated.
        """
        return (
            None
            if isinstance(self.coulomb_width, str)
            else per_joint("coulomb_width", self.coulomb_width, joint_names, 0.0, "rad/s|m/s")
        )


def check_sequence(name: str, value: Any) -> Sequence[Any]:
    """Return a value that has a length and an order; raise CallError for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise CallError(
            f"{name} must be a list or a tuple of two, not {short_repr(value)}", argument=name
        )
    return value


def check_elastic(elastic: Any) -> tuple[str, ...]:
    """Return the joints that are asked for: none for False, ('all',) for True, or names."""
    if isinstance(elastic, (bool, np.bool_)):
        return ALL if elastic else ()
    return names("elastic", elastic)


def check_mass(known_mass: Any) -> float | dict[str, float] | None:
    """Return what was given as known mass [kg], a number or link -> number.

    Raise CallError for anything else.
    """
    if isinstance(known_mass, Mapping):
        return {link: positive_mass(mass) for link, mass in known_mass.items()}
    return None if known_mass is None else positive_mass(known_mass)


def positive_mass(mass: Any) -> float:
    """Return a mass as a number [kg]; raise CallError for anything else."""
    if not (is_real(mass) and 0 < mass < np.inf):
        raise CallError(
            f"known_mass must be a positive number [kg] or link -> number, not {short_repr(mass)}",
            argument="known_mass",
        )
    return float(mass)
