"""Findings: what is wrong with a log, each with its evidence, its probability and the line that mends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...drawing.html import card
from ...drawing.numbers import fixed
from ...drawing.table import Column, Table
from ...signals.clean.correction import Correction

FAULTS: dict[str, str] = {
    "swapped joints": "the columns of two or more joints are exchanged",
    "position sign": "the position of a joint has the other sign",
    "torque sign": "the torque of a joint has the other sign",
    "degrees": "positions are in degrees",
    "currents": "motor currents stand in the place of torques",
    "gear ratio or torque constant": "the torque of a joint is wrong by a factor",
    "torque scale": "all torques are wrong by one factor",
    "gravity taken out": "the torque of gravity was subtracted",
    "gravity direction": "the robot is mounted otherwise than described",
    "position offset": "the zero of a joint is elsewhere",
    "motor side": "positions and torques are those of the motors",
    "clock": "time stamps are scaled, or in milliseconds",
    "jitter": "time stamps are off by a random part of the interval",
    "dropped samples": "samples are missing",
    "duplicated stamps": "time stamps repeat the one before",
    "delay": "a signal comes late",
    "saturation": "a torque is cut off",
    "dead channel": "a signal never changes although it should",
    "encoder spikes": "single positions are off",
    "coupling": "two joints share a motor",
    "poor excitation": "the motion shows too little of the robot",
    "wrong robot": "the description is of another robot",
}
"""What a finding may be about: key and meaning."""

SEVERITIES = ("fault", "remark")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a log.

    `fault` is a key of FAULTS, `joints` are those concerned, () for the whole log. `sentence` says what is wrong with its evidence,
    `probability` is between 0 and 1, `fix` is the line of a mapping file or the call that mends it. `severity` is 'fault' for data that
    must not be used as they are, 'remark' for what is harmless or handled but worth saying.
    """

    fault: str
    joints: tuple[str, ...]
    sentence: str
    probability: float
    fix: str = ""
    severity: str = "fault"

    def __post_init__(self) -> None:
        assert self.fault in FAULTS, self.fault
        assert self.severity in SEVERITIES, self.severity

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Diagnosis:
    """A verdict in a sentence and every finding. Iterate over it for the sentences.

    `usable` is False if no model of the robot can be identified from the log as it is. `correction` is what a mapping can put right.
    `examined` is False for a log that can be identified from and is of a kind that is not looked into.
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
        """The findings with their joints, probability and fix."""
        columns = (*(Column(name, numeric=False) for name in ("finding", "joints")), Column("probability"), Column("fix", numeric=False))
        rows = [(each.sentence, ", ".join(each.joints) or "all", fixed(each.probability, 2), each.fix) for each in self.findings]
        data = {name: [getattr(each, name) for each in self.findings] for name in ("fault", "severity", "probability", "sentence", "fix")}
        return Table("Findings", columns, tuple(rows), data=data | {"joints": [", ".join(each.joints) for each in self.findings]})

    def _repr_html_(self) -> str:
        return card(self.verdict, "", (self.table(),) if self.findings else ())

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"- {finding}" for finding in self.findings)])
