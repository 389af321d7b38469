"""Faults of the motion: signs, order, zeros and units of positions, the clock. Each trial computes the regressor anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .candidate import NEEDED, USUAL, Candidate, climb, linear_step, more_unknowns
from .hypothesis import Hypothesis
from .witness import Trial, Witness

Array = NDArray[np.float64]
LEAST_OFFSET = np.radians(2.5)  # [rad]
LEAST_SLIDE = 0.025  # [m]
LEAST_CLOCK = 1.2
DEGREE = np.pi / 180
LEAST_REACH = 2 * np.pi  # of a joint, from which positions may be in degrees
CLOCKS = (1e-3, 0.25, 0.4, 0.65, 1.5, 2.5, 4.0)
MOST_CLOCK = 10.0  # factor of a wrong clock, other than milliseconds: beyond, a motion shows gravity alone, which any clock explains
CLOCK_SPREAD = 1.0  # standard deviation of the logarithm of a wrong clock's factor, before the samples
PROMISING = 3.0  # [nats] that a first step must promise
TRIES = 3  # offsets that are looked at closely


def wrong_signs(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """The position of a joint with the other sign; or position and torque, for a joint that turns the other way round."""
    for j in range(trial.design.n):
        turned = trial.hypothesis.at("sign", j, -trial.hypothesis.sign[j])
        made = witness.trial(turned, trial, needed=NEEDED)
        yield Candidate("position sign", (j,), made, USUAL)
        both = turned.at("gain", j, -turned.gain[j])
        yield Candidate("position sign", (j,), witness.trial(both, trial, made.design, NEEDED), USUAL)


def wrong_order(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Two joints whose columns are exchanged, or those of their torques alone."""
    own = trial.hypothesis
    for pair in combinations(range(trial.design.n), 2):
        torques = exchanged(own.torque_order, *pair)
        both = own.changed(order=exchanged(own.order, *pair), torque_order=torques)
        yield Candidate("swapped joints", pair, witness.trial(both, trial, needed=NEEDED), USUAL)
        used = witness.view.keep[:, [own.torque_order[j] for j in pair]]
        if not np.any(used):
            continue  # no torque to exchange
        same = trial.design if np.all(used) else None
        yield Candidate("swapped joints", pair, witness.trial(own.changed(torque_order=torques), trial, same, NEEDED), USUAL)


def exchanged(order: tuple[int, ...], a: int, b: int) -> tuple[int, ...]:
    """Return the order with two entries exchanged."""
    made = list(order)
    made[a], made[b] = made[b], made[a]
    return tuple(made)


def wrong_zeros(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """A joint whose zero is elsewhere: Gauss-Newton on the offset, for the joints where the first step promises most."""
    steps = [(offset_step(witness, trial, j), j) for j in range(trial.design.n)]
    promising = sorted(((step**2 * information / 2, j) for (step, information), j in steps), reverse=True)[:TRIES]
    for promise, j in promising:
        if promise < PROMISING:
            continue
        best = best_offset(witness, trial, j)
        if best is not trial:
            yield Candidate("position offset", (j,), best, USUAL + more_unknowns(1))


def best_offset(witness: Witness, trial: Trial, joint: int) -> Trial:
    """Return the trial with the best offset of one joint, by Gauss-Newton steps as long as they help."""
    for _ in range(5):
        step = float(np.clip(offset_step(witness, trial, joint)[0], -0.5, 0.5))
        made = witness.trial(trial.hypothesis.at("offset", joint, trial.hypothesis.offset[joint] + step), trial)
        if made.evidence <= trial.evidence:
            break
        trial = made
        if abs(step) < 0.003:
            break
    return trial


def offset_step(witness: Witness, trial: Trial, joint: int, small: float = 1e-3) -> tuple[float, float]:
    """Return the Gauss-Newton step [rad|m] of a joint's offset and its information."""
    moved = trial.hypothesis.at("offset", joint, trial.hypothesis.offset[joint] + small)
    u = trial.agreement.mean  # friction beside the model's terms depends on speeds alone
    return linear_step(trial, (witness.predicted(moved, u) - witness.predicted(trial.hypothesis, u)) / small)


def least_offset(witness: Witness, joint: int) -> float:
    """Return the least offset of a joint that matters [rad|m]."""
    return LEAST_OFFSET if turning(witness, joint) else LEAST_SLIDE


def turning(witness: Witness, joint: int) -> bool:
    """Return whether a coordinate turns."""
    return any(body.kind == "revolute" and body.coordinate == joint for body in witness.unknowns.model.robot.tree.bodies)


def wrong_clock(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Time stamps that are scaled: inertial torques then do not fit gravity. Milliseconds are one of the candidates."""
    tried = other_clocks(witness, trial)
    best = max(tried, key=lambda each: each.score)
    made = best.trial if best is tried[0] else best_clock(witness, best.trial, 0.25, trial.evidence)
    factor = made.hypothesis.clock / trial.hypothesis.clock
    if is_milliseconds(factor) or abs(np.log(factor)) <= np.log(MOST_CLOCK):
        yield Candidate("clock", (), made, clock_odds(factor))


def other_clocks(witness: Witness, trial: Trial, factors: tuple[float, ...] = CLOCKS) -> list[Candidate]:
    """Return a candidate for each of some factors of the clock."""
    tried = (witness.trial(faster(trial.hypothesis, float(np.log(factor))), trial) for factor in factors)
    return [Candidate("clock", (), made, clock_odds(factor)) for made, factor in zip(tried, factors, strict=True)]


def clock_odds(factor: float) -> float:
    """Return the log odds of a clock with this factor: milliseconds, or any number, the less likely the farther from 1."""
    return USUAL if is_milliseconds(factor) else USUAL + more_unknowns(1) - 0.5 * float(np.log(factor) / CLOCK_SPREAD) ** 2


def is_milliseconds(factor: float) -> bool:
    """Return whether a clock with this factor counts milliseconds."""
    return bool(np.isclose(factor, CLOCKS[0]))


def faster(hypothesis: Hypothesis, x: float) -> Hypothesis:
    """Return the hypothesis with the clock times exp(x); delays stay what they are in stamps of the log."""
    factor = float(np.exp(x))
    return hypothesis.changed(clock=factor * hypothesis.clock, delay=factor * np.array(hypothesis.delay))


def best_clock(witness: Witness, trial: Trial, step: float = 0.1, least: float = -np.inf) -> Trial:
    """Return the best trial with another clock near that of a trial, if it may reach the evidence `least`."""
    return climb(witness, trial, faster, step, same_motion=False, least=least)


def wrong_unit(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Positions in degrees."""
    turns = [turning(witness, j) for j in range(trial.design.n)]
    scale = np.where(turns, DEGREE, 1.0) * np.array(trial.hypothesis.scale)
    reach = np.max(np.abs(witness.view.q), axis=0, where=np.array(turns), initial=0.0)
    if np.any(reach > LEAST_REACH) and trial.hypothesis.scale == (1.0,) * trial.design.n:
        yield Candidate("degrees", (), witness.trial(trial.hypothesis.changed(scale=scale), trial), USUAL)
