"""Words of each fault that the search accepts: meaning, fix and severity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .doctor_thresholds import THRESHOLDS
from .fault_search.fault_correction import FaultCorrection
from .fault_search.search import Step

Names = tuple[str, ...]
Words = tuple[str, str, str]


def _swap(step: Step, final: FaultCorrection, names: Names) -> Words:
    a, b = (names[j] for j in step.hypothesis.joints)
    before, after = step.before.correction, step.hypothesis.trial.correction
    whole = before.order != after.order
    what = "The columns" if whole else "The torques"
    table = ", ".join(
        f'"{names[j]}" = "{names[k]}"'
        for j, k in enumerate(final.order if whole else final.torque_order)
        if j != k
    )
    return (
        f"{what} of {a} and {b} are exchanged",
        f"correction.{'order' if whole else 'torque_order'} = {{ {table} }}",
        "fault",
    )


def _position_sign(step: Step, final: FaultCorrection, names: Names) -> Words:
    (j,) = step.hypothesis.joints
    both = step.before.correction.gain[j] * step.hypothesis.trial.correction.gain[j] < 0
    fix = f'correction.sign = {{ "{names[j]}" = -1 }}' + (
        f'; correction.gain = {{ "{names[j]}" = -1 }}' if both else ""
    )
    return (
        (
            f"Position {'and torque ' if both else ''}of {names[j]} {'have' if both else 'has'} the"
            " other sign"
        ),
        fix,
        "fault",
    )


def _torque_sign(step: Step, final: FaultCorrection, names: Names) -> Words:
    which = (
        "all joints"
        if len(step.hypothesis.joints) == len(names)
        else ", ".join(names[j] for j in step.hypothesis.joints)
    )
    table = ", ".join(
        f'"{names[j]}" = {-1 if final.gain[j] < 0 else 1}' for j in step.hypothesis.joints
    )
    return f"The torque of {which} has the other sign", f"correction.gain = {{ {table} }}", "fault"


def _gain(step: Step, final: FaultCorrection, names: Names) -> Words:
    (j,) = step.hypothesis.joints
    meaning = (
        f"The torque of {names[j]} is {1 / final.gain[j]:.3g} times the torque that the other"
        " joints and the description predict"
    )
    return (
        f"{meaning}; the gear ratio or torque constant may be wrong",
        f'correction.gain = {{ "{names[j]}" = {gain_text(final, j)} }}',
        "fault",
    )


def _scale(step: Step, final: FaultCorrection, names: Names) -> Words:
    gain = step.hypothesis.trial.correction.gain[0] / step.before.correction.gain[0]
    table = ", ".join(f'"{name}" = {gain:.4g}' for name in names)
    return (
        f"All torques are {1 / gain:.3g} times the torques of the description",
        f"correction.gain = {{ {table} }}",
        "fault",
    )


def _currents(step: Step, final: FaultCorrection, names: Names) -> Words:
    table = ", ".join(f'"{name}" = {gain_text(final, j)}' for j, name in enumerate(names))
    factors = ", ".join(f"{name} {final.gain[j]:.3g}" for j, name in enumerate(names))
    meaning = (
        f"Each joint's torque lacks a different factor ({factors}); the columns may be motor"
        " currents"
    )
    return (
        meaning,
        f"correction.gain = {{ {table} }}  # rather the torque constants of the drives",
        "fault",
    )


def _lifted(step: Step, final: FaultCorrection, names: Names) -> Words:
    return (
        "The gravity torque was subtracted from the torques",
        "robot.with_gravity([0, 0, 0]), or a log of the full torque",
        "fault",
    )


def _gravity(step: Step, final: FaultCorrection, names: Names) -> Words:
    g = final.gravity
    assert g is not None
    text = ", ".join(f"{x:.3g}" for x in np.round(g, 2) + 0.0)
    return (
        f"Gravity is ({text}) m/s^2 in the base frame, not as described",
        f"robot.with_gravity([{text}])",
        "fault",
    )


def _offset(step: Step, final: FaultCorrection, names: Names) -> Words:
    (j,) = step.hypothesis.joints
    value = final.offset[j]
    meaning = (
        f"The zero position of {names[j]} differs by {-value:.4g} rad|m"
        f" ({-np.degrees(value):.1f} degrees if revolute) from the description"
    )
    return meaning, f'correction.offset = {{ "{names[j]}" = {value:.5g} }}', "fault"


def _clock(step: Step, final: FaultCorrection, names: Names) -> Words:
    factor = final.clock
    what = (
        "are in milliseconds"
        if abs(factor - 1e-3) < 1e-6
        else f"run {1 / factor:.3g} times too fast"
    )
    return f"The time stamps {what}", f"correction.clock = {factor:.4g}", "fault"


def _degrees(step: Step, final: FaultCorrection, names: Names) -> Words:
    return "Positions are in degrees", 'angle = "deg"', "fault"


def _delay(step: Step, final: FaultCorrection, names: Names) -> Words:
    every = len(step.hypothesis.joints) == len(names)
    delay = final.delay[step.hypothesis.joints[0]]
    which = "all joints" if every else ", ".join(names[j] for j in step.hypothesis.joints)
    table = ", ".join(f'"{names[j]}" = {final.delay[j]:.4g}' for j in step.hypothesis.joints)
    severity = "remark" if abs(delay) < THRESHOLDS.handled_delay else "fault"
    word = "delayed" if delay > 0 else "early"
    return (
        f"The torque of {which} is {word} by {1e3 * abs(delay):.3g} ms",
        f"correction.delay = {{ {table} }}",
        severity,
    )


def _coupling(step: Step, final: FaultCorrection, names: Names) -> Words:
    a, b = (names[j] for j in step.hypothesis.joints)
    return (
        f"{a} and {b} share a motor that is missing in the description",
        f'identify(..., coupling=("{a}", "{b}"))',
        "fault",
    )


def _spring(step: Step, final: FaultCorrection, names: Names) -> Words:
    (j,) = step.hypothesis.joints
    return (
        f"{names[j]} has a torque that depends on its position and that the description lacks, such"
        " as a spring or a counterweight",
        "identify(..., known=function of q, qd, qdd) with the torque of the spring",
        "fault",
    )


def _length(step: Step, final: FaultCorrection, names: Names) -> Words:
    (j,) = step.hypothesis.joints
    factor = final.length(j)
    return (
        f"The described distance of {names[j]} from the joint before it is {1 / factor:.3g} times"
        " the distance that the log shows",
        f"multiply the origin of {names[j]} in the description by {factor:.3g}, or measure it",
        "fault",
    )


def _low_pass(step: Step, final: FaultCorrection, names: Names) -> Words:
    assert final.low_pass is not None
    cutoff = final.low_pass[0]
    return (
        f"The torque is low-passed at about {cutoff:.2g} Hz, the positions are not",
        f"log the unfiltered torque, or identify(..., cutoff={0.7 * cutoff:.2g})",
        "fault",
    )


def gain_text(final: FaultCorrection, joint: int) -> str:
    """Return a gain as text."""
    return f"{final.gain[joint]:.4g}"


WORDS: dict[str, Callable[[Step, FaultCorrection, Names], Words]] = {
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
    "missing term": _spring,
    "geometry": _length,
    "filtered torque": _low_pass,
}
"""For each fault that the search may accept a function that puts it into words."""
