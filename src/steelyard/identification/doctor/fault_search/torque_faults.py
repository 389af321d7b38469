"""Faults of the torque alone: gain, sign, currents, overall scale, delay.

The motion stays, so that each trial is cheap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .fault_hypothesis import (
    FaultHypothesis,
    fit_torque_ratio,
    gain_odds,
    is_doubtful,
    line_search,
    number_odds,
    unknowns_without_joint,
)
from .log_evidence import LogEvidence, Trial, torque_sizes

Array = NDArray[np.float64]


def wrong_gains(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of a wrong factor or sign of one joint's torque.

    The torque is compared with the description, and with the other joints.
    """
    tried: list[tuple[Trial, int]] = []
    for j in range(trial.regression.n):
        known = (False, True) if log_evidence.unknowns.described else (False,)
        guesses = [1.0 / ratio for alone in known if (ratio := torque_ratio(trial, j, alone))]
        guesses = [
            gain
            for gain in guesses
            if gain < 0 or abs(np.log(gain)) > 0.5 * np.log(THRESHOLDS.least_gain)
        ]
        tried += [
            (improve_gain(log_evidence, trial, j, gain), j)
            for gain in distinct([-1.0, *guesses] if is_doubtful(trial) else guesses)
        ]
    for rank, (scaled, j) in enumerate(sorted(tried, key=lambda each: -each[0].evidence)):
        best = (
            refine_gain(log_evidence, scaled, j)
            if rank < THRESHOLDS.refined_gains
            and scaled.evidence > trial.evidence + THRESHOLDS.refined_gain_evidence
            else scaled
        )
        gain = best.correction.gain[j] / trial.correction.gain[j]
        yield FaultHypothesis(
            "torque sign" if gain < 0 else "gear ratio or torque constant",
            (j,),
            best,
            gain_odds(gain),
        )


def torque_ratio(trial: Trial, joint: int, described: bool = False) -> float:
    """Return the joint's torque over the torque of the bodies; 0 if unknown.

    The bodies follow from the description and the torques of the other joints, or with `described`
    from the description alone.
    """
    regression, agreement = trial.regression, trial.agreement
    u = (
        np.zeros(regression.K)
        if described
        else unknowns_without_joint(
            trial.gram, regression.inner, agreement.precision, agreement.weight, joint
        )
    )
    ratio = fit_torque_ratio(regression, trial.torque, u, joint)
    return (
        ratio
        if np.isfinite(ratio) and 1 / THRESHOLDS.largest_gain < abs(ratio) < THRESHOLDS.largest_gain
        else 0.0
    )


def distinct(gains: list[float]) -> list[float]:
    """Return the gains without those within a tenth of an earlier one."""
    separate: list[float] = []
    for gain in gains:
        if not any(gain * other > 0 and abs(np.log(gain / other)) < 0.1 for other in separate):
            separate.append(gain)
    return separate


def improve_gain(log_evidence: LogEvidence, trial: Trial, joint: int, gain: float) -> Trial:
    """Return the trial with a gain of one joint, improved against the other joints."""
    scaled = log_evidence.trial(
        trial.correction.at("gain", joint, trial.correction.gain[joint] * gain),
        trial,
        trial.regression,
    )
    return (
        best_gain(log_evidence, scaled, joint)
        if scaled.evidence > trial.evidence + THRESHOLDS.hopeless_gain
        else scaled
    )


def best_gain(log_evidence: LogEvidence, trial: Trial, joint: int) -> Trial:
    """Return the trial with the best gain of one joint, as long as steps improve it."""
    for _ in range(2):
        ratio = torque_ratio(trial, joint)
        if ratio <= 0 or abs(np.log(ratio)) < 0.02:
            break
        scaled = log_evidence.trial(
            trial.correction.at("gain", joint, trial.correction.gain[joint] / ratio),
            trial,
            trial.regression,
        )
        if scaled.evidence <= trial.evidence:
            break
        trial = scaled
    return trial


def refine_gain(log_evidence: LogEvidence, trial: Trial, joint: int) -> Trial:
    """Return the trial with the gain of one joint at which the evidence is largest."""

    def scaled(correction: FaultCorrection, x: float) -> FaultCorrection:
        return correction.at("gain", joint, float(np.exp(x)) * correction.gain[joint])

    return line_search(log_evidence, trial, scaled, 0.05, same_motion=True)


