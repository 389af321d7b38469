"""Held-out gain of a fault: how much better its correction predicts blocks that took no part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from ..doctor_thresholds import THRESHOLDS
from .log_evidence import Trial, held_out_residuals

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOutGain:
    """Gain of a correction on held-out blocks: log ratio of errors without and with it, (blocks,).

    The blocks are many times as long as the correlation of model errors, so that they are nearly
    independent: their scatter contains the model error. `error` is what remains of the torque.
    """

    blocks: Array
    error: float = 0.0

    @property
    def mean(self) -> float:
        """Mean log ratio of the errors; 0.05 for errors that fall by 5 %."""
        return float(np.mean(self.blocks))

    @property
    def share(self) -> float:
        """Share of the blocks whose error falls."""
        return float(np.mean(self.blocks > 0))

    @property
    def is_relevant(self) -> bool:
        """Whether the error falls in most blocks by a relevant part, to an explained torque."""
        return (
            self.share >= THRESHOLDS.held_out_share
            and self.mean >= THRESHOLDS.held_out_gain
            and self.error < THRESHOLDS.unexplained_error
        )

    @property
    def is_positive(self) -> bool:
        """Whether the error falls at all, and in at least half of the blocks."""
        return self.mean > 0 and self.share >= THRESHOLDS.positive_share

    @property
    def probability(self) -> float:
        """Probability that the mean gain of further blocks is positive, by Student's t."""
        count = len(self.blocks)
        deviation = float(np.std(self.blocks, ddof=1)) / np.sqrt(count)
        return float(stdtr(count - 1, self.mean / max(deviation, 1e-12)))


def held_out_gain(
    without: Trial,
    corrected: Trial,
    joints: tuple[int, ...] = (),
    use: NDArray[np.bool_] | None = None,
) -> HeldOutGain:
    """Return the held-out gain of a correction over a trial without it.

    Errors are relative to the corrected torque of each trial, and averaged over `joints`, or over
    all joints with as much weight as they have independent rows. `use` (N, n) marks the rows that
    count, None for all.
    """
    weight = corrected.agreement.independent * (corrected.regression.counts > 0)
    if joints:
        weight = weight * np.isin(np.arange(len(weight)), joints)
    (before, _), (after, rows) = block_errors(without, use), block_errors(corrected, use)
    weights = weight * rows
    moving = np.sum(weights, axis=1) > 0  # blocks in which a joint is judged
    if not np.any(moving):
        return HeldOutGain(np.zeros(len(rows)), error=1.0)
    weights, ratio = weights[moving], np.log(before / after)[moving]
    gains = np.sum(weights * ratio, axis=1) / np.sum(weights, axis=1)
    error = float(np.sqrt(np.sum(weights * after[moving] ** 2) / np.sum(weights)))
    return HeldOutGain(gains, error)


def block_errors(trial: Trial, use: NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
    """Return the error of each joint over its torque on held-out blocks, and its rows there.

    Both are (blocks, n). Noise and weights follow from all samples; the least noise is the floor
    of the errors. `use` (N, n) marks the rows whose errors count.
    """
    regression, tau = trial.regression, trial.torque
    edges = np.linspace(0, regression.N, THRESHOLDS.held_out_blocks + 1).astype(int).tolist()
    size = np.sum(tau**2, axis=0) / np.maximum(regression.counts, 1.0)
    errors = np.ones((len(edges) - 1, regression.n))
    rows = np.zeros_like(errors)
    for k, (start, stop) in enumerate(pairwise(edges)):
        part = slice(start, stop)
        for j, e in enumerate(held_out_residuals(trial, part)):
            e = e if use is None else e[use[part, j]]
            rows[k, j] = np.count_nonzero(e)  # zero where a row is not in use
            errors[k, j] = np.sqrt(e @ e / max(rows[k, j], 1.0) / max(size[j], 1e-300))
    return np.maximum(errors, THRESHOLDS.least_noise), rows
