"""Which parts of the logs of an archive repeat the motion of an earlier one, and so tell no more about an error of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from ..result.jackknife import reach
from ..result.state_coverage import scale_of
from .log_factor import LogFactor
from .recipe import PARTS

Array = NDArray[np.float64]
COMPARED = 200  # logs that the others are compared with
ASKED = 16  # states of each part that are looked for in earlier parts
MOST_OF = 0.5  # share of them that must be found


def cells_of(factors: Sequence[LogFactor]) -> NDArray[np.intp]:
    """Return the cell of each part of each log, (logs, parts), from 0: parts with the same motion share one.

    A part belongs to the cell of an earlier part if most of its states were visited there, see `result.jackknife`.
    """
    paths = paths_of(factors)
    many = min(len(paths), COMPARED)
    part_of = [np.arange(len(x)) * PARTS // len(x) for x in paths]
    numbers = np.concatenate([PARTS * k + part_of[k] for k in range(many)])
    tree = KDTree(np.concatenate(paths[:many]))
    cells, count = np.zeros((len(paths), PARTS), np.intp), 0
    for log, x in enumerate(paths):
        near = reach(x) * np.sqrt(x.shape[1])
        for part in range(PARTS):
            at = np.flatnonzero(part_of[log] == part)
            asked = at[np.linspace(0, len(at) - 1, min(ASKED, len(at))).astype(int)] if len(at) else at
            found = tree.query_ball_point(x[asked], near[asked])
            first = [int(np.min(numbers[each], initial=PARTS * len(paths))) for each in found]
            earlier = Counter(number for number in first if number < PARTS * log + part)
            if earlier.total() > MOST_OF * len(asked):
                cells[log, part] = cells.flat[earlier.most_common(1)[0][0]]
            else:
                cells[log, part], count = count, count + 1
    return cells


def paths_of(factors: Sequence[LogFactor]) -> list[Array]:
    """Return the states (K, 2 n) of each log: q and qd over their standard deviations in all."""
    scales = [scale_of([factor.states[k] for factor in factors]) for k in (0, 1)]
    return [np.hstack([factor.states[k] / scales[k] for k in (0, 1)]) for factor in factors]
