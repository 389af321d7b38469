"""Search: the faults that together explain a log, found one after the other by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ....signals.clean.correction import Correction
from ...model.accumulator import map_for
from ...model.joint_gram import best_of_each
from ...nuisance.delay_gain import away_from_reversals
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .fault_gain import HeldOutGain, held_out_gain
from .fault_hypothesis import FaultHypothesis, is_doubtful
from .log_evidence import LogEvidence, Trial
from .model_faults import shared_motors, wrong_gravity
from .motion_faults import (
    other_clocks,
    wrong_clock,
    wrong_order,
    wrong_signs,
    wrong_unit,
    wrong_zeros,
)
from .refinement import refine, size_of, without_fault
from .structure_faults import filtered_torques, missing_springs, wrong_lengths
from .torque_faults import late_torques, small_delays, wrong_gains, wrong_scale
from .unknowns import Unknowns

Array = NDArray[np.float64]
Family = Callable[[LogEvidence, Trial], Iterator[FaultHypothesis]]
ALWAYS: tuple[Family, ...] = (
    wrong_gains,
    wrong_scale,
    late_torques,
    wrong_zeros,
    missing_springs,
    wrong_lengths,
    filtered_torques,
)
IF_DOUBTFUL: tuple[Family, ...] = (
    wrong_clock,
    wrong_unit,
    wrong_gravity,
    wrong_signs,
    wrong_order,
    shared_motors,
)
HELD_OUT = (
    "delay",
    "clock",
    "coupling",
    "swapped joints",
    "gravity direction",
    "gravity taken out",
    "position offset",
    "missing term",
    "geometry",
    "filtered torque",
)
"""Faults that must lower errors on held-out blocks.

