"""Search for friction terms that lower the held-out error by more than its noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from ...cached import cached_property
from ...signals.autocorrelation import variance_inflation
from ..estimators.posterior import coordinates
from ..estimators.prior_weight import PriorWeight, choose_prior_weight
from ..model.accumulator import map_for
from ..model.joint_gram import JointGram, best_of_each
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.prior import body_prior
from ..model.problem import Block, Problem, block_length
from ..model.rows import ColumnSupport
from ..samples.samples import Samples
from .candidates import FrictionCandidate
from .friction_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Gain:
    """The gain of a candidate.

    `share` is the relative fall of the joint's held-out error. `consistency` is the share of parts
    that gain, counted by the ranks of their changes. `information` is the fall of the information
    criterion, and `values` are the coefficients.
    """

    candidate: FrictionCandidate
    share: float
    consistency: float
    information: float
    values: tuple[float, ...]

    @property
    def passes(self) -> bool:
        """Whether held-out errors and the information criterion both accept the term."""
        return (
            self.share >= THRESHOLDS.least_gain
            and self.consistency >= THRESHOLDS.least_consistency
            and self.information >= THRESHOLDS.least_information
        )


@dataclass(frozen=True, eq=False)
class FrictionTermSearch:
    """Search over the friction terms of all joints by the normal equations of a regression.

    `parts` are the Gram matrices of consecutive parts of the samples, over the b base parameters
    and, after them, the columns of the candidates of each joint. `lagged` are the products of each
    row with the next. `start` (b,) are the base parameters of the description and `precision`
    (b, b) is their prior precision. `weights` (n,) are 1 / (sigma_j sqrt(inflation_j)). `chosen` is
    the prior weight.
    """

    parts: tuple[JointGram, ...]
    lagged: JointGram
    start: Array
    precision: Array
    weights: Array
    candidates: tuple[FrictionCandidate, ...]
    chosen: PriorWeight | None = None

    @property
    def b(self) -> int:
        return len(self.start)

    @cached_property
    def total(self) -> JointGram:
        """The Gram matrices of all parts together."""
        return reduce(add, self.parts)

    @cached_property
    def pooled(self) -> Array:
        """[Y tau]^T [Y tau] of all parts and joints with their weights, (b + 1, b + 1)."""
        return self.total.pooled(self.weights**2, self.b)

    def columns_of(self, candidate: FrictionCandidate) -> NDArray[np.intp]:
        """Return which entries of its joint's Gram matrix belong to a candidate."""
        support = self.total.support[candidate.joint]
        return np.count_nonzero(support < self.b) + np.array(candidate.columns)

    def best(self) -> tuple[Gain, ...]:
        """Return the best candidate of each joint that passes all tests."""
        shown = [candidate for candidate in self.candidates if self.shown(candidate)]
        falls = map_for(self.b)(self.information, shown)
        tested = [
            pair
            for pair in zip(shown, falls, strict=True)
            if pair[1] > THRESHOLDS.least_information
        ]

        def accept(pair: tuple[FrictionCandidate, float]) -> Gain | None:
            gain = self.gain(pair[0])
            return gain if gain.passes else None

        best = best_of_each(tested, lambda pair: pair[1], lambda pair: pair[0].joint, accept)
        return tuple(sorted(best, key=lambda gain: gain.candidate.joint))

    def shown(self, candidate: FrictionCandidate) -> bool:
        """Return whether the columns of a candidate are more than rounding.

        A joint without load, for example, shows no friction that grows with it.
        """
        diagonal = self.total.blocks[candidate.joint].diagonal()
        return bool(np.all(diagonal[self.columns_of(candidate)] > 1e-12 * diagonal.max()))

    def information(self, candidate: FrictionCandidate) -> float:
        """Return the decrease of the information criterion by a candidate.

        N log of the ratio of squared residuals minus the penalty k (log N + 2 log M).

        N are the independent rows of the joint by the residuals with the candidate, M the terms to
        choose from. Minus infinity for a negative value of a term that must be positive. Chen and
        Chen, Biometrika 95 (2008), p. 759 (extended Bayesian information criterion).
        """
        x = self.solve(candidate)
        if candidate.positive and np.any(x[self.b :] <= 0):
            return -np.inf
        j, after = candidate.joint, self.squares(self.total, x, candidate)
        independent = max(float(self.total.counts[j] / self.inflation(x, candidate)[j]), 2.0)
        terms = len({(c.joint, c.word, c.keys) for c in self.candidates})
        fall = independent * np.log(
            (self.before[j] + self.rounding[j]) / (after[j] + self.rounding[j])
        )
        return float(fall - candidate.unknowns * (np.log(independent) + 2.0 * np.log(terms)))

    def inflation(self, x: Array, candidate: FrictionCandidate | None = None) -> Array:
        """Return the rows per independent row, (n,), by the autocorrelation of the residuals.

        x (b + k,) are the parameters.
        """
        squares = np.maximum(self.squares(self.total, x, candidate), 1e-300)
        return variance_inflation(self.products(self.lagged, x, candidate) / squares)

    def gain(self, candidate: FrictionCandidate) -> Gain:
        """Return the gain of a candidate."""
        before, after, j = self.errors, self.held_out(candidate), candidate.joint
        share = 1.0 - np.sqrt(
            (after[:, j].sum() + self.rounding[j]) / (before[:, j].sum() + self.rounding[j])
        )
        falls = np.sum(self.weights**2 * (before - after), axis=1)
        values = tuple(self.solve(candidate)[self.b :].tolist())
        return Gain(
            candidate, float(share), signed_ranks(falls), self.information(candidate), values
        )

    def gain_over(self, candidate: FrictionCandidate) -> Gain:
        """Return the gain of the model over the one with a candidate, which replaces some terms."""
        gain = self.gain(candidate)
        share = 1.0 - 1.0 / (1.0 - gain.share)
        return replace(
            gain, share=share, consistency=1.0 - gain.consistency, information=-gain.information
        )

    @cached_property
    def rounding(self) -> Array:
        """The sum of squares of each joint, (n,), that counts as zero.

        A millionth of the largest torque in every row.
        """
        counts = np.maximum(self.total.counts, 1.0)
        return np.asarray(counts * max(1e-12 * float(np.max(self.total.squares / counts)), 1e-300))

    @cached_property
    def before(self) -> Array:
        """The sum of squared residuals of each joint, (n,), without a candidate."""
        return self.squares(self.total, self.solve())

    @cached_property
    def errors(self) -> Array:
        """The held-out errors (F, n) without a candidate."""
        return self.held_out()

    def held_out(
        self, candidate: FrictionCandidate | None = None, judged: Sequence[JointGram] | None = None
    ) -> Array:
        """Return the sums of squared residuals (F, n) of each part, predicted from the others.

        `judged` has the rows of each part that count, all of them by default.
        """
        pairs = zip(self.parts, judged or self.parts, strict=True)
        return np.array(
            [
                self.squares(rows, self.solved(self.total - part, candidate), candidate)
                for part, rows in pairs
            ]
        )

    def solve(self, candidate: FrictionCandidate | None = None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), from all samples."""
        return self.solved(self.total, candidate)

    def solved(self, gram: JointGram, candidate: FrictionCandidate | None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), from a Gram matrix.

        Base columns that the candidate replaces get the value 0.
        """
        A, z = self.normal(gram, candidate)
        replaced = () if candidate is None else candidate.without
        used = np.array([i for i in range(len(z)) if i not in replaced])
        x = np.zeros(len(z))
        x[used] = solve(A[np.ix_(used, used)], z[used])
        return x

    def normal(self, gram: JointGram, candidate: FrictionCandidate | None) -> tuple[Array, Array]:
        """Return A and z of the normal equations A x = z over base columns and a candidate's.

        Rows are weighted by joint, and the prior is included.
        """
        W, b = self.weights**2, self.b
        pooled = self.pooled if gram is self.total else gram.pooled(W, b)
        A, z = pooled[:b, :b] + self.precision, pooled[:b, b] + self.precision @ self.start
        if candidate is None:
            return A, z
        extra = self.columns_of(candidate)
        base = gram.support[candidate.joint]
        base = base[base < b]
        block, cross = gram.blocks[candidate.joint] * W[candidate.joint], np.zeros((b, len(extra)))
        cross[base] = block[: len(base), extra]
        A = np.block([[A, cross], [cross.T, block[np.ix_(extra, extra)]]])
        return A, np.append(z, block[extra, -1])

    def squares(
        self, gram: JointGram, x: Array, candidate: FrictionCandidate | None = None
    ) -> Array:
        """Return the sum of squared residuals of each joint, (n,), of parameters x (b + k,)."""
        return np.maximum(self.products(gram, x, candidate), 0.0)

    def products(
        self, gram: JointGram, x: Array, candidate: FrictionCandidate | None = None
    ) -> Array:
        """Return the sum of products of residuals of each joint, (n,), squared or lagged."""
        unknowns = np.zeros(gram.size)
        unknowns[: self.b] = x[: self.b]
        if candidate is not None:
            support = gram.support[candidate.joint]
            unknowns[support[self.columns_of(candidate)]] = x[self.b :]
        return gram.residual_products(unknowns)


