"""Search: the faults that together explain a log, found one after the other by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ....signals.clean.correction import Correction
from .candidate import Candidate, doubtful
from .hypothesis import Hypothesis
from .model_faults import shared_motors, wrong_gravity
from .motion_faults import exchanged, wrong_clock, wrong_order, wrong_signs, wrong_unit, wrong_zeros
from .torque_faults import LEAST_DELAY, late_torques, small_delays, wrong_gains, wrong_scale
from .witness import Trial, Witness

Family = Callable[[Witness, Trial], Iterator[Candidate]]
ALWAYS: tuple[Family, ...] = (wrong_gains, wrong_scale, late_torques, wrong_zeros)
IF_DOUBTFUL: tuple[Family, ...] = (wrong_clock, wrong_unit, wrong_gravity, wrong_signs, wrong_order, shared_motors)
DECISIVE = 3.0  # [nats] beyond the prior odds: a probability of 95 %
MOST_STEPS = 6
FACTORS, SUMS = ("sign", "scale", "gain"), ("offset", "delay")


@dataclass(frozen=True, eq=False)
class Step:
    """A fault that was accepted, the trial before it, other candidates that explain the log nearly as well, and the trial without it
    when all others were accepted. An inaccuracy that is too small to be a fault is accepted like one, so that no other explains it.
    """

    found: Candidate
    before: Trial
    rivals: tuple[Candidate, ...]
    without: Trial

    def log_odds(self, final: Trial) -> float:
        """Log odds [nats] of the fault, the others given."""
        return final.evidence - self.without.evidence + self.found.log_odds


def search(witness: Witness, start: Trial) -> tuple[Trial, tuple[Step, ...]]:
    """Return the trial that explains the log best and the faults that lead to it from a first trial."""
    trial = small_delays(witness, start)
    steps: list[Step] = []
    for _ in range(MOST_STEPS):
        families = (*ALWAYS, *IF_DOUBTFUL) if doubtful(trial) else ALWAYS
        candidates = [each for family in families for each in family(witness, trial)]
        best = max(candidates, key=lambda each: each.score, default=None)
        if best is None or best.score - trial.evidence < DECISIVE:
            break
        rivals = tuple(each for each in candidates if each is not best and best.score - each.score < DECISIVE)
        steps.append(Step(best, trial, rivals, trial))
        trial = small_delays(witness, witness.anew(best.trial))
    return pruned(witness, trial, steps)


def pruned(witness: Witness, trial: Trial, steps: list[Step]) -> tuple[Trial, tuple[Step, ...]]:
    """Return trial and steps without faults that later ones have made needless."""
    kept: list[Step] = []
    for step in steps:
        hypothesis = undone(trial.hypothesis, step)
        without = witness.trial(hypothesis, trial)
        step = replace(step, without=without)
        if step.log_odds(trial) < DECISIVE:
            trial = without
        else:
            kept.append(step)
    return trial, tuple(kept)


def undone(final: Hypothesis, step: Step) -> Hypothesis:
    """Return the final hypothesis without the change of one step."""
    before, after = step.before.hypothesis, step.found.trial.hypothesis
    changes: dict[str, Any] = {}
    for f in fields(Hypothesis):
        now, old, new = (getattr(h, f.name) for h in (final, before, after))
        if old == new:
            continue
        if f.name in FACTORS:
            changes[f.name] = tuple(x * a / b for x, a, b in zip(now, old, new, strict=True))
        elif f.name in SUMS:
            changes[f.name] = tuple(x + a - b for x, a, b in zip(now, old, new, strict=True))
        elif f.name in ("order", "torque_order"):
            a, b = step.found.joints
            changes[f.name] = exchanged(now, a, b)
        elif f.name == "clock":
            changes[f.name] = now * old / new
        elif f.name == "couplings":
            changes[f.name] = tuple(pair for pair in now if pair in old or pair not in new)
        else:
            changes[f.name] = old
    return replace(final, **changes)


def correction_of(hypothesis: Hypothesis, steps: Sequence[Step]) -> Correction:
    """Return the part of a hypothesis that corrects faults of the log, without the inaccuracies among the steps and small delays."""
    for step in steps:
        hypothesis = hypothesis if step.found.size >= 1.0 else undone(hypothesis, step)
    own = {f.name: getattr(hypothesis, f.name) for f in fields(Correction)}
    return Correction(**own | {"delay": tuple(d if abs(d) >= LEAST_DELAY else 0.0 for d in hypothesis.delay)})
