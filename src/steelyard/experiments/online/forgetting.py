"""Square-root information that forgets.

The factors of all joints, exponentially or only where new samples replace the old.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.fold_rows import Triangles
from ...identification.model.accumulator import Accumulator, triangular
from .online_thresholds import THRESHOLDS
from .sample_rows import SampleRows

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class ForgettingInformation:
    """The accumulator of live samples.

    The triangle R_j of [Y_j tau_j] of every joint, with the past weighing `forgetting` per sample.

    N samples turn R_j^T R_j into forgetting^N R_j^T R_j + sum_i forgetting^(N - 1 - i) y_i y_i^T.
    With `directional`, the past loses in each direction at most the information that a block of
    `block_samples` samples brings for it: what is not excited is not forgotten. Within a block all
    samples weigh the same. How samples are grouped in calls makes no difference. Bierman,
    "Factorization Methods for Discrete Sequential Estimation", 1977, chapter V.
    """

    def __init__(self, rows: SampleRows, forgetting: float, directional: bool) -> None:
        self.forgetting, self.directional = forgetting, directional
        self.reach, self.width = rows.model.reach, rows.b
        self._past, self._fresh = Triangles(self.reach), Triangles(self.reach)
        self._counts, self._fresh_counts = np.zeros(rows.n), np.zeros(rows.n)
        self._filled = 0

    def add(self, rows: Array, keep: Bools | None) -> None:
        """Take in rows (N, width) of `SampleRows`.

        `keep` (N, n) marks the used joints, all if None.
        """
        start = 0
        while start < len(rows):
            stop = min(len(rows), start + THRESHOLDS.block_samples - self._filled)
            self._fold(rows[start:stop], None if keep is None else keep[start:stop])
            start = stop

    @property
    def accumulator(self) -> Accumulator:
        """All that is known of the samples so far.

        A block that is not full yet has replaced nothing.
        """
        whole = self._past.copy()
        whole.absorb(self._fresh.factors)
        counts = (self._counts + self._fresh_counts).tolist()
        return Accumulator(
            self.reach, self.width, tuple(R.copy() for R in whole.factors), tuple(counts)
        )

    def _fold(self, rows: Array, keep: Bools | None) -> None:
        count = len(rows)
        used = None if keep is None else keep.astype(float)
        new = float(count) if keep is None else keep.sum(axis=0)
        if self.forgetting < 1.0 and not self.directional:
            weights = self.forgetting ** np.arange(count - 1, -1, -1.0)
            new = weights.sum() if keep is None else weights @ keep
            used = np.sqrt(weights)[:, None] * (np.ones(len(self.reach)) if used is None else used)
            self._fade(self.forgetting**count)
        self._fresh_counts += new
        self._fresh.fold_joined(rows, self.width, used)
        self._filled += count
        if self._filled == THRESHOLDS.block_samples:
            self._join()

    def _fade(self, factor: float) -> None:
        for triangles, counts in ((self._past, self._counts), (self._fresh, self._fresh_counts)):
            triangles.memory *= np.sqrt(factor)
            counts *= factor

    def _join(self) -> None:
        """Let a full block join the past."""
        if self.directional and self.forgetting < 1.0:
            most = self.forgetting**THRESHOLDS.block_samples
            for past, new in zip(self._past.factors, self._fresh.factors, strict=True):
                past[:] = forget_replaced(past, new, most)
            self._counts *= most
        self._past.absorb(self._fresh.factors)
        self._counts += self._fresh_counts
        self._fresh.memory[:] = 0.0
        self._fresh_counts[:] = 0.0
        self._filled = 0


def forget_replaced(past: Array, new: Array, most: float) -> Array:
    """Return the past triangle [R z] (k + 1, k + 1) with less information where `new` brings some.

    No direction loses more information than `new` has.

    In directions that are independent in both, with c^2 + s^2 = 1 the shares of past and new
    information, c^2 becomes max(most c^2, c^2 - s^2). R x = z has the same solution as before:
    forgetting moves no estimate. For directions that are well excited it is exponential forgetting,
    and information never falls below the least that both had. Goel, Bruce and Bernstein, "Recursive
    least squares with variable-direction forgetting", IEEE Control Systems Magazine 40 (2020), p.
    80; Golub and Van Loan, "Matrix Computations", 4th ed., section 6.1.6 (the generalised singular
    values).
    """
    k = len(past) - 1
    both = triangular(np.vstack([past[:-1, :-1], new[:-1, :-1]]))
    scale = np.linalg.norm(both, axis=0)
    floor = THRESHOLDS.unseen_direction * np.where(scale > 0.0, scale, 1.0)
    whole = triangular(np.vstack([both, np.diag(floor)]))
    U, c, _ = np.linalg.svd(np.linalg.solve(whole.T, past[:-1, :-1].T).T)
    share = np.minimum(c**2, 1.0)
    remaining = np.maximum(most * share, 2.0 * share - 1.0)
    factor = np.sqrt(np.where(share > 0.0, remaining / np.maximum(share, 1e-300), most))
    triangle = np.zeros_like(past)
    faded = (U * factor) @ (U.T @ past[:-1])
    triangle[:k] = np.asarray(np.linalg.qr(faded, mode="r"))[:k]
    triangle[-1, -1] = past[-1, -1] * np.sqrt(most)
    return triangle
