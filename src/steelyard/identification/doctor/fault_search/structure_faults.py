"""Faults of the structure: missing springs, wrong distances between joints, a torque filter."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....dynamics.rnea import rnea
from ....mechanism.parameter_vector import with_scalars
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .fault_hypothesis import FaultHypothesis, gauss_newton_step, line_search, number_odds
from .joint_regression import spring_columns
from .log_evidence import LogEvidence, Trial
from .unknowns import SPRING, columns_of, stack_rows, with_lengths

Array = NDArray[np.float64]


def missing_springs(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of springs or counterweights that the description lacks.

    Each is a torque of one joint that is a cubic polynomial of its position.
    """
    residual, used = trial.residual, log_evidence.keep(trial.correction)
    q = trial.correction.states(log_evidence.thinned_log)[0]
    shares = [
        0.0
        if j in trial.correction.springs
        else explained_by_position(q[used[:, j], j], residual[used[:, j], j])
        for j in range(trial.regression.n)
    ]
    for j in np.argsort(shares)[::-1][: THRESHOLDS.tried_structures]:
        if shares[j] > THRESHOLDS.spring_residual:
            sprung = trial.correction.changed(springs=(*trial.correction.springs, int(j)))
            yield FaultHypothesis(
                "missing term",
                (int(j),),
                log_evidence.trial(sprung, trial, needed=THRESHOLDS.needed),
                THRESHOLDS.fault_odds,
            )


def explained_by_position(q: Array, residual: Array) -> float:
    """Return the share of a squared residual (N,) that a polynomial of the position explains."""
    if not np.any(residual) or np.ptp(q) < THRESHOLDS.standing:
        return 0.0
    X = np.stack(spring_columns(q), axis=1)
    remainder = residual - X @ np.linalg.lstsq(X, residual, rcond=1e-8)[0]
    return 1.0 - float(remainder @ remainder) / float(residual @ residual)


def spring_share(log_evidence: LogEvidence, trial: Trial, joint: int) -> float:
    """Return the torque of a joint's spring over the joint's torque, without its mean."""
    first = log_evidence.unknowns.first_of_spring(trial.correction, joint)
    q = trial.correction.states(log_evidence.thinned_log)[0][:, joint]
    values = trial.agreement.mean[first : first + SPRING]
    torque = np.stack(spring_columns(q), axis=1) @ values
    return float(np.std(torque)) / max(float(np.sqrt(np.mean(trial.torque[:, joint] ** 2))), 1e-300)


