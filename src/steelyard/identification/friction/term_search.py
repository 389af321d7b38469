"""Search: which candidates lower the held-out error by more than its own noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from ...cached import cached_property
from ...signals.autocorrelation import variance_inflation
from ..estimators.posterior import coordinates
from ..estimators.prior_weight import PriorWeight, choose_prior_weight
from ..model.accumulator import map_for
from ..model.linear_model import Model
from ..model.prior import body_prior
from ..model.problem import FOLDS, Block, Problem, block_length
from .candidates import Candidate, Columns
from .products import Products

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
MOST = 16_000  # samples that the search reads
STANDING = 5e-3  # [rad/s|m/s] up to which friction has no definite value: such rows do not count
LEAST_GAIN = 0.02  # share of a joint's held-out error that a term must take away
LEAST_INFORMATION = 6.0  # fall of the information criterion that counts as strong evidence: Kass and Raftery 1995, section 3.2
LEAST_CONSISTENCY = 0.9  # of the ranks of the parts' changes: one by luck in fifty for eight parts


@dataclass(frozen=True, eq=False)
class Gain:
    """What a candidate is worth.

    `share` is what it takes away of the joint's held-out error; `consistency` the share of the parts that gain, counted by the ranks of
    their changes; `information` the fall of the information criterion; `values` are its coefficients.
    """

    candidate: Candidate
    share: float
    consistency: float
    information: float
    values: tuple[float, ...]

    @property
    def passes(self) -> bool:
        """Whether held-out errors and the information criterion both say that the joint has the term."""
        return self.share >= LEAST_GAIN and self.consistency >= LEAST_CONSISTENCY and self.information >= LEAST_INFORMATION


@dataclass(frozen=True, eq=False)
class Search:
    """Products of consecutive parts of the samples, (F, m, m) of each joint, with the columns C of all candidates.

    `lagged` (m, m) are those of each row with the next. `counts` (F, n) are the rows in use. `start` (b,) are the base
    parameters of the description and `precision` (b, b) what it counts for. `weights` (n,) are 1 / (sigma_j sqrt(inflation_j)),
    and `chosen` is the weight of the description.
    """

    gram: Products
    lagged: Products
    counts: Array
    start: Array
    precision: Array
    weights: Array
    candidates: tuple[Candidate, ...]
    chosen: PriorWeight | None = None

    @property
    def b(self) -> int:
        return len(self.start)

    @cached_property
    def total(self) -> Products:
        """The sum over all parts, (m, m) of each joint."""
        return self.gram.each(lambda parts: np.asarray(parts.sum(axis=0)))

    @cached_property
    def pooled(self) -> Array:
        """[Y tau]^T [Y tau] of all parts and joints with their weights, (b + 1, b + 1)."""
        return self.total.pooled(self.weights**2, self.b)

    @cached_property
    def parts(self) -> tuple[Products, ...]:
        """The products of each part, (m, m) of each joint."""
        return tuple(self.gram.each(lambda parts, f=f: parts[f]) for f in range(len(self.counts)))  # type: ignore[misc]

    def places(self, candidate: Candidate) -> NDArray[np.intp]:
        """Return where the columns of a candidate are among those of its joint."""
        return len(self.gram.reach[candidate.joint]) + np.array(candidate.columns)

    def best(self) -> tuple[Gain, ...]:
        """Return the best candidate of each joint that passes."""
        shown = [candidate for candidate in self.candidates if self.shown(candidate)]
        found: dict[int, Gain] = {}
        worth = map_for(self.b)(self.information, shown)
        for candidate, information in zip(shown, worth, strict=True):
            least = found[candidate.joint].information if candidate.joint in found else LEAST_INFORMATION
            if information > least and (gain := self.gain(candidate)).passes:
                found[candidate.joint] = gain
        return tuple(found.values())

    def shown(self, candidate: Candidate) -> bool:
        """Return whether the columns of a candidate are more than rounding: a joint without load shows no friction of it."""
        own = self.total.of[candidate.joint].diagonal()
        return bool(np.all(own[self.places(candidate)] > 1e-12 * own.max()))

    def information(self, candidate: Candidate) -> float:
        """Return N log of the ratio of squared residuals less its price, k (log N + 2 log M): the fall of the information criterion.

        N are the independent rows of the joint by the residuals with the candidate, M the terms to choose from. Minus infinity for a value
        that no joint has.
        Chen and Chen, Biometrika 95 (2008), p. 759 (extended Bayesian information criterion).
        """
        x = self.solve(candidate)
        if candidate.positive and np.any(x[self.b :] <= 0):
            return -np.inf
        j, after = candidate.joint, self.squares(self.total, x, candidate)
        independent = max(float(self.counts.sum(axis=0)[j] / self.inflation(x, candidate)[j]), 2.0)
        terms = len({(c.joint, c.word, c.keys) for c in self.candidates})
        fall = independent * np.log((self.before[j] + self.rounding[j]) / (after[j] + self.rounding[j]))
        return float(fall - candidate.unknowns * (np.log(independent) + 2.0 * np.log(terms)))

    def inflation(self, x: Array, candidate: Candidate | None = None) -> Array:
        """Return the rows that count as one independent row, (n,), by the autocorrelation of the residuals of x (b + k,)."""
        squares = np.maximum(self.squares(self.total, x, candidate), 1e-300)
        return variance_inflation(self.quadratic(self.lagged, x, candidate) / squares)

    def gain(self, candidate: Candidate) -> Gain:
        """Return what a candidate is worth."""
        before, after, j = self.errors, self.held_out(candidate), candidate.joint
        share = 1.0 - np.sqrt((after[:, j].sum() + self.rounding[j]) / (before[:, j].sum() + self.rounding[j]))
        falls = np.sum(self.weights**2 * (before - after), axis=1)
        values = tuple(self.solve(candidate)[self.b :].tolist())
        return Gain(candidate, float(share), signed_ranks(falls), self.information(candidate), values)

    @cached_property
    def rounding(self) -> Array:
        """The sum of squares of each joint, (n,), that is nothing: a millionth of the largest torque in every row."""
        counts = np.maximum(self.counts.sum(axis=0), 1.0)
        return np.asarray(counts * max(1e-12 * float(np.max(self.total.torque_squares / counts)), 1e-300))

    @cached_property
    def before(self) -> Array:
        """The sum of squared residuals of each joint, (n,), without a candidate."""
        return self.squares(self.total, self.solve())

    @cached_property
    def errors(self) -> Array:
        """The held-out errors (F, n) without a candidate."""
        return self.held_out()

    def held_out(self, candidate: Candidate | None = None) -> Array:
        """Return the sums of squared residuals (F, n) of each part, predicted from the others."""
        return np.array([self.squares(part, self.solved(self.total - part, candidate), candidate) for part in self.parts])

    def solve(self, candidate: Candidate | None = None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), from all samples."""
        return self.solved(self.total, candidate)

    def solved(self, gram: Products, candidate: Candidate | None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), 0 for the column that it takes the place of."""
        A, z = self.normal(gram, candidate)
        kept = np.array([i for i in range(len(z)) if candidate is None or i != candidate.without])
        x = np.zeros(len(z))
        x[kept] = solve(A[np.ix_(kept, kept)], z[kept])
        return x

    def normal(self, gram: Products, candidate: Candidate | None) -> tuple[Array, Array]:
        """Return the normal equations A x = z over base columns and those of a candidate, rows of joint j weighted, with the prior."""
        W, b = self.weights**2, self.b
        whole = self.pooled if gram is self.total else gram.pooled(W, b)
        A, z = whole[:b, :b] + self.precision, whole[:b, b] + self.precision @ self.start
        if candidate is None:
            return A, z
        columns, extra = gram.reach.columns[candidate.joint], self.places(candidate)
        own, cross = gram.of[candidate.joint] * W[candidate.joint], np.zeros((b, len(extra)))
        cross[columns] = own[: len(columns), extra]
        A = np.block([[A, cross], [cross.T, own[np.ix_(extra, extra)]]])
        return A, np.append(z, own[extra, -1])

    def squares(self, gram: Products, x: Array, candidate: Candidate | None = None) -> Array:
        """Return the sum of squared residuals of each joint, (n,), of parameters x (b + k,)."""
        return np.maximum(self.quadratic(gram, x, candidate), 0.0)

    def quadratic(self, gram: Products, x: Array, candidate: Candidate | None = None) -> Array:
        """Return the sum of products of residuals that products [Y C tau]^T [Y C tau] have, of each joint, (n,)."""
        made = np.empty(len(gram.of))
        for j, (columns, each) in enumerate(zip(gram.reach.columns, gram.of, strict=True)):
            own = np.zeros(len(each))
            own[: len(columns)], own[-1] = x[columns], -1.0
            if candidate is not None and candidate.joint == j:
                own[self.places(candidate)] = x[self.b :]
            made[j] = own @ each @ own
        return made


def signed_ranks(changes: Array) -> float:
    """Return the sum of the ranks of positive changes over that of all, by size: 1 if all are positive, about 1/2 by chance.

    Wilcoxon, Biometrics Bulletin 1 (1945), p. 80.
    """
    ranks = np.argsort(np.argsort(np.abs(changes))) + 1.0
    return float(np.sum(ranks[changes > 0]) / np.sum(ranks))


def solve(A: Array, z: Array) -> Array:
    """Return x with A x = z, for a positive definite A that may be singular up to rounding."""
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    even, right = A / np.outer(scale, scale) + 1e-10 * np.eye(len(z)), z / scale
    _, x, failed = dposv(even, right)
    return np.asarray(np.linalg.solve(even, right) if failed else x) / scale


def make_search(problem: Problem, columns: Columns, chosen: PriorWeight | None = None) -> Search:
    """Return the search over all candidates, from at most about MOST samples of a problem that has their columns too.

    The description counts for as much as the evidence says, or as was chosen before.
    """
    fewer = max(FOLDS, MOST * problem.decimate // block_length(problem.decimate)) if problem.N > MOST else None
    parts = dict(parts_of(problem, fewer))
    counts, sums = np.zeros((FOLDS, problem.n)), list[Array]()

    def products(block: Block) -> tuple[NDArray[np.intp], Bools, list[Array]]:
        """The numbers of the parts that a block has, its rows in use, and products (parts + 1, m, m) of each joint, the last lagged."""
        assert block.extra is not None
        keep, (numbers, number) = in_use(block.extra[:, :, -1], block.keep), np.unique(parts[block.first], return_inverse=True)
        made = []
        for j in range(problem.n):
            wide = np.column_stack([block.rows.row(j), block.extra[:, j, :-1], block.tau[:, j]]) * keep[:, j, None]
            own = [wide[number == k] for k in range(len(numbers))]
            made.append(np.array([*(x.T @ x for x in own), wide[:-1].T @ wide[1:]]))
        return numbers, keep, made

    for (numbers, keep, made), number in zip(problem.each(products, fewer), parts.values(), strict=True):
        np.add.at(counts, number, keep)
        sums = sums or [np.zeros((FOLDS + 1, *x.shape[1:])) for x in made]
        for total, more in zip(sums, made, strict=True):
            total[[*numbers, FOLDS]] += more
    gram, lagged = (Products(tuple(x[part] for x in sums), problem.reach) for part in (slice(FOLDS), FOLDS))
    b = problem.base.n_base
    flat = weighted(Search(gram, lagged, counts, np.zeros(b), np.zeros((b, b)), np.ones(problem.n), columns.candidates()))
    chosen = chosen or prior_weight(problem.model, flat)
    start, precision = description(problem.model, flat, chosen)
    return replace(flat, start=start, precision=precision, chosen=chosen)


def parts_of(problem: Problem, most: int | None) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield for each of about `most` blocks its first sample and the number of the part, of FOLDS, that each of its samples is in."""
    places = problem.places(most)
    ends = np.cumsum([place.kept(problem.decimate) for place in places])
    for place, end in zip(places, ends, strict=True):
        at = end - place.kept(problem.decimate) + np.arange(place.kept(problem.decimate))
        yield place.first, np.minimum(FOLDS - 1, at * FOLDS // ends[-1])


def in_use(qd: Array, keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which rows count, (N, n): those that are kept and in which the joint moves, by its velocity qd (N, n)."""
    moving = np.abs(qd) > STANDING
    return moving if keep is None else moving & keep


def weighted(search: Search) -> Search:
    """Return the search with the weights of iterated weighted least squares; nothing but the samples decides them."""
    counts = np.maximum(search.counts.sum(axis=0), 1.0)
    search = replace(search, weights=np.sqrt(counts / (search.total.torque_squares + search.rounding)))
    for _ in range(3):
        x = search.solve()
        search = replace(search, weights=np.sqrt(counts / (search.before * search.inflation(x) + search.rounding)))
    return search


def prior_weight(model: Model, search: Search) -> PriorWeight:
    """Return the weight that the evidence gives to the description."""
    return choose_prior_weight(model, factor(search.pooled))


def description(model: Model, search: Search, chosen: PriorWeight) -> tuple[Array, Array]:
    """Return the base parameters (b,) of the description and the precision (b, b) that a weight gives them."""
    whole = search.pooled
    prior = body_prior(model, chosen.aside)
    at = coordinates(model, prior)
    precision = at.precision(chosen.body_weights(prior))
    to_base = model.base.matrix @ at.matrix
    size = np.maximum(np.diag(whole)[: search.b], 1e-300)
    outer = np.arange(at.inner, len(precision))
    precision[outer, outer] = 1e-9 * np.maximum((to_base[:, outer] ** 2).T @ size, 1e-300)
    spread = to_base @ np.linalg.solve(precision, to_base.T)
    scale = np.sqrt(np.diag(spread))
    return model.base.values(at.origin), np.asarray(np.linalg.inv(spread / np.outer(scale, scale)) / np.outer(scale, scale))


def factor(gram: Array) -> Array:
    """Return an upper triangle R with R^T R = gram, which may be singular up to rounding."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    unit = gram / np.outer(scale, scale) + 1e-13 * np.eye(len(gram))
    return np.asarray(np.linalg.cholesky(unit).T * scale)