def wrong_scale(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of one factor for all torques, and of motor currents.

    Both need a description.
    """
    if not log_evidence.unknowns.described:
        return
    ratios = np.array([torque_ratio(trial, j, described=True) for j in range(trial.regression.n)])
    positive = ratios[ratios > 0]
    typical = float(np.median(positive)) if len(positive) else 1.0
    joints = tuple(range(trial.regression.n))
    if not is_doubtful(trial) and np.all(np.abs(np.log(positive)) < np.log(THRESHOLDS.least_scale)):
        return
    for first in distinct([1.0 / typical, -1.0]):
        scaled = best_scale(log_evidence, trial, first)
        gain = scaled.correction.gain[0] / trial.correction.gain[0]
        yield FaultHypothesis(
            "torque sign" if gain < 0 else "torque scale",
            joints,
            scaled,
            gain_odds(gain) + THRESHOLDS.unit_odds,
        )
    if trial.regression.n > 1:
        yield from currents(log_evidence, trial, np.where(ratios > 0, ratios, typical))


def best_scale(log_evidence: LogEvidence, trial: Trial, first: float) -> Trial:
    """Return the best trial with one further factor for all joints, searched from `first` on."""

    def scaled(correction: FaultCorrection, x: float) -> FaultCorrection:
        return correction.changed(gain=np.exp(x) * np.array(correction.gain))

    start = log_evidence.trial(
        trial.correction.changed(gain=first * np.array(trial.correction.gain)),
        trial,
        trial.regression,
    )
    least = trial.evidence if first != 1.0 else -np.inf
    return (
        line_search(log_evidence, start, scaled, 0.2, same_motion=True, least=least)
        if start.evidence > trial.evidence + THRESHOLDS.hopeless_gain
        else start
    )


def currents(log_evidence: LogEvidence, trial: Trial, ratios: Array) -> Iterator[FaultHypothesis]:
    """Yield a hypothesis with a gain for each joint: the columns are motor currents.

    The gains come from the description first, then from the other joints, last from all together.
    """
    regression, agreement = trial.regression, trial.agreement
    gain = 1.0 / ratios
    precision = agreement.independent / (
        0.05**2 * torque_sizes(trial.torque * gain, np.maximum(regression.counts, 1.0))
    )
    weight = np.full_like(agreement.weight, regression.weight)
    for _ in range(3):
        for j in range(regression.n):
            tau = trial.torque * gain
            u = unknowns_without_joint(regression.gram(tau), regression.inner, precision, weight, j)
            ratio = fit_torque_ratio(regression, tau, u, j)
            if np.isfinite(ratio) and 0.05 < ratio < 20:
                gain[j] /= ratio
    start = log_evidence.trial(
        trial.correction.changed(gain=gain * np.array(trial.correction.gain)), trial, regression
    )
    scaled = best_scale(log_evidence, with_median_gains(log_evidence, start, trial), 1.0)
    gain = np.array(scaled.correction.gain) / np.array(trial.correction.gain)
    if looks_like_currents(gain):
        yield FaultHypothesis(
            "currents",
            tuple(range(regression.n)),
            scaled,
            THRESHOLDS.fault_odds + number_odds(regression.n),
        )


def looks_like_currents(gain: Array) -> bool:
    """Return whether gains (n,) are far from one and different for each joint, as for currents."""
    far = float(np.median(np.abs(np.log(gain)))) >= np.log(THRESHOLDS.least_current_factor)
    apart = float(np.ptp(np.log(gain))) >= np.log(THRESHOLDS.least_gain)
    middle = float(np.median(gain))
    return far and apart and (middle > 1.0 or middle < THRESHOLDS.milliampere_factor)


def with_median_gains(log_evidence: LogEvidence, trial: Trial, before: Trial) -> Trial:
    """Return the trial with the median gain at joints whose own gain is not significant."""
    gain = np.array(trial.correction.gain) / np.array(before.correction.gain)
    for j in np.argsort(-np.abs(np.log(gain / np.median(gain)))):
        usual = trial.correction.at(
            "gain", int(j), float(np.median(gain)) * before.correction.gain[j]
        )
        simpler = log_evidence.trial(usual, trial, trial.regression)
        trial = (
            simpler if simpler.evidence > trial.evidence - THRESHOLDS.own_gain_evidence else trial
        )
    return trial


def late_torques(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of delayed or early torques, of one joint that moves or of all."""
    costs, lags = lag_costs(log_evidence, trial)
    if costs is None:
        return
    q = trial.correction.states(log_evidence.thinned_log)[0]
    moving = np.flatnonzero(np.ptp(q, axis=0) > THRESHOLDS.standing).tolist()
    for joints in [*((j,) for j in moving), tuple(range(trial.regression.n))]:
        delay = best_lag(np.sum(costs[list(joints)], axis=0), lags)
        if abs(delay) < 0.5 * THRESHOLDS.least_delay:
            continue
        moved = np.array(trial.correction.delay)
        moved[list(joints)] += delay
        shifted = log_evidence.trial(trial.correction.changed(delay=moved), trial, trial.regression)
        yield FaultHypothesis("delay", joints, shifted, THRESHOLDS.fault_odds + number_odds(1))


def lag_costs(log_evidence: LogEvidence, trial: Trial) -> tuple[Array | None, Array]:
    """Return the log squared residual (n, L) of each joint with its torque shifted by each lag.

    Lags (L,) are in seconds; None if the log is too short.

    The joint's columns are fitted freely at each lag.
    """
    t = trial.correction.clock * log_evidence.thinned_log.t
    dt = float(np.median(np.diff(t)))
    longest = max(
        (part.stop - part.start for part in log_evidence.thinned_log.stretches), default=0
    )
    most = min(int(np.ceil(THRESHOLDS.longest_delay / dt)), longest // 6)
    if most < 2:
        return None, np.zeros(0)
    steps = np.arange(-most, most + 1)
    inner = np.concatenate(
        [
            np.arange(part.start + most, part.stop - most)
            for part in log_evidence.thinned_log.stretches
            if part.stop - part.start > 4 * most
        ]
    )
    costs = np.empty((trial.regression.n, len(steps)))
    used = log_evidence.keep(trial.correction)[inner]
    torque = log_evidence.with_every_row.torque(trial.correction)
    for j, A in enumerate(trial.regression.columns):
        columns = A[inner] / np.maximum(np.linalg.norm(A[inner], axis=0), 1e-300)
        moved = np.stack([torque[inner + k, j] for k in steps], axis=1) * used[:, j, None]
        S = columns.T @ columns + 1e-9 * np.eye(columns.shape[1])
        cross = columns.T @ moved
        total = np.sum(moved**2, axis=0)
        costs[j] = np.log(
            np.maximum(
                total - np.sum(cross * np.linalg.solve(S, cross), axis=0), 1e-6 * total + 1e-300
            )
            / (total + 1e-300)
        )
    return costs, steps * dt


def best_lag(cost: Array, lags: Array) -> float:
    """Return the lag [s] of least cost, by a parabola between the samples."""
    i = int(np.argmin(cost))
    if 0 < i < len(lags) - 1:
        curvature = cost[i - 1] - 2 * cost[i] + cost[i + 1]
        if curvature > 0:
            return float(
                lags[i] + 0.5 * (cost[i - 1] - cost[i + 1]) / curvature * (lags[1] - lags[0])
            )
    return float(lags[i])


def small_delays(log_evidence: LogEvidence, trial: Trial) -> Trial:
    """Return the trial without the small delays that `identify` estimates by itself."""
    costs, lags = lag_costs(log_evidence, trial)
    if costs is None:
        return trial
    present = np.array(trial.correction.delay)
    delay = present + np.array([best_lag(cost, lags) for cost in costs])
    moved = np.where(
        (np.abs(delay) < THRESHOLDS.least_delay) & (np.abs(present) < THRESHOLDS.least_delay),
        delay,
        present,
    )
    shifted = log_evidence.trial(trial.correction.changed(delay=moved), trial, trial.regression)
    return log_evidence.with_own_rows(shifted) if shifted.evidence > trial.evidence else trial
