"""Thresholds of the doctor.

Signals, excitation, another robot, degrees and motor angles, sentences.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Stub
from typing import Any
from unittest.mock import patch

import numpy as np

from steelyard.checks.states import joint_travel
from steelyard.identification.doctor import excitation as excitation_module
from steelyard.identification.doctor import sentences, time_stamps
from steelyard.identification.doctor.channels import is_dead, is_saturated, spikes
from steelyard.identification.doctor.examined_samples import is_moving
from steelyard.identification.doctor.excitation import free_swing, poor_excitation, too_short
from steelyard.identification.doctor.fault_search.fault_gain import HeldOutGain
from steelyard.identification.doctor.fault_search.fault_hypothesis import FaultHypothesis
from steelyard.identification.doctor.fault_search.search import Step
from steelyard.identification.doctor.finding import Finding
from steelyard.identification.doctor.time_stamps import (
    Stamps,
    read_stamps,
    stamp_findings,
    stamps_are_wrong,
    unit_finding,
)
from steelyard.identification.doctor.wrong_robot import informed_bodies, is_placeholder, wrong_robot
from steelyard.signals.log import Log
from tests.thresholds.mechanics import NAMES, examining, first_trial, found
from tests.thresholds.threshold import Threshold, sides

T = np.arange(4000) / 200
RNG = np.random.default_rng(0)
Q = np.stack([np.sin(2 * T), 0.7 * np.cos(3 * T)], axis=1)
NOISE = RNG.normal(size=4000)


def log(**changes: Any) -> Log:
    return Log(**{"t": T, "q": Q, "joint_names": NAMES, **changes})


# -- signals
# --------------------------------------------------------------------------------------------------


def saturated(share: float) -> bool:
    return bool(is_saturated(np.where(np.arange(4000) < share * 4000, 9.0, NOISE)).any())


def crowded(at_bound: int, below: list[int]) -> bool:
    """Whether a torque is cut off that has so many samples at its largest value, and so many at
    those below it.
    """
    sizes = np.repeat(9.0 - 0.1 * np.arange(len(below) + 1), [at_bound, *below])
    return bool(is_saturated(np.concatenate([sizes, 0.1 * NOISE])).any())


def off(count: int) -> bool:
    q = Q.copy()
    q[10 + 9 * np.arange(count), 1] += 0.05
    return bool(list(spikes(log(q=q))))


def jitter(size: float) -> bool:
    return bool(stamp_findings(log(t=T + np.clip(size * NOISE, -0.49, 0.49) / 200))[0])


def dropped(share: float) -> bool:
    rows = np.delete(
        np.arange(4000), 1 + np.random.default_rng(2).choice(3998, int(share * 4000), replace=False)
    )
    return bool(stamp_findings(log()[rows])[0])


def apart(interval: float, count: float = 4000) -> bool:
    return bool(unit_finding(log(t=interval * np.arange(4000))[: int(count)])[0])


def smoother(ratio: float) -> bool:
    """Whether stamps are wrong if positions are so many times as rough over evenly spaced times."""
    with patch.object(
        time_stamps, "roughness", lambda t, q: np.full((10, 2), ratio if t[1] == 1.0 else 1.0)
    ):
        return stamps_are_wrong(log())


def odd_steps(size: float = 1.0, share: float = 1.0) -> bool:
    """Whether stamps jitter of which such a share of the steps differ from the interval by so much
    of it.
    """
    step = np.where(np.arange(3000) % 100 < 100 * share, size * (np.arange(3000) % 3 - 1.0), 0.0)
    return read_stamps(np.cumsum(1.0 + step)).jitter > 0.0


def holes(missing: float, repeated: float = 0.0, jitter: float = 0.0) -> tuple[str, ...]:
    """The fixes and faults of stamps that miss, repeat and scatter by so much."""
    with patch.object(
        time_stamps, "read_stamps", lambda t: Stamps(0.005, repeated, missing, jitter)
    ):
        return tuple(found.fault + found.fix for found in stamp_findings(log())[0])


SIGNALS = [
    Threshold("doctor.doctor_thresholds:irregular_step", sides(odd_steps, 0.02)),
    Threshold(
        "doctor.doctor_thresholds:irregular_share", sides(lambda share: odd_steps(0.5, share), 0.3)
    ),
    Threshold(
        "doctor.doctor_thresholds:most_missing_of_jitter",
        sides(lambda x: "jitter" in holes(x, jitter=0.5), 0.5),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:complete_ratio",
        sides(
            lambda x: "duplicated stampscorrection.regular = true" in holes(0.1 * x, repeated=0.1),
            0.5,
        ),
        (True, False),
    ),
    Threshold("doctor.doctor_thresholds:saturated_share", sides(saturated, 0.01)),
    Threshold(
        "doctor.doctor_thresholds:saturated_crowding",
        lambda: (crowded(70, [10] * 5), crowded(140, [10] * 5)),
    ),
    Threshold(
        "doctor.doctor_thresholds:saturated_neighbours",
        lambda: (crowded(200, [30] * 2 + [1] * 9), crowded(50, [1] * 5 + [30] * 5)),
        (True, True),
    ),
    Threshold("doctor.doctor_thresholds:least_spikes", lambda: (off(2), off(4))),
    Threshold(
        "doctor.doctor_thresholds:dead_share",
        sides(lambda share: is_dead(np.where(np.arange(4000) < share * 4000, 0.0, NOISE)), 0.5),
    ),
    Threshold("doctor.doctor_thresholds:least_jitter", sides(jitter, 0.08)),
    Threshold("doctor.doctor_thresholds:least_stamp_share", sides(dropped, 0.01)),
    Threshold("doctor.doctor_thresholds:least_stamps", sides(lambda count: apart(2.0, count), 51)),
    Threshold("doctor.doctor_thresholds:longest_interval", sides(apart, 0.5)),
    Threshold("doctor.doctor_thresholds:roughness_ratio", sides(smoother, 0.8), (True, False)),
]


# -- excitation
# --------------------------------------------------------------------------------------------------


def excitation(message: str, **signals: np.ndarray) -> bool:
    """Whether a log with other signals has a poor excitation, with these words in its sentence."""
    log_evidence, trial = first_trial()
    return any(
        message in each.sentence
        for each in poor_excitation(
            replace(log_evidence, thinned_log=replace(log_evidence.thinned_log, **signals)), trial
        )
    )


def moving(*spans: float) -> np.ndarray:
    """Positions that go once through so much of each joint's way [rad]."""
    return np.linspace(0.0, 1.0, first_trial()[0].thinned_log.N)[:, None] * np.array(spans)


