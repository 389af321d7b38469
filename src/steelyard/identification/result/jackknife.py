"""Delete-a-block jackknife.

The covariance of an estimate from how it changes when stretches of the motion are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import stdtrit

from ...signals.filters import decimated_index
from ..model.accumulator import map_for
from ..model.problem import Problem
from .result_thresholds import THRESHOLDS
from .state_coverage import scale_of

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cells:
    """Stretches of the motion.

    For each log the number of the cell that each kept sample is in; `ends` are numbers up to each
    log's end.

    A sample whose state was visited before is in the cell of the first visit: an error of the model
    is the same there, so that a repeated motion has no more information on it.
    """

    numbers: tuple[Indices, ...]
    ends: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many cells there are."""
        return self.ends[-1]


def motion_cells(problem: Problem) -> Cells:
    """Return about `motion_cells` cells of equal size, stretches of states not visited before."""
    counts = [len(t) for t in problem.times]
    stride = -(-sum(counts) // THRESHOLDS.compared_points)
    thin = normalised(problem, stride)
    first = first_visits(np.concatenate(thin), np.concatenate([reach(x) for x in thin]))
    leads = first == np.arange(len(first))
    edges = np.cumsum([0, *(len(x) for x in thin)])
    new = [int(leads[a:b].sum()) for a, b in pairwise(edges)]
    cells = [
        max(round(count * min(1.0, THRESHOLDS.motion_cells / leads.sum())), 1) if count else 0
        for count in new
    ]
    starts = np.cumsum([0, *cells])
    of_new = [starts[k] + np.arange(new[k]) * cells[k] // max(new[k], 1) for k in range(len(thin))]
    number = np.full(len(leads), -1)
    number[leads] = np.concatenate(of_new)
    cell = number[first]
    numbers = tuple(
        cell[a + np.arange(count) // stride] for a, count in zip(edges, counts, strict=False)
    )
    return Cells(numbers, tuple(starts[1:].tolist()))


def normalised(problem: Problem, stride: int = 1) -> list[Array]:
    """Return every stride-th kept state (N, 2 n) of each log.

    Q and qd over their standard deviations.
    """
    indices = [decimated_index(s.t, problem.decimate) for s in problem.samples]
    step, parts = -(-problem.N // THRESHOLDS.scale_samples), []
    for signal in ("q", "qd"):
        values = [
            (getattr(s, signal), index) for s, index in zip(problem.samples, indices, strict=True)
        ]
        scale = scale_of([x[index[::step]] for x, index in values])
        parts.append([x[index[::stride]] / scale for x, index in values])
    return [np.hstack(both) for both in zip(*parts, strict=True)]


def reach(x: Array) -> Array:
    """Return for each point of a path x (N, d) how near a state must be to count as the same, (N,).

    A part of the distance to the next.
    """
    steps = np.sqrt(np.mean(np.diff(x, axis=0) ** 2, axis=1)) if len(x) > 1 else np.zeros(1)
    return np.clip(
        THRESHOLDS.equal_state_steps * np.append(steps, steps[-1]),
        *THRESHOLDS.equal_state_distances,
    )


def first_visits(x: Array, near: Array) -> Indices:
    """Return for each state x (N, d) the index of the first one within `near` (N,).

    Distances are root mean squares over d; a state without neighbours has its own index.

    Hartigan, "Clustering Algorithms", 1975, chapter 3 (the leader algorithm).
    """
    N, d = x.shape
    squares = np.sum(x**2, axis=1)
    leaders, members, numbers, leader_of = (
        np.empty_like(x),
        np.empty(N),
        np.empty(N, np.intp),
        np.empty(N, np.intp),
    )
    count = 0
    for i in range(N):
        distance = members[:count] - 2.0 * (leaders[:count] @ x[i])
        nearest = int(np.argmin(distance)) if count else 0
        if count and distance[nearest] + squares[i] <= d * near[i] ** 2:
            leader_of[i] = numbers[nearest]
            continue
        leaders[count], members[count], numbers[count], leader_of[i] = x[i], squares[i], i, i
        count += 1
    return leader_of


def jackknife(information: Array, scores: Array, ends: tuple[int, ...], root: Array) -> Array:
    """Return the jackknife covariance (k, k) of x, where the estimate is x_0 + root x.

    root^T A root = 1 for its precision A, prior included.

    information (c, b, b) and scores (c, b) are Y^T W^2 Y and Y^T W^2 e of each cell, root (b, k).
    Without the cells of a block g the estimate changes by x_g = (1 - H_g)^-1 root^T s_g, with H_g =
    root^T A_g root the leverage of the block: exactly what a new estimate would give. The
    covariance is sum_g (x_g - mean)^2 over blocks of `block_cells` neighbouring cells that overlap,
    each sample counted as often as it is left out. It assumes neither white nor equal noise: what
    counts is that blocks are longer than the memory of the residuals, be they noise or errors of
    the model. In-sample residuals are too small where leverage is large; (1 - H_g)^-1 undoes that.
    Kuensch, Annals of Statistics 17 (1989), p. 1217 (blocks of dependent observations); Bell and
    McCaffrey, Survey Methodology 28 (2002), p. 169, and MacKinnon, Nielsen and Webb, J. Applied
    Econometrics 38 (2023), p. 671 (leverage of blocks in regressions). The variance of few blocks
    is uncertain itself: see `student_factor`.
    """

    def left_out(cells: slice) -> Array:
        """Return the change x_g without some cells."""
        return change(
            root.T @ information[cells].sum(axis=0) @ root, root.T @ scores[cells].sum(axis=0)
        )

    parts, weights = zip(*moving_blocks(ends), strict=True)
    D, w = np.array(list(map_for(len(root))(left_out, parts))), np.array(weights)
    blocks = float(w.sum())
    D = D - w @ D / blocks
    return np.asarray((D.T * w) @ D * (1.0 - 1.0 / max(blocks, 2.0)) * student_factor(blocks))


def student_factor(blocks: float) -> float:
    """Return the factor on a jackknife variance from few blocks (Student's t).

    (t / 1.96)^2, with the 97.5 % quantile t of Student's distribution: blocks that overlap count
    for 1.5 times as many degrees of freedom as there are blocks side by side, less one. Meketon and
    Schmeiser, Winter Simulation Conference 1984, p. 227.
    """
    freedom = max(THRESHOLDS.overlap_freedom * (blocks - 1.0), 1.0)
    return float(stdtrit(freedom, 0.975) / THRESHOLDS.band_deviations) ** 2


def moving_blocks(ends: tuple[int, ...]) -> Iterator[tuple[slice, float]]:
    """Yield blocks of neighbouring cells of each log, with weights that sum to one per cell."""
    span = max(1, min(THRESHOLDS.block_cells, ends[-1] // 5))
    for start, end in pairwise((0, *ends)):
        long = min(span, end - start)
        starts = range(start, end - long + 1)
        for first in starts if long else ():
            yield slice(first, first + long), (end - start) / (long * len(starts))


def change(leverage: Array, score: Array) -> Array:
    """Return (1 - H)^-1 s, bounded along directions that only this block shows."""
    rest = (1.0 + THRESHOLDS.leverage_rounding) * np.eye(len(leverage)) - leverage
    try:
        return np.asarray(cho_solve(cho_factor(rest), score))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(rest)
        return np.asarray(vectors @ ((vectors.T @ score) / np.maximum(values, 1e-3)))