The others are explained by links of other inertias, or shown by the sign of friction.
"""
ALWAYS_HELD_OUT = (
    "delay",
    "clock",
    "gravity taken out",
    "missing term",
    "geometry",
    "filtered torque",
)
"""Faults that must do so also where only the described links show them."""
BESIDE_CLOCK: tuple[Family, ...] = (
    wrong_gains,
    wrong_scale,
    wrong_zeros,
    wrong_gravity,
    wrong_signs,
)


@dataclass(frozen=True, eq=False)
class Step:
    """An accepted fault, the trial before it, its rivals, and the final trial without it.

    `rivals` explain the log nearly as well. `size` is the size of the fault over the least that
    matters: an inaccuracy too small to be a fault is accepted like one, so that no other hypothesis
    explains it. `alone` are the log odds [nats] of the fault without the described inertias,
    `inaccurate` with a description of unknown accuracy.
    `gain` is the gain on held-out blocks, None for faults that only the description can show.
    """

    hypothesis: FaultHypothesis
    before: Trial
    rivals: tuple[FaultHypothesis, ...]
    without: Trial
    size: float = 1.0
    alone: float = float("inf")
    inaccurate: float = float("inf")
    gain: HeldOutGain | None = None

    @property
    def shown_by_log(self) -> bool:
        """Whether the log shows the fault for any inertias, without the description."""
        return self.alone >= THRESHOLDS.decisive

    @property
    def name(self) -> tuple[str, tuple[int, ...]]:
        """Fault and joints."""
        return self.hypothesis.fault, self.hypothesis.joints

    @property
    def matters(self) -> bool:
        """Whether it is a fault rather than an inaccuracy.

        A fault that the log shows, or that is of ALWAYS_HELD_OUT, must lower held-out errors. One
        that only the description shows must be likely for a description of unknown accuracy.
        """
        if not self.shown_by_log and self.inaccurate < THRESHOLDS.decisive:
            return False
        needed = self.shown_by_log or self.hypothesis.fault in ALWAYS_HELD_OUT
        if self.hypothesis.fault == "geometry":  # other links take up most of a wrong length
            gained = self.gain is None or self.gain.is_positive
        else:
            gained = self.gain is None or self.gain.is_relevant or not needed
        return self.size >= 1.0 and gained

    def log_odds(self, final: Trial) -> float:
        """Log odds [nats] of the fault, the others given."""
        return final.evidence - self.without.evidence + self.hypothesis.log_odds


def search(
    log_evidence: LogEvidence, start: Trial, contradicted: Callable[[Trial, Sequence[Step]], bool]
) -> tuple[Trial, tuple[Step, ...]]:
    """Return the trial that explains the log best, and the faults that lead to it.

    The greedy search from the best hypothesis may end in contradictions where two faults hide each
    other. Then other first hypotheses are tried, and last a wrong clock together with another
    fault.
    """
    trial = small_delays(log_evidence, start)
    firsts = decisive_hypotheses(find_hypotheses(log_evidence, trial), trial)
    result = greedy_path(log_evidence, trial, firsts[:1], firsts) if firsts else (trial, ())
    if not contradicted(*result):
        return result
    pair = clock_and_other(log_evidence, trial)
    others = [
        greedy_path(log_evidence, trial, [first], firsts)
        for first in firsts[1 : THRESHOLDS.first_hypotheses]
    ] + ([greedy_path(log_evidence, trial, pair, ())] if pair else [])

    def worth(result: tuple[Trial, tuple[Step, ...]]) -> float:
        return total_score(log_evidence, trial, *result) - (
            THRESHOLDS.contradiction_cost if contradicted(*result) else 0.0
        )

    return max([result, *others], key=worth)


def clock_and_other(log_evidence: LogEvidence, trial: Trial) -> list[FaultHypothesis]:
    """Return a clock and another fault that are likely together though neither may be alone.

    Nothing if there are none.
    """
    pairs = [
        (clock, other)
        for clock in other_clocks(log_evidence, trial, THRESHOLDS.clocks_with_fault)
        for other in decisive_hypotheses(
            [each for family in BESIDE_CLOCK for each in family(log_evidence, clock.trial)],
            clock.trial,
        )[:1]
    ]
    return list(max(pairs, key=lambda pair: pair[1].score + pair[0].log_odds, default=()))


def find_hypotheses(log_evidence: LogEvidence, trial: Trial) -> list[FaultHypothesis]:
    """Return what may explain the log better than a trial does."""
    families = (*ALWAYS, *IF_DOUBTFUL) if is_doubtful(trial) else ALWAYS
    hypotheses = map_for(log_evidence.unknowns.p)(
        lambda family: list(family(log_evidence, trial)), families
    )
    return [each for family in hypotheses for each in family]


def decisive_hypotheses(
    candidates: Sequence[FaultHypothesis], trial: Trial
) -> list[FaultHypothesis]:
    """Return the best candidate of each fault that beats a trial decisively, the best first."""
    return best_of_each(
        candidates,
        lambda each: each.score,
        lambda each: each.fault,
        lambda each: each if each.score - trial.evidence >= needed_odds(each.fault) else None,
    )


def needed_odds(fault: str) -> float:
    """Return the log odds [nats] from which a fault is accepted.

    Errors of the model resemble other lengths more than they resemble other faults.
    """
    return THRESHOLDS.length_odds if fault == "geometry" else THRESHOLDS.decisive


def greedy_path(
    log_evidence: LogEvidence,
    trial: Trial,
    firsts: Sequence[FaultHypothesis],
    beside: Sequence[FaultHypothesis],
) -> tuple[Trial, tuple[Step, ...]]:
    """Return the trial and the steps of a greedy search that begins with given hypotheses.

    Each step takes the best hypothesis and refines the others with it. `beside` are the hypotheses
    that compete with the first.
    """
    steps: list[Step] = []
    ahead = list(firsts)
    for _ in range(THRESHOLDS.most_search_steps):
        candidate = ahead.pop(0)
        known = [step.name for step in steps]
        if (candidate.fault, candidate.joints) not in known:
            steps.append(Step(candidate, trial, rivals_of(candidate, beside), trial))
        trial = candidate.trial
        if not ahead:
            trial = small_delays(
                log_evidence, log_evidence.with_own_rows(refine(log_evidence, trial, known))
            )
            beside = decisive_hypotheses(find_hypotheses(log_evidence, trial), trial)
            ahead = list(beside[:1])
        if not ahead:
            break
    return prune(log_evidence, trial, steps)


def rivals_of(
    candidate: FaultHypothesis, beside: Sequence[FaultHypothesis]
) -> tuple[FaultHypothesis, ...]:
    """Return the candidates that explain the log nearly as well."""
    return tuple(
        each
        for each in beside
        if each is not candidate and abs(candidate.score - each.score) < THRESHOLDS.decisive
    )


def total_score(
    log_evidence: LogEvidence, start: Trial, final: Trial, steps: Sequence[Step]
) -> float:
    """Return evidence and odds [nats] of a final trial, with the first trial's row count."""
    return log_evidence.trial(final.correction, start).evidence + sum(
        step.hypothesis.log_odds for step in steps
    )


def prune(
    log_evidence: LogEvidence, trial: Trial, steps: list[Step]
) -> tuple[Trial, tuple[Step, ...]]:
    """Return trial and steps without faults that later ones made unnecessary, with sizes."""
    accepted: list[Step] = []
    for step in steps:
        if was_swapped_back(trial.correction, step):
            continue
        other = log_evidence.trial(without_step(trial.correction, step), trial)
        step = replace(step, without=other)
        if step.log_odds(trial) < needed_odds(step.hypothesis.fault):
            trial = other
        else:
            accepted.append(step)
    return trial, tuple(with_size(log_evidence, trial, step) for step in accepted)


