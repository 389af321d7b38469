"""The verdict on a fit: one of four words, with the reasons for it, the error that it promises, and the region where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...parameters.pseudo_inertia import is_consistent
from ...robot import Robot
from ..doctor.finding import Finding
from ..friction.residual_split import ResidualSplit
from .held_out import HeldOut
from .prediction import Region
from .promise import Promise
from .uncertainty import LEAST_SHARE, Uncertainty
from .validation import Validation

WORDS = ("trusted", "trusted within", "doubtful", "refused")
MEANINGS = {
    "trusted": "Trusted: torque errors of about {error} anywhere within the joint limits, at speeds like those of the log.",
    "trusted within": "Trusted within the region of the log: torque errors of about {error} there.",
    "doubtful": "Doubtful: do not rely on this fit before the reasons below are looked into; torque errors of about {error} are expected.",
    "refused": "Refused: this log does not identify this robot.",
}
LIKELY = 0.5  # least probability of a fault that makes a fit doubtful
USELESS, POOR = 0.5, 0.25  # promised relative error from which a fit is refused, or doubtful
UNEXPLAINED = 0.7  # R2 below which a joint's torque counts as not explained
TOO_MANY = 0.3  # share of the joints without explained torque from which a fit is refused
UNSEEN = 0.5  # share of the directions of the base parameters without excitation from which a fit is doubtful
BROKEN = 2.0  # times the promised error on another log at which the promise counts as broken
UNEVEN = 2.0  # times the promised error that a part of the log may have for the promise to hold beyond the region
GOOD = 0.1  # promised relative error up to which a fit may hold beyond the region
ALIKE = 1.5  # times the error within the region that the error anywhere may have
LARGE, LITTLE = 0.5, 0.5  # relative error, and R2, at which a joint is asked about
SLOW = 0.8  # correlation of neighbouring residuals from which they vary slowly
MASSES = 2.0  # factor between the total masses found and described from which the scale of the torque is in question


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a verdict follows from: held-out errors, the promise made from them, findings of the doctor, and the links set aside.

    `residual_split` has what the error that is left goes back to. `examinable` says whether the doctor takes logs of this kind,
    `placeholder` that the description's inertias are no measure and the estimator did not weigh them. `too_short` is a sentence about
    samples that hold too few independent rows, `odd_log` one about a log that does not belong to the others.
    """

    held_out: HeldOut
    promise: Promise
    residual_split: ResidualSplit
    findings: tuple[Finding, ...] = ()
    set_aside: tuple[str, ...] = ()
    known_mass: bool = False
    examinable: bool = True
    placeholder: bool = False
    too_short: str = ""
    odd_log: str = ""


@dataclass(frozen=True, eq=False)
class Verdict:
    """One word on a fit: 'trusted', 'trusted within' its `region`, 'doubtful' or 'refused'.

    `error` is the relative torque error |e| / |tau| that it promises on unseen motion of the region, infinite for a refused fit, which
    promises nothing. `reasons` are sentences, the weightiest first, each with what to do; `findings` are those of the doctor.
    """

    word: str
    reasons: tuple[str, ...]
    error: float
    region: Region
    findings: tuple[Finding, ...] = ()

    @property
    def trusted(self) -> bool:
        """True for 'trusted' and 'trusted within'."""
        return self.word in ("trusted", "trusted within")

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        said = {"word": self.word, "sentence": str(self), "reasons": self.reasons, "error": self.error, "region": self.region.to_dict()}
        return {**said, "findings": [vars(finding) for finding in self.findings]}

    def __str__(self) -> str:
        return MEANINGS[self.word].format(error=f"{self.error:.1%}")

    def __repr__(self) -> str:
        return f"Verdict({self.word!r}, error {self.error:.2%}, {len(self.reasons)} reasons, {len(self.findings)} findings)"