def wrong_lengths(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of a wrong distance between two joints, estimated by Gauss-Newton steps.

    Only lengths whose first step predicts a gain are tried, the best first.
    """
    if trial.correction.low_pass is not None:
        return
    steps = [(*length_step(log_evidence, trial, j), j) for j in long_distances(log_evidence)]
    gains = sorted(((step**2 * information / 2, j) for step, information, j in steps), reverse=True)
    for gain, j in gains[: THRESHOLDS.tried_structures]:
        if gain > THRESHOLDS.offset_evidence:
            best = best_length(log_evidence, trial, j)
            if best is not trial:
                odds = length_odds(best.correction.length(j))
                yield FaultHypothesis("geometry", (j,), best, odds)


def length_odds(factor: float) -> float:
    """Return the log odds of a distance with this factor, the less likely the farther from 1."""
    distance = float(np.log(factor)) / THRESHOLDS.length_spread
    return THRESHOLDS.fault_odds + number_odds(1) - 0.5 * distance**2


def long_distances(log_evidence: LogEvidence) -> list[int]:
    """Return the joints whose distance from the joint before them matters for dynamics.

    The base may stand anywhere, and short offsets have little effect.
    """
    bodies = log_evidence.unknowns.model.robot.tree.bodies
    distances = {
        body.coordinate: float(np.linalg.norm(body.placement.p))
        for body in bodies
        if body.parent >= 0
    }
    longest = max(distances.values(), default=0.0)
    least = THRESHOLDS.short_distance * longest
    ranked = sorted(distances, key=lambda j: -distances[j])
    return [j for j in ranked if distances[j] > max(least, 1e-9)][: THRESHOLDS.most_lengths]


def length_step(
    log_evidence: LogEvidence, trial: Trial, joint: int, small: float = 1e-2
) -> tuple[float, float]:
    """Return the Gauss-Newton step of the factor of a joint's distance, and its information.

    The torque of known parameters is a polynomial of second degree in a length, so that the central
    difference is its derivative.
    """
    unknowns, correction = log_evidence.unknowns, trial.correction
    q, qd, qdd = map(columns_of, correction.states(log_evidence.thinned_log))
    pi = unknowns.origin + unknowns.to_pi @ trial.agreement.mean[: unknowns.p]
    tree = with_scalars(unknowns.model.structure.tree, pi.tolist())
    gravity = correction.gravity or unknowns.gravity
    factor = correction.length(joint)
    longer, shorter = (
        stack_rows([rnea(with_lengths(tree, lengths, gravity), q, qd, qdd)], len(q[0]))[:, 0]
        for lengths in (correction.with_length(joint, factor + x).lengths for x in (small, -small))
    )
    column = (longer - shorter) / (2 * small)
    return gauss_newton_step(trial, column * log_evidence.keep(correction))


def best_length(log_evidence: LogEvidence, trial: Trial, joint: int) -> Trial:
    """Return the trial with the best distance of a joint, by Gauss-Newton steps."""
    for _ in range(THRESHOLDS.length_steps):
        step = float(np.clip(length_step(log_evidence, trial, joint)[0], -0.3, 0.3))
        factor = trial.correction.length(joint) + step
        if not 1 / THRESHOLDS.largest_length < factor < THRESHOLDS.largest_length:
            break
        changed = log_evidence.trial(trial.correction.with_length(joint, factor), trial)
        if changed.evidence <= trial.evidence:
            break
        trial = changed
        if abs(step) < THRESHOLDS.length_tolerance:
            break
    return trial


def filtered_torques(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of torques that were low-passed before they were logged."""
    if trial.correction.low_pass is not None or trial.correction.lengths:
        return
    cutoffs = missing_bands(log_evidence, trial)
    tried = [
        log_evidence.trial(trial.correction.changed(low_pass=(cutoff, order)), trial)
        for cutoff in cutoffs
        for order in THRESHOLDS.filter_orders
    ]
    best = max(tried, key=lambda each: each.evidence, default=trial)
    if best.evidence <= trial.evidence:
        return
    best = best_low_pass(log_evidence, best)
    if error_ratio(trial, best) < THRESHOLDS.filtered_error_ratio:
        yield FaultHypothesis("filtered torque", (), best, THRESHOLDS.fault_odds + number_odds(2))


def error_ratio(before: Trial, after: Trial) -> float:
    """Return the error after a correction over the error before, the mean over joints."""
    used = before.regression.counts > 0
    ratios = after.agreement.error[used] / before.agreement.error[used]
    return float(np.exp(np.mean(np.log(ratios)))) if np.any(used) else 1.0


def best_low_pass(log_evidence: LogEvidence, trial: Trial) -> Trial:
    """Return the trial with the best cut-off of the torque's filter near a trial's."""

    def scaled(correction: FaultCorrection, x: float) -> FaultCorrection:
        assert correction.low_pass is not None
        cutoff, order = correction.low_pass
        return correction.changed(low_pass=(float(np.exp(x)) * cutoff, order))

    return line_search(log_evidence, trial, scaled, 0.2, same_motion=False)


def missing_bands(log_evidence: LogEvidence, trial: Trial) -> list[float]:
    """Return cut-offs [Hz] above which torques lack most of what the model predicts.

    A torque that was not filtered has at least the amplitude of the links' torque in every band.
    Friction is left out: steps at reversals are smooth where it has memory.
    """
    every = log_evidence.with_every_row
    thinned_log = every.thinned_log
    part = max(thinned_log.stretches, key=lambda s: s.stop - s.start)
    t = thinned_log.t[part]
    rate = (len(t) - 1) / max(float(t[-1] - t[0]), 1e-300)
    window = np.hanning(len(t))[:, None]
    of_bodies = np.arange(trial.regression.K) < trial.regression.inner
    predicted = every.regression(trial.correction).predicted(trial.agreement.mean * of_bodies)
    P, T = (
        np.fft.rfft((x - x.mean(axis=0)) * window, axis=0)
        for x in (predicted[part], every.torque(trial.correction)[part])
    )
    frequency = np.fft.rfftfreq(len(t), 1 / rate)
    total = np.maximum(np.sum(np.abs(P) ** 2, axis=0), 1e-300)
    cutoffs = []
    for cutoff in THRESHOLDS.filter_cutoffs:
        above = frequency > cutoff * THRESHOLDS.stop_band
        power = np.sum(np.abs(P[above]) ** 2, axis=0)
        ratio = np.sqrt(np.sum(np.abs(T[above]) ** 2, axis=0) / np.maximum(power, 1e-300))
        visible = power > THRESHOLDS.filtered_share**2 * total
        if np.any(visible) and np.median(ratio[visible]) < THRESHOLDS.passed_share:
            cutoffs.append(cutoff)
        if len(cutoffs) == THRESHOLDS.tried_structures:
            break
    return cutoffs
