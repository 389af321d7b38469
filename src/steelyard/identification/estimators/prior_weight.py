"""The weight of the description, chosen by evidence.

One weight for all links; the descriptions of links that contradict the samples are discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import map_for
from ..model.linear_model import Model
from ..model.prior import BodyPrior, body_prior
from .estimator_thresholds import THRESHOLDS
from .posterior import coordinates, posterior_of, projected

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorWeight:
    """The weight of the description that the samples support.

    Its weight, the bodies whose description is discarded, their weight, the evidence [nats].

    `gain` says for each of these bodies by how many nats the evidence is larger without its
    description. `of_links` has the weights that were given for single bodies, by index.
    """

    weight: float
    loose: float = 0.1
    aside: tuple[int, ...] = ()
    log_evidence: float = 0.0
    gain: tuple[float, ...] = ()
    of_links: tuple[tuple[int, float], ...] = ()

    def body_weights(self, prior: BodyPrior) -> Array:
        """Return the weight of every body, (bodies,)."""
        fixed = dict(self.of_links)
        return np.array(
            [
                fixed.get(i, self.weight if described else min(self.loose, self.weight))
                for i, described in enumerate(prior.described)
            ]
        )

    def with_link_weights(self, weights: Mapping[int, float]) -> PriorWeight:
        """Return the choice with given weights of some bodies, whose description is used."""
        used = [k for k, i in enumerate(self.aside) if i not in weights]
        return replace(
            self,
            aside=tuple(self.aside[k] for k in used),
            gain=tuple(self.gain[k] for k in used),
            of_links=tuple(weights.items()),
        )

    def names(self, model: Model) -> tuple[str, ...]:
        """Return the names of the bodies whose description was discarded.

        Bodies without a description are not among them.
        """
        return tuple(
            model.robot.tree.bodies[i].name
            for i, gain in zip(self.aside, self.gain, strict=False)
            if gain > 0
        )

    def sentences(self, model: Model) -> tuple[str, ...]:
        """Return what was chosen, and why."""
        bodies, gains = model.robot.tree.bodies, dict(zip(self.aside, self.gain, strict=True))
        wrong = [i for i in self.aside if gains[i] > 0]
        if len(wrong) == len(bodies):
            sum_up = f"by {max(self.gain):.0f} nats of evidence for a single link"
            return (
                (
                    f"The description's inertias contradict the log and were discarded, {sum_up}: "
                    "the links are identified from the log alone."
                ),
            )
        size = 1.0 / np.sqrt(self.weight)
        agreement = (
            "within its noise"
            if self.weight >= THRESHOLDS.exact_weight
            else f"to within about {size:.0%} of each link's size"
        )
        lines = []
        if size < 1:
            lines = [
                f"The described inertias agree with the log {agreement}; they decide what the log"
                " does not show."
            ]
        elif len(self.aside) < len(bodies):
            lines = ["The described inertias do not agree with the log and have little weight."]
        for i in wrong:
            lines.append(
                f"The description of {bodies[i].name} contradicts the log and was discarded"
                f" ({gains[i]:.0f} nats of evidence)."
            )
        return tuple(lines)


def choose_prior_weight(model: Model, triangle: Array, vague: Array | None = None) -> PriorWeight:
    """Return the weight of the description with the largest evidence, and bodies without it.

    `triangle` (b + 1, b + 1) is the factor of [Y tau], rows in units of their noise, `vague` the
    precision of the joint terms. From the description of every link, or of none, descriptions of
    single links are discarded or restored as long as the evidence grows by more than
    `discard_odds`. MacKay, Neural Computation 4 (1992), p. 415.
    """
    search = PriorWeightSearch(model, triangle, vague)
    unknown = frozenset(i for i, k in enumerate(body_prior(model).described) if not k)
    groups = alike(model, unknown)
    best = max(search.best(unknown), search.best(frozenset(range(search.bodies))), key=log_evidence)
    while groups:
        tried = list(map_for(search.unknowns)(partial(search.quick_change, best), groups))
        candidate = search.best(frozenset(max(tried, key=log_evidence).aside), best)
        if not candidate.log_evidence > best.log_evidence:  # nor for numbers that are none
            break
        best = candidate
    lost = {
        i: search.gain(best, group) for group in groups if group <= set(best.aside) for i in group
    }
    return replace(best, gain=tuple(lost.get(i, 0.0) for i in best.aside))


def alike(model: Model, unknown: frozenset[int]) -> list[frozenset[int]]:
    """Return the described bodies, those with the same numbers in one group.

    They were filled in, not measured.
    """
    pi = model.start[: 10 * len(model.robot.tree.bodies)].reshape(-1, 10)
    groups: dict[bytes, set[int]] = {}
    for i, row in enumerate(pi):
        if i not in unknown:
            groups.setdefault(row.tobytes(), set()).add(i)
    return [frozenset(group) for group in groups.values()]


def log_evidence(weight: PriorWeight) -> float:
    """Return the evidence, by which findings are compared."""
    return weight.log_evidence


@dataclass(frozen=True, eq=False)
class PriorWeightSearch:
    """Evidence of a model and its factor, for sets of bodies without a prior."""

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
        """Return the best weights with the descriptions of these bodies discarded.

        The weight of the other bodies and of these bodies in turn, to a third of a decade.
        """
        of = self.evidence(aside)
        weight = of(
            start.weight if start else THRESHOLDS.prior_weight, start.loose if start else 0.1
        )
        for _ in range(2 if 0 < len(aside) < self.bodies else 1):
            if len(aside) < self.bodies:
                weight = maximum(
                    partial(with_loose, of, weight.loose), THRESHOLDS.weights, self.unknowns
                )
            if aside:
                weight = maximum(
                    partial(of, weight.weight), THRESHOLDS.discarded_weights, self.unknowns
                )
        return weight

    def quick(self, aside: frozenset[int], start: PriorWeight) -> PriorWeight:
        """Return the evidence without the prior of some bodies, at the weight of `start`.

        A few weights are tried for these bodies.
        """
        of = self.evidence(aside)
        return max(
            (
                of(start.weight, loose)
                for loose in {start.loose, *THRESHOLDS.discarded_weights[2:6:2]}
            ),
            key=log_evidence,
        )

    def quick_change(self, start: PriorWeight, group: frozenset[int]) -> PriorWeight:
        """Return `quick` with the descriptions of a group discarded, or restored."""
        return self.quick(frozenset(start.aside) ^ group, start)

    def gain(self, weight: PriorWeight, group: frozenset[int]) -> float:
        """Return the gain of evidence [nat] without the prior of some bodies."""
        return (
            weight.log_evidence
            - self.evidence(frozenset(weight.aside) - group)(
                weight.weight, weight.loose
            ).log_evidence
        )

    def evidence(self, aside: frozenset[int]) -> Callable[[float, float], PriorWeight]:
        """Return the evidence as a function of the two weights, without these descriptions.

        The prior log-probability of the weights is included.
        """
        prior = body_prior(self.model, aside)
        where = coordinates(self.model, prior)
        groups = len(alike(self.model, frozenset(range(self.bodies)) - aside))
        unlikely = THRESHOLDS.discard_odds * (
            min(groups, 1) if len(aside) == self.bodies else groups
        )

        A, z = projected(self.model, self.triangle, where)

        def of(weight: float, loose: float) -> PriorWeight:
            trial = PriorWeight(weight, loose, tuple(sorted(aside)))
            estimate = posterior_of(where, A, z, trial.body_weights(prior), self.vague).log_evidence
            return replace(
                trial,
                log_evidence=estimate
                - 0.5
                * float(
                    np.log10(weight / THRESHOLDS.prior_weight) / THRESHOLDS.prior_weight_decades
                )
                ** 2
                - unlikely,
            )

        return of


def with_loose(
    of: Callable[[float, float], PriorWeight], loose: float, weight: float
) -> PriorWeight:
    """Return of(weight, loose): the arguments in the other order."""
    return of(weight, loose)


def maximum(
    of: Callable[[float], PriorWeight], decades: Sequence[float], unknowns: int = 0
) -> PriorWeight:
    """Return the largest evidence over decades of a weight, then over thirds of a decade.

    Several are computed at once if there are many `unknowns`.
    """
    each = map_for(unknowns)
    tried = dict(zip(decades, each(of, decades), strict=True))
    middle = max(tried, key=lambda weight: tried[weight].log_evidence)
    around = (middle * 10.0 ** np.array([-2 / 3, -1 / 3, 1 / 3, 2 / 3])).tolist()
    tried |= dict(zip(around, each(of, around), strict=True))
    return max(tried.values(), key=log_evidence)
