"""Findings: what is wrong with a log, with evidence, probability and a fix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...drawing.html import card
from ...drawing.numbers import fixed
from ...drawing.table import Column, Table
from ...signals.clean.correction import Correction

MAPPING, THIRD_SOURCE = "mapping", "third source"


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault.

    `corrected_by` is MAPPING where `--fix` corrects the log, provided that the log shows the fault
    without the described inertias. It is THIRD_SOURCE where torques and description, or torques of
    several joints, disagree about a factor: both are named, and nothing is corrected before a third
    source decides. It is "" where no mapping helps.
    """

    meaning: str
    corrected_by: str = ""


FAULTS: dict[str, FaultKind] = {
    "swapped joints": FaultKind("the columns of two or more joints are swapped", MAPPING),
    "position sign": FaultKind("the position of a joint has the other sign", MAPPING),
    "torque sign": FaultKind("the torque of a joint has the other sign", MAPPING),
    "degrees": FaultKind("positions are in degrees", MAPPING),
    "currents": FaultKind("the torque columns hold motor currents", THIRD_SOURCE),
    "gear ratio or torque constant": FaultKind(
        "the torque of a joint is wrong by a factor", THIRD_SOURCE
    ),
    "torque scale": FaultKind("all torques are wrong by one factor", THIRD_SOURCE),
    "gravity taken out": FaultKind("the torque of gravity was subtracted"),
    "gravity direction": FaultKind("the robot is mounted differently than described"),
    "position offset": FaultKind("the zero position of a joint is wrong", MAPPING),
    "motor side": FaultKind("positions and torques are on the motor side"),
    "clock": FaultKind("time stamps are scaled, or in milliseconds", MAPPING),
    "jitter": FaultKind("time stamps have random errors", MAPPING),
    "dropped samples": FaultKind("samples are missing"),
    "duplicated stamps": FaultKind("time stamps repeat the previous one", MAPPING),
    "delay": FaultKind("a signal is delayed", MAPPING),
    "saturation": FaultKind("a torque is saturated"),
    "dead channel": FaultKind("a signal never changes although it should"),
    "effort without sign": FaultKind("the effort is a magnitude without sign"),
    "effort is the command": FaultKind("the effort is computed from position and command"),
    "quantised effort": FaultKind("the resolution of the effort is coarse"),
    "stuck channel": FaultKind("a position is frozen while the joint moves"),
    "repeated samples": FaultKind("a signal is logged faster than it is measured"),
    "velocity channel": FaultKind("velocities are not the derivative of positions"),
    "encoder spikes": FaultKind("single positions are wrong", MAPPING),
    "coupling": FaultKind("two joints share a motor"),
    "missing term": FaultKind("a spring or counterweight is missing in the description"),
    "geometry": FaultKind("the distance between two joints is wrong"),
    "filtered torque": FaultKind("the torque is low-passed"),
    "poor excitation": FaultKind("the motion excites too few parameters"),
    "wrong robot": FaultKind("the description belongs to another robot"),
}
"""The kinds of faults by key."""

SEVERITIES = ("fault", "remark")


@dataclass(frozen=True)
class Finding:
    """One fault or remark on a log.

    `fault` is a key of FAULTS, `joints` are the joints concerned, () for the whole log. `sentence`
    describes it with its evidence, `probability` is between 0 and 1, `fix` is a line of a mapping
    file or a call. `severity` is 'fault' for data that must not be used as they are, 'remark' for a
    harmless or handled property. `hypotheses` are explanations that the log cannot distinguish,
    such as wrong torques and a wrong description; `probability` then belongs to the first, and none
    is corrected.
    """

    fault: str
    joints: tuple[str, ...]
    sentence: str
    probability: float
    fix: str = ""
    severity: str = "fault"
    hypotheses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.fault in FAULTS, self.fault
        assert self.severity in SEVERITIES, self.severity

    @property
    def certainty(self) -> float:
        """Probability that one of the hypotheses holds, or of the fault if there is only one."""
        return min(self.probability * max(len(self.hypotheses), 1), 1.0)

    @property
    def remedy(self) -> str:
        """What to do, in a sentence; empty if there is nothing."""
        return f"{'To decide' if self.hypotheses else 'To fix it'}: {self.fix}" if self.fix else ""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Diagnosis:
    """A verdict in a sentence and every finding. Iterate over it for the sentences.

    `usable` is False if no model of the robot can be identified from the log as it is. `correction`
    is the part that a mapping can fix; findings with several `hypotheses` have no part in it.
    `examined` is False for logs that are not examined but can be identified from.
    """

    verdict: str
    findings: tuple[Finding, ...] = ()
    usable: bool = True
    correction: Correction | None = None
    examined: bool = True

    @property
    def healthy(self) -> bool:
        """True if the log was examined and nothing was found."""
        return self.usable and self.examined and not self.findings

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that are faults, not remarks."""
        return tuple(each for each in self.findings if each.severity == "fault")

    def __iter__(self) -> Iterator[str]:
        return iter((self.verdict, *map(str, self.findings)))

    def __len__(self) -> int:
        return 1 + len(self.findings)

    def table(self) -> Table:
        """Return the findings with their joints, probability and fix."""
        columns = (
            *(Column(name, numeric=False) for name in ("finding", "joints")),
            Column("probability"),
            Column("fix", numeric=False),
        )
        rows = [
            (each.sentence, ", ".join(each.joints) or "all", fixed(each.probability, 2), each.fix)
            for each in self.findings
        ]
        data = {
            name: [getattr(each, name) for each in self.findings]
            for name in ("fault", "severity", "probability", "sentence", "fix")
        }
        lists = {"joints": [", ".join(each.joints) for each in self.findings]}
        lists["hypotheses"] = ["; ".join(each.hypotheses) for each in self.findings]
        return Table("Findings", columns, tuple(rows), data=data | lists)

    def _repr_html_(self) -> str:
        return card(self.verdict, "", (self.table(),) if self.findings else ())

    @property
    def remedy(self) -> str:
        """Where the correction goes, in a sentence; empty if there is none."""
        return (
            ""
            if self.correction is None
            else "`steelyard doctor ROBOT LOG --fix` writes the correction to LOG.mapping.toml."
        )

    def __str__(self) -> str:
        return "\n".join(
            [
                self.verdict,
                *(f"- {finding}" for finding in self.findings),
                *([self.remedy] if self.remedy else []),
            ]
        )
