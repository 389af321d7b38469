"""Sentences: accepted faults as findings, with their evidence in numbers and a fix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .doctor_thresholds import THRESHOLDS
from .fault_search.fault_correction import FaultCorrection
from .fault_search.fault_hypothesis import FaultHypothesis
from .fault_search.log_evidence import Trial
from .fault_search.search import Step
from .fault_words import WORDS, Names
from .finding import FAULTS, MAPPING, THIRD_SOURCE, Finding

Array = NDArray[np.float64]


def findings_of(final: Trial, steps: Sequence[Step], names: Names) -> tuple[Finding, ...]:
    """Return a finding for each fault that was accepted."""
    # which has the gain of each joint
    every = any(step.hypothesis.fault == "currents" for step in steps)
    findings = [
        step
        for step in steps
        if not (every and step.hypothesis.fault == "gear ratio or torque constant")
    ]
    return tuple(joined([finding_of(final, step, names) for step in findings]))


def finding_of(final: Trial, step: Step, names: Names) -> Finding:
    """Return the finding of one accepted fault."""
    hypothesis = step.hypothesis
    joints = tuple(names[j] for j in hypothesis.joints)
    meaning, fix, severity = WORDS[hypothesis.fault](step, final.correction, names)
    others = rivals(step, names)
    probability = confidence(step, final)
    concerned = () if hypothesis.fault in WHOLE else joints
    sentence = (
        f"{meaning} (confidence {probability:.0%}): {evidence(step.without, final, names)}.{others}"
    )
    two = hypotheses_of(step, final.correction, names)
    if two and hypothesis.fault == "torque sign" and not shows_sign(largest_difference(final)):
        severity = "remark"
    if not two:
        return Finding(
            fault=hypothesis.fault,
            joints=concerned,
            sentence=sentence,
            probability=probability,
            fix=fix,
            severity=severity,
        )
    sentence = f"{sentence} Either {two[0]}, or {two[1]}: the log cannot distinguish them."
    return Finding(
        fault=hypothesis.fault,
        joints=concerned,
        sentence=sentence,
        probability=probability / len(two),
        fix=f"{DECIDING}; then, for the first, {fix}",
        severity=severity,
        hypotheses=two,
    )


def confidence(step: Step, final: Trial) -> float:
    """Return the probability of a fault beside its rivals, at most `largest_probability`.

    Evidence counts independent rows as if the model were right but for noise of that band. The
    scatter of the gain over held-out blocks contains the error of the model itself; the smaller of
    both probabilities holds.
    """
    odds = step.log_odds(final) if step.shown_by_log else min(step.log_odds(final), step.inaccurate)
    by_evidence = float(expit(odds))
    by_blocks = step.gain.probability if step.gain is not None and step.shown_by_log else 1.0
    return min(min(by_evidence, by_blocks) * share(step), THRESHOLDS.largest_probability)


DECIDING = (
    "weigh a known payload (sy.payload), give identify(..., known_mass=...), or compare with a"
    " second description"
)


def hypotheses_of(step: Step, final: FaultCorrection, names: Names) -> tuple[str, ...]:
    """Return the explanations of a fault that the log cannot distinguish.

    () if the log shows the fault by itself, or if it is not a fault of the log.
    """
    fault, joints = step.name
    kind = FAULTS[fault].corrected_by
    if kind == MAPPING and not step.shown_by_log:
        return (
            f"the log is wrong ({FAULTS[fault].meaning})",
            "the links differ from the description",
        )
    if kind != THIRD_SOURCE:
        return ()
    if fault == "currents":
        return (
            "the columns are motor currents, not torques",
            "each described link is wrong by a different factor",
        )
    gain = abs(final.gain[joints[0]])
    if fault == "torque scale":
        return (
            f"all torques lack a factor of {gain:.3g}",
            f"the described links are {gain:.3g} times as heavy as the real ones",
        )
    others = f"the torques of the other joints lack a factor of {1 / gain:.3g}"
    links = f"the described links that it moves are {gain:.3g} times as heavy as the real ones"
    return f"the torque of {names[joints[0]]} lacks a factor of {gain:.3g}", (
        others if step.shown_by_log else links
    )


WHOLE = (
    "gravity taken out",
    "gravity direction",
    "clock",
    "degrees",
    "currents",
    "torque scale",
    "filtered torque",
)


def share(step: Step) -> float:
    """Return the share of the probability that remains beside rivals of another kind."""
    beside = [
        each
        for each in step.rivals
        if (each.fault, each.joints) != (step.hypothesis.fault, step.hypothesis.joints)
    ]
    best: dict[tuple[str, tuple[int, ...]], float] = {}
    for each in beside:
        key = each.fault, each.joints
        best[key] = max(best.get(key, -np.inf), each.score - step.hypothesis.score)
    return 1.0 / (1.0 + sum(np.exp(value) for value in best.values()))


def rivals(step: Step, names: Names) -> str:
    """Return a sentence on other faults that would explain the log nearly as well.

    Empty for none.
    """
    others = {(each.fault, each.joints) for each in step.rivals} - {
        (step.hypothesis.fault, step.hypothesis.joints)
    }
    if not others:
        return ""
    texts = [
        (
            f"{fault} of {', '.join(names[j] for j in joints)}"
            if joints and fault not in WHOLE
            else fault
        )
        for fault, joints in sorted(others)
    ]
    return f" Nearly as likely: {'; '.join(texts)}."


def evidence(before: Trial, after: Trial, names: Names) -> str:
    """Return the evidence for a fault in words.

    Errors that fall, or links that agree with the description.
    """
    old, new = before.agreement.error, after.agreement.error
    j = int(np.argmax(old / new))
    if new[j] < THRESHOLDS.notable_error_ratio * old[j]:
        return (
            f"with the correction, the error of {names[j]} falls from {old[j]:.1%} to"
            f" {new[j]:.1%} of its torque"
        )
    apart = [largest_difference(trial) for trial in (before, after)]
    if apart[1] < THRESHOLDS.notable_error_ratio * apart[0]:
        return (
            f"with the correction, links differ from the description by at most {apart[1]:.0%},"
            f" instead of {apart[0]:.0%}"
        )
    if before.agreement.negative < after.agreement.negative - 1:
        return "without the correction, the friction of the joint would be negative"
    return "with the correction, the log agrees better with rigid-body dynamics"


def largest_difference(trial: Trial) -> float:
    """Return by how much links differ at most from the description, over their size."""
    differences = trial.agreement.mean[: trial.regression.inner].reshape(-1, 10)
    return float(np.max(np.linalg.norm(differences, axis=1))) / 2


def shows_sign(difference: float) -> bool:
    """Return whether a description that differs by a share of its links' size shows a sign.

    A description that is wrong anyway says little about the sign of all torques.
    """
    return difference <= THRESHOLDS.described_difference


def joined(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with all swapped joints in one finding."""
    swaps = [each for each in findings if each.fault == "swapped joints"]
    rest = [each for each in findings if each.fault != "swapped joints"]
    if len(swaps) < 2:
        return list(findings)
    names = tuple(dict.fromkeys(name for each in swaps for name in each.joints))
    sentence = " ".join(each.sentence for each in swaps)
    return [
        Finding(
            "swapped joints",
            names,
            sentence,
            min(each.probability for each in swaps),
            swaps[-1].fix,
        ),
        *rest,
    ]


def candidate_name(each: FaultHypothesis, names: Names) -> str:
    """Return a short name of a candidate."""
    return (
        f"{each.fault} of {', '.join(names[j] for j in each.joints)}" if each.joints else each.fault
    )
