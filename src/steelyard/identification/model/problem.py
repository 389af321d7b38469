"""The problem that estimators solve.

A model and samples, with rows of the regressor made block by block and folded.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...compiler.runtime.threads import mapped
from ...errors import ProblemError
from ...parameters.base import BaseParameters
from ...signals.filters import decimated_index
from ...signals.segments import split
from ..samples.decimation import decimated
from ..samples.samples import Samples
from ..samples.samples_thresholds import THRESHOLDS as SAMPLES_THRESHOLDS
from .accumulator import Accumulator
from .linear_model import Model
from .model_thresholds import THRESHOLDS
from .rows import ColumnSupport, Rows

Array = NDArray[np.float64]
T = TypeVar("T")
Columns = Callable[[Samples, int], Array]


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive samples of one log.

    T (N,), rows of Y, tau minus known torque (N, n), known torque (N, n), rows in use (N, n) or
    None.

    `first` counts the kept samples of all logs before it. `extra` (N, n, k) has further columns, if
    the problem has some.
    """

    t: Array
    rows: Rows
    tau: Array
    known: Array
    keep: NDArray[np.bool_] | None
    log: int
    first: int
    extra: Array | None = None

    @property
    def every_column(self) -> Rows:
        """The rows with the further columns, if there are some."""
        return self.rows if self.extra is None else Rows.of(self.Y)

    @property
    def Y(self) -> Array:
        """The rows (N, n, b + k), with their zeros and with the further columns."""
        return (
            self.rows.dense
            if self.extra is None
            else np.concatenate([self.rows.dense, self.extra], axis=2)
        )