def corner(share: float) -> bool:
    lower, upper = joint_travel(first_trial()[0].unknowns.model.robot)
    return excitation("No joint moves", q=moving(*(share * (upper - lower))))


def too_few(rows: float) -> bool:
    """Whether samples with so many independent rows for each unknown are too short to be
    trusted.
    """
    with patch.multiple(
        excitation_module,
        thin_log=lambda samples: Stub(band=1.0, keep=np.ones((round(1000 * rows), 1))),
    ):
        return bool(too_short(Stub(base=Stub(n_base=1000)), ()))


def short(rows: float) -> bool:
    thinned_log, unknowns = first_trial()[0].thinned_log, first_trial()[0].unknowns
    used = int(rows * unknowns.model.base.n_base / thinned_log.band / thinned_log.n)
    q, keep = moving(6.0, 6.0), np.ones((used, thinned_log.n), bool)
    return excitation("too short", q=q, keep=keep)


def rests(share: float) -> bool:
    """Whether rows at rest are left out of a joint that moves in such a share of the samples."""
    qd = np.where(T < share * 20.0, 1.0, 0.0)[:, None]
    return not np.all(is_moving(Stub(t=T, qd=qd)))


def in_blocks(share: float = 1.0, gain: float = 0.2) -> bool:
    """Whether a fault is reported that lowers so many held-out errors by so much."""
    return HeldOutGain(np.where(np.arange(40) < 40 * share, gain, -0.01)).is_relevant


