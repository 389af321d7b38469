"""Equations of motion integrated over smooth windows.

A derivative of a state is moved onto the window by integration by parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ....errors import CallError, ProblemError
from ....signals.segments import split
from ...model.accumulator import Accumulator
from ...model.linear_model import Model
from ...model.problem import Problem, block_length
from ...samples.samples import Samples
from ..estimator_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WindowTerms:
    """d/dt(stored base + known) + lost base = supplied.

    Stored, lost (N, r, b), supplied, known (N, r), rows in use (N, r) or None.

    `variance` (N, r) is the noise variance of `supplied`; rows are divided by the root of its mean
    over a window.
    """

    stored: Array
    lost: Array
    supplied: Array
    known: Array
    keep: NDArray[np.bool_] | None
    variance: Array | None = None


@dataclass(frozen=True, eq=False)
class IntegrationWindow:
    """Weights (2 k + 1,) of a Gaussian window over samples, and of minus its derivative [1/sample].

    Sums over uniform samples are integrals up to exp(-2 (pi sigma)^2): 1e-19 at a standard
    deviation of 1.5 samples.
    """

    weights: Array
    derivatives: Array

    @classmethod
    def of(cls, sigma: float) -> IntegrationWindow:
        """Return the window of a standard deviation [samples]."""
        k = np.arange(
            -int(np.ceil(THRESHOLDS.window_reach * sigma)),
            int(np.ceil(THRESHOLDS.window_reach * sigma)) + 1,
        )
        g = np.exp(-0.5 * (k / sigma) ** 2)
        return cls(g / g.sum(), k / sigma**2 * g / g.sum())

    @property
    def reach(self) -> int:
        """Samples on either side of the middle."""
        return len(self.weights) // 2


def accumulate_windows(
    problem: Problem, terms: Callable[[Samples], WindowTerms], reach: tuple[tuple[int, ...], ...]
) -> tuple[Accumulator, ...]:
    """Fold the integrated equations of all windows, in `window_parts` consecutive parts.

    integral w (supplied - lost base) dt = - integral w' (stored base) dt.

    There are two windows for every kept sample; each lies within a stretch without gaps. Raises
    ProblemError if too few fit in. Shinbrot, Trans. ASME 79 (1957), p. 547 (modulating functions).
    """
    totals = [Accumulator.empty(reach, problem.base.n_base) for _ in range(THRESHOLDS.window_parts)]
    window, stride = (
        IntegrationWindow.of(
            max(THRESHOLDS.least_window_width, THRESHOLDS.window_width * problem.decimate)
        ),
        max(1, problem.decimate // THRESHOLDS.windows_per_sample),
    )
    spans = list(window_spans(problem, window, stride))
    total = max(sum(count for *_, count in spans), 1)
    done = 0
    for part, first, last, count in spans:
        Y, b, keep = integrated(
            terms(part.part(slice(first, last))), part.t[first:last], window, stride, count
        )
        number = (done + np.arange(count)) * THRESHOLDS.window_parts // total
        for k in np.unique(number):
            selected = number == k
            totals[k] = totals[k].fold(
                Y[selected], b[selected], None if keep is None else keep[selected]
            )
        done += count
    rows = sum(sum(each.counts) for each in totals)
    if rows < problem.base.n_base:
        raise ProblemError(
            f"{rows:.0f} rows of windows of {len(window.weights)} samples are left for"
            f" {problem.base.n_base} base parameters; a longer log without gaps, or another"
            " estimator, is needed"
        )
    return tuple(totals)


def window_spans(
    problem: Problem, window: IntegrationWindow, stride: int
) -> Iterator[tuple[Samples, int, int, int]]:
    """Yield blocks of samples with their first and last index, and the number of windows."""
    step, reach = block_length(problem.decimate), window.reach
    for part in problem.samples:
        for stretch in split(part.t):
            for start in range(stretch.start + reach, stretch.stop - reach, step):
                stop = min(start + step, stretch.stop - reach)
                yield part, start - reach, stop + reach, -(-(stop - start) // stride)


def integrated(
    terms: WindowTerms, t: Array, window: IntegrationWindow, stride: int, count: int
) -> tuple[Array, Array, NDArray[np.bool_] | None]:
    """Return rows (count, r, b), right sides and used rows (count, r) of windows.

    The windows begin `stride` samples apart.

    Windows are even over samples; where time stamps are not, the time between samples is a factor
    of what is integrated.
    """
    dt = float(np.mean(np.diff(t)))
    pace = (np.gradient(t) / dt)[:, None]
    lost = summed(terms.lost * pace[:, :, None], window.weights, stride, count)
    rows = summed(terms.stored, window.derivatives / dt, stride, count) + lost
    right = summed(terms.supplied * pace, window.weights, stride, count) - summed(
        terms.known, window.derivatives / dt, stride, count
    )
    if terms.variance is not None:
        sigma = np.sqrt(summed(terms.variance, window.weights, stride, count))
        rows, right = rows / sigma[:, :, None], right / sigma
    if terms.keep is None:
        return rows, right, None
    return (
        rows,
        right,
        summed((~terms.keep).astype(float), window.weights, stride, count)
        <= THRESHOLDS.masked_weight,
    )


def summed(x: Array, weights: Array, stride: int, count: int) -> Array:
    """Return sum_k weights[k] x[i stride + k] for i < count, (count, ...), of x (N, ...)."""
    flat = np.ascontiguousarray(x.reshape(len(x), -1))
    s0, s1 = flat.strides
    views = as_strided(
        flat, (count, len(weights), flat.shape[1]), (stride * s0, s0, s1), writeable=False
    )
    return np.asarray(np.matmul(weights[None], views)).reshape(count, *x.shape[1:])


def require_plain_model(name: str, model: Model) -> None:
    """Raise CallError for a model of other rows than joint torques on a base at rest."""
    if not model.observation.has_joint_rows or model.moving:
        case = "a base that moves" if model.moving else "a robot with loops, or from base wrenches"
        raise CallError(
            f"estimator {name!r} is not for {case}: the momentum of the joints is not all that"
            " counts there; use 'sdp' or 'wls'"
        )
