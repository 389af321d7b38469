"""Normal equations of a linear regression, kept joint by joint."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

from ...cached import cached_property
from .model_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Candidate = TypeVar("Candidate")
Accepted = TypeVar("Accepted")


class NormalPosterior(NamedTuple):
    """Normal posterior of K unknowns.

    mean : (K,)
    root : W (K, K) with covariance W^T W
    log_det : log det(prior + information) - log det(prior)
    """

    mean: Array
    root: Array
    log_det: float


@dataclass(frozen=True, eq=False)
class JointGram:
    """Gram matrices [A_j tau_j]^T [A_j tau_j] of every joint j, over K = `size` unknowns.

    The torque of joint j depends on the unknowns `support[j]` (k_j,) alone, through columns A_j.
    `blocks[j]` (k_j + 1, k_j + 1) holds the normal matrix A_j^T A_j, in its last column the
    right-hand side A_j^T tau_j, and in its last entry the squared sum of the torque. `counts` (n,)
    are the rows of each joint.
    """

    size: int
    support: tuple[Indices, ...]
    blocks: tuple[Array, ...]
    counts: Array

    @classmethod
    def fold(
        cls, size: int, support: tuple[Indices, ...], rows: Sequence[Array], counts: Array
    ) -> JointGram:
        """Return the Gram matrices of rows [A_j tau_j] (N_j, k_j + 1)."""
        return cls(size, support, tuple(x.T @ x for x in rows), counts)

    @classmethod
    def fold_lagged(
        cls, size: int, support: tuple[Indices, ...], rows: Sequence[Array], counts: Array
    ) -> JointGram:
        """Return the products of each row with the next, for the autocorrelation of residuals."""
        return cls(size, support, tuple(x[:-1].T @ x[1:] for x in rows), counts)

    @classmethod
    def zero(cls, size: int, support: tuple[Indices, ...]) -> JointGram:
        """Return the Gram matrices of no rows."""
        blocks = tuple(np.zeros((len(each) + 1, len(each) + 1)) for each in support)
        return cls(size, support, blocks, np.zeros(len(support)))

    @classmethod
    def of_normal(
        cls, size: int, support: tuple[Indices, ...], normal: Sequence[Array], counts: Array
    ) -> JointGram:
        """Return normal matrices (k_j, k_j) without a torque."""
        return cls(size, support, tuple(np.pad(each, (0, 1)) for each in normal), counts)

    def with_torque(self, rhs: Sequence[Array], squares: Sequence[float]) -> JointGram:
        """Return the same normal matrices with right-hand sides (k_j,) and squared sums (n,)."""
        blocks = []
        for block, c, square in zip(self.blocks, rhs, squares, strict=True):
            changed = block.copy()
            changed[:-1, -1] = changed[-1, :-1] = c
            changed[-1, -1] = square
            blocks.append(changed)
        gram = replace(self, blocks=tuple(blocks))
        if self._is_small:  # computed once for all torques
            gram.__dict__["_dense"] = self._dense
        return gram

    def __add__(self, other: JointGram) -> JointGram:
        return self._combined(other, np.add)

    def __sub__(self, other: JointGram) -> JointGram:
        return self._combined(other, np.subtract)

    def _combined(self, other: JointGram, operation: Callable[..., Array]) -> JointGram:
        pairs = zip(self.blocks, other.blocks, strict=True)
        return replace(
            self,
            blocks=tuple(operation(a, b) for a, b in pairs),
            counts=operation(self.counts, other.counts),
        )

    @property
    def normal(self) -> tuple[Array, ...]:
        """A_j^T A_j of each joint, (k_j, k_j)."""
        return tuple(block[:-1, :-1] for block in self.blocks)

    @cached_property
    def rhs(self) -> Array:
        """A_j^T tau_j of each joint over all unknowns, (n, K)."""
        rhs = np.zeros((len(self.support), self.size))
        for row, support, block in zip(rhs, self.support, self.blocks, strict=True):
            row[support] = block[:-1, -1]
        return rhs

    @cached_property
    def squares(self) -> Array:
        """tau_j^T tau_j of each joint, (n,)."""
        return np.array([block[-1, -1] for block in self.blocks])

    @cached_property
    def diagonal(self) -> Array:
        """The diagonals of the normal matrices over all unknowns, (n, K)."""
        diagonal = np.zeros((len(self.support), self.size))
        for row, support, block in zip(diagonal, self.support, self.blocks, strict=True):
            row[support] = np.diag(block)[:-1]
        return diagonal

    def weighted_normal(self, weights: Array) -> Array:
        """Return the sum of weights_j A_j^T A_j, (K, K), for weights (n,) of the joints."""
        if self._is_small:
            return np.asarray((weights @ self._dense).reshape(self.size, self.size))
        H = np.zeros((self.size, self.size))
        for weight, support, normal in zip(weights, self.support, self.normal, strict=True):
            if weight:
                H[support[:, None], support] += weight * normal
        return H

    @property
    def _is_small(self) -> bool:
        return self.size**2 * len(self.support) <= THRESHOLDS.dense_entries

    @cached_property
    def _dense(self) -> Array:
        """The normal matrices of all joints over all unknowns, (n, K K)."""
        dense = np.zeros((len(self.support), self.size, self.size))
        for D, support, normal in zip(dense, self.support, self.normal, strict=True):
            D[support[:, None], support] = normal
        return dense.reshape(len(dense), -1)

    def pooled(self, weights: Array, size: int) -> Array:
        """Return the Gram matrix [A tau]^T W [A tau] of all joints over the first `size` unknowns.

        Parameters
        ----------
        weights : of the rows of each joint, (n,)
        size : how many unknowns; the support of each joint lists them before all others

        Returns
        -------
        (size + 1, size + 1), right-hand side and squared sum of the torque last.
        """
        pooled = np.zeros((size + 1, size + 1))
        for w, support, block in zip(weights, self.support, self.blocks, strict=True):
            columns = support[: int(np.searchsorted(support, size))]
            k = len(columns)
            pooled[columns[:, None], columns] += w * block[:k, :k]
            pooled[columns, size] += w * block[:k, -1]
            pooled[size, size] += w * block[-1, -1]
        pooled[size, :size] = pooled[:size, size]
        return pooled

    def quadratic(self, x: Array) -> Array:
        """Return x^T A_j^T A_j x of each joint, (n,), for unknowns x (K,)."""
        pairs = zip(self.support, self.normal, strict=True)
        return np.array([x[support] @ normal @ x[support] for support, normal in pairs])

    def residual_squares(self, x: Array) -> Array:
        """Return |tau_j - A_j x|^2 = |tau_j|^2 - 2 x^T A_j^T tau_j + x^T A_j^T A_j x, (n,)."""
        return np.asarray(self.squares - 2 * self.rhs @ x + self.quadratic(x))

    def residual_products(self, x: Array) -> Array:
        """Return [x -1] G_j [x -1]^T of each joint, (n,), also for lagged products G_j."""
        products = np.empty(len(self.blocks))
        for j, (support, block) in enumerate(zip(self.support, self.blocks, strict=True)):
            extended = np.append(x[support], -1.0)
            products[j] = extended @ block @ extended
        return products

    def posterior(self, weights: Array, prior: Array) -> NormalPosterior:
        """Return the posterior of the unknowns.

        Parameters
        ----------
        weights : precision of the rows of each joint, (n,)
        prior : precision of each unknown, whose prior mean is zero, (K,)
        """
        L, s = self._factor(weights, prior)
        log_det = 2 * float(np.sum(np.log(np.diag(L))) - np.sum(np.log(s)))
        log_det -= float(np.sum(np.log(prior)))
        W = dtrtri(L, lower=1, overwrite_c=1)[0] * s
        return NormalPosterior(W.T @ (W @ (weights @ self.rhs)), W, log_det)

    def posterior_mean(self, weights: Array, prior: Array) -> Array:
        """Return the mean (K,) of `posterior` alone."""
        L, s = self._factor(weights, prior)
        return np.asarray(s * dpotrs(L, s * (weights @ self.rhs), lower=1)[0])

    def _factor(self, weights: Array, prior: Array) -> tuple[Array, Array]:
        """Return L and s (K,) with L L^T = s (P + H) s and ones on its diagonal."""
        H = self.weighted_normal(weights)
        diagonal = np.diag_indices(self.size)
        H[diagonal] += prior
        s = 1.0 / np.sqrt(np.diag(H))
        H *= s
        H *= s[:, None]
        H[diagonal] += THRESHOLDS.cholesky_ridge
        L, failed = dpotrf(H.T, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the posterior precision is not positive definite")
        return L, s


def best_of_each(
    candidates: Iterable[Candidate],
    score: Callable[[Candidate], float],
    group: Callable[[Candidate], Hashable],
    accept: Callable[[Candidate], Accepted | None],
) -> list[Accepted]:
    """Return the best accepted candidate of each group, the best first.

    One step of a greedy search: candidates are tried in the order of falling scores, and a group is
    done with the first that `accept` does not turn down with None.
    """
    best: dict[Hashable, Accepted] = {}
    for candidate in sorted(candidates, key=lambda each: -score(each)):
        if group(candidate) not in best and (accepted := accept(candidate)) is not None:
            best[group(candidate)] = accepted
    return list(best.values())
