"""The inputs of the verdict on a fit, as plain data that can be stored beside the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ...doctor.finding import Finding
from ..prediction import Region


@dataclass(frozen=True)
class JointInputs:
    """One joint on the samples of the fit: errors, and the rated torque.

    `torque` is the rms torque [N m|N], `rated` the effort limit [N m|N], None without one;
    `expected_inside` and `expected_outside` are rms errors [N m|N] that unseen motions hardly
    exceed. `mean_inside` is the average error inside, None if it equals `expected_inside`.
    `resting` is the rms error at rest if rows at rest are left out. `used` is False for a joint
    without rows.
    """

    name: str
    unit: str
    rated: float | None
    torque: float
    expected_inside: float
    expected_outside: float
    relative_error: float
    r2: float
    whiteness: float
    used: bool = True
    resting: float | None = None
    mean_inside: float | None = None

    @property
    def usual_inside(self) -> float:
        """The average error inside the region [N m|N], which decides the word."""
        return self.expected_inside if self.mean_inside is None else self.mean_inside


@dataclass(frozen=True)
class ErrorInputs:
    """Relative torque errors |e| / |tau|: expected within the region and anywhere, of the worst
    part of the log, on the fit's own samples, of the robot as described, and the noise floor.
    `predicted` and `consistent` are held-out errors of what predicts torques and of the physically
    consistent robot, None where they were not compared. Unseen motions hardly exceed `within` and
    `anywhere`; `mean` is the average error within the region, None for `within`.
    """

    within: float
    anywhere: float
    worst_part: float
    own: float
    described: float | None = None
    noise_floor: float | None = None
    predicted: float | None = None
    consistent: float | None = None
    mean: float | None = None

    @property
    def usual(self) -> float:
        """The average error within the region, which decides the word."""
        return self.within if self.mean is None else self.mean


@dataclass(frozen=True)
class ExcitationInputs:
    """Rank and number of the base parameters; the names without excitation, and weak ones."""

    rank: int
    n_base: int
    unexcited: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


@dataclass(frozen=True)
class MassInputs:
    """Total masses identified and described [kg], and how far the description was used.

    `known` says that a mass was given, `placeholder` that the described inertias are placeholders,
    `descriptions_not_used` names the links whose description was not used, of `links` in all.
    `scale_std` is the relative standard deviation of the torque scale, 0 where it is not stated.
    """

    identified: float
    described: float
    known: bool = False
    placeholder: bool = False
    descriptions_not_used: tuple[str, ...] = ()
    links: int = 0
    impossible: tuple[str, ...] = ()
    scale_std: float = 0.0


@dataclass(frozen=True)
class LogInputs:
    """What is known of the log: findings of the doctor, and sentences of the identification.

    `examinable` says whether the doctor reads logs of this kind. `too_short` is a sentence about
    too few independent rows, `odd_log` one about a log that differs from the others. `robot` and
    `log` are the files, '' where they are not known.
    """

    findings: tuple[Finding, ...] = ()
    examinable: bool = True
    too_short: str = ""
    odd_log: str = ""
    robot: str = ""
    log: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class VerdictInputs:
    """Everything that the verdict on a fit depends on, apart from validations on other logs."""

    joints: tuple[JointInputs, ...]
    region: Region
    errors: ErrorInputs
    excitation: ExcitationInputs
    masses: MassInputs
    log: LogInputs

    def to_dict(self) -> dict[str, Any]:
        """Return the inputs as plain data."""
        groups = ("errors", "excitation", "masses", "log")
        return {
            "joints": [asdict(joint) for joint in self.joints],
            "region": self.region.to_dict(),
            **{name: asdict(getattr(self, name)) for name in groups},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> VerdictInputs:
        """Return the inputs that `to_dict` wrote, JSON in between: None stands for NaN."""
        log = dict(data["log"])
        findings = [Finding(**{**f, "joints": tuple(f["joints"])}) for f in log.pop("findings")]
        return cls(
            joints=tuple(_read(JointInputs, row) for row in data["joints"]),
            region=Region.from_dict(data["region"]),
            errors=_read(ErrorInputs, data["errors"]),
            excitation=_read(ExcitationInputs, data["excitation"]),
            masses=_read(MassInputs, data["masses"]),
            log=_read(LogInputs, {**log, "findings": findings}),
        )


KINDS: dict[str, Any] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": lambda x: float("nan") if x is None else float(x),
    "float | None": lambda x: None if x is None else float(x),
    "tuple[str, ...]": lambda x: tuple(map(str, x)),
    "tuple[Finding, ...]": tuple,
}


def _read(kind: Any, row: Mapping[str, Any]) -> Any:
    """Return a dataclass of plain fields; a wrong name or type is an error."""
    types = kind.__annotations__
    return kind(**{name: KINDS[types[name]](value) for name, value in row.items()})
