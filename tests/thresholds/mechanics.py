"""Thresholds of the doctor's search.

Odds before the samples, least sizes of faults, what is looked at closely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import SimpleNamespace as Stub
from typing import Any
from unittest.mock import patch

import numpy as np

from steelyard.identification.doctor.fault_search import (
    model_faults,
    motion_faults,
    refinement,
    search,
    structure_faults,
    torque_faults,
)
from steelyard.identification.doctor.fault_search.fault_correction import FaultCorrection
from steelyard.identification.doctor.fault_search.fault_hypothesis import (
    FaultHypothesis,
    gain_odds,
    is_doubtful,
)
from steelyard.identification.doctor.fault_search.log_evidence import (
    LogEvidence,
    Trial,
    compute_agreement,
    sign_evidence,
)
from steelyard.identification.doctor.fault_search.thinned_log import thin_log
from steelyard.identification.doctor.fault_search.unknowns import Unknowns
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from tests.laws.doctor.test_doctor import described, moved, true
from tests.thresholds.threshold import Threshold, sides

NAMES = ("joint1", "joint2")
examining: Any = import_module("steelyard.identification.doctor.examine")


@cache
def first_trial() -> tuple[LogEvidence, Trial]:
    """A healthy log of two joints, and the trial of it as it is."""
    robot = described("planar_2r", 2)
    log_evidence = LogEvidence(
        Unknowns(build_model(robot)),
        thin_log([prepare(robot, moved(true("planar_2r", 2)), Preparation())]),
    )
    return log_evidence, log_evidence.first_trial(FaultCorrection.none(2))


def found(hypothesis: FaultCorrection, **changes: Any) -> Trial:
    """The first trial with another hypothesis and other values of its agreement."""
    start = first_trial()[1]
    return replace(start, correction=hypothesis, agreement=replace(start.agreement, **changes))


def changed(**changes: Any) -> FaultCorrection:
    return first_trial()[1].correction.changed(**changes)


# -- odds
# --------------------------------------------------------------------------------------------------


def accepted(nats: float, log_odds: float = 0.0, fault: str = "delay") -> bool:
    """Whether a fault is accepted that wins so many nats, with these odds beforehand."""
    start = first_trial()[1]
    result = found(start.correction, evidence=start.evidence + nats)
    return bool(search.decisive_hypotheses([FaultHypothesis(fault, (0,), result, log_odds)], start))


def around(odds: Callable[[], float], nats: float) -> Callable[[], tuple[bool, bool]]:
    """Whether a fault with these odds beforehand is accepted that wins a little less, or a little
    more, than so many nats.
    """
    return lambda: (accepted(nats - 0.8, odds()), accepted(nats + 0.8, odds()))


def of_all(trial: Trial) -> float:
    """The odds of a scale of all joints over the odds of a gain of one joint."""
    for each in torque_faults.wrong_scale(first_trial()[0], trial):
        return each.log_odds - gain_odds(each.trial.correction.gain[0])
    return np.nan


def rescued(lost: float) -> bool:
    """Whether a path without contradictions is taken if it explains the log by so many nats worse
    than one with them.
    """
    start = first_trial()[1]
    firsts = [
        FaultHypothesis(fault, (), found(changed(clock=clock)), 0.0)
        for fault, clock in (("clock", 2.0), ("delay", 3.0))
    ]
    fakes = {
        "small_delays": lambda log_evidence, trial: trial,
        "find_hypotheses": lambda log_evidence, trial: firsts,
        "decisive_hypotheses": lambda candidates, trial: firsts,
        "clock_and_other": lambda log_evidence, trial: [],
        "greedy_path": lambda log_evidence, trial, own, beside: (own[0].trial, ()),
        "total_score": lambda log_evidence, trial, final, steps: (
            0.0 if final.correction.clock == 2.0 else -lost
        ),
    }
    with patch.multiple(search, **fakes):
        return (
            search.search(Stub(), start, lambda trial, steps: trial.correction.clock == 2.0)[
                0
            ].correction.clock
            == 3.0
        )


def exchange(nats: float) -> bool:
    """Whether an exchange of two joints matters that wins so many nats for each independent row of
    them.
    """
    final = found(changed(), evidence=0.0)
    rows = float((final.agreement.independent * final.regression.counts).sum())
    step = search.Step(
        FaultHypothesis("swapped joints", (0, 1), final, 0.0),
        final,
        (),
        found(changed(), evidence=-nats * rows),
    )
    return search.exchange_size(final, step) >= 1.0


def clocks(factor: float) -> bool:
    """Whether a clock with this factor is looked at if it explains a log best."""
    far = [FaultHypothesis("clock", (), found(changed(clock=factor)), 0.0)]
    with patch.multiple(motion_faults, other_clocks=lambda *_: far):
        return bool(list(motion_faults.wrong_clock(*first_trial())))


def negative(power: float) -> float:
    """What friction costs that drives the first of two joints with so much of its torque, and is
    known well [nats].
    """
    return sign_evidence(np.eye(4), np.array([-power, 1.0, 1.0, 1.0]), 1e-6 * np.eye(4), np.ones(2))


def exact() -> tuple[bool, bool]:
    """Whether the noise of a torque without any is taken to be more than 0.35 %, and more than 0.7
    %.
    """
    regression = first_trial()[1].regression
    error = compute_agreement(
        regression, regression.predicted(np.zeros(regression.K)), np.ones(2)
    ).error
    return bool(np.max(error) > 0.0035), bool(np.max(error) > 0.007)


def band(times: float) -> bool:
    """Whether noise that varies so many times as fast as the motion lies within the band of a
    model's errors.
    """
    return replace(first_trial()[0].thinned_log, motion_frequency=0.01).band > 2 * times * 0.01


ODDS = [
    Threshold("doctor.doctor_thresholds:decisive", sides(accepted, 3.0)),
    Threshold(
        "doctor.doctor_thresholds:length_odds",
        sides(lambda nats: accepted(nats, fault="geometry"), 10.0),
    ),
    Threshold("doctor.doctor_thresholds:fault_odds", around(lambda: gain_odds(1.0), 9.0)),
    Threshold("doctor.doctor_thresholds:number_odds", around(lambda: gain_odds(1.0), 9.0)),
    Threshold(
        "doctor.doctor_thresholds:gain_spread",
        around(lambda: gain_odds(float(np.exp(3.0))), 11.0),
    ),
    Threshold(
        "doctor.doctor_thresholds:length_spread",
        around(lambda: structure_faults.length_odds(float(np.exp(0.5))), 11.0),
    ),
    Threshold(
        "doctor.doctor_thresholds:clock_spread",
        around(lambda: motion_faults.clock_odds(float(np.exp(2.0))), 11.0),
    ),
    Threshold(
        "doctor.doctor_thresholds:unit_odds",
        lambda: round(of_all(found(changed(), error=np.ones(2))), 6),
        2.0,
    ),
    Threshold(
        "doctor.doctor_thresholds:doubtful_error",
        sides(lambda x: is_doubtful(found(changed(), error=np.full(2, x))), 0.08),
    ),
    Threshold(
        "doctor.doctor_thresholds:doubtful_weight",
        sides(lambda x: is_doubtful(found(changed(), weight=np.full(2, 30 * x))), 0.15),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:doubtful_friction",
        sides(lambda x: is_doubtful(found(changed(), negative=x)), -4.0),
    ),
    Threshold("doctor.doctor_thresholds:largest_clock", sides(clocks, 10.0), (True, False)),
    Threshold("doctor.doctor_thresholds:least_exchange_gain", sides(exchange, 0.5)),
    Threshold("doctor.doctor_thresholds:contradiction_cost", sides(rescued, 10.0), (True, False)),
    Threshold(
        "doctor.doctor_thresholds:friction_slack",
        lambda: (negative(0.06) < -4.0, negative(0.08) < -4.0),
    ),
    Threshold(
        "doctor.doctor_thresholds:negative_friction_cost",
        sides(lambda nats: negative(10.0) + nats > 0, 15.0),
    ),
    Threshold("doctor.doctor_thresholds:least_noise", exact, (True, False)),
    Threshold("doctor.doctor_thresholds:model_error_band", sides(band, 3.0), (True, False)),
]


# -- least sizes
# --------------------------------------------------------------------------------------------------


def matters(fault: str, joints: tuple[int, ...] = (0,), **changes: Any) -> bool:
    """Whether a fault of this size matters."""
    return refinement.size_of(first_trial()[0], found(changed(**changes)), fault, joints) >= 1.0


def tilted(degrees: float) -> tuple[float, float, float]:
    """Gravity, turned about the x axis of the base."""
    x, y, z = first_trial()[0].unknowns.model.robot.gravity
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return float(x * c - y * s), float(x * s + y * c), float(z)


def slides(offset: float) -> bool:
    with patch.object(motion_faults, "is_revolute", lambda log_evidence, joint: False):
        return matters("position offset", offset=(offset, 0.0))


def shares(part: float) -> bool:
    with patch.object(refinement, "coupling_share", lambda unknowns, trial, pair: part):
        return matters("coupling", (0, 1))


def springs(part: float) -> bool:
    with patch.object(refinement, "spring_share", lambda log_evidence, trial, joint: part):
        return matters("missing term", (1,))


def reaches(angle: float) -> bool:
    """Whether positions up to such an angle may be in degrees."""
    log_evidence, trial = first_trial()
    wide = replace(
        log_evidence,
        thinned_log=replace(
            log_evidence.thinned_log, q=np.full_like(log_evidence.thinned_log.q, angle)
        ),
    )
    return bool(list(motion_faults.wrong_unit(wide, trial)))


def longest() -> tuple[bool, bool]:
    """Whether delays of 0.4 s, and of 0.8 s, are looked at."""
    lags = torque_faults.lag_costs(*first_trial())[1]
    return bool(np.max(lags) > 0.4), bool(np.max(lags) > 0.8)


def currents(*gains: float) -> bool:
    return torque_faults.looks_like_currents(np.array(gains))


SIZES = [
    Threshold(
        "doctor.doctor_thresholds:least_gain",
        lambda: tuple(matters("gear ratio or torque constant", gain=(g, 1.0)) for g in (1.1, 1.3)),
    ),
    Threshold(
        "doctor.doctor_thresholds:least_scale",
        lambda: tuple(matters("torque scale", gain=(g, g)) for g in (1.25, 1.8)),
    ),
    Threshold(
        "doctor.doctor_thresholds:least_current_factor",
        lambda: (currents(1.5, 2.2), currents(3.0, 4.0)),
    ),
    Threshold(
        "doctor.doctor_thresholds:milliampere_factor",
        lambda: (currents(0.06, 0.08), currents(0.12, 0.16)),
        (True, False),
    ),
    Threshold(
        "doctor.doctor_thresholds:least_delay",
        sides(lambda x: matters("delay", delay=(x, 0.0)), 0.014),
    ),
    Threshold("doctor.doctor_thresholds:longest_delay", longest, (True, False)),
    Threshold(
        "doctor.doctor_thresholds:least_offset",
        sides(lambda x: matters("position offset", offset=(x, 0.0)), np.radians(2.5)),
    ),
    Threshold("doctor.doctor_thresholds:least_slide", sides(slides, 0.025)),
    Threshold(
        "doctor.doctor_thresholds:least_clock",
        lambda: tuple(matters("clock", (), clock=c) for c in (1.1, 1.6)),
    ),
    Threshold("doctor.doctor_thresholds:least_degrees", sides(reaches, 2 * np.pi)),
    Threshold(
        "doctor.doctor_thresholds:least_tilt",
        sides(lambda x: matters("gravity direction", (), gravity=tilted(x)), 15.0),
    ),
    Threshold("doctor.doctor_thresholds:least_coupling", sides(shares, 0.1)),
    Threshold("doctor.doctor_thresholds:least_spring", sides(springs, 0.03)),
    Threshold(
        "doctor.doctor_thresholds:least_length",
        lambda: tuple(matters("geometry", (1,), lengths=((1, x),)) for x in (1.05, 1.3)),
    ),
]


# -- what is looked at closely
# --------------------------------------------------------------------------------------------------


def falling(nats: float) -> Any:
    """Evidence of which every trial has so many nats less than the one before."""

    def trial(hypothesis: FaultCorrection, like: Trial, *_: Any, **__: Any) -> Trial:
        return found(hypothesis, evidence=like.evidence - nats)

    start = first_trial()[0]
    return Stub(
        trial=trial, unknowns=start.unknowns, thinned_log=start.thinned_log, keep=start.keep
    )


def own_gain(nats: float) -> bool:
    """Whether a joint keeps its own gain that is worth so many nats."""
    start = found(changed(gain=(1.0, 2.0)))
    return torque_faults.with_median_gains(
        falling(nats), start, first_trial()[1]
    ).correction.gain == (1.0, 2.0)


def climbs(nats: float) -> bool:
    """Whether a scale of all joints that loses so many nats at first is looked at closely."""
    with patch.object(torque_faults, "line_search", lambda *args, **options: None):
        return torque_faults.best_scale(falling(nats), first_trial()[1], 2.0) is None


def derivative(value: float) -> bool:
    with patch.object(torque_faults, "fit_torque_ratio", lambda *args: value):
        start = first_trial()[1]
        return torque_faults.torque_ratio(start, 0) > 0


def offsets(nats: float) -> bool:
    """Whether an offset is looked at whose first step is expected to win so many nats."""
    fakes = {
        "offset_step": lambda *args: (1.0, 2 * nats),
        "best_offset": lambda *args: found(changed()),
    }
    with patch.multiple(motion_faults, **fakes):
        return bool(list(motion_faults.wrong_zeros(*first_trial())))


def tilts(degrees: float) -> bool:
    """Whether gravity is tried in a direction that differs by so much."""
    start = first_trial()[1]
    return (
        model_faults.best_gravity(
            falling(0.0), start, Stub(fitted=lambda u: np.array(tilted(degrees)))
        )
        is not start
    )


def felt(size: float) -> bool:
    """Whether gravity is tried that has so much of its strength, in another direction."""
    start = first_trial()[1]
    return (
        model_faults.best_gravity(
            falling(0.0), start, Stub(fitted=lambda u: size * np.array(tilted(30.0)))
        )
        is not start
    )


def couples(share: float) -> bool:
    """Whether a coupling is tried that explains so much of a residual."""
    with patch.object(model_faults, "explained_share", lambda *args: share):
        return bool(list(model_faults.shared_motors(falling(0.0), first_trial()[1])))


def sprung(share: float) -> bool:
    """Whether a spring is tried that explains so much of a residual."""
    with patch.object(structure_faults, "explained_by_position", lambda *args: share):
        return bool(list(structure_faults.missing_springs(falling(0.0), first_trial()[1])))


def distant(share: float) -> bool:
    """Whether a distance is tried that is such a share of the longest one."""
    places = [Stub(coordinate=j, parent=j - 1, placement=Stub(p=(x, 0, 0)))
              for j, x in enumerate((0.0, 1.0, share))]  # fmt: skip
    tree = Stub(bodies=places)
    evidence: Any = Stub(unknowns=Stub(model=Stub(robot=Stub(tree=tree))))
    return 2 in structure_faults.long_distances(evidence)


def stretched(factor: float) -> bool:
    """Whether a length is tried near so many times the described one."""
    start = found(changed(lengths=((1, factor),)))
    with patch.object(structure_faults, "length_step", lambda *args: (1e-3, 1.0)):
        return structure_faults.best_length(falling(-1.0), start, 1) is not start


def lacks(frequency: float = 3.0, size: float = 1.0, share: float = 0.0) -> bool:
    """Whether a filter is tried if torques have such a share of one part of the prediction."""
    t = np.arange(5000) / 50
    slow, fast = np.sin(0.2 * t), size * np.sin(2 * np.pi * frequency * t)
    every = Stub(
        regression=lambda correction: Stub(predicted=lambda u: (slow + fast)[:, None]),
        torque=lambda correction: (slow + share * fast)[:, None],
        thinned_log=Stub(stretches=[slice(0, 5000)], t=t),
    )
    trial: Any = Stub(
        regression=Stub(K=1, inner=1), agreement=Stub(mean=np.ones(1)), correction=None
    )
    evidence: Any = Stub(with_every_row=every)
    return bool(structure_faults.missing_bands(evidence, trial))


def filters(ratio: float) -> bool:
    """Whether a filter is tried that lowers errors to such a ratio."""
    fakes = {
        "missing_bands": lambda *args: [1.0],
        "error_ratio": lambda *args: ratio,
        "best_low_pass": lambda log_evidence, trial: trial,
    }
    with patch.multiple(structure_faults, **fakes):
        return bool(list(structure_faults.filtered_torques(falling(-1.0), first_trial()[1])))


def shown(size: float) -> bool:
    """Whether a component of gravity is found that makes so much of the torque of the others."""
    lifts = tuple(np.zeros((3, 1, 1)) for _ in range(3))
    for k, lift in enumerate(lifts):
        lift[k, 0, 0] = (1.0, 1.0, size)[k]
    tau = np.array([[1.0], [1.0], [size]])
    columns = model_faults.GravityColumns(
        np.zeros((3, 1, 1)), lifts, [np.zeros((3, 0))], tau, np.ones(1), np.eye(1)
    )
    return bool(columns.fitted(np.zeros(1))[2] > 0.5)


GATES = [
    Threshold("doctor.doctor_thresholds:own_gain_evidence", sides(own_gain, 3.0)),
    Threshold("doctor.doctor_thresholds:hopeless_gain", sides(climbs, 60.0), (True, False)),
    Threshold("doctor.doctor_thresholds:largest_gain", sides(derivative, 1e4), (True, False)),
    Threshold("doctor.doctor_thresholds:offset_evidence", sides(offsets, 3.0)),
    Threshold("doctor.doctor_thresholds:smallest_tilt", sides(tilts, 2.0)),
    Threshold("doctor.doctor_thresholds:least_gravity", sides(felt, 0.05)),
    Threshold("doctor.doctor_thresholds:coupling_share", sides(couples, 0.1)),
    Threshold("doctor.doctor_thresholds:spring_residual", sides(sprung, 0.05)),
    Threshold("doctor.doctor_thresholds:short_distance", sides(distant, 0.1)),
    Threshold("doctor.doctor_thresholds:largest_length", sides(stretched, 3.0), (True, False)),
    Threshold("doctor.doctor_thresholds:stop_band", sides(lambda x: lacks(0.5 * x), 1.4)),
    Threshold("doctor.doctor_thresholds:filtered_share", sides(lambda x: lacks(size=x), 0.03)),
    Threshold(
        "doctor.doctor_thresholds:passed_share",
        sides(lambda x: lacks(share=x), 0.5),
        (True, False),
    ),
    Threshold("doctor.doctor_thresholds:filtered_error_ratio", sides(filters, 0.7), (True, False)),
    Threshold("doctor.doctor_thresholds:gravity_rank", sides(shown, 0.02)),
]
MECHANICS = [*ODDS, *SIZES, *GATES]
