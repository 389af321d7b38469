"""Search: the faults that together explain a log, found one after the other by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from ....signals.clean.correction import Correction
from ...model.accumulator import map_for
from .candidate import DECISIVE, Candidate, doubtful
from .hypothesis import Hypothesis
from .model_faults import shared_motors, wrong_gravity
from .motion_faults import other_clocks, wrong_clock, wrong_order, wrong_signs, wrong_unit, wrong_zeros
from .refinement import refined, size_of, without
from .torque_faults import LEAST_DELAY, late_torques, small_delays, wrong_gains, wrong_scale
from .unknowns import Unknowns
from .witness import Trial, Witness

Family = Callable[[Witness, Trial], Iterator[Candidate]]
ALWAYS: tuple[Family, ...] = (wrong_gains, wrong_scale, late_torques, wrong_zeros)
IF_DOUBTFUL: tuple[Family, ...] = (wrong_clock, wrong_unit, wrong_gravity, wrong_signs, wrong_order, shared_motors)
BESIDE_CLOCK: tuple[Family, ...] = (wrong_gains, wrong_scale, wrong_zeros, wrong_gravity, wrong_signs)
FAR_CLOCKS = (0.28, 0.45, 2.2, 3.5)  # that are tried together with another fault
MOST_STEPS = 6
UNUSUAL = 10.0  # [nats] that a log which contradicts the description costs
LEAST_FALL = 0.5  # [nats] for each independent row of two joints that their exchange must win: their errors fall by a third
FIRSTS = 3  # candidates that are tried first


@dataclass(frozen=True, eq=False)
class Step:
    """A fault that was accepted, the trial before it, other candidates that explain the log nearly as well, and the trial without it
    when all others were accepted.

    `size` is that of the fault over the least that matters. An inaccuracy that is too small to be a fault is accepted like one, so that
    no other explains it. `alone` are the log odds [nats] of the fault without the inertias of the description.
    """

    found: Candidate
    before: Trial
    rivals: tuple[Candidate, ...]
    without: Trial
    size: float = 1.0
    alone: float = float("inf")

    @property
    def shown_by_log(self) -> bool:
        """Whether the log shows the fault with links of any inertia, so that the description need not be right."""
        return self.alone >= DECISIVE

    @property
    def name(self) -> tuple[str, tuple[int, ...]]:
        """Fault and joints."""
        return self.found.fault, self.found.joints

    @property
    def matters(self) -> bool:
        """Whether it is a fault and no inaccuracy."""
        return self.size >= 1.0

    def log_odds(self, final: Trial) -> float:
        """Log odds [nats] of the fault, the others given."""
        return final.evidence - self.without.evidence + self.found.log_odds


def search(witness: Witness, start: Trial, contradicted: Callable[[Trial, Sequence[Step]], bool]) -> tuple[Trial, tuple[Step, ...]]:
    """Return the trial that explains the log best and the faults that lead to it from a first trial.

    What leads on from the best candidate may end in contradictions where two faults hide each other; then others are tried first, and
    last a clock with whatever makes it likely.
    """
    trial = small_delays(witness, start)
    firsts = promising(candidates_of(witness, trial), trial)
    made = followed(witness, trial, firsts[:1], firsts) if firsts else (trial, ())
    if not contradicted(*made):
        return made
    pair = clock_and_other(witness, trial)
    others = [followed(witness, trial, [first], firsts) for first in firsts[1:FIRSTS]] + (
        [followed(witness, trial, pair, ())] if pair else []
    )

    def worth(made: tuple[Trial, tuple[Step, ...]]) -> float:
        return total_score(witness, trial, *made) - (UNUSUAL if contradicted(*made) else 0.0)

    return max([made, *others], key=worth)


def clock_and_other(witness: Witness, trial: Trial) -> list[Candidate]:
    """Return a clock and another fault that are likely together though neither may be alone; nothing if there are none."""
    pairs = [
        (clock, other)
        for clock in other_clocks(witness, trial, FAR_CLOCKS)
        for other in promising([each for family in BESIDE_CLOCK for each in family(witness, clock.trial)], clock.trial)[:1]
    ]
    return list(max(pairs, key=lambda pair: pair[1].score + pair[0].log_odds, default=()))


def candidates_of(witness: Witness, trial: Trial) -> list[Candidate]:
    """Return what may explain the log better than a trial does."""
    families = (*ALWAYS, *IF_DOUBTFUL) if doubtful(trial) else ALWAYS
    found = map_for(witness.unknowns.p)(lambda family: list(family(witness, trial)), families)
    return [each for family in found for each in family]


def promising(candidates: Sequence[Candidate], trial: Trial) -> list[Candidate]:
    """Return the best candidate of each fault that beats a trial decisively, the best first."""
    best: dict[str, Candidate] = {}
    for each in sorted(candidates, key=lambda each: -each.score):
        if each.score - trial.evidence >= DECISIVE:
            best.setdefault(each.fault, each)
    return list(best.values())


def followed(witness: Witness, trial: Trial, firsts: Sequence[Candidate], beside: Sequence[Candidate]) -> tuple[Trial, tuple[Step, ...]]:
    """Return where first candidates lead to, the best one taken at each further step, and the others refined with it.

    `beside` are the candidates that were found with the first.
    """
    steps: list[Step] = []
    ahead = list(firsts)
    for _ in range(MOST_STEPS):
        candidate = ahead.pop(0)
        known = [step.name for step in steps]
        if (candidate.fault, candidate.joints) not in known:
            steps.append(Step(candidate, trial, rivals_of(candidate, beside), trial))
        trial = candidate.trial
        if not ahead:
            trial = small_delays(witness, witness.anew(refined(witness, trial, known)))
            beside = promising(candidates_of(witness, trial), trial)
            ahead = list(beside[:1])
        if not ahead:
            break
    return pruned(witness, trial, steps)


def rivals_of(candidate: Candidate, beside: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that explain the log nearly as well."""
    return tuple(each for each in beside if each is not candidate and abs(candidate.score - each.score) < DECISIVE)


