"""Parts of logs that repeat an earlier motion, and so add nothing about model errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ..result.jackknife import reach
from ..result.state_coverage import scale_of
from .log_factor import LogFactor
from .out_of_core_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def cells_of(factors: Sequence[LogFactor]) -> NDArray[np.intp]:
    """Return the cell of each part of each log, (logs, parts), from 0.

    Parts with the same motion share a cell: a part belongs to the cell of an earlier part that
    covers most of its states, see `result.jackknife`.
    """
    paths = paths_of(factors)
    many = min(len(paths), THRESHOLDS.compared_logs)
    part_of = [np.arange(len(x)) * THRESHOLDS.parts_per_log // len(x) for x in paths]
    numbers = np.concatenate([THRESHOLDS.parts_per_log * k + part_of[k] for k in range(many)])
    tree = KDTree(np.concatenate(paths[:many]))
    cells, count = np.zeros((len(paths), THRESHOLDS.parts_per_log), np.intp), 0
    for log, x in enumerate(paths):
        near = reach(x) * np.sqrt(x.shape[1])
        for part in range(THRESHOLDS.parts_per_log):
            indices = np.flatnonzero(part_of[log] == part)
            asked = (
                indices[
                    np.linspace(
                        0, len(indices) - 1, min(THRESHOLDS.compared_states, len(indices))
                    ).astype(int)
                ]
                if len(indices)
                else indices
            )
            neighbours = tree.query_ball_point(x[asked], near[asked])
            first = [
                int(np.min(numbers[each], initial=THRESHOLDS.parts_per_log * len(paths)))
                for each in neighbours
            ]
            earlier = Counter(
                number for number in first if number < THRESHOLDS.parts_per_log * log + part
            )
            if earlier.total() > THRESHOLDS.repeated_share * len(asked):
                cells[log, part] = cells.flat[earlier.most_common(1)[0][0]]
            else:
                cells[log, part], count = count, count + 1
    return cells


def paths_of(factors: Sequence[LogFactor]) -> list[Array]:
    """Return the states (K, 2 n) of each log: q and qd over their standard deviations in all."""
    scales = [scale_of([factor.states[k] for factor in factors]) for k in (0, 1)]
    return [np.hstack([factor.states[k] / scales[k] for k in (0, 1)]) for factor in factors]