def judge(
    robot: Robot,
    initial: Robot,
    uncertainty: Uncertainty,
    validation: Validation,
    evidence: Evidence,
    region: Region,
    others: Sequence[Validation] = (),
) -> Verdict:
    """Return the verdict on a fit; `validation` is that on its own samples, `others` are those on logs that it has not seen."""
    errors = [other.total_relative_error for other in others if other.keep.any()]
    error = max(evidence.promise.within, *errors, 0.0) if errors else evidence.promise.within
    refusals = [*no_explanation(validation, evidence.examinable), *useless(error, others)]
    doubts = [
        *filter(None, (evidence.odd_log, evidence.too_short)),
        *faults(evidence),
        *poor(error, evidence),
        *broken(evidence, others),
        *other_mass(robot, initial, evidence),
    ]
    doubts += [*unused_joints(validation), *little_excitation(uncertainty), *impossible_links(robot)]
    limits = [*narrow(evidence), *scale_unknown(robot, initial, evidence)]
    word = "refused" if refusals else "doubtful" if doubts else "trusted within" if limits else "trusted"
    notes = [
        *remarks(evidence),
        *unseen(uncertainty),
        *unexplained_joints(validation),
        *noise_floor(validation, evidence),
        *autocorrelated(validation),
        *scale(robot, initial, evidence),
    ]
    return Verdict(
        word, tuple(dict.fromkeys([*refusals, *doubts, *limits, *notes])), np.inf if refusals else error, region, evidence.findings
    )


def no_explanation(validation: Validation, examinable: bool) -> Iterator[str]:
    """Say that the torque of too many joints does not follow from their motion."""
    bad = [name for name, r2 in zip(validation.joint_names, validation.r2, strict=True) if r2 < UNEXPLAINED]
    if len(bad) > TOO_MANY * len(validation.joint_names):
        advice = "see steelyard doctor; " if examinable else ""
        yield f"No model explains what was measured of {', '.join(bad)}: {advice}are the units SI, and the signs right?"


def useless(error: float, others: Sequence[Validation]) -> Iterator[str]:
    """Say that the error is as large as the torque itself."""
    if error > USELESS:
        where = "on another log" if others else "on parts of the log that were left out"
        yield f"The torque error {where} is {error:.0%} of the torque: record a motion made by excite(), or mend the log."


def unused_joints(validation: Validation) -> Iterator[str]:
    """Name joints of which nothing was measured."""
    if validation.unused:
        which = ", ".join(validation.unused)
        yield f"No sample of {which} is in use, so that nothing tells how well its torque is predicted: a lower mask is needed."


def faults(evidence: Evidence) -> Iterator[str]:
    """Repeat what the doctor found wrong, with its line that mends it."""
    for finding in evidence.findings:
        if finding.severity == "fault" and finding.certainty >= LIKELY:
            yield f"{finding.sentence} {finding.remedy}".strip()


def poor(error: float, evidence: Evidence) -> Iterator[str]:
    """Say that the promised error is large."""
    if POOR < error <= USELESS:
        yield f"A torque error of {error:.0%} is expected on unseen motion: a longer log of a motion made by excite() would lower it."


def broken(evidence: Evidence, others: Sequence[Validation]) -> Iterator[str]:
    """Say that another log is predicted worse than was promised."""
    for number, other in enumerate(others, 1):
        found = other.total_relative_error
        if found > BROKEN * evidence.promise.within:
            which = f"validation log {number}" if len(others) > 1 else "the validation log"
            yield f"On {which} the error is {found:.1%}, more than {BROKEN:g} times the {evidence.promise.within:.1%} that were expected."


def other_mass(robot: Robot, initial: Robot, evidence: Evidence) -> Iterator[str]:
    """Say that the robot found weighs far more or less than the described one: the torque may be in another unit."""
    if not evidence.placeholder and not evidence.set_aside and not evidence.known_mass and weighs_otherwise(robot, initial):
        masses = f"The links found weigh {total_mass(robot):.3g} kg, those described {total_mass(initial):.3g} kg"
        yield f"{masses}: check the unit and the constants of the torque."


def weighs_otherwise(robot: Robot, initial: Robot) -> bool:
    """Return whether the total masses found and described differ by more than the factor MASSES."""
    described = total_mass(initial)
    return described > 0 and not 1 / MASSES < total_mass(robot) / described < MASSES


def little_excitation(uncertainty: Uncertainty) -> Iterator[str]:
    """Say that most of the base parameters are not excited."""
    rank, n_base = uncertainty.excitation.rank, uncertainty.base.n_base
    if n_base - rank > UNSEEN * n_base:
        yield f"The motion excites {rank} of {n_base} base parameters: record one made by excite()."


