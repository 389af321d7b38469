"""Search: which candidates lower the held-out error by more than its own noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...signals.autocorrelation import variance_inflation
from ..estimators.posterior import coordinates
from ..estimators.prior_weight import PriorWeight, choose_prior_weight
from ..model.linear_model import Model
from ..model.prior import body_prior
from ..model.problem import FOLDS, Problem, block_length
from .candidates import Candidate, Columns

Array = NDArray[np.float64]
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
    """[Y C tau]^T [Y C tau] of consecutive parts of the samples, (F, n, P + 1, P + 1), with the columns C of all candidates.

    `lagged` (n, P + 1, P + 1) is the same of each row with the next. `counts` (F, n) are the rows in use. `start` (b,) are the base
    parameters of the description and `precision` (b, b) what it counts for. `weights` (n,) are 1 / (sigma_j sqrt(inflation_j)),
    and `chosen` is the weight of the description.
    """

    gram: Array
    lagged: Array
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
    def total(self) -> Array:
        """The sum over all parts, (n, P + 1, P + 1)."""
        return np.asarray(self.gram.sum(axis=0))

    def best(self) -> tuple[Gain, ...]:
        """Return the best candidate of each joint that passes."""
        found: dict[int, Gain] = {}
        for candidate in self.candidates:
            if not self.shown(candidate):
                continue
            least = found[candidate.joint].information if candidate.joint in found else LEAST_INFORMATION
            if self.information(candidate) > least and (gain := self.gain(candidate)).passes:
                found[candidate.joint] = gain
        return tuple(found.values())

    def shown(self, candidate: Candidate) -> bool:
        """Return whether the columns of a candidate are more than rounding: a joint without load shows no friction of it."""
        own = self.total[candidate.joint].diagonal()
        return bool(np.all(own[self.b + np.array(candidate.columns)] > 1e-12 * own.max()))

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
        return np.asarray(counts * max(1e-12 * float(np.max(self.total[:, -1, -1] / counts)), 1e-300))

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
        parts = [self.solved(self.total - part, candidate) for part in self.gram]
        return np.array([self.squares(part, x, candidate) for part, x in zip(self.gram, parts, strict=True)])

    def solve(self, candidate: Candidate | None = None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), from all samples."""
        return self.solved(self.total, candidate)

    def solved(self, gram: Array, candidate: Candidate | None) -> Array:
        """Return base parameters and coefficients of a candidate, (b + k,), 0 for the column that it takes the place of."""
        A, z = self.normal(gram, candidate)
        kept = np.array([i for i in range(len(z)) if candidate is None or i != candidate.without])
        x = np.zeros(len(z))
        x[kept] = solve(A[np.ix_(kept, kept)], z[kept])
        return x

    def normal(self, gram: Array, candidate: Candidate | None) -> tuple[Array, Array]:
        """Return the normal equations A x = z over base columns and those of a candidate, rows of joint j weighted, with the prior."""
        W, base = self.weights**2, np.arange(self.b)
        A = np.einsum("j,jab->ab", W, gram[:, : self.b, : self.b]) + self.precision
        z = W @ gram[:, : self.b, -1] + self.precision @ self.start
        if candidate is None:
            return A, z
        own, extra = gram[candidate.joint] * W[candidate.joint], self.b + np.array(candidate.columns)
        A = np.block([[A, own[np.ix_(base, extra)]], [own[np.ix_(extra, base)], own[np.ix_(extra, extra)]]])
        return A, np.append(z, own[extra, -1])

    def squares(self, gram: Array, x: Array, candidate: Candidate | None = None) -> Array:
        """Return the sum of squared residuals of each joint, (n,), of parameters x (b + k,)."""
        return np.maximum(self.quadratic(gram, x, candidate), 0.0)

    def quadratic(self, gram: Array, x: Array, candidate: Candidate | None = None) -> Array:
        """Return the sum of products of residuals that a matrix [Y C tau]^T [Y C tau] has, of each joint, (n,)."""
        full = np.zeros(gram.shape[:2])
        full[:, : self.b], full[:, -1] = x[: self.b], -1.0
        if candidate is not None:
            full[candidate.joint, self.b + np.array(candidate.columns)] = x[self.b :]
        return np.asarray(np.sum((full[:, None, :] @ gram)[:, 0] * full, axis=1))


