"""Refinement of several faults together, their sizes, and corrections without one fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .log_evidence import LogEvidence, Trial
from .model_faults import angle, best_gravity, coupling_share
from .motion_faults import best_clock, best_offset, least_offset, scale_clock, swap_entries
from .structure_faults import best_length, best_low_pass, spring_share
from .torque_faults import best_scale, refine_gain

Joints = tuple[int, ...]
REFINED: dict[str, Callable[[LogEvidence, Trial, Joints], Trial]] = {
    "gear ratio or torque constant": lambda log_evidence, trial, joints: refine_gain(
        log_evidence, trial, joints[0]
    ),
    "torque sign": lambda log_evidence, trial, joints: (
        refine_gain(log_evidence, trial, joints[0]) if len(joints) == 1 else trial
    ),
    "torque scale": lambda log_evidence, trial, joints: best_scale(log_evidence, trial, 1.0),
    "currents": lambda log_evidence, trial, joints: best_scale(log_evidence, trial, 1.0),
    "position offset": lambda log_evidence, trial, joints: best_offset(
        log_evidence, trial, joints[0]
    ),
    "clock": lambda log_evidence, trial, joints: best_clock(log_evidence, trial),
    "gravity direction": lambda log_evidence, trial, joints: best_gravity(log_evidence, trial),
    "geometry": lambda log_evidence, trial, joints: best_length(log_evidence, trial, joints[0]),
    "filtered torque": lambda log_evidence, trial, joints: best_low_pass(log_evidence, trial),
}
"""How the number of a fault is improved when others have changed."""
OF_MODEL = ("coupling", "missing term", "geometry")
"""Faults of the description's structure."""


def refine(log_evidence: LogEvidence, trial: Trial, faults: Sequence[tuple[str, Joints]]) -> Trial:
    """Return the trial with the numbers of these faults improved in turn."""
    for fault, joints in faults:
        if fault in REFINED:
            candidate = REFINED[fault](log_evidence, trial, joints)
            trial = candidate if candidate.evidence > trial.evidence else trial
    return trial


def size_of(log_evidence: LogEvidence, trial: Trial, fault: str, joints: Joints) -> float:
    """Return the size of a fault over the least that matters.

    Below 1 it is an inaccuracy, not a fault.
    """
    correction = trial.correction
    if fault == "gear ratio or torque constant":
        return abs(
            float(np.log(abs(correction.gain[joints[0]]) / middle_gain(correction)))
        ) / float(np.log(THRESHOLDS.least_gain))
    if fault == "torque scale":
        return abs(float(np.log(np.median(np.abs(correction.gain))))) / float(
            np.log(THRESHOLDS.least_scale)
        )
    if fault == "position offset":
        return abs(correction.offset[joints[0]]) / least_offset(log_evidence, joints[0])
    if fault == "delay":
        return max(abs(correction.delay[j]) for j in joints) / THRESHOLDS.least_delay
    if fault == "clock":
        return abs(float(np.log(correction.clock))) / float(np.log(THRESHOLDS.least_clock))
    if fault == "gravity direction" and correction.gravity is not None:
        return (
            angle(
                np.array(correction.gravity),
                np.array(log_evidence.unknowns.model.robot.gravity, float),
            )
            / THRESHOLDS.least_tilt
        )
    return size_in_model(log_evidence, trial, fault, joints)


def size_in_model(log_evidence: LogEvidence, trial: Trial, fault: str, joints: Joints) -> float:
    """Return the size of a fault of structure over the least that matters; 1 for others."""
    correction = trial.correction
    if fault == "coupling":
        pair = joints[0], joints[1]
        return coupling_share(log_evidence.unknowns, trial, pair) / THRESHOLDS.least_coupling
    if fault == "missing term":
        return spring_share(log_evidence, trial, joints[0]) / THRESHOLDS.least_spring
    if fault == "filtered torque" and correction.low_pass is not None:
        return log_evidence.thinned_log.model_band(correction.clock) / correction.low_pass[0]
    if fault == "geometry":
        least = float(np.log(THRESHOLDS.least_length))
        return abs(float(np.log(correction.length(joints[0])))) / least
    return 1.0


def middle_gain(correction: FaultCorrection) -> float:
    """Return the gain that most joints have, by its size."""
    return float(np.median(np.abs(correction.gain))) if correction.n > 2 else 1.0


def without_fault(
    correction: FaultCorrection,
    fault: str,
    joints: Joints,
    before: FaultCorrection,
    after: FaultCorrection,
) -> FaultCorrection:
    """Return a correction without one of its faults.

    The fault was accepted between the corrections `before` and `after`.
    """
    gain = np.array(correction.gain)
    if fault in ("gear ratio or torque constant", "torque sign") and len(joints) == 1:
        gain[joints[0]] = before.gain[joints[0]]
        return correction.changed(gain=gain)
    if fault in ("torque scale", "currents", "torque sign"):
        return correction.changed(gain=gain * np.array(before.gain) / np.array(after.gain))
    if fault == "position sign":
        return correction.at("sign", joints[0], before.sign[joints[0]]).at(
            "gain",
            joints[0],
            correction.gain[joints[0]] * before.gain[joints[0]] / after.gain[joints[0]],
        )
    if fault == "swapped joints":
        orders = {
            name: getattr(correction, name)
            for name in ("order", "torque_order")
            if getattr(before, name) != getattr(after, name)
        }
        return correction.changed(
            **{name: swap_entries(order, joints[0], joints[1]) for name, order in orders.items()}
        )
    if fault in OF_MODEL:
        return without_model_fault(correction, fault, joints, before)
    for name in ("offset", "delay"):
        for j in joints if fault in ("position offset", "delay") else ():
            if getattr(before, name)[j] != getattr(after, name)[j]:
                correction = correction.at(name, j, getattr(before, name)[j])
    if fault in ("position offset", "delay"):
        return correction
    return without_log_fault(correction, fault, before)


def without_model_fault(
    correction: FaultCorrection, fault: str, joints: Joints, before: FaultCorrection
) -> FaultCorrection:
    """Return the correction with what a fault changes of couplings, springs or lengths removed."""
    if fault == "coupling":
        return correction.changed(
            couplings=tuple(pair for pair in correction.couplings if pair != joints)
        )
    if fault == "missing term":
        return correction.changed(springs=tuple(j for j in correction.springs if j != joints[0]))
    return correction.with_length(joints[0], before.length(joints[0]))


def without_log_fault(
    correction: FaultCorrection, fault: str, before: FaultCorrection
) -> FaultCorrection:
    """Return the hypothesis with what faults of the whole log change as it was before."""
    if fault == "clock":
        return scale_clock(correction, float(np.log(before.clock / correction.clock)))
    fields = {
        "gravity direction": ("gravity",),
        "gravity taken out": ("gravity", "lifted"),
        "degrees": ("scale",),
        "filtered torque": ("low_pass",),
    }.get(fault, ())
    return correction.changed(**{name: getattr(before, name) for name in fields})