def total_score(witness: Witness, start: Trial, final: Trial, steps: Sequence[Step]) -> float:
    """Return evidence and odds [nats] of a final trial, with as many independent rows as the first one has."""
    return witness.trial(final.hypothesis, start).evidence + sum(step.found.log_odds for step in steps)


def pruned(witness: Witness, trial: Trial, steps: list[Step]) -> tuple[Trial, tuple[Step, ...]]:
    """Return trial and steps without faults that later ones have made needless, each with its final size."""
    kept: list[Step] = []
    for step in steps:
        if taken_back(trial.hypothesis, step):
            continue
        other = witness.trial(undone(trial.hypothesis, step), trial)
        step = replace(step, without=other)
        if step.log_odds(trial) < DECISIVE:
            trial = other
        else:
            kept.append(step)
    return trial, tuple(replace(step, size=min(size_of(witness, trial, *step.name), effect_of(trial, step))) for step in kept)


def taken_back(final: Hypothesis, step: Step) -> bool:
    """Return whether an exchange of joints was itself exchanged by a later step."""
    before = step.before.hypothesis
    orders = ((final.order, before.order), (final.torque_order, before.torque_order))
    return step.found.fault == "swapped joints" and all(now[j] == then[j] for now, then in orders for j in step.found.joints)


def effect_of(final: Trial, step: Step) -> float:
    """Return what an exchange of joints wins over the least that matters; infinite for other faults, which have a size of their own.

    Joints whose torque is friction and rotor inertia are explained as well in each other's place, and an error of the model may then be
    explained by the links of the other.
    """
    if step.found.fault != "swapped joints":
        return float("inf")
    rows = (final.agreement.independent * final.design.counts)[list(step.found.joints)].sum()
    return step.log_odds(final) / (LEAST_FALL * max(float(rows), 1.0))


def undone(final: Hypothesis, step: Step) -> Hypothesis:
    """Return the final hypothesis without the fault of one step."""
    return without(final, *step.name, step.before.hypothesis, step.found.trial.hypothesis)


def without_description(witness: Witness, best: Trial, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with their log odds when the links may have any inertia: what the log and the kinematics alone show.

    Parameters
    ----------
    witness : with which the faults were found
    best : trial with all faults
    steps : the faults

    Returns
    -------
    The steps with `alone` [nats].
    """
    if not steps or not witness.unknowns.described:
        return tuple(steps)
    undescribed = Witness(Unknowns(witness.unknowns.model, False), witness.view)
    final = undescribed.first_trial(best.hypothesis)
    others = [undescribed.trial(undone(best.hypothesis, step), final) for step in steps]
    odds = [final.evidence - other.evidence + step.found.log_odds for step, other in zip(steps, others, strict=True)]
    return tuple(replace(step, alone=each) for step, each in zip(steps, odds, strict=True))


def correction_of(hypothesis: Hypothesis, steps: Sequence[Step]) -> Correction:
    """Return the part of a hypothesis that corrects faults of the log.

    Inaccuracies, small delays and faults that only the description shows have no part in it. Gains keep their sign alone: no log shows
    the scale of its torques, and a description never outvotes a sensor.
    """
    for step in steps:
        hypothesis = hypothesis if step.matters and step.shown_by_log else undone(hypothesis, step)
    own = {f.name: getattr(hypothesis, f.name) for f in fields(Correction)}
    delay = tuple(d if abs(d) >= LEAST_DELAY else 0.0 for d in hypothesis.delay)
    return Correction(**own | {"delay": delay, "gain": tuple(1.0 if gain > 0 else -1.0 for gain in hypothesis.gain)})
