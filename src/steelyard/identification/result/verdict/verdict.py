"""The verdict on a fit: one of four words for the whole and for each joint, with the reasons."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ....drawing.numbers import NOTHING, short
from ....drawing.table import Column, Table
from ...doctor.finding import Finding
from ..prediction import Region
from ..result_thresholds import THRESHOLDS
from .torque_errors import ValidationErrors

WORDS = ("trusted", "trusted within", "doubtful", "refused")
"""From the best to the worst."""
TRUSTED, WITHIN, DOUBTFUL, REFUSED = range(len(WORDS))
SENTENCES = {
    "trusted": (
        "Trusted: torque errors up to {error} within the region of the log, at most {ratio:g} times"
        " as large elsewhere within the joint limits, at the speeds of the log."
    ),
    "trusted within": (
        "Trusted within the region of the log: torque errors up to {error} there{exceptions}."
    ),
    "doubtful": (
        "Doubtful: do not rely on this fit before the reasons below are resolved; torque errors up"
        " to {error} are expected."
    ),
    "refused": "Refused: this log does not identify this robot.",
}
EXPECTED = "Errors that unseen motion hardly exceeds, by cross-validation of the log."
MEASURED = "Errors measured on the validation log; – where it has no sample inside or outside."
RESTING = " Errors at rest are of the identified log."


@dataclass(frozen=True)
class Reason:
    """A reason of a verdict: the worst word that it leaves, a sentence, and what to do about it.

    `level` is a place in WORDS, 0 for a note that decides nothing. `joints` are those concerned,
    () for all; they get the word of `joint_level`, which is `level` unless given.
    """

    level: int
    text: str
    step: str = ""
    joints: tuple[str, ...] = ()
    joint_level: int | None = None

    def level_of(self, joint: str) -> int:
        """Return the level that this reason leaves for a joint."""
        if self.joints and joint not in self.joints:
            return TRUSTED
        return self.level if self.joint_level is None else self.joint_level


@dataclass(frozen=True)
class JointError:
    """Root mean square torque error of a joint [N m|N], and in percent of two torques.

    `percent_of_torque` is relative to the rms torque of the same motion, `percent_of_rated` to
    the effort limit; None where the description has none.
    """

    error: float
    percent_of_torque: float | None
    percent_of_rated: float | None


@dataclass(frozen=True)
class JointVerdict:
    """The word on one joint, and its torque error inside and outside the region.

    The verdict on a fit has expected errors, the verdict of a validation those measured on
    samples inside and outside; None where there is no sample. `unit` is 'N m' or 'N'. Where rows
    at rest are left out, these are errors while the joint moves, and `resting` is the one at rest
    on the identified log.
    """

    name: str
    word: str
    unit: str
    inside: JointError | None = None
    outside: JointError | None = None
    resting: JointError | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict:
    """The decision on a fit: 'trusted', 'trusted within' its region, 'doubtful' or 'refused'.

    `joints` have a word and torque errors each. `error` is the relative torque error |e| / |tau|
    that unseen motion inside `region` hardly exceeds: the largest of cross-validation, or measured
    on validation samples inside if that is larger; infinite for a refused fit. `outside_error` is
    measured on validation samples outside the region, None without any. `reasons` are sentences,
    the most important first. `next_step` says what to do, with the line to type. `findings` are
    findings of the doctor, `validations` the errors on other logs that were taken into account.

    Examples
    --------
    >>> fit.verdict.word in ("trusted", "trusted within", "doubtful", "refused")
    True
    """

    word: str
    joints: tuple[JointVerdict, ...]
    region: Region
    error: float
    outside_error: float | None
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]
    next_step: str
    validations: tuple[ValidationErrors, ...] = ()

    @property
    def trusted(self) -> bool:
        """True for 'trusted' and 'trusted within'."""
        return self.word in ("trusted", "trusted within")

    @property
    def lines(self) -> tuple[str, ...]:
        """The reasons, and the next step after them."""
        return (*self.reasons, f"Next: {self.next_step}")

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "word": self.word,
            "sentence": str(self),
            "error": self.error,
            "outside_error": self.outside_error,
            "joints": [asdict(joint) for joint in self.joints],
            "region": self.region.to_dict(),
            "reasons": self.reasons,
            "next_step": self.next_step,
            "findings": [vars(finding) for finding in self.findings],
            "validations": [each.to_dict() for each in self.validations],
        }

    def table(self) -> Table:
        """Return the word and the torque errors of every joint, inside and outside the region."""
        rests = any(joint.resting is not None for joint in self.joints)
        cells = [(j, (j.inside, j.outside, *((j.resting,) if rests else ()))) for j in self.joints]
        rows = [
            (j.name, j.word, j.unit, *(c for e in both for c in _cells(e))) for j, both in cells
        ]
        columns = [Column(name, numeric=False) for name in ("joint", "word", "unit")]
        for where in ("inside", "outside", *(("at rest",) if rests else ())):
            columns += [Column("error", group=where), Column("of rated", "%", group=where)]
        note = (MEASURED if self.validations else EXPECTED) + (RESTING if rests else "")
        return Table("Verdict of each joint", tuple(columns), tuple(rows), note)

    def __str__(self) -> str:
        worse = [j for j in self.joints if WORDS.index(j.word) > WORDS.index(self.word)]
        listed = ", ".join(f"{joint.name} ({joint.word})" for joint in worse)
        exceptions = f", except {listed}" if worse else ""
        return SENTENCES[self.word].format(
            error=f"{self.error:.1%}", exceptions=exceptions, ratio=THRESHOLDS.outside_ratio
        )

    def __repr__(self) -> str:
        counts = f"{len(self.reasons)} reasons, {len(self.findings)} findings"
        return f"Verdict({self.word!r}, error {self.error:.2%}, {counts})"


def _cells(error: JointError | None) -> tuple[str, str]:
    """Return the error and its share of the rated torque as text."""
    if error is None:
        return NOTHING, NOTHING
    return short(error.error), short(error.percent_of_rated)
