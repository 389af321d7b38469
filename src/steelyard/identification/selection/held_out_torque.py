"""Held-out torque: blocks of samples in one band, on which candidates are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...signals.resample import lowpass_at
from ..estimators.least_squares import least_squares, weighted
from ..model.accumulator import Accumulator
from ..model.linear_model import Model
from ..model.problem import Problem, merged
from ..samples.samples import Samples
from .selection_thresholds import THRESHOLDS

Array = NDArray[np.float64]
OLS, WLS = "ols", "wls"


@dataclass(frozen=True, eq=False)
class BandSamples:
    """Samples whose states passed a low-pass; torque and rows pass one of the same cut-off.

    Parameters
    ----------
    cutoff : of the low-pass [Hz]
    samples : of all logs, thinned
    decimate : samples for each row
    """

    cutoff: float
    samples: tuple[Samples, ...]
    decimate: int

    def folds(self, model: Model) -> tuple[Accumulator, ...]:
        """Return the rows of a model, folded in consecutive blocks."""
        return Problem(model, self.samples, self.decimate).folds

    def corrected(self, delay: Array, gains: Array) -> BandSamples:
        """Return the samples with torques (N, n) without their delay (n,) [s], times gains (n,)."""
        if not np.any(delay) and np.all(gains == 1.0):
            return self
        samples = tuple(s.advanced(delay) for s in self.samples)
        return replace(self, samples=tuple(replace(s, tau=s.tau * gains) for s in samples))


def band_samples(samples: Sequence[Samples], cutoff: float) -> BandSamples:
    """Return samples whose states passed a low-pass at `cutoff` [Hz], thinned to what it needs."""
    rate = min(1.0 / s.dt for s in samples)
    every = max(1, int(rate / (THRESHOLDS.samples_per_row * THRESHOLDS.rows_per_cutoff * cutoff)))
    thin = []
    for s in samples:
        low = s if every == 1 else replace(s, tau=lowpass_at(s.t, s.tau, 0.4 / (every * s.dt)))
        thin.append(replace(low.part(slice(None, None, every)), errors=None))
    return BandSamples(cutoff, tuple(thin), band_decimation(thin, cutoff))


def band_decimation(samples: Sequence[Samples], cutoff: float) -> int:
    """Return the decimation whose low-pass ends at a cut-off [Hz], with enough rows left."""
    rate = min(1.0 / s.dt for s in samples)
    most = sum(s.N for s in samples) // THRESHOLDS.least_rows
    return max(1, min(int(rate / (THRESHOLDS.rows_per_cutoff * cutoff)), most))


@dataclass(frozen=True, eq=False)
class HeldOutError:
    """Squares of residual and torque in each held-out block, both (blocks,)."""

    residual_squares: Array
    torque_squares: Array

    @property
    def total(self) -> float:
        """|e| / |tau| over all blocks and joints, a fraction."""
        whole = max(float(self.torque_squares.sum()), 1e-300)
        return float(np.sqrt(self.residual_squares.sum() / whole))

    def is_less(self, other: HeldOutError, gain: float | None = None) -> bool:
        """Return whether this error is less than another by a share `gain`, `least_gain` if None.

        Shares of the other error.
        """
        least = THRESHOLDS.least_gain if gain is None else gain
        return self.total < (1.0 - least) * other.total

    def is_better(self, other: HeldOutError, gain: float | None = None) -> bool:
        """Return whether this error is less than another by more than its standard error.

        The gain is paired block by block, and at least a share `gain` of the other error. Breiman,
        Friedman, Olshen and Stone, "Classification and Regression Trees", 1984, section 3.4.3.
        """
        if not self.is_less(other, gain):
            return False
        own_scale, other_scale = (
            max(float(each.torque_squares.sum()), 1e-300) for each in (self, other)
        )
        gains = other.residual_squares / other_scale - self.residual_squares / own_scale
        error = np.sqrt(len(gains)) * float(np.std(gains, ddof=1)) if len(gains) > 1 else 0.0
        return float(gains.sum()) > THRESHOLDS.gain_deviations * error


def held_out_error(folds: Sequence[Accumulator], bases: Sequence[Array]) -> HeldOutError:
    """Return the error of each block, predicted by base parameters that were found without it.

    Parameters
    ----------
    folds : rows of each block, of the model that the base parameters belong to
    bases : (blocks, b)
    """
    return HeldOutError(
        np.array([f.residual_squares(b).sum() for f, b in zip(folds, bases, strict=True)]),
        np.array([f.torque_squares().sum() for f in folds]),
    )


def plain_bases(folds: Sequence[Accumulator], prior: Array, kind: str) -> list[Array] | None:
    """Return least squares without each block, (blocks, b): ordinary, or weighted by joint.

    None where the other blocks have too few rows.
    """
    every = tuple(folds)
    most = max(sum(fold.counts) for fold in every)
    total = merged(every)
    if len(every) < 2 or sum(total.counts) - most < 2 * total.width:
        return None
    weights = weighted(total, prior, 2)[1] if kind == WLS else None
    return [
        least_squares(merged(every, without=k).triangle(weights), prior) for k in range(len(every))
    ]