def signed_ranks(changes: Array) -> float:
    """Return the rank sum of positive changes over the rank sum of all: 1 if all are positive.

    It is about 1/2 by chance. Wilcoxon, Biometrics Bulletin 1 (1945), p. 80.
    """
    ranks = np.argsort(np.argsort(np.abs(changes))) + 1.0
    return float(np.sum(ranks[changes > 0]) / np.sum(ranks))


def solve(A: Array, z: Array) -> Array:
    """Return x with A x = z, for a positive definite A that may be singular up to rounding."""
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    even, right = A / np.outer(scale, scale) + 1e-10 * np.eye(len(z)), z / scale
    _, x, failed = dposv(even, right)
    return np.asarray(np.linalg.solve(even, right) if failed else x) / scale


class CandidateColumns(Protocol):
    """Columns (N, n, K + 1) of candidates at the samples of a log, and the candidates.

    The last column decides which rows count: those where it exceeds `standing_speed`.
    """

    @property
    def count(self) -> int:
        """How many columns K the candidates of a joint have."""

    def __call__(self, samples: Samples, log: int) -> Array:
        """Return the columns at consecutive samples of a log."""

    def candidates(self) -> tuple[FrictionCandidate, ...]:
        """Return the candidates of all joints."""


def make_search(
    problem: Problem, columns: CandidateColumns, chosen: PriorWeight | None = None
) -> FrictionTermSearch:
    """Build the search over all candidates from at most about `search_samples` samples.

    The description counts for as much as the evidence says, or as was chosen before.
    """
    fewer = (
        max(
            MODEL_THRESHOLDS.folds,
            THRESHOLDS.search_samples * problem.decimate // block_length(problem.decimate),
        )
        if THRESHOLDS.search_samples < problem.N
        else None
    )
    numbers = dict(parts_of(problem, fewer))
    support = candidate_support(problem.reach, problem.base.n_base, columns.count)
    size = problem.base.n_base + columns.count * problem.n

    def grams(block: Block) -> tuple[dict[int, JointGram], JointGram]:
        """Return the Gram matrices of each part that a block has, and its lagged products."""
        assert block.extra is not None
        keep, part = in_use(block.extra[:, :, -1], block.keep), numbers[block.first]
        rows = [
            np.column_stack([block.rows.row(j), block.extra[:, j, :-1], block.tau[:, j]])
            * keep[:, j, None]
            for j in range(problem.n)
        ]
        by_part = {
            k: JointGram.fold(
                size, support, [x[part == k] for x in rows], keep[part == k].sum(axis=0)
            )
            for k in np.unique(part).tolist()
        }
        return by_part, JointGram.fold_lagged(size, support, rows, keep.sum(axis=0))

    parts, lagged = (
        [JointGram.zero(size, support)] * MODEL_THRESHOLDS.folds,
        JointGram.zero(size, support),
    )
    for by_part, products in problem.each(grams, fewer):
        lagged += products
        for k, gram in by_part.items():
            parts[k] += gram
    b = problem.base.n_base
    flat = with_weights(
        FrictionTermSearch(
            parts=tuple(parts),
            lagged=lagged,
            start=np.zeros(b),
            precision=np.zeros((b, b)),
            weights=np.ones(problem.n),
            candidates=columns.candidates(),
        )
    )
    chosen = chosen or prior_weight(problem.model, flat)
    start, precision = description(problem.model, flat, chosen)
    return replace(flat, start=start, precision=precision, chosen=chosen)


