"""Sentences: accepted faults as findings, with their evidence in numbers and the line that mends them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .finding import FAULTS, MAPPING, WITNESS, Finding
from .mechanics.candidate import Candidate
from .mechanics.hypothesis import Hypothesis
from .mechanics.search import Step
from .mechanics.witness import Trial

Array = NDArray[np.float64]
Names = tuple[str, ...]
MARKED = 0.8  # ratio of errors that is worth saying
HANDLED_DELAY = 0.1  # [s] that an identification takes out by itself
MOST_SURE = 0.999


def findings_of(final: Trial, steps: Sequence[Step], names: Names) -> tuple[Finding, ...]:
    """Return a finding for each fault that was accepted."""
    every = any(step.found.fault == "currents" for step in steps)  # which has the gain of each joint
    told = [step for step in steps if not (every and step.found.fault == "gear ratio or torque constant")]
    return tuple(joined([finding_of(final, step, names) for step in told]))


def finding_of(final: Trial, step: Step, names: Names) -> Finding:
    """Return the finding of one accepted fault."""
    found = step.found
    joints = tuple(names[j] for j in found.joints)
    meaning, fix, severity = WORDS[found.fault](step, final.hypothesis, names)
    others = rivals(step, names)
    probability = min(float(expit(step.log_odds(final))) * share(step), MOST_SURE)
    concerned = () if found.fault in WHOLE else joints
    sentence = f"{meaning}: {evidence(step.without, final, names)}.{others}"
    two = hypotheses_of(step, final.hypothesis, names)
    if not two:
        return Finding(found.fault, concerned, sentence, probability, fix, severity)
    sentence = f"{sentence} Either {two[0]}, or {two[1]}: the log cannot tell which."
    return Finding(found.fault, concerned, sentence, probability / len(two), f"{DECIDING}; then, for the first, {fix}", severity, two)


DECIDING = "weigh a known payload (sy.payload), give identify(..., known_mass=...), or compare with a second description"


def hypotheses_of(step: Step, final: Hypothesis, names: Names) -> tuple[str, ...]:
    """Return the explanations of a fault that the log cannot tell apart; () if it shows the fault by itself, or it is none of the log."""
    fault, joints = step.name
    kind = FAULTS[fault].corrected_by
    if kind == MAPPING and not step.shown_by_log:
        return f"the log is wrong ({FAULTS[fault].meaning})", "the links differ from the description"
    if kind != WITNESS:
        return ()
    if fault == "currents":
        return "the columns are no torques but motor currents", "the described links are wrong, each by another factor"
    gain = abs(final.gain[joints[0]])
    if fault == "torque scale":
        return f"all torques lack a factor of {gain:.3g}", f"the described links are {gain:.3g} times as heavy as the real ones"
    others = f"those of the other joints lack a factor of {1 / gain:.3g}"
    links = f"the described links that it moves are {gain:.3g} times as heavy as the real ones"
    return f"the torque of {names[joints[0]]} lacks a factor of {gain:.3g}", others if step.shown_by_log else links


WHOLE = ("gravity taken out", "gravity direction", "clock", "degrees", "currents", "torque scale")


def share(step: Step) -> float:
    """Return the part of the probability that is left beside rivals of another kind."""
    beside = [each for each in step.rivals if (each.fault, each.joints) != (step.found.fault, step.found.joints)]
    best: dict[tuple[str, tuple[int, ...]], float] = {}
    for each in beside:
        key = each.fault, each.joints
        best[key] = max(best.get(key, -np.inf), each.score - step.found.score)
    return 1.0 / (1.0 + sum(np.exp(value) for value in best.values()))


def rivals(step: Step, names: Names) -> str:
    """Return a sentence on other faults that would explain the log nearly as well; empty for none."""
    found = {(each.fault, each.joints) for each in step.rivals} - {(step.found.fault, step.found.joints)}
    if not found:
        return ""
    told = [
        f"{fault} of {', '.join(names[j] for j in joints)}" if joints and fault not in WHOLE else fault for fault, joints in sorted(found)
    ]
    return f" The log cannot tell it well from: {'; '.join(told)}."


def evidence(before: Trial, after: Trial, names: Names) -> str:
    """Return what speaks for a fault: errors that fall, or links that need not differ from the description."""
    old, new = before.agreement.error, after.agreement.error
    j = int(np.argmax(old / new))
    if new[j] < MARKED * old[j]:
        return f"put right, the error of {names[j]} falls from {old[j]:.1%} to {new[j]:.1%} of its torque"
    apart = [float(np.max(np.linalg.norm(t.agreement.mean[: t.design.inner].reshape(-1, 10), axis=1))) / 2 for t in (before, after)]
    if apart[1] < MARKED * apart[0]:
        return f"put right, no link need differ from the description by more than {apart[1]:.0%}, instead of {apart[0]:.0%}"
    if before.agreement.negative < after.agreement.negative - 1:
        return "without that, friction would have to drive the joint instead of braking it"
    return f"the log is {np.exp(min(after.evidence - before.evidence, 50.0)):.1e} times as likely with it as without"


def joined(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with those of exchanged joints in one."""
    swaps = [each for each in findings if each.fault == "swapped joints"]
    rest = [each for each in findings if each.fault != "swapped joints"]
    if len(swaps) < 2:
        return list(findings)
    names = tuple(dict.fromkeys(name for each in swaps for name in each.joints))
    sentence = " ".join(each.sentence for each in swaps)
    return [Finding("swapped joints", names, sentence, min(each.probability for each in swaps), swaps[-1].fix), *rest]