def swings(share: float, error: float = 0.5) -> bool:
    """Whether torque that is such a share of its terms belongs to a free swing."""
    return free_swing(np.array([share]), np.array([error]), ("a",)) is not None


def longer_blocks(share: float) -> bool:
    """Whether a wrong length gains that lowers so many held-out errors, and their mean."""
    return HeldOutGain(np.where(np.arange(40) < 40 * share, 1.0, -1e-3)).is_positive


EXCITATION = [
    Threshold("doctor.doctor_thresholds:positive_share", sides(longer_blocks, 0.5)),
    Threshold("doctor.doctor_thresholds:least_moving_share", sides(rests, 0.02)),
    Threshold("doctor.doctor_thresholds:held_out_share", sides(in_blocks, 0.75)),
    Threshold("doctor.doctor_thresholds:held_out_gain", sides(lambda x: in_blocks(gain=x), 0.05)),
    Threshold("doctor.doctor_thresholds:free_swing", sides(swings, 0.4), (True, False)),
    Threshold(
        "doctor.doctor_thresholds:band_error_ratio",
        sides(lambda x: examining.noise_outside_band(np.ones(2), np.full(2, x)), 0.75),
        (True, False),
    ),
    Threshold("doctor.doctor_thresholds:least_travel", sides(corner, 0.1), (True, False)),
    Threshold("doctor.doctor_thresholds:too_few_rows", sides(too_few, 1.5), (True, False)),
    Threshold("doctor.doctor_thresholds:least_rows", sides(short, 2.2), (True, False)),
    Threshold(
        "doctor.doctor_thresholds:standing",
        sides(lambda x: excitation("stands", q=moving(6.0, x)), 0.02),
        (True, False),
    ),
]


# -- another robot, degrees or motor angles
# ------------------------------------------------------------------------------------------


def other(faults: tuple[str, ...] = (), clock: float = 1.0, **agreement: Any) -> bool:
    """Whether another robot is meant if these faults were accepted and the agreement has these
    values.
    """
    log_evidence, start = first_trial()
    usual = {
        "weight": np.full(2, 10.0),
        "error": np.full(2, 0.01),
        "independent": np.full(2, log_evidence.thinned_log.band),
    }
    trial = found(start.correction.changed(clock=clock), **usual | agreement)
    steps = [Step(FaultHypothesis(fault, (), trial, 0.0), trial, (), trial) for fault in faults]
    return (
        wrong_robot(log_evidence.unknowns.model, trial, steps, log_evidence.thinned_log.band)
        is not None
    )


def thin(radius: float) -> bool:
    inertia = 2 * radius**2 / 3
    row = [1.0, 0.0, 0.0, 0.0, inertia, 0.0, 0.0, inertia, 0.0, inertia]
    return is_placeholder(Stub(robot=Stub(tree=Stub(bodies=[None] * 2)), start=np.array(2 * row)))


def points(share: float) -> bool:
    """Whether a description is a placeholder of which such a share of ten bodies are points."""
    rows = np.zeros((10, 10))
    rows[:, 0] = np.arange(1.0, 11.0)
    rows[:, (4, 7, 9)] = np.where(np.arange(10) < round(10 * share), 1e-9, 1.0)[:, None]
    return is_placeholder(Stub(robot=Stub(tree=Stub(bodies=[None] * 10)), start=rows.ravel()))


def shown(numbers: float) -> bool:
    """Whether a log shows a body of which it tells so many numbers."""
    agreement = Stub(variance=np.append(np.ones(9), 1.0 - numbers), weight=np.ones(1))
    return bool(informed_bodies(Stub(agreement=agreement, regression=Stub(inner=10)))[0])


def far(gain: float = 1.0, error: float = 0.01) -> bool:
    """Whether positions beyond the limits are motor angles."""
    trial = found(
        first_trial()[1].correction.changed(gain=np.full(2, gain)), error=np.full(2, error)
    )
    result = examining.Examination((), examining.Correction.none(2), trial)
    findings = examining.examine_far_positions(
        first_trial()[0].unknowns.model.robot, result, ("joint1 reaches 100",)
    )
    return findings.findings[0].fault == "motor side"