def candidate_support(reach: ColumnSupport, b: int, count: int) -> tuple[NDArray[np.intp], ...]:
    """Return the unknowns of each joint: base columns, then `count` columns of candidates."""
    return tuple(
        np.append(columns, b + j * count + np.arange(count))
        for j, columns in enumerate(reach.columns)
    )


def parts_of(problem: Problem, most: int | None) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the first sample of about `most` blocks, and the part of each of their samples.

    Parts are numbered up to `folds`.
    """
    places = problem.places(most)
    ends = np.cumsum([block.kept(problem.decimate) for block in places])
    for block, end in zip(places, ends, strict=True):
        index = end - block.kept(problem.decimate) + np.arange(block.kept(problem.decimate))
        yield (
            block.first,
            np.minimum(MODEL_THRESHOLDS.folds - 1, index * MODEL_THRESHOLDS.folds // ends[-1]),
        )


def in_use(qd: Array, keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which rows count, (N, n).

    Those that are kept and in which the joint moves, by its velocity qd (N, n).
    """
    moving = np.abs(qd) > THRESHOLDS.standing_speed
    return moving if keep is None else moving & keep


def with_weights(search: FrictionTermSearch) -> FrictionTermSearch:
    """Return the search with the weights of iterated weighted least squares.

    Nothing but the samples decides them.
    """
    counts = np.maximum(search.total.counts, 1.0)
    search = replace(search, weights=np.sqrt(counts / (search.total.squares + search.rounding)))
    for _ in range(3):
        x = search.solve()
        search = replace(
            search,
            weights=np.sqrt(counts / (search.before * search.inflation(x) + search.rounding)),
        )
    return search


