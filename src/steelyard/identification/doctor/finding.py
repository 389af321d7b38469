"""Findings: what is wrong with a log, each with its evidence, its probability and the line that mends it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...drawing.html import card
from ...drawing.numbers import fixed
from ...drawing.table import Column, Table
from ...signals.clean.correction import Correction

MAPPING, WITNESS = "mapping", "witness"


@dataclass(frozen=True)
class FaultKind:
    """What a finding may be about.

    `corrected_by` is MAPPING where `--fix` corrects the log, if the log shows the fault without the inertias of the description; WITNESS
    where torques and description, or torques of several joints, disagree about a factor: both are named, and nothing is corrected
    before a third source decides. It is "" where no mapping helps.
    """

    meaning: str
    corrected_by: str = ""


FAULTS: dict[str, FaultKind] = {
    "swapped joints": FaultKind("the columns of two or more joints are exchanged", MAPPING),
    "position sign": FaultKind("the position of a joint has the other sign", MAPPING),
    "torque sign": FaultKind("the torque of a joint has the other sign", MAPPING),
    "degrees": FaultKind("positions are in degrees", MAPPING),
    "currents": FaultKind("motor currents stand in the place of torques", WITNESS),
    "gear ratio or torque constant": FaultKind("the torque of a joint is wrong by a factor", WITNESS),
    "torque scale": FaultKind("all torques are wrong by one factor", WITNESS),
    "gravity taken out": FaultKind("the torque of gravity was subtracted"),
    "gravity direction": FaultKind("the robot is mounted otherwise than described"),
    "position offset": FaultKind("the zero of a joint is elsewhere", MAPPING),
    "motor side": FaultKind("positions and torques are those of the motors"),
    "clock": FaultKind("time stamps are scaled, or in milliseconds", MAPPING),
    "jitter": FaultKind("time stamps are off by a random part of the interval", MAPPING),
    "dropped samples": FaultKind("samples are missing"),
    "duplicated stamps": FaultKind("time stamps repeat the one before", MAPPING),
    "delay": FaultKind("a signal comes late", MAPPING),
    "saturation": FaultKind("a torque is cut off"),
    "dead channel": FaultKind("a signal never changes although it should"),
    "encoder spikes": FaultKind("single positions are off", MAPPING),
    "coupling": FaultKind("two joints share a motor"),
    "poor excitation": FaultKind("the motion shows too little of the robot"),
    "wrong robot": FaultKind("the description is of another robot"),
}
"""The kinds of faults by key."""

SEVERITIES = ("fault", "remark")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a log.

    `fault` is a key of FAULTS, `joints` are those concerned, () for the whole log. `sentence` says what is wrong with its evidence,
    `probability` is between 0 and 1, `fix` is the line of a mapping file or the call that mends it. `severity` is 'fault' for data that
    must not be used as they are, 'remark' for what is harmless or handled but worth saying. `hypotheses` are the explanations that the
    log cannot tell apart, such as wrong torques and a wrong description; `probability` is that of the first, and none is corrected.
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
        """Probability that one of the hypotheses holds, or the fault itself where there is one explanation only."""
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

    `usable` is False if no model of the robot can be identified from the log as it is. `correction` is what a mapping can put right;
    findings with several `hypotheses` have no part in it.
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
        lists = {"joints": [", ".join(each.joints) for each in self.findings]}
        lists["hypotheses"] = ["; ".join(each.hypotheses) for each in self.findings]
        return Table("Findings", columns, tuple(rows), data=data | lists)

    def _repr_html_(self) -> str:
        return card(self.verdict, "", (self.table(),) if self.findings else ())

    @property
    def remedy(self) -> str:
        """Where the correction goes, in a sentence; empty if there is none."""
        return "" if self.correction is None else "`steelyard doctor ROBOT LOG --fix` writes the correction to LOG.mapping.toml."

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"- {finding}" for finding in self.findings), *([self.remedy] if self.remedy else [])])