# -- one fault each: meaning, fix, severity ----------------------------------------------------------------------------------

Words = tuple[str, str, str]


def _swap(step: Step, final: Hypothesis, names: Names) -> Words:
    a, b = (names[j] for j in step.found.joints)
    before, after = step.before.hypothesis, step.found.trial.hypothesis
    whole = before.order != after.order
    what = "The columns" if whole else "The torques"
    table = ", ".join(f'"{names[j]}" = "{names[k]}"' for j, k in enumerate(final.order if whole else final.torque_order) if j != k)
    return f"{what} of {a} and {b} are exchanged", f"correction.{'order' if whole else 'torque_order'} = {{ {table} }}", "fault"


def _position_sign(step: Step, final: Hypothesis, names: Names) -> Words:
    (j,) = step.found.joints
    both = step.before.hypothesis.gain[j] * step.found.trial.hypothesis.gain[j] < 0
    fix = f'correction.sign = {{ "{names[j]}" = -1 }}' + (f'; correction.gain = {{ "{names[j]}" = -1 }}' if both else "")
    return f"Position {'and torque ' if both else ''}of {names[j]} {'have' if both else 'has'} the other sign", fix, "fault"


def _torque_sign(step: Step, final: Hypothesis, names: Names) -> Words:
    which = "all joints" if len(step.found.joints) == len(names) else ", ".join(names[j] for j in step.found.joints)
    table = ", ".join(f'"{names[j]}" = {-1 if final.gain[j] < 0 else 1}' for j in step.found.joints)
    return f"The torque of {which} has the other sign", f"correction.gain = {{ {table} }}", "fault"


def _gain(step: Step, final: Hypothesis, names: Names) -> Words:
    (j,) = step.found.joints
    meaning = f"The torque of {names[j]} is {1 / final.gain[j]:.3g} times what the other joints and the description ask for"
    return (
        f"{meaning}, as with a wrong gear ratio or torque constant",
        f'correction.gain = {{ "{names[j]}" = {gain_text(final, j)} }}',
        "fault",
    )


def _scale(step: Step, final: Hypothesis, names: Names) -> Words:
    gain = step.found.trial.hypothesis.gain[0] / step.before.hypothesis.gain[0]
    table = ", ".join(f'"{name}" = {gain:.4g}' for name in names)
    return f"All torques are {1 / gain:.3g} times those of the description", f"correction.gain = {{ {table} }}", "fault"


