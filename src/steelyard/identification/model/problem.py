"""The problem that estimators solve: a model and samples, with rows of the regressor made block by block and folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...errors import ProblemError
from ...parameters.base import BaseParameters
from ...signals.filters import decimated_index
from ...signals.segments import split
from ..samples.decimation import GROUP, REACH, decimated
from ..samples.samples import Samples
from .accumulator import Accumulator
from .linear_model import Model

Array = NDArray[np.float64]
BLOCK = 4096
FOLDS = 8
STORED = 200e6  # bytes of rows that are kept and not computed again


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of one log: t (N,), Y (N, n, b), tau minus known torque (N, n), known torque (N, n), rows in use (N, n) or None."""

    t: Array
    Y: Array
    tau: Array
    known: Array
    keep: NDArray[np.bool_] | None
    log: int


@dataclass(frozen=True, eq=False)
class Problem:
    """tau = Y base + known + noise over all samples, one in `decimate` of them kept. What is derived is computed once, on demand.

    `extra(samples, log)` gives further columns (N, n, k), which the blocks have after those of Y.
    """

    model: Model
    samples: tuple[Samples, ...]
    decimate: int = 1
    extra: Callable[[Samples, int], Array] | None = None

    @property
    def base(self) -> BaseParameters:
        return self.model.base

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the columns that its rows have."""
        return self.model.reach

    def blocks(self, most: int | None = None) -> Iterator[Block]:
        """Yield every kept sample once, in order of time, log by log; with `most`, about that many blocks spread over all."""
        step = block_length(self.decimate)
        spans = [(number, part, stretch) for number, part in enumerate(self.samples) for stretch in split(part.t)]
        starts = [(*span, start) for span in spans for start in range(span[2].start, span[2].stop, step)]
        stride = 1 if most is None else max(1, len(starts) // most)
        kept = self._stored if stride == 1 and self._fits else None
        if kept:
            yield from kept
            return
        for number, part, stretch, start in starts[::stride]:
            block = one_block(self.model, part, stretch, start, self.decimate, number, self.extra)
            if kept is not None:
                kept.append(block)
            yield block

    @property
    def _fits(self) -> bool:
        """Whether all rows fit into STORED bytes."""
        return self.N * self.n * self.base.n_base * 8 <= STORED

    @cached_property
    def _stored(self) -> list[Block]:
        return []

    @cached_property
    def times(self) -> tuple[Array, ...]:
        """The times of the kept samples of each log, each (N,) [s]."""
        return tuple(s.t if self.decimate == 1 else s.t[decimated_index(s.t, self.decimate)] for s in self.samples)

    @property
    def N(self) -> int:
        """How many samples are kept."""
        return sum(len(t) for t in self.times)

    @property
    def rows(self) -> int:
        """How many rows are in use."""
        every = [(s, decimated_index(s.t, self.decimate)) for s in self.samples]
        return sum(len(index) * self.n if s.keep is None else int(np.sum(s.keep[index])) for s, index in every)

    @cached_property
    def folds(self) -> tuple[Accumulator, ...]:
        """Accumulators of up to FOLDS consecutive parts of the samples, as for cross-validation."""
        return self.accumulate(FOLDS)

    @cached_property
    def total(self) -> Accumulator:
        """All samples folded."""
        return merged(self.folds)

    def accumulate(self, parts: int = 1, weigh: Callable[[Block], Array] | None = None) -> tuple[Accumulator, ...]:
        """Fold all samples, in `parts` consecutive parts; `weigh(block)` gives weights (N, n) of its rows."""
        made = [Accumulator.empty(self.reach, self.base.n_base) for _ in range(parts)]
        done, total = 0, max(self.N, 1)
        for block in self.blocks():
            weights = None if weigh is None else weigh(block)
            number = np.minimum(parts - 1, (done + np.arange(len(block.t))) * parts // total)
            edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
            for a, b in pairwise(edges):
                keep = None if block.keep is None else block.keep[a:b]
                made[number[a]] = made[number[a]].fold(block.Y[a:b], block.tau[a:b], keep, None if weights is None else weights[a:b])
            done += len(block.t)
        return tuple(made)

    @cached_property
    def prior(self) -> Array:
        """The base parameters of the robot as given, (b,)."""
        return self.base.values(self.model.start)

    @cached_property
    def regressor_noise(self) -> Accumulator:
        """The errors of the regressor that the noise of q, qd and qdd makes, folded; scaled to the number of all samples."""
        made = Accumulator.empty(self.reach, self.base.n_base)
        for rows, _, part in self.regressor_errors():
            keep = None if part.keep is None else part.keep[:: self.decimate]
            made = made.fold(rows, np.zeros(rows.shape[:2]), keep)
        return made

    def regressor_errors(self) -> Iterator[tuple[Array, int, Samples]]:
        """Yield errors of the regressor (N, n, b) that the noise of q, qd and qdd makes, as drawn for the middle of each log.

        They are scaled so that their squares count for all samples of the log; with the log's number and its samples there.
        """
        for number, s in enumerate(self.samples):
            if s.errors is None:
                continue
            part = s.part(s.middle)
            moved = [x + errors for x, errors in zip((part.q, part.qd, part.qdd), s.errors, strict=True)]
            rows = self.model.rows(*moved, *part.states[3:]) - self.model.rows(*part.states)
            yield decimated(rows, self.decimate, 0, -(-part.N // self.decimate)) * np.sqrt(s.N / part.N), number, part

    def check_rows(self) -> None:
        """Raise ProblemError if there are fewer rows than unknowns."""
        if self.rows < self.base.n_base:
            raise ProblemError(f"{self.rows} rows are left for {self.base.n_base} base parameters; a longer log or a lower mask is needed")


def merged(folds: tuple[Accumulator, ...], without: int | None = None) -> Accumulator:
    """Return all parts together, or all but one."""
    parts = [fold for k, fold in enumerate(folds) if k != without]
    result = parts[0]
    for part in parts[1:]:
        result = result.merge(part)
    return result


def block_length(factor: int) -> int:
    """Return how many samples a block has before decimation."""
    return BLOCK if factor == 1 else max(BLOCK // (GROUP * factor), 1) * GROUP * factor


def one_block(
    model: Model,
    part: Samples,
    stretch: slice,
    start: int,
    factor: int,
    number: int,
    extra: Callable[[Samples, int], Array] | None = None,
) -> Block:
    """Return a block within a stretch without gaps; torque and columns pass the same low-pass before one sample in `factor` is kept.

    The reach of the filter is added on both sides and cut off again, so that the result does not depend on the blocks.
    Gautier, ICRA 1997, pp. 1922-1927 (parallel filtering).
    """
    margin = 0 if factor == 1 else REACH * factor
    stop = min(start + block_length(factor), stretch.stop)
    first, last = max(start - margin, stretch.start), min(stop + margin, stretch.stop)
    there = part.part(slice(first, last))
    states = there.states
    t = part.t[start:stop:factor]
    known = model.known_torque(*states) + (0.0 if there.payload_torque is None else there.payload_torque)
    rows = model.rows(*states)
    rows = rows if extra is None else np.concatenate([rows, extra(there, number)], axis=2)
    Y, tau, known = (decimated(x, factor, start - first, len(t)) for x in (rows, there.tau, known))
    keep = None if part.keep is None else part.keep[start:stop:factor]
    return Block(t, Y, tau - known, known, keep, number)
