"""Square-root information.

Rows of the regressor folded into one triangular factor for each joint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  its library is to be among those that are limited
from numpy.typing import ArrayLike, NDArray

from ...compiler.runtime.fold_rows import Triangles
from ...compiler.runtime.threads import mapped, thread_count
from ...errors import CallError
from .model_thresholds import THRESHOLDS
from .rows import Rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Accumulator:
    """All that least squares needs of any number of samples.

    For each joint j the triangle R_j of [Y_j tau_j] over the columns in reach.

    R_j^T R_j = [Y_j tau_j]^T [Y_j tau_j], in constant memory. Each joint has its own factor, so
    that weights of joints can be chosen afterwards. `reach[j]` are the columns, `counts[j]` the
    number of rows. Golub and Van Loan, "Matrix Computations", 4th ed., section 6.5.3 (updating a QR
    factorisation); Bierman 1977, chapter V.
    """

    reach: tuple[tuple[int, ...], ...]
    width: int
    factors: tuple[Array, ...]
    counts: tuple[float, ...]

    @classmethod
    def empty(cls, reach: Sequence[Sequence[int]], width: int) -> Accumulator:
        """Return an accumulator without samples, for `width` columns."""
        shapes = [len(columns) + 1 for columns in reach]
        return cls(
            tuple(tuple(c) for c in reach),
            width,
            tuple(np.zeros((k, k)) for k in shapes),
            (0.0,) * len(shapes),
        )

    @property
    def n(self) -> int:
        return len(self.reach)

    def fold(
        self,
        Y: Array,
        tau: Array,
        keep: NDArray[np.bool_] | None = None,
        weights: Array | None = None,
    ) -> Accumulator:
        """Return it with further samples.

        Y (N, n, b), tau (N, n); `keep` (N, n) leaves rows out, `weights` (N, n) multiply rows.
        """
        return self._folded(Triangles.fold, Y, tau, keep, weights)

    def fold_rows(
        self,
        rows: Rows,
        tau: Array,
        keep: NDArray[np.bool_] | None = None,
        weights: Array | None = None,
    ) -> Accumulator:
        """Return it with further samples, given by their rows of the same reach; else as `fold`."""
        if rows.reach != self.reach:
            raise CallError("rows and accumulator are of different models")
        return self._folded(Triangles.fold_entries, rows.entries, tau, keep, weights)

    def _folded(
        self,
        fold: Callable[..., None],
        rows: Array,
        tau: Array,
        keep: NDArray[np.bool_] | None,
        weights: Array | None,
    ) -> Accumulator:
        used = (
            weights if keep is None else keep.astype(float) if weights is None else weights * keep
        )
        triangles = Triangles(self.reach)
        fold(
            triangles,
            rows,
            tau,
            used,
            threads=thread_count() if len(tau) >= THRESHOLDS.threaded_samples else 1,
        )
        triangles.absorb(self.factors)
        more = [float(len(tau))] * self.n if keep is None else np.sum(keep, axis=0).tolist()
        counts = tuple(count + new for count, new in zip(self.counts, more, strict=True))
        return Accumulator(self.reach, self.width, triangles.factors, counts)

    def merge(self, other: Accumulator) -> Accumulator:
        """Return the accumulator of the samples of both."""
        if self.reach != other.reach:
            raise CallError("accumulators of different models cannot be merged")
        triangles = Triangles(self.reach, self.factors)
        triangles.absorb(other.factors)
        return Accumulator(
            self.reach,
            self.width,
            triangles.factors,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
        )

    def forget(self, factor: float) -> Accumulator:
        """Return it with less weight on the past.

        Squares count `factor` times as much, 0 < factor <= 1.
        """
        if not 0 < factor <= 1:
            raise CallError(f"forget: the factor must be above 0 and at most 1, not {factor!r}")
        return Accumulator(
            self.reach,
            self.width,
            tuple(np.sqrt(factor) * R for R in self.factors),
            tuple(factor * c for c in self.counts),
        )

    def triangle(
        self, weights: ArrayLike | None = None, joints: Sequence[int] | None = None
    ) -> Array:
        """Return R, (b + 1, b + 1).

        The factor of all rows [Y tau], rows of joint j multiplied by weights[j].
        """
        w = (
            np.ones(self.n)
            if weights is None
            else np.broadcast_to(np.asarray(weights, float), (self.n,))
        )
        return triangular(
            np.concatenate(
                [w[j] * self.rows(j) for j in (range(self.n) if joints is None else joints)]
            )
        )

    def rows(self, joint: int) -> Array:
        """Return the factor of one joint over all columns, (k + 1, b + 1)."""
        full = np.zeros((len(self.factors[joint]), self.width + 1))
        full[:, [*self.reach[joint], self.width]] = self.factors[joint]
        return full

    def residual_squares(self, base: ArrayLike) -> Array:
        """Return the sum over samples of (tau_j - Y_j base)^2 for each joint, (n,)."""
        x = np.append(np.asarray(base, float), -1.0)
        return np.array([np.sum((self.rows(j) @ x) ** 2) for j in range(self.n)])

    def torque_squares(self) -> Array:
        """Return the sum over samples of tau_j^2 for each joint, (n,)."""
        return np.array([np.sum(R[:, -1] ** 2) for R in self.factors])


def triangular(rows: Array) -> Array:
    """Return the square upper triangle R with R^T R = rows^T rows, by Householder reflections."""
    R = np.asarray(np.linalg.qr(rows, mode="r"))
    if len(R) < rows.shape[1]:
        R = np.vstack([R, np.zeros((rows.shape[1] - len(R), rows.shape[1]))])
    return R


def map_for(unknowns: int) -> Callable[..., Iterable[Any]]:
    """Return `map`, or the parallel `mapped` if there are enough unknowns to gain by threads."""
    return mapped if unknowns >= THRESHOLDS.threaded_unknowns else map


P = ParamSpec("P")
T = TypeVar("T")


def on_one_core(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` with BLAS limited to one thread.

    On a busy machine its threads wait longer for each other than they work.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return run


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