def _currents(step: Step, final: Hypothesis, names: Names) -> Words:
    table = ", ".join(f'"{name}" = {gain_text(final, j)}' for j, name in enumerate(names))
    told = ", ".join(f"{name} {final.gain[j]:.3g}" for j, name in enumerate(names))
    meaning = (
        f"The torques of the joints lack factors that differ from joint to joint ({told}), as motor currents do in the place of torques"
    )
    return meaning, f"correction.gain = {{ {table} }}  # rather the torque constants of the drives", "fault"


def _lifted(step: Step, final: Hypothesis, names: Names) -> Words:
    return "The torque of gravity was taken out of the torques", "robot.with_gravity([0, 0, 0]), or a log of the whole torque", "fault"


def _gravity(step: Step, final: Hypothesis, names: Names) -> Words:
    g = final.gravity
    assert g is not None
    text = ", ".join(f"{x:.3g}" for x in np.round(g, 2) + 0.0)
    return f"Gravity does not point as described, but along ({text}) m/s^2 in the base's frame", f"robot.with_gravity([{text}])", "fault"


def _offset(step: Step, final: Hypothesis, names: Names) -> Words:
    (j,) = step.found.joints
    value = final.offset[j]
    meaning = f"The zero of {names[j]} is {-value:.4g} rad|m ({-np.degrees(value):.1f} degrees if it turns) from the description's"
    return meaning, f'correction.offset = {{ "{names[j]}" = {value:.5g} }}', "fault"


def _clock(step: Step, final: Hypothesis, names: Names) -> Words:
    factor = final.clock
    what = "are in milliseconds" if abs(factor - 1e-3) < 1e-6 else f"run {1 / factor:.3g} times as fast as time"
    return f"The time stamps {what}", f"correction.clock = {factor:.4g}", "fault"


def _degrees(step: Step, final: Hypothesis, names: Names) -> Words:
    return "Positions are in degrees", 'angle = "deg"', "fault"


def _delay(step: Step, final: Hypothesis, names: Names) -> Words:
    every = len(step.found.joints) == len(names)
    delay = final.delay[step.found.joints[0]]
    which = "all joints" if every else ", ".join(names[j] for j in step.found.joints)
    table = ", ".join(f'"{names[j]}" = {final.delay[j]:.4g}' for j in step.found.joints)
    severity = "remark" if abs(delay) < HANDLED_DELAY else "fault"
    word = "late" if delay > 0 else "early"
    return f"The torque of {which} comes {1e3 * abs(delay):.3g} ms {word}", f"correction.delay = {{ {table} }}", severity


def _coupling(step: Step, final: Hypothesis, names: Names) -> Words:
    a, b = (names[j] for j in step.found.joints)
    return f"{a} and {b} share a motor that the description does not know", f'identify(..., coupling=("{a}", "{b}"))', "fault"


def gain_text(final: Hypothesis, joint: int) -> str:
    """Return a gain as text."""
    return f"{final.gain[joint]:.4g}"


WORDS: dict[str, Callable[[Step, Hypothesis, Names], Words]] = {
    "swapped joints": _swap,
    "position sign": _position_sign,
    "torque sign": _torque_sign,
    "gear ratio or torque constant": _gain,
    "torque scale": _scale,
    "currents": _currents,
    "gravity taken out": _lifted,
    "gravity direction": _gravity,
    "position offset": _offset,
    "clock": _clock,
    "degrees": _degrees,
    "delay": _delay,
    "coupling": _coupling,
}
"""For each fault that the search may accept a function that puts it into words."""


def candidate_name(each: Candidate, names: Names) -> str:
    """Return a short name of a candidate."""
    return f"{each.fault} of {', '.join(names[j] for j in each.joints)}" if each.joints else each.fault
