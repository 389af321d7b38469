"""Faults of the motion: signs, order, zeros and units of positions, the clock.

Each trial computes the regressor again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .fault_hypothesis import FaultHypothesis, gauss_newton_step, line_search, number_odds
from .log_evidence import LogEvidence, Trial

Array = NDArray[np.float64]
DEGREE = np.pi / 180


def wrong_signs(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of a joint position with the other sign, alone or with the torque."""
    for j in range(trial.regression.n):
        turned = trial.correction.at("sign", j, -trial.correction.sign[j])
        flipped = log_evidence.trial(turned, trial, needed=THRESHOLDS.needed)
        yield FaultHypothesis("position sign", (j,), flipped, THRESHOLDS.fault_odds)
        both = turned.at("gain", j, -turned.gain[j])
        yield FaultHypothesis(
            "position sign",
            (j,),
            log_evidence.trial(both, trial, flipped.regression, THRESHOLDS.needed),
            THRESHOLDS.fault_odds,
        )


def wrong_order(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of two joints whose columns, or whose torques alone, are swapped."""
    correction = trial.correction
    for pair in combinations(range(trial.regression.n), 2):
        torques = swap_entries(correction.torque_order, *pair)
        both = correction.changed(order=swap_entries(correction.order, *pair), torque_order=torques)
        yield FaultHypothesis(
            "swapped joints",
            pair,
            log_evidence.trial(both, trial, needed=THRESHOLDS.needed),
            THRESHOLDS.fault_odds,
        )
        used = log_evidence.thinned_log.keep[:, [correction.torque_order[j] for j in pair]]
        if not np.any(used):
            continue  # no torque to exchange
        same = trial.regression if np.all(used) else None
        yield FaultHypothesis(
            "swapped joints",
            pair,
            log_evidence.trial(
                correction.changed(torque_order=torques), trial, same, THRESHOLDS.needed
            ),
            THRESHOLDS.fault_odds,
        )


def swap_entries(order: tuple[int, ...], a: int, b: int) -> tuple[int, ...]:
    """Return the order with two entries exchanged."""
    swapped = list(order)
    swapped[a], swapped[b] = swapped[b], swapped[a]
    return tuple(swapped)


def wrong_zeros(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of a wrong zero position, for the joints with the largest predicted gain.

    The offset is estimated by Gauss-Newton steps.
    """
    steps = [(offset_step(log_evidence, trial, j), j) for j in range(trial.regression.n)]
    candidates = sorted(
        ((step**2 * information / 2, j) for (step, information), j in steps), reverse=True
    )[: THRESHOLDS.refined_offsets]
    for gain, j in candidates:
        if gain < THRESHOLDS.offset_evidence:
            continue
        best = best_offset(log_evidence, trial, j)
        if best is not trial:
            yield FaultHypothesis(
                "position offset", (j,), best, THRESHOLDS.fault_odds + number_odds(1)
            )


def best_offset(log_evidence: LogEvidence, trial: Trial, joint: int) -> Trial:
    """Return the trial with the best offset of one joint, by Gauss-Newton steps."""
    for _ in range(5):
        step = float(np.clip(offset_step(log_evidence, trial, joint)[0], -0.5, 0.5))
        moved = log_evidence.trial(
            trial.correction.at("offset", joint, trial.correction.offset[joint] + step), trial
        )
        if moved.evidence <= trial.evidence:
            break
        trial = moved
        if abs(step) < 0.003:
            break
    return trial


def offset_step(
    log_evidence: LogEvidence, trial: Trial, joint: int, small: float = 1e-3
) -> tuple[float, float]:
    """Return the Gauss-Newton step [rad|m] of a joint's offset and its information."""
    moved = trial.correction.at("offset", joint, trial.correction.offset[joint] + small)
    u = trial.agreement.mean  # friction beside the model's terms depends on speeds alone
    return gauss_newton_step(
        trial,
        (log_evidence.predicted(moved, u) - log_evidence.predicted(trial.correction, u)) / small,
    )


def least_offset(log_evidence: LogEvidence, joint: int) -> float:
    """Return the least offset of a joint that matters [rad|m]."""
    return THRESHOLDS.least_offset if is_revolute(log_evidence, joint) else THRESHOLDS.least_slide


def is_revolute(log_evidence: LogEvidence, joint: int) -> bool:
    """Return whether a coordinate turns."""
    return any(
        body.kind == "revolute" and body.coordinate == joint
        for body in log_evidence.unknowns.model.robot.tree.bodies
    )


def wrong_clock(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Time stamps that are scaled: inertial torques then do not fit gravity.

    Milliseconds are one of the candidates.
    """
    tried = other_clocks(log_evidence, trial)
    best = max(tried, key=lambda each: each.score)
    scaled = (
        best.trial
        if best is tried[0]
        else best_clock(log_evidence, best.trial, 0.25, trial.evidence)
    )
    factor = scaled.correction.clock / trial.correction.clock
    if is_milliseconds(factor) or abs(np.log(factor)) <= np.log(THRESHOLDS.largest_clock):
        yield FaultHypothesis("clock", (), scaled, clock_odds(factor))


def other_clocks(
    log_evidence: LogEvidence, trial: Trial, factors: tuple[float, ...] = THRESHOLDS.clocks
) -> list[FaultHypothesis]:
    """Return a candidate for each of some factors of the clock."""
    tried = (
        log_evidence.trial(scale_clock(trial.correction, float(np.log(factor))), trial)
        for factor in factors
    )
    return [
        FaultHypothesis("clock", (), scaled, clock_odds(factor))
        for scaled, factor in zip(tried, factors, strict=True)
    ]


def clock_odds(factor: float) -> float:
    """Return the log odds of a clock with this factor.

    Milliseconds, or any number, the less likely the farther from 1.
    """
    return (
        THRESHOLDS.fault_odds
        if is_milliseconds(factor)
        else THRESHOLDS.fault_odds
        + number_odds(1)
        - 0.5 * float(np.log(factor) / THRESHOLDS.clock_spread) ** 2
    )


def is_milliseconds(factor: float) -> bool:
    """Return whether a clock with this factor counts milliseconds."""
    return bool(np.isclose(factor, THRESHOLDS.clocks[0]))


def scale_clock(correction: FaultCorrection, x: float) -> FaultCorrection:
    """Return the correction with the clock times exp(x); delays in stamps stay the same."""
    factor = float(np.exp(x))
    return correction.changed(
        clock=factor * correction.clock, delay=factor * np.array(correction.delay)
    )


def best_clock(
    log_evidence: LogEvidence, trial: Trial, step: float = 0.1, least: float = -np.inf
) -> Trial:
    """Return the best trial with a clock near a trial's, if it may reach evidence `least`."""
    return line_search(log_evidence, trial, scale_clock, step, same_motion=False, least=least)


def wrong_unit(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Positions in degrees."""
    turns = [is_revolute(log_evidence, j) for j in range(trial.regression.n)]
    scale = np.where(turns, DEGREE, 1.0) * np.array(trial.correction.scale)
    reach = np.max(np.abs(log_evidence.thinned_log.q), axis=0, where=np.array(turns), initial=0.0)
    if (
        np.any(reach > THRESHOLDS.least_degrees)
        and trial.correction.scale == (1.0,) * trial.regression.n
    ):
        yield FaultHypothesis(
            "degrees",
            (),
            log_evidence.trial(trial.correction.changed(scale=scale), trial),
            THRESHOLDS.fault_odds,
        )
