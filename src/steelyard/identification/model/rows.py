"""Rows of a regressor without the zeros that its structure has.

Of each joint the columns in reach alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...compiler.ir.program import Program, select_entries
from ...kernels import program
from ...mechanism.tree import Tree

Array = NDArray[np.float64]


class ColumnSupport(tuple[tuple[int, ...], ...]):
    """For each row of a regressor the columns that it may have an entry in."""

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the entries of each row are, one row after the other."""
        ends = [0, *accumulate(len(columns) for columns in self)]
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def columns(self) -> tuple[NDArray[np.intp], ...]:
        """The columns of each row as an index."""
        return tuple(np.array(columns, np.intp) for columns in self)

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.places[-1].stop

    def flat(self, width: int) -> list[int]:
        """Return where each entry is in a sample of Y (n, b) in one piece, b = width."""
        return [j * width + c for j, columns in enumerate(self) for c in columns]


@dataclass(frozen=True, eq=False)
class Rows:
    """Y (N, n, b) of N samples by its `entries` (N, P).

    The entries of row j in the columns `reach[j]`, one row after the other.
    """

    entries: Array
    reach: ColumnSupport
    width: int

    @classmethod
    def of(cls, Y: Array) -> Rows:
        """Return rows (N, n, b) that may have an entry anywhere."""
        return cls(
            Y.reshape(len(Y), -1),
            ColumnSupport([tuple(range(Y.shape[2]))] * Y.shape[1]),
            Y.shape[2],
        )

    def __getitem__(self, samples: slice) -> Rows:
        return Rows(self.entries[samples], self.reach, self.width)

    def row(self, j: int) -> Array:
        """Return the entries of row j in the columns reach[j], (N, k)."""
        return self.entries[:, self.reach.places[j]]

    def __matmul__(self, base: Array) -> Array:
        """Return Y base, (N, n), for base (b,)."""
        product = np.empty((len(self.entries), len(self.reach)))
        for j, columns in enumerate(self.reach.columns):
            product[:, j] = self.row(j) @ base[columns]
        return product

    def with_columns(self, diagonal: Array) -> Rows:
        """Return the rows with one more column for each, which it alone has: own (N, n)."""
        parts = [x for j in range(len(self.reach)) for x in (self.row(j), diagonal[:, j : j + 1])]
        reach = ColumnSupport((*columns, self.width + j) for j, columns in enumerate(self.reach))
        return Rows(np.concatenate(parts, axis=1), reach, self.width + len(reach))

    @property
    def dense(self) -> Array:
        """Y (N, n, b), with its zeros."""
        flat = np.zeros((len(self.entries), len(self.reach) * self.width))
        flat[:, self.reach.flat(self.width)] = self.entries
        return flat.reshape(len(flat), len(self.reach), self.width)


def gathered(Y: Array, reach: ColumnSupport) -> Array:
    """Return the entries (N, P) in reach of Y (N, n, b)."""
    return np.take(Y.reshape(len(Y), -1), reach.flat(Y.shape[2]), axis=1)


def entries_program(
    tree: Tree, columns: tuple[int, ...], reach: ColumnSupport, base: bool
) -> Program:
    """Return the program of the entries of some columns of the regressor that are in reach.

    `base`: with the motion of the base.
    """
    return select_entries(
        program(tree, "regressor", columns=columns, base=base), reach.flat(len(columns))
    )