class BlockSpan(NamedTuple):
    """Position of a block: number of its log, gap-free stretch, samples, kept samples before."""

    log: int
    stretch: slice
    samples: slice
    first: int

    def kept(self, factor: int) -> int:
        """Return how many of its samples are kept, one in `factor`."""
        return -(-(self.samples.stop - self.samples.start) // factor)


@dataclass(frozen=True, eq=False)
class Problem:
    """tau = Y base + known + noise over all samples, one in `decimate` of them kept.

    What is derived is computed once, on demand.

    `extra(samples, log)` gives further columns (N, n, k), which the blocks have beside their rows.
    `automatic_rate` says that `decimate` follows from the motion and was not given. `notes` are
    sentences on what an estimator did to the samples. `presliding` has the presliding states (N, n)
    of each log where its samples do not determine them, such as every k-th sample of a log.
    """

    model: Model
    samples: tuple[Samples, ...]
    decimate: int = 1
    extra: Columns | None = None
    automatic_rate: bool = field(default=False, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    presliding: tuple[Array | None, ...] | None = field(default=None, kw_only=True)

    @property
    def base(self) -> BaseParameters:
        return self.model.base

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def reach(self) -> ColumnSupport:
        """For each joint the columns that its rows have."""
        return self.model.reach

    def blocks(self, most: int | None = None) -> Iterator[Block]:
        """Yield every kept sample once, in order of time, log by log.

        With `most`, about that many blocks spread over all.
        """
        return self.each(lambda block: block, most)

    def each(self, function: Callable[[Block], T], most: int | None = None) -> Iterator[T]:
        """Yield function(block) of every block in the order of `blocks`.

        Several of them are computed at once.
        """
        every, selected = self.places(), self.places(most)
        if len(selected) == len(every) and self._stored:
            yield from mapped(function, self._stored)
            return
        if len(selected) < len(every) or not self._fits:
            yield from mapped(lambda span: function(self.block(span)), selected)
            return
        blocks: list[Block] = []

        def block_and_result(span: BlockSpan) -> tuple[Block, T]:
            block = self.block(span)
            return block, function(block)

        for block, result in mapped(block_and_result, every):
            blocks.append(block)
            yield result
        self._stored[:] = blocks

    def places(self, most: int | None = None) -> list[BlockSpan]:
        """Return where each block is, in order of time, log by log.

        With `most`, about that many spread over all.
        """
        step, spans, first = block_length(self.decimate), list[BlockSpan](), 0
        for number, stretch in (
            (number, stretch)
            for number, part in enumerate(self.samples)
            for stretch in split(part.t)
        ):
            for start in range(stretch.start, stretch.stop, step):
                spans.append(
                    BlockSpan(number, stretch, slice(start, min(start + step, stretch.stop)), first)
                )
                first += spans[-1].kept(self.decimate)
        return spans if most is None else spans[:: max(1, len(spans) // most)]

    def block(self, span: BlockSpan) -> Block:
        """Return the block at a place."""
        samples, memory = self.samples[span.log], self.memory[span.log]
        return one_block(self.model, samples, span, self.decimate, self.extra, memory)

    @cached_property
    def memory(self) -> tuple[Array | None, ...]:
        """The presliding states (N, n) of each log; None without friction with memory."""
        return self.presliding or tuple(self.model.memory(s) for s in self.samples)

    def columns_at(self, extra: Columns, span: BlockSpan) -> Array:
        """Return further columns (N, n, k) at the kept samples of a place, through the low-pass."""
        there, before = around(self.samples[span.log], span, self.decimate)
        return decimated(extra(there, span.log), self.decimate, before, span.kept(self.decimate))

    @property
    def _fits(self) -> bool:
        """Whether all rows fit into `stored_bytes` bytes."""
        return 8 * self.N * self.reach.size <= THRESHOLDS.stored_bytes

    @cached_property
    def _stored(self) -> list[Block]:
        return []

    @cached_property
    def times(self) -> tuple[Array, ...]:
        """The times of the kept samples of each log, each (N,) [s]."""
        return tuple(
            s.t if self.decimate == 1 else s.t[decimated_index(s.t, self.decimate)]
            for s in self.samples
        )

    @property
    def N(self) -> int:
        """How many samples are kept."""
        return sum(len(t) for t in self.times)

    @property
    def rows(self) -> int:
        """How many rows are in use."""
        every = [(s, decimated_index(s.t, self.decimate)) for s in self.samples]
        return sum(
            len(index) * self.n if s.keep is None else int(np.sum(s.keep[index]))
            for s, index in every
        )

    @cached_property
    def folds(self) -> tuple[Accumulator, ...]:
        """Accumulators of up to `folds` consecutive parts of the samples, for cross-validation."""
        return self.accumulate(THRESHOLDS.folds)

    @property
    def has_consecutive_folds(self) -> bool:
        """Whether `folds` are consecutive parts of `samples`."""
        return True

    @cached_property
    def total(self) -> Accumulator:
        """All samples folded."""
        return merged(self.folds)

    def accumulate(
        self, parts: int = 1, weigh: Callable[[Block], Array] | None = None
    ) -> tuple[Accumulator, ...]:
        """Fold all samples, in `parts` consecutive parts.

        `weigh(block)` gives weights (N, n) of its rows.
        """
        empty, total = Accumulator.empty(self.reach, self.base.n_base), max(self.N, 1)
        # the first sample of each further part
        ends = [-(-total * k // parts) for k in range(1, parts)]

        def folded(block: Block) -> list[tuple[int, Accumulator]]:
            weights = None if weigh is None else weigh(block)
            cuts = [
                0,
                *(end - block.first for end in ends if 0 < end - block.first < len(block.t)),
                len(block.t),
            ]
            parts = []
            for a, b in pairwise(cuts):
                keep, w = (
                    None if block.keep is None else block.keep[a:b],
                    (None if weights is None else weights[a:b]),
                )
                parts.append(
                    (
                        bisect(ends, block.first + a),
                        empty.fold_rows(block.rows[a:b], block.tau[a:b], keep, w),
                    )
                )
            return parts

        result = [empty] * parts
        for each in self.each(folded):
            for number, more in each:
                result[number] = more.merge(result[number])
        return tuple(result)

    @cached_property
    def prior(self) -> Array:
        """The base parameters of the robot as given, (b,)."""
        return self.base.values(self.model.start)

    @cached_property
    def regressor_noise(self) -> Accumulator:
        """The errors of the regressor that the noise of q, qd and qdd makes, folded.

        Scaled to the number of all samples.
        """
        noise = Accumulator.empty(self.model.reach, self.base.n_base)
        for rows, _, part in self.regressor_errors():
            keep = None if part.keep is None else part.keep[:: self.decimate]
            noise = noise.fold_rows(rows, np.zeros((len(rows.entries), self.n)), keep)
        return noise

    def regressor_errors(self) -> Iterator[tuple[Rows, int, Samples]]:
        """Yield drawn errors of the regressor rows due to noise of q, qd and qdd.

        They are scaled so that their squares count for all samples of the log; with the log's
        number and its samples there.
        """
        for number, s in enumerate(self.samples):
            if s.errors is None:
                continue
            part = s.part(s.middle)
            moved = [
                x + errors for x, errors in zip((part.q, part.qd, part.qdd), s.errors, strict=True)
            ]
            displaced = replace(part, q=moved[0], qd=moved[1], qdd=moved[2])
            rows = self.model.rows_in_reach(*part.states, memory=self.model.memory(part))
            memory = self.model.memory(displaced)
            errors = self.model.entries(*displaced.states, memory=memory) - rows.entries
            low_passed = decimated(errors, self.decimate, 0, -(-part.N // self.decimate)) * np.sqrt(
                s.N / part.N
            )
            yield replace(rows, entries=low_passed), number, part

    def check_rows(self) -> None:
        """Raise ProblemError if there are fewer rows than unknowns."""
        if self.rows < self.base.n_base:
            raise ProblemError(
                f"{self.rows} rows are left for {self.base.n_base} base parameters; a longer log or"
                " a lower mask is needed"
            )


def merged(folds: tuple[Accumulator, ...], without: int | None = None) -> Accumulator:
    """Return all parts together, or all but one."""
    parts = [fold for k, fold in enumerate(folds) if k != without]
    result = parts[0]
    for part in parts[1:]:
        result = result.merge(part)
    return result


def block_length(factor: int) -> int:
    """Return how many samples a block has before decimation."""
    if factor == 1:
        return THRESHOLDS.block_samples
    step = SAMPLES_THRESHOLDS.filter_group * factor
    return max(THRESHOLDS.block_samples // step, 1) * step


def one_block(
    model: Model,
    part: Samples,
    span: BlockSpan,
    factor: int,
    extra: Columns | None = None,
    memory: Array | None = None,
) -> Block:
    """Return a block within a stretch without gaps.

    Torque and columns pass the same low-pass before one sample in `factor` is kept.

    The reach of the filter is added on both sides and cut off again, so that the result does not
    depend on the blocks. Gautier, ICRA 1997, pp. 1922-1927 (parallel filtering).
    """
    there, before = around(part, span, factor)
    first = span.samples.start - before
    z = None if memory is None else memory[first : first + there.N]
    known = model.known_torque(*there.states, memory=z) + (
        0.0 if there.payload_torque is None else there.payload_torque
    )
    signals = [
        model.entries(*there.states, memory=z),
        there.tau,
        known,
        *([] if extra is None else [extra(there, span.log)]),
    ]
    entries, tau, known, *further = (
        decimated(x, factor, before, span.kept(factor)) for x in signals
    )
    index = slice(span.samples.start, span.samples.stop, factor)
    rows, keep = (
        Rows(entries, model.reach, model.base.n_base),
        (None if part.keep is None else part.keep[index]),
    )
    return Block(
        t=part.t[index],
        rows=rows,
        tau=tau - known,
        known=known,
        keep=keep,
        log=span.log,
        first=span.first,
        extra=further[0] if further else None,
    )


def around(part: Samples, span: BlockSpan, factor: int) -> tuple[Samples, int]:
    """Return the samples of a span with the margin of the low-pass, and the length of it before."""
    margin = 0 if factor == 1 else SAMPLES_THRESHOLDS.filter_reach * factor
    first, last = (
        max(span.samples.start - margin, span.stretch.start),
        min(span.samples.stop + margin, span.stretch.stop),
    )
    return part.part(slice(first, last)), span.samples.start - first
