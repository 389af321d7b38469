"""Faults of the torque alone: gain, sign, currents, overall scale, delay. The motion stays, so that each trial is cheap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .candidate import USUAL, Candidate, climb, doubtful, gain_odds, more_unknowns, others_and_description, torque_slope
from .hypothesis import Hypothesis
from .witness import Trial, Witness, torque_sizes

Array = NDArray[np.float64]
LEAST_GAIN = 1.15  # of one joint
LEAST_SCALE = 1.4  # of all joints
OF_UNITS = 2.0  # log odds that a unit of all torques is more often wrong than one at a time
LEAST_FACTOR = 2.0  # of the middle joint, if each has its own
MILLIAMPERES = 0.1  # N m for one unit of a current, below which it may be in mA; an ampere makes more than 1 N m at a joint
LEAST_DELAY = 0.014  # [s]
LONGEST_DELAY = 0.55  # [s]
POLISHED = 3  # gains that are looked at closely,
WORTHWHILE = 3.0  # [nats] that they must win at first
HOPELESS = -60.0  # [nats] that a gain or a scale of all joints wins at first, below which it is not looked at closely
EXTREME = 1e4  # largest gain
DOUBT = 3.0  # [nats] that a gain of its own must win over the middle one


def wrong_gains(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Torques of one joint that are wrong by a factor or a sign: held against the description, and against the other joints too."""
    c, _ = trial.design.targets(trial.torque)
    tried: list[tuple[Trial, int]] = []
    for j in range(trial.design.n):
        known = (False, True) if witness.unknowns.described else (False,)
        guesses = [1.0 / slope for alone in known if (slope := own_slope(trial, c, j, alone))]
        guesses = [gain for gain in guesses if gain < 0 or abs(np.log(gain)) > 0.5 * np.log(LEAST_GAIN)]
        tried += [(improved_gain(witness, trial, j, gain), j) for gain in distinct([-1.0, *guesses] if doubtful(trial) else guesses)]
    for place, (made, j) in enumerate(sorted(tried, key=lambda each: -each[0].evidence)):
        best = polished_gain(witness, made, j) if place < POLISHED and made.evidence > trial.evidence + WORTHWHILE else made
        gain = best.hypothesis.gain[j] / trial.hypothesis.gain[j]
        yield Candidate("torque sign" if gain < 0 else "gear ratio or torque constant", (j,), best, gain_odds(gain))


def own_slope(trial: Trial, c: Array, joint: int, described: bool = False) -> float:
    """Return what the joint's torque is times that which the description and the other joints ask for; 0 if unknown.

    `described` leaves the other joints out.
    """
    found = trial.agreement
    u = others_and_description(trial.design, c, found.precision, found.weight, None if described else joint)
    slope = torque_slope(trial.design, trial.torque, u, joint)
    return slope if np.isfinite(slope) and 1 / EXTREME < abs(slope) < EXTREME else 0.0


def distinct(gains: list[float]) -> list[float]:
    """Return the gains without those within a tenth of an earlier one."""
    kept: list[float] = []
    for gain in gains:
        if not any(gain * other > 0 and abs(np.log(gain / other)) < 0.1 for other in kept):
            kept.append(gain)
    return kept


def improved_gain(witness: Witness, trial: Trial, joint: int, gain: float) -> Trial:
    """Return the trial with a gain of one joint, improved against the other joints."""
    made = witness.trial(trial.hypothesis.at("gain", joint, trial.hypothesis.gain[joint] * gain), trial, trial.design)
    return best_gain(witness, made, joint) if made.evidence > trial.evidence + HOPELESS else made


def best_gain(witness: Witness, trial: Trial, joint: int) -> Trial:
    """Return the trial with the best gain of one joint against the others, as long as steps help."""
    for _ in range(2):
        slope = own_slope(trial, trial.design.targets(trial.torque)[0], joint)
        if slope <= 0 or abs(np.log(slope)) < 0.02:
            break
        made = witness.trial(trial.hypothesis.at("gain", joint, trial.hypothesis.gain[joint] / slope), trial, trial.design)
        if made.evidence <= trial.evidence:
            break
        trial = made
    return trial