def signed_ranks(changes: Array) -> float:
    """Return the sum of the ranks of positive changes over that of all, by size: 1 if all are positive, about 1/2 by chance.

    Wilcoxon, Biometrics Bulletin 1 (1945), p. 80.
    """
    ranks = np.argsort(np.argsort(np.abs(changes))) + 1.0
    return float(np.sum(ranks[changes > 0]) / np.sum(ranks))


def solve(A: Array, z: Array) -> Array:
    """Return x with A x = z, for a positive definite A that may be singular up to rounding."""
    scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
    return np.asarray(np.linalg.solve(A / np.outer(scale, scale) + 1e-10 * np.eye(len(z)), z / scale) / scale)


def make_search(problem: Problem, columns: Columns, chosen: PriorWeight | None = None) -> Search:
    """Return the search over all candidates, from at most about MOST samples of a problem that has their columns too.

    The description counts for as much as the evidence says, or as was chosen before.
    """
    n = problem.n
    fewer = max(FOLDS, MOST * problem.decimate // block_length(problem.decimate)) if problem.N > MOST else None
    blocks = list(problem.blocks(fewer))
    rows, P = sum(len(block.t) for block in blocks), blocks[0].Y.shape[2] - 1
    gram, lagged, counts, done = np.zeros((FOLDS, n, P + 1, P + 1)), np.zeros((n, P + 1, P + 1)), np.zeros((FOLDS, n)), 0
    for block in blocks:
        keep = in_use(block.Y[:, :, P], block.keep)
        wide = np.concatenate([block.Y[:, :, :P], block.tau[:, :, None]], axis=2) * keep[:, :, None]
        lagged += wide[:-1].transpose(1, 2, 0) @ wide[1:].transpose(1, 0, 2)
        number = np.minimum(FOLDS - 1, (done + np.arange(len(wide))) * FOLDS // rows)
        for f in np.unique(number):
            part = wide[number == f].transpose(1, 0, 2)
            gram[f] += part.transpose(0, 2, 1) @ part
            counts[f] += keep[number == f].sum(axis=0)
        done += len(wide)
    b = problem.base.n_base
    flat = weighted(Search(gram, lagged, counts, np.zeros(b), np.zeros((b, b)), np.ones(n), columns.candidates()))
    chosen = chosen or prior_weight(problem.model, flat)
    start, precision = description(problem.model, flat, chosen)
    return replace(flat, start=start, precision=precision, chosen=chosen)


def in_use(qd: Array, keep: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which rows count, (N, n): those that are kept and in which the joint moves, by its velocity qd (N, n)."""
    moving = np.abs(qd) > STANDING
    return moving if keep is None else moving & keep


def weighted(search: Search) -> Search:
    """Return the search with the weights of iterated weighted least squares; nothing but the samples decides them."""
    counts = np.maximum(search.counts.sum(axis=0), 1.0)
    search = replace(search, weights=np.sqrt(counts / (search.total[:, -1, -1] + search.rounding)))
    for _ in range(3):
        x = search.solve()
        search = replace(search, weights=np.sqrt(counts / (search.before * search.inflation(x) + search.rounding)))
    return search


def prior_weight(model: Model, search: Search) -> PriorWeight:
    """Return the weight that the evidence gives to the description."""
    whole = np.einsum("j,jab->ab", search.weights**2, search.total)
    kept = [*range(search.b), -1]
    return choose_prior_weight(model, factor(whole[np.ix_(kept, kept)]))


def description(model: Model, search: Search, chosen: PriorWeight) -> tuple[Array, Array]:
    """Return the base parameters (b,) of the description and the precision (b, b) that a weight gives them."""
    whole = np.einsum("j,jab->ab", search.weights**2, search.total)
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
