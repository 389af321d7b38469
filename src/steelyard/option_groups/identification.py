"""Options of identification: samples, model, estimator, and the work on many logs.

`steelyard.identification` extends the first two groups by the checks of their values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from ..option_values import (
    ESTIMATED_SCHEMA,
    EXPRESSIONS_SCHEMA,
    MASS_SCHEMA,
    NAMES_OR_VALUES_SCHEMA,
    NAMES_SCHEMA,
    PAIRS_SCHEMA,
    PER_JOINT,
    PER_JOINT_SCHEMA,
    RANGES_SCHEMA,
    by_joint,
    estimate_or_by_joint,
    joint_pairs,
    names_or_values,
    names_parser,
)
from ..options import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ESTIMATION, SAMPLES, FRICTION = "Estimation", "Samples", "Friction"
UNKNOWNS, KNOWLEDGE, MANY_LOGS = "Unknowns", "Known quantities", "Many logs"
# filled with the words of these tables where the help is shown
ESTIMATOR_NAMES, FRICTION_WORDS = "{estimators}", "{friction terms}"
AUTO = ("auto",)
SMOOTHERS = ("auto", "kalman", "periodic", "butterworth")
RESIDUALS = (LEARNED := "learned",)
DAMAGED = (REFUSE := "refuse", LEAVE_OUT := "leave out")

Bounds: TypeAlias = Mapping[str, Any]
ParameterPrior: TypeAlias = Mapping[str, Sequence[float]] | Sequence[Any]
"""parameter -> (mean, std), or a mean (p,) and a covariance (p, p)."""
Equalities: TypeAlias = Sequence[Any]
"""({parameter: factor}, value), several of them, or A (k, p) and b (k,)."""
KnownTorque: TypeAlias = "Callable[..., NDArray[np.float64]]"
KnownArgument: TypeAlias = "Mapping[str, str] | KnownTorque"
"""A known torque as users write it: joint -> expression, or a function (q, qd, qdd) -> (N, n)."""


class JointPair(Protocol):
    """Two joints that share a motor, such as a `Coupling`."""

    @property
    def joint_a(self) -> str:
        """Name of the first joint."""

    @property
    def joint_b(self) -> str:
        """Name of the second joint."""


@dataclass(frozen=True)
class PreparationFields:
    """How logs become samples; the fields of `Preparation`."""

    smoothing: str | None = option(
        "auto",
        help="Smoother of the positions; auto: periodic, Kalman or Butterworth by held-out torque.",
        choices=SMOOTHERS,
        panel=SAMPLES,
    )
    cutoff: float | None = option(
        None,
        help="Cut-off frequency of a Butterworth filter in place of the Kalman smoother.",
        unit="Hz",
        metavar="HZ",
        panel=SAMPLES,
    )
    decimate: int | None = option(
        None,
        help="Keep one low-passed sample in N; the rate that the motion needs by default.",
        metavar="N",
        least=1,
        panel=SAMPLES,
    )
    mask: Mapping[str, float] | Sequence[float] | float | None = option(
        None,
        help=f"Leave slower samples out: {PER_JOINT}",
        unit="rad/s|m/s",
        metavar="SPEED",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=SAMPLES,
    )
    delay: str | float | Sequence[float] | Mapping[str, float] = option(
        "estimate",
        help=f"Delay of the torque: estimate (default), {PER_JOINT}",
        unit="s",
        metavar="SECONDS",
        parse=estimate_or_by_joint,
        schema=ESTIMATED_SCHEMA,
        panel=SAMPLES,
    )
    controller: Any = option(
        None,
        help="Controller of steelyard.simulation that moved the robot.",
        python_only=True,
        panel=SAMPLES,
    )
    period: float | None = option(
        None,
        help="Period of a motion that repeats; estimated by default.",
        unit="s",
        metavar="SECONDS",
        panel=SAMPLES,
    )


class PreparationKeywords(TypedDict, total=False):
    """Keywords of the preparation of samples."""

    smoothing: str | None
    cutoff: float | None
    decimate: int | None
    mask: Mapping[str, float] | Sequence[float] | float | None
    delay: str | float | Sequence[float] | Mapping[str, float]
    controller: Any
    period: float | None


@dataclass(frozen=True)
class ModelFields:
    """What is to be identified, and what is known about it; the fields of `ModelOptions`."""

    friction: Sequence[str] = option(
        AUTO,
        help=f"Terms of every joint, of {FRICTION_WORDS}; auto (default): those the log shows.",
        metavar="TERM",
        parse=names_parser,
        schema=NAMES_SCHEMA,
        repeated=True,
        panel=FRICTION,
    )
    rotor: bool = option(True, help="Identify rotor inertias.", panel=UNKNOWNS)
    coulomb_width: str | float | Sequence[float] | Mapping[str, float] = option(
        "estimate",
        help="Speed over which Coulomb friction rises: estimate (default), or one or n numbers.",
        unit="rad/s|m/s",
        metavar="SPEED",
        parse=estimate_or_by_joint,
        schema=ESTIMATED_SCHEMA,
        panel=FRICTION,
    )
    hold: Sequence[str] | Mapping[str, float | None] = option(
        (),
        help="Fix parameters, links or joints at their current value, or at VALUE.",
        metavar="NAME[=VALUE],...",
        parse=names_or_values,
        schema=NAMES_OR_VALUES_SCHEMA,
        repeated=True,
        panel=KNOWLEDGE,
    )
    bounds: Bounds | None = option(
        None,
        help="Bounds of masses, first moments and friction: name -> (lowest, highest).",
        schema={"type": "object"},
        command_line=False,
        panel=KNOWLEDGE,
    )
    prior: str | None = option(
        None,
        help="cad: give the description more weight where the log shows little.",
        choices=("cad",),
        panel=ESTIMATION,
    )
    parameter_prior: ParameterPrior | None = option(
        None,
        help="Gaussian prior: parameter -> (mean, standard deviation).",
        schema=RANGES_SCHEMA,
        command_line=False,
        panel=KNOWLEDGE,
    )
    constraints: Equalities = option(
        (),
        help="Linear equalities of parameters: ({parameter: factor, ...}, value), or several.",
        schema={"type": "array"},
        command_line=False,
        panel=KNOWLEDGE,
    )
    coupling: JointPair | Sequence[JointPair | Sequence[str]] = option(
        (),
        help="Two joints that share a motor.",
        metavar="JOINT,JOINT",
        parse=joint_pairs,
        schema=PAIRS_SCHEMA,
        repeated=True,
        panel=UNKNOWNS,
    )
    known: KnownArgument | None = option(
        None,
        help="Known torque: a function of q, qd, qdd, or joint -> expression.",
        unit="N m|N",
        schema=EXPRESSIONS_SCHEMA,
        command_line=False,
        panel=KNOWLEDGE,
    )
    drive_gains: Sequence[str] = option(
        (),
        help="Joints whose measured torque has an unknown factor, or all.",
        metavar="JOINT,...",
        parse=names_parser,
        schema=NAMES_SCHEMA,
        repeated=True,
        panel=UNKNOWNS,
    )
    known_mass: float | Mapping[str, float] | None = option(
        None,
        help="Mass of all moving links together, or LINK=KG,... of each with what is fixed to it.",
        unit="kg",
        metavar="KG",
        parse=by_joint,
        schema=MASS_SCHEMA,
        panel=KNOWLEDGE,
    )
    torque_scale_std: float = option(
        0.0,
        help="Relative standard deviation of the overall torque scale, such as 0.02; 0 by default.",
        metavar="FRACTION",
        least=0.0,
        panel=KNOWLEDGE,
    )
    gear_ratio: float | Sequence[float] | Mapping[str, float] | None = option(
        None,
        help=f"Gear ratios, for torque ripple: {PER_JOINT}",
        metavar="N",
        parse=by_joint,
        schema=PER_JOINT_SCHEMA,
        panel=FRICTION,
    )
    elastic: bool | str | Sequence[str] = option(
        False,
        help="Identify the stiffness of joints with positions on both sides of their gears.",
        switch=True,
        schema={"anyOf": [{"type": "boolean"}, *NAMES_SCHEMA["anyOf"]]},
        panel=UNKNOWNS,
    )
    residual: str | None = option(
        None,
        help="learned: learn what the model misses, where it lowers held-out torque error.",
        choices=RESIDUALS,
        panel=ESTIMATION,
    )


class ArmModelKeywords(TypedDict, total=False):
    """Keywords of the model that is identified, but for the torque scale."""

    friction: Sequence[str]
    rotor: bool
    coulomb_width: str | float | Sequence[float] | Mapping[str, float]
    hold: Sequence[str] | Mapping[str, float | None]
    bounds: Bounds | None
    prior: str | None
    parameter_prior: ParameterPrior | None
    constraints: Equalities
    coupling: JointPair | Sequence[JointPair | Sequence[str]]
    known: KnownArgument | None
    drive_gains: Sequence[str]
    known_mass: float | Mapping[str, float] | None
    gear_ratio: float | Sequence[float] | Mapping[str, float] | None
    elastic: bool | str | Sequence[str]


class ModelKeywords(ArmModelKeywords, total=False):
    """Keywords of the model that is identified."""

    torque_scale_std: float
    residual: str | None


class ArmKeywords(PreparationKeywords, ArmModelKeywords, total=False):
    """Single options of the identification of an arm that carries a load."""


class IdentifyKeywords(PreparationKeywords, ModelKeywords, total=False):
    """Single options of an identification: the fields of `Preparation` and `ModelOptions`."""


@dataclass(frozen=True)
class EstimatorOptions:
    """The estimator of an identification."""

    estimator: str | None = option(
        None, help=f"One of {ESTIMATOR_NAMES}; auto if not given.", panel=ESTIMATION
    )


@dataclass(frozen=True, kw_only=True)
class IdentifyOptions(PreparationFields, ModelFields, EstimatorOptions):
    """Options of an identification, as commands, files, forms and tables have them."""


@dataclass(frozen=True, kw_only=True)
class FoldingOptions:
    """How many logs are folded: `identify` and `identify_fleet`."""

    damaged: str = option(
        REFUSE,
        help="Skip logs that cannot be read; they are an error by default.",
        choices=DAMAGED,
        flag="--skip-damaged",
        switch=LEAVE_OUT,
        panel=MANY_LOGS,
    )
    keep: bool | str | os.PathLike[str] = option(
        True,
        help="Keep the factors of many logs in .steelyard beside them, for the next run.",
        flag="--keep/--no-keep",
        switch=True,
        schema={"type": ["boolean", "string"]},
        panel=MANY_LOGS,
    )


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """Options of `identify_fleet` alone."""

    by: str = option(
        "robot",
        help="KEY of the folders KEY=NAME that name the robot of a log; robot if not given.",
        metavar="KEY",
        panel=MANY_LOGS,
    )