def prior_weight(model: Model, search: FrictionTermSearch) -> PriorWeight:
    """Return the weight that the evidence gives to the description."""
    return choose_prior_weight(model, factor(search.pooled))


def description(
    model: Model, search: FrictionTermSearch, chosen: PriorWeight
) -> tuple[Array, Array]:
    """Return the described base parameters (b,) and their prior precision (b, b)."""
    whole = search.pooled
    prior = body_prior(model, chosen.aside)
    frame = coordinates(model, prior)
    precision = frame.precision(chosen.body_weights(prior))
    to_base = model.base.matrix @ frame.matrix
    size = np.maximum(np.diag(whole)[: search.b], 1e-300)
    outer = np.arange(frame.inner, len(precision))
    precision[outer, outer] = 1e-9 * np.maximum((to_base[:, outer] ** 2).T @ size, 1e-300)
    spread = to_base @ np.linalg.solve(precision, to_base.T)
    scale = np.sqrt(np.diag(spread))
    return model.base.values(frame.origin), np.asarray(
        np.linalg.inv(spread / np.outer(scale, scale)) / np.outer(scale, scale)
    )


def factor(gram: Array) -> Array:
    """Return an upper triangle R with R^T R = gram, which may be singular up to rounding."""
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    unit = gram / np.outer(scale, scale) + 1e-13 * np.eye(len(gram))
    return np.asarray(np.linalg.cholesky(unit).T * scale)