def with_size(log_evidence: LogEvidence, final: Trial, step: Step) -> Step:
    """Return a step with its size, and with its gain on held-out blocks where it shows there."""
    size = min(size_of(log_evidence, final, *step.name), exchange_size(final, step))
    if step.hypothesis.fault not in HELD_OUT:
        return replace(step, size=size)
    if step.hypothesis.fault != "delay":
        joints = step.hypothesis.joints if step.hypothesis.fault == "missing term" else ()
        return replace(step, size=size, gain=held_out_gain(step.without, final, joints))
    thinned = log_evidence.thinned_log
    t, qd = final.correction.clock * thinned.t, final.correction.states(thinned)[1]
    away = away_from_reversals(t, qd)  # near them friction with memory lags as well
    gain = held_out_gain(step.without, final, step.hypothesis.joints, away)
    return replace(step, size=size, gain=gain)


def was_swapped_back(final: FaultCorrection, step: Step) -> bool:
    """Return whether an exchange of joints was itself exchanged by a later step."""
    before = step.before.correction
    orders = ((final.order, before.order), (final.torque_order, before.torque_order))
    return step.hypothesis.fault == "swapped joints" and all(
        now[j] == then[j] for now, then in orders for j in step.hypothesis.joints
    )


def exchange_size(final: Trial, step: Step) -> float:
    """Return the evidence gained by an exchange of joints over the smallest relevant gain.

    Infinite for other faults, whose size is measured directly.

    Joints whose torque is friction and rotor inertia are explained equally well when exchanged, and
    a model error may then be explained by the links of the other joint.
    """
    if step.hypothesis.fault != "swapped joints":
        return float("inf")
    rows = (final.agreement.independent * final.regression.counts)[
        list(step.hypothesis.joints)
    ].sum()
    return step.log_odds(final) / (THRESHOLDS.least_exchange_gain * max(float(rows), 1.0))


def without_step(final: FaultCorrection, step: Step) -> FaultCorrection:
    """Return the final hypothesis without the fault of one step."""
    return without_fault(
        final, *step.name, step.before.correction, step.hypothesis.trial.correction
    )


def without_description(
    log_evidence: LogEvidence, best: Trial, steps: Sequence[Step]
) -> tuple[Step, ...]:
    """Return the steps with their log odds for links of any inertia, and inaccurate descriptions.

    Odds for any inertia show what follows from the log and the kinematics alone. For an inaccurate
    description, the evidence is the sum over several accuracies, equally likely before the log.

    Parameters
    ----------
    log_evidence : with which the faults were found
    best : trial with all faults
    steps : the faults

    Returns
    -------
    The steps with `alone` and `inaccurate` [nats].
    """
    unknowns = log_evidence.unknowns
    if not steps or not unknowns.described:
        return tuple(steps)
    corrections = [best.correction, *(without_step(best.correction, step) for step in steps)]

    def evidences(other: Unknowns, like: Trial | None = None) -> Array:
        evidence = LogEvidence(other, log_evidence.thinned_log)
        final = evidence.first_trial(best.correction) if like is None else like
        return np.array([evidence.trial(each, final).evidence for each in corrections])

    alone = evidences(Unknowns(unknowns.model, False))
    weights = THRESHOLDS.description_weights
    described = logsumexp(
        [evidences(Unknowns(unknowns.model, True, weight), best) for weight in weights], axis=0
    )
    return tuple(
        replace(
            step,
            alone=float(alone[0] - alone[k]) + step.hypothesis.log_odds,
            inaccurate=float(described[0] - described[k]) + step.hypothesis.log_odds,
        )
        for k, step in enumerate(steps, 1)
    )


def correction_of(correction: FaultCorrection, steps: Sequence[Step]) -> Correction:
    """Return the part of a hypothesis that corrects faults of the log.

    Inaccuracies, small delays and faults that only the description shows have no part in it. Gains
    keep their sign alone: no log shows the scale of its torques, and a description never outvotes a
    sensor.
    """
    for step in steps:
        if not (step.matters and step.shown_by_log):
            correction = without_step(correction, step)
    values = {f.name: getattr(correction, f.name) for f in fields(Correction)}
    delay = tuple(d if abs(d) >= THRESHOLDS.least_delay else 0.0 for d in correction.delay)
    return Correction(
        **values
        | {
            "delay": delay,
            "gain": tuple(1.0 if gain > 0 else -1.0 for gain in correction.gain),
        }
    )