def polished_gain(witness: Witness, trial: Trial, joint: int) -> Trial:
    """Return the trial with the gain of one joint at which the evidence is largest."""

    def scaled(hypothesis: Hypothesis, x: float) -> Hypothesis:
        return hypothesis.at("gain", joint, float(np.exp(x)) * hypothesis.gain[joint])

    return climb(witness, trial, scaled, 0.05, same_motion=True)


def wrong_scale(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """One factor for the torques of all joints; another for each: motor currents. Without a description nothing can tell."""
    if not witness.unknowns.described:
        return
    slopes = np.array([own_slope(trial, np.zeros((trial.design.n, trial.design.K)), j, True) for j in range(trial.design.n)])
    positive = slopes[slopes > 0]
    typical = float(np.median(positive)) if len(positive) else 1.0
    joints = tuple(range(trial.design.n))
    if not doubtful(trial) and np.all(np.abs(np.log(positive)) < np.log(LEAST_SCALE)):
        return
    for first in distinct([1.0 / typical, -1.0]):
        made = scaled_all(witness, trial, first)
        gain = made.hypothesis.gain[0] / trial.hypothesis.gain[0]
        yield Candidate("torque sign" if gain < 0 else "torque scale", joints, made, gain_odds(gain) + OF_UNITS)
    if trial.design.n > 1:
        yield from currents(witness, trial, np.where(slopes > 0, slopes, typical))


def scaled_all(witness: Witness, trial: Trial, first: float) -> Trial:
    """Return the best trial with one further factor for all joints, searched from `first` on."""

    def scaled(hypothesis: Hypothesis, x: float) -> Hypothesis:
        return hypothesis.changed(gain=np.exp(x) * np.array(hypothesis.gain))

    start = witness.trial(trial.hypothesis.changed(gain=first * np.array(trial.hypothesis.gain)), trial, trial.design)
    least = trial.evidence if first != 1.0 else -np.inf
    return climb(witness, start, scaled, 0.2, same_motion=True, least=least) if start.evidence > trial.evidence + HOPELESS else start


def currents(witness: Witness, trial: Trial, slopes: Array) -> Iterator[Candidate]:
    """A gain for each joint: first by the description, then each against the others, last all together."""
    design, found = trial.design, trial.agreement
    gain = 1.0 / slopes
    precision = found.independent / (0.05**2 * torque_sizes(trial.torque * gain, np.maximum(design.counts, 1.0)))
    weight = np.full_like(found.weight, design.weight)
    for _ in range(3):
        for j in range(design.n):
            tau = trial.torque * gain
            u = others_and_description(design, design.targets(tau)[0], precision, weight, j)
            slope = torque_slope(design, tau, u, j)
            if np.isfinite(slope) and 0.05 < slope < 20:
                gain[j] /= slope
    start = witness.trial(trial.hypothesis.changed(gain=gain * np.array(trial.hypothesis.gain)), trial, design)
    made = scaled_all(witness, with_usual_gains(witness, start, trial), 1.0)
    gain = np.array(made.hypothesis.gain) / np.array(trial.hypothesis.gain)
    if like_currents(gain):
        yield Candidate("currents", tuple(range(design.n)), made, USUAL + more_unknowns(design.n))


def like_currents(gain: Array) -> bool:
    """Return whether gains (n,) are such as turn currents into torques: far from one, and so different that no factor for all is enough."""
    far = float(np.median(np.abs(np.log(gain)))) >= np.log(LEAST_FACTOR)
    apart = float(np.ptp(np.log(gain))) >= np.log(LEAST_GAIN)
    middle = float(np.median(gain))
    return far and apart and (middle > 1.0 or middle < MILLIAMPERES)


def with_usual_gains(witness: Witness, trial: Trial, before: Trial) -> Trial:
    """Return the trial with the middle gain at joints whose own gain the log does not tell."""
    gain = np.array(trial.hypothesis.gain) / np.array(before.hypothesis.gain)
    for j in np.argsort(-np.abs(np.log(gain / np.median(gain)))):
        usual = trial.hypothesis.at("gain", int(j), float(np.median(gain)) * before.hypothesis.gain[j])
        made = witness.trial(usual, trial, trial.design)
        trial = made if made.evidence > trial.evidence - DOUBT else trial
    return trial


def late_torques(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Torques of one joint or of all that come late or early, to half a second."""
    costs, lags = lag_costs(witness, trial)
    if costs is None:
        return
    for joints in [*((j,) for j in range(trial.design.n)), tuple(range(trial.design.n))]:
        delay = best_lag(np.sum(costs[list(joints)], axis=0), lags)
        if abs(delay) < 0.5 * LEAST_DELAY:
            continue
        moved = np.array(trial.hypothesis.delay)
        moved[list(joints)] += delay
        made = witness.trial(trial.hypothesis.changed(delay=moved), trial, trial.design)
        yield Candidate("delay", joints, made, USUAL + more_unknowns(1))


def lag_costs(witness: Witness, trial: Trial) -> tuple[Array | None, Array]:
    """Return log of the squared residual of each joint (n, L) with its torque moved by each lag [s] (L,); None if the log is too short.

    The joint's columns are fitted freely at each lag.
    """
    t = trial.hypothesis.clock * witness.view.t
    dt = float(np.median(np.diff(t)))
    longest = max((part.stop - part.start for part in witness.view.stretches), default=0)
    most = min(int(np.ceil(LONGEST_DELAY / dt)), longest // 6)
    if most < 2:
        return None, np.zeros(0)
    steps = np.arange(-most, most + 1)
    inner = np.concatenate(
        [np.arange(part.start + most, part.stop - most) for part in witness.view.stretches if part.stop - part.start > 4 * most]
    )
    costs = np.empty((trial.design.n, len(steps)))
    for j, A in enumerate(trial.design.columns):
        columns = A[inner] / np.maximum(np.linalg.norm(A[inner], axis=0), 1e-300)
        moved = np.stack([trial.torque[inner + k, j] for k in steps], axis=1)
        S = columns.T @ columns + 1e-9 * np.eye(columns.shape[1])
        cross = columns.T @ moved
        total = np.sum(moved**2, axis=0)
        costs[j] = np.log(np.maximum(total - np.sum(cross * np.linalg.solve(S, cross), axis=0), 1e-6 * total + 1e-300) / (total + 1e-300))
    return costs, steps * dt


def best_lag(cost: Array, lags: Array) -> float:
    """Return the lag [s] of least cost, by a parabola between the samples."""
    i = int(np.argmin(cost))
    if 0 < i < len(lags) - 1:
        curvature = cost[i - 1] - 2 * cost[i] + cost[i + 1]
        if curvature > 0:
            return float(lags[i] + 0.5 * (cost[i - 1] - cost[i + 1]) / curvature * (lags[1] - lags[0]))
    return float(lags[i])


def small_delays(witness: Witness, trial: Trial) -> Trial:
    """Return the trial without the small delays of each torque that an identification takes out by itself."""
    costs, lags = lag_costs(witness, trial)
    if costs is None:
        return trial
    own = np.array(trial.hypothesis.delay)
    delay = own + np.array([best_lag(cost, lags) for cost in costs])
    moved = np.where((np.abs(delay) < LEAST_DELAY) & (np.abs(own) < LEAST_DELAY), delay, own)
    made = witness.trial(trial.hypothesis.changed(delay=moved), trial, trial.design)
    return witness.anew(made) if made.evidence > trial.evidence else trial
