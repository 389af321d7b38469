"""The weight of the description, chosen by evidence: for all links together, and links that contradict the samples set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import map_for
from ..model.linear_model import Model
from ..model.prior import BodyPrior, body_prior
from .posterior import coordinates, posterior_of, projected

Array = NDArray[np.float64]
WEIGHTS = tuple(10.0 ** np.arange(-1, 7))  # of links as described: 1 for links right to their own size, 1e4 for a hundredth of it
LOOSE = tuple(10.0 ** np.arange(-5, 2))  # of links whose description is set aside
USUAL, SPREAD = 30.0, 1.5  # before the samples: the weight of a description is about 30, within 1.5 decades either way
EXACT = 1e5  # weight from which the links are taken as described
ODDS = 7.0  # [nats] against a description that is of no use, of one link or of all: one in a thousand


@dataclass(frozen=True, eq=False)
class PriorWeight:
    """What the samples say about the description: its weight, the bodies that were set aside, the weight of those, the evidence [nats].

    `gain` has for each body set aside by how many nats the evidence is larger without its description.
    """

    weight: float
    loose: float = 0.1
    aside: tuple[int, ...] = ()
    log_evidence: float = 0.0
    gain: tuple[float, ...] = ()

    def body_weights(self, prior: BodyPrior) -> Array:
        """Return the weight of every body, (bodies,)."""
        return np.array([self.weight if described else min(self.loose, self.weight) for described in prior.described])

    def names(self, model: Model) -> tuple[str, ...]:
        """Return the names of the bodies whose description was set aside; those without one are not among them."""
        return tuple(model.robot.tree.bodies[i].name for i, gain in zip(self.aside, self.gain, strict=False) if gain > 0)

    def sentences(self, model: Model) -> tuple[str, ...]:
        """Return what was chosen, and why."""
        bodies, told = model.robot.tree.bodies, dict(zip(self.aside, self.gain, strict=True))
        wrong = [i for i in self.aside if told[i] > 0]
        if len(wrong) == len(bodies):
            sum_up = f"by {max(self.gain):.0f} nats of evidence for a single link"
            return (f"The description's inertias contradict the log and were set aside, {sum_up}: the links are found from the log alone.",)
        size = 1.0 / np.sqrt(self.weight)
        right = "exactly, as far as this log can tell" if self.weight >= EXACT else f"to about {size:.0%} of each link's size"
        made = [f"The log bears the description's inertias out {right}; where it says little, they decide."] if size < 1 else []
        if size >= 1 and len(self.aside) < len(bodies):
            made = ["The log does not bear the description's inertias out: they hardly count."]
        for i in wrong:
            made.append(f"The description of {bodies[i].name} contradicts the log and was set aside ({told[i]:.0f} nats of evidence).")
        return tuple(made)


def choose_prior_weight(model: Model, triangle: Array, vague: Array | None = None) -> PriorWeight:
    """Return the weight of the description with the largest evidence, and the bodies whose description is better set aside.

    `triangle` (b + 1, b + 1) is the factor of [Y tau], rows in units of their noise, `vague` the
    precision of the joint terms. From the description of every link, or of none,
    single links are set aside or taken back as long as the evidence grows by more than ODDS.
    MacKay, Neural Computation 4 (1992), p. 415.
    """
    search = Search(model, triangle, vague)
    unknown = frozenset(i for i, k in enumerate(body_prior(model).described) if not k)
    groups = alike(model, unknown)
    best = max(search.best(unknown), search.best(frozenset(range(search.bodies))), key=log_evidence)
    while groups:
        tried = list(map_for(search.unknowns)(partial(search.quick_change, best), groups))
        found = search.best(frozenset(max(tried, key=log_evidence).aside), best)
        if not found.log_evidence > best.log_evidence:  # nor for numbers that are none
            break
        best = found
    lost = {i: search.gain(best, group) for group in groups if group <= set(best.aside) for i in group}
    return replace(best, gain=tuple(lost.get(i, 0.0) for i in best.aside))


def alike(model: Model, unknown: frozenset[int]) -> list[frozenset[int]]:
    """Return the described bodies, those with the same numbers in one group: they were filled in, not measured."""
    pi = model.start[: 10 * len(model.robot.tree.bodies)].reshape(-1, 10)
    groups: dict[bytes, set[int]] = {}
    for i, row in enumerate(pi):
        if i not in unknown:
            groups.setdefault(row.tobytes(), set()).add(i)
    return [frozenset(group) for group in groups.values()]


def log_evidence(found: PriorWeight) -> float:
    """Return the evidence, by which findings are compared."""
    return found.log_evidence


@dataclass(frozen=True, eq=False)
class Search:
    """The evidence of a model and the factor of its samples, for sets of bodies that are set aside."""

    model: Model
    triangle: Array
    vague: Array | None = None

    @property
    def bodies(self) -> int:
        return len(self.model.robot.tree.bodies)

    @property
    def unknowns(self) -> int:
        return len(self.model.names)

    def best(self, aside: frozenset[int], start: PriorWeight | None = None) -> PriorWeight:
        """Return the best weights with these bodies set aside: that of the others and that of those in turn, to a third of a decade."""
        of = self.evidence(aside)
        found = of(start.weight if start else USUAL, start.loose if start else 0.1)
        for _ in range(2 if 0 < len(aside) < self.bodies else 1):
            if len(aside) < self.bodies:
                found = maximum(partial(with_loose, of, found.loose), WEIGHTS, self.unknowns)
            if aside:
                found = maximum(partial(of, found.weight), LOOSE, self.unknowns)
        return found

    def quick(self, aside: frozenset[int], start: PriorWeight) -> PriorWeight:
        """Return the evidence with these bodies set aside at the weight of `start`, and a few weights for those set aside."""
        of = self.evidence(aside)
        return max((of(start.weight, loose) for loose in {start.loose, *LOOSE[2:6:2]}), key=log_evidence)

    def quick_change(self, start: PriorWeight, group: frozenset[int]) -> PriorWeight:
        """Return `quick` with some bodies set aside that were not, or taken back."""
        return self.quick(frozenset(start.aside) ^ group, start)

    def gain(self, found: PriorWeight, group: frozenset[int]) -> float:
        """Return by how many nats the evidence is larger with the description of some bodies set aside."""
        return found.log_evidence - self.evidence(frozenset(found.aside) - group)(found.weight, found.loose).log_evidence

    def evidence(self, aside: frozenset[int]) -> Callable[[float, float], PriorWeight]:
        """Return the evidence as a function of the two weights, with these bodies set aside; what is unlikely beforehand is subtracted."""
        prior = body_prior(self.model, aside)
        where = coordinates(self.model, prior)
        groups = len(alike(self.model, frozenset(range(self.bodies)) - aside))
        unlikely = ODDS * (min(groups, 1) if len(aside) == self.bodies else groups)

        A, z = projected(self.model, self.triangle, where)

        def of(weight: float, loose: float) -> PriorWeight:
            trial = PriorWeight(weight, loose, tuple(sorted(aside)))
            found = posterior_of(where, A, z, trial.body_weights(prior), self.vague).log_evidence
            return replace(trial, log_evidence=found - 0.5 * float(np.log10(weight / USUAL) / SPREAD) ** 2 - unlikely)

        return of


def with_loose(of: Callable[[float, float], PriorWeight], loose: float, weight: float) -> PriorWeight:
    """Return of(weight, loose): the arguments in the other order."""
    return of(weight, loose)


def maximum(of: Callable[[float], PriorWeight], decades: Sequence[float], unknowns: int = 0) -> PriorWeight:
    """Return the largest evidence over decades of a weight, then over thirds of a decade around the best one.

    Several are computed at once if there are many `unknowns`.
    """
    each = map_for(unknowns)
    tried = dict(zip(decades, each(of, decades), strict=True))
    middle = max(tried, key=lambda weight: tried[weight].log_evidence)
    around = (middle * 10.0 ** np.array([-2 / 3, -1 / 3, 1 / 3, 2 / 3])).tolist()
    tried |= dict(zip(around, each(of, around), strict=True))
    return max(tried.values(), key=log_evidence)