def usable(errors: list[float]) -> bool:
    """Whether a log is of use whose joints have these errors on time that took no part."""
    robot = Stub(n=len(errors), joint_names=tuple(f"joint{j}" for j in range(len(errors))))
    result = examining.Examination((), examining.Correction.none(2), first_trial()[1])
    with patch.object(examining, "held_out_error", lambda trial: np.array(errors)):
        return examining.make_diagnosis(robot, result).usable


ROBOT = [
    Threshold(
        "doctor.doctor_thresholds:contradicted_weight",
        sides(lambda w: other(("clock",), 2.0, weight=np.array([10.0, w])), 0.25),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:low_weight",
        sides(lambda w: other(weight=np.full(2, w)), 6.0),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:low_weight_share",
        lambda: (other(weight=np.array([10.0, 1.0])), other(weight=np.ones(2))),
    ),
    Threshold(
        "doctor.doctor_thresholds:similar_clock",
        lambda: tuple(other(("clock", "currents"), c) for c in (1.5, 2.2, 1 / 1.5)),
        (True, False, True),
    ),
    Threshold(
        "doctor.doctor_thresholds:wrong_robot_error",
        sides(lambda e: other(error=np.array([0.01, e])), 0.2),
    ),
    Threshold(
        "doctor.doctor_thresholds:wrong_robot_error_with_faults",
        sides(lambda e: other(("torque sign",), error=np.array([0.01, e])), 0.15),
    ),
    Threshold(
        "doctor.doctor_thresholds:most_faults",
        lambda: tuple(other(("torque sign", "position sign", "clock")[:k], 2.0) for k in (2, 3)),
    ),
    Threshold("doctor.doctor_thresholds:placeholder_share", sides(points, 0.5)),
    Threshold("doctor.doctor_thresholds:informed_numbers", sides(shown, 0.5)),
    Threshold("doctor.doctor_thresholds:placeholder_radius", sides(thin, 0.005), (True, False)),
    Threshold(
        "doctor.doctor_thresholds:motor_side_factor", sides(lambda gain: far(gain=gain), 16.5)
    ),
    Threshold("doctor.doctor_thresholds:degrees_error", sides(lambda error: far(error=error), 0.2)),
    Threshold(
        "doctor.doctor_thresholds:unexplained_error",
        sides(lambda e: usable([e, e]), 0.7),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:unexplained_joints",
        lambda: (usable([1.0, 0, 0, 0]), usable([1.0, 1.0, 0, 0])),
        (True, False),
    ),
]


# -- sentences
# --------------------------------------------------------------------------------------------------


def finding(delay: float = 0.2, nats: float = 0.0) -> Finding:
    """What is said of a delay that wins so many nats."""
    start = first_trial()[1]
    late = found(start.correction.changed(delay=np.full(2, delay)), evidence=start.evidence + nats)
    return sentences.finding_of(
        late, Step(FaultHypothesis("delay", (0, 1), late, 0.0), start, (), start), NAMES
    )


def falls(ratio: float) -> bool:
    before, after = (
        found(first_trial()[1].correction, error=np.full(2, error)) for error in (0.1, 0.1 * ratio)
    )
    return "falls" in sentences.evidence(before, after, NAMES)


SENTENCES = [
    Threshold(
        "doctor.doctor_thresholds:handled_delay",
        sides(lambda delay: finding(delay).severity, 0.1),
        ("remark", "fault"),
    ),
    Threshold(
        "doctor.doctor_thresholds:largest_probability",
        lambda: finding(nats=100.0).probability,
        0.99,
    ),
    Threshold("doctor.doctor_thresholds:notable_error_ratio", sides(falls, 0.8), (True, False)),
]
DOCTOR = [*SIGNALS, *EXCITATION, *ROBOT, *SENTENCES]
