"""Refinement of several faults together, their sizes, and what a hypothesis is without one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .hypothesis import Hypothesis
from .model_faults import LEAST_SHARE, LEAST_TILT, angle, best_gravity, shared_part
from .motion_faults import LEAST_CLOCK, best_clock, best_offset, exchanged, faster, least_offset
from .torque_faults import LEAST_DELAY, LEAST_GAIN, LEAST_SCALE, polished_gain, scaled_all
from .witness import Trial, Witness

Joints = tuple[int, ...]
REFINED: dict[str, Callable[[Witness, Trial, Joints], Trial]] = {
    "gear ratio or torque constant": lambda witness, trial, joints: polished_gain(witness, trial, joints[0]),
    "torque sign": lambda witness, trial, joints: polished_gain(witness, trial, joints[0]) if len(joints) == 1 else trial,
    "torque scale": lambda witness, trial, joints: scaled_all(witness, trial, 1.0),
    "currents": lambda witness, trial, joints: scaled_all(witness, trial, 1.0),
    "position offset": lambda witness, trial, joints: best_offset(witness, trial, joints[0]),
    "clock": lambda witness, trial, joints: best_clock(witness, trial),
    "gravity direction": lambda witness, trial, joints: best_gravity(witness, trial),
}
"""How the number of a fault is improved when others have changed."""


def refined(witness: Witness, trial: Trial, faults: Sequence[tuple[str, Joints]]) -> Trial:
    """Return the trial with the numbers of these faults improved in turn."""
    for fault, joints in faults:
        if fault in REFINED:
            made = REFINED[fault](witness, trial, joints)
            trial = made if made.evidence > trial.evidence else trial
    return trial


def size_of(witness: Witness, trial: Trial, fault: str, joints: Joints) -> float:
    """Return the size of a fault over the least that matters: below 1 it is no fault but an inaccuracy."""
    own = trial.hypothesis
    if fault == "gear ratio or torque constant":
        return abs(float(np.log(abs(own.gain[joints[0]]) / middle_gain(own)))) / float(np.log(LEAST_GAIN))
    if fault == "torque scale":
        return abs(float(np.log(np.median(np.abs(own.gain))))) / float(np.log(LEAST_SCALE))
    if fault == "position offset":
        return abs(own.offset[joints[0]]) / least_offset(witness, joints[0])
    if fault == "delay":
        return max(abs(own.delay[j]) for j in joints) / LEAST_DELAY
    if fault == "clock":
        return abs(float(np.log(own.clock))) / float(np.log(LEAST_CLOCK))
    if fault == "gravity direction" and own.gravity is not None:
        return angle(np.array(own.gravity), np.array(witness.unknowns.model.robot.gravity, float)) / LEAST_TILT
    if fault == "coupling":
        return shared_part(trial, (joints[0], joints[1])) / LEAST_SHARE
    return 1.0


def middle_gain(hypothesis: Hypothesis) -> float:
    """Return the gain that most joints have, by its size."""
    return float(np.median(np.abs(hypothesis.gain))) if hypothesis.n > 2 else 1.0


def without(hypothesis: Hypothesis, fault: str, joints: Joints, before: Hypothesis, after: Hypothesis) -> Hypothesis:
    """Return a hypothesis without one of its faults; `before` and `after` are those between which it was accepted."""
    gain = np.array(hypothesis.gain)
    if fault in ("gear ratio or torque constant", "torque sign") and len(joints) == 1:
        gain[joints[0]] = before.gain[joints[0]]
        return hypothesis.changed(gain=gain)
    if fault in ("torque scale", "currents", "torque sign"):
        return hypothesis.changed(gain=gain * np.array(before.gain) / np.array(after.gain))
    if fault == "position sign":
        return hypothesis.at("sign", joints[0], before.sign[joints[0]]).at(
            "gain", joints[0], hypothesis.gain[joints[0]] * before.gain[joints[0]] / after.gain[joints[0]]
        )
    if fault == "swapped joints":
        orders = {name: getattr(hypothesis, name) for name in ("order", "torque_order") if getattr(before, name) != getattr(after, name)}
        return hypothesis.changed(**{name: exchanged(order, joints[0], joints[1]) for name, order in orders.items()})
    if fault == "coupling":
        return hypothesis.changed(couplings=tuple(pair for pair in hypothesis.couplings if pair != joints))
    for name in ("offset", "delay"):
        for j in joints if fault in ("position offset", "delay") else ():
            if getattr(before, name)[j] != getattr(after, name)[j]:
                hypothesis = hypothesis.at(name, j, getattr(before, name)[j])
    if fault in ("position offset", "delay"):
        return hypothesis
    return _whole(hypothesis, fault, before)


def _whole(hypothesis: Hypothesis, fault: str, before: Hypothesis) -> Hypothesis:
    """Return the hypothesis with what faults of the whole log change as it was before."""
    if fault == "clock":
        return faster(hypothesis, float(np.log(before.clock / hypothesis.clock)))
    fields = {"gravity direction": ("gravity",), "gravity taken out": ("gravity", "lifted"), "degrees": ("scale",)}.get(fault, ())
    return hypothesis.changed(**{name: getattr(before, name) for name in fields})