def narrow(evidence: Evidence) -> Iterator[str]:
    """Say why the promise does not reach beyond the region of the log."""
    within, anywhere, worst = evidence.promise.within, evidence.promise.anywhere, evidence.held_out.worst
    if anywhere > ALIKE * within:
        yield f"Elsewhere within the joint limits errors of {anywhere:.1%} are expected: for those record a wider motion."
    elif worst > UNEVEN * within:
        yield f"One part of the log has an error of {worst:.1%}: beyond the region of the log there may be more of that."
    elif within > GOOD:
        yield f"With an error of {within:.1%} the model lacks something, which beyond the region of the log may be worse."


def scale_unknown(robot: Robot, initial: Robot, evidence: Evidence) -> Iterator[str]:
    """Say that nothing tells the scale of the torque."""
    aside = 2 * len(evidence.set_aside) > len(robot.tree.bodies)
    if (aside or (evidence.placeholder and weighs_otherwise(robot, initial))) and not evidence.known_mass:
        why = "The description was set aside" if aside else "The described inertias are placeholders that contradict the log"
        yield f"{why}, so that nothing tells the scale of the torque: give known_mass= to decide it."


def scale(robot: Robot, initial: Robot, evidence: Evidence) -> Iterator[str]:
    """Say what no log can show."""
    if not evidence.set_aside:
        yield (
            f"No log shows the scale of its torque: it is as right as its calibration. The links found weigh {total_mass(robot):.3g} kg, "
            f"those described {total_mass(initial):.3g} kg."
        )


def remarks(evidence: Evidence) -> Iterator[str]:
    """Repeat what the doctor found worth saying, and faults that are not likely."""
    for finding in evidence.findings:
        if finding.severity != "fault" or finding.certainty < LIKELY:
            yield finding.sentence


def unseen(uncertainty: Uncertainty) -> Iterator[str]:
    """Name the base parameters that the samples do not show."""
    names, weak, count, rank = uncertainty.unexcited, uncertainty.weak, uncertainty.base.n_base, uncertainty.excitation.rank
    if names:
        moved = f"The motion excites {rank} of {count} directions; " if rank < count else ""
        why = f"the log holds less than {LEAST_SHARE:.0%} of what is known of them"
        yield f"{moved}{len(names)} of {count} base parameters are left as described, since {why}: {', '.join(names)}."
    if weak:
        yield f"{len(weak)} of {count} base parameters cannot be told from zero: {', '.join(weak)}."


def unexplained_joints(validation: Validation) -> Iterator[str]:
    """Name joints whose torque is not explained."""
    for j, name in enumerate(validation.joint_names):
        if validation.relative_error[j] > LARGE or validation.r2[j] < LITTLE:
            found = f"relative error {validation.relative_error[j]:.0%}, R2 {validation.r2[j]:.2f}"
            yield f"What was measured of {name} is not explained: {found}. Is its unit SI, and its sign right?"
    before, after = validation.before, validation.total_relative_error
    if before is not None and before.total_relative_error < after:
        yield f"The robot as given predicts better ({before.total_relative_error:.1%} against {after:.1%})."


def noise_floor(validation: Validation, evidence: Evidence) -> Iterator[str]:
    """Say how much of the error is noise, where the motion repeats."""
    floor, error = evidence.residual_split.floor, validation.total_relative_error
    if floor is not None:
        noise = f"torques of its periods differ by {floor:.2%} of the torque"
        yield f"The motion repeats: {noise}, and so much of the error of {error:.2%} is noise."


def impossible_links(robot: Robot) -> Iterator[str]:
    """Name links of the result that cannot exist; estimators never return any."""
    bodies = robot.tree.bodies
    real = is_consistent(robot.parameters[: 10 * len(bodies)].reshape(-1, 10))
    bad = [body.name for body, ok in zip(bodies, np.atleast_1d(real), strict=True) if not ok]
    if bad:
        yield f"These links have an inertia that no body has: {', '.join(bad)}."


def autocorrelated(validation: Validation) -> Iterator[str]:
    """Name joints whose residuals are strongly autocorrelated: the model lacks something there."""
    slow = [name for name, w in zip(validation.joint_names, validation.whiteness, strict=True) if w > SLOW]
    if slow:
        cause = "friction beyond this model, elasticity or temperature"
        yield f"The residuals of {', '.join(slow)} vary slowly: {cause}; the uncertainties allow for it."


def total_mass(robot: Robot) -> float:
    """Return the mass of all moving links [kg]."""
    return float(np.sum(robot.parameters[: 10 * len(robot.tree.bodies) : 10]))
