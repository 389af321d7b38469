"""Base parameters: the combinations of parameters that torques depend on, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.parametric import parameter_names
from ..mechanism.tree import Tree
from .expression import expression, short_names
from .independent import TOLERANCE, independent_columns
from .sampled import sampled_regressor

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """What can be seen of pi at all: base = matrix @ pi, with Y pi = Y[:, columns] base for every motion.

    `columns` (b,) are the parameters each combination begins with, `matrix` is (b, p), `expressions` are readable, in short names.
    `unidentifiable` names the parameters that no motion shows. Gautier 1991; Khalil and Dombre 2002, section 9.5.
    """

    columns: tuple[int, ...]
    matrix: Array
    parameter_names: tuple[str, ...]
    short_names: tuple[str, ...]

    @property
    def n_base(self) -> int:
        """How many combinations there are."""
        return len(self.columns)

    @property
    def rank(self) -> int:
        """The rank of the regressor: as many as there are combinations."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that each combination begins with, such as link2.Izz."""
        return tuple(self.parameter_names[c] for c in self.columns)

    @property
    def expressions(self) -> tuple[str, ...]:
        """The combinations in words, such as 'Izz2 + Ia2 + 0.0506*m3'."""
        return tuple(expression(row, column, self.short_names) for row, column in zip(self.matrix, self.columns, strict=True))

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The parameters whose column vanishes: they are in no combination."""
        seen = np.any(self.matrix != 0, axis=0)
        return tuple(name for name, s in zip(self.parameter_names, seen, strict=True) if not s)

    @property
    def alone(self) -> tuple[str, ...]:
        """The parameters that are a combination by themselves: only these have a value of their own."""
        single = np.count_nonzero(self.matrix, axis=1) == 1
        return tuple(name for name, s in zip(self.names, single, strict=True) if s)

    def values(self, pi: ArrayLike) -> Array:
        """matrix @ pi: (..., p) -> (..., b)."""
        return np.asarray(pi, float) @ self.matrix.T

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        head = f"{self.n_base} base parameters of {len(self.parameter_names)}; {len(self.unidentifiable)} have no effect"
        rows = [f"  {name:<{width}}  {text}" for name, text in zip(self.names, self.expressions, strict=True)]
        return "\n".join([head, *rows, f"  no effect: {', '.join(self.unidentifiable) or 'none'}"])


def base_parameters(robot: Any, tolerance: float = TOLERANCE) -> BaseParameters:
    """Which combinations of a robot's parameters can be seen at all, from the regressor at random states.

    Parameters are taken from the base to the tip, so that what cannot be told apart is grouped with the link nearer to the base.
    Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic Systems 8 (1991), section III.
    """
    names = parameter_names(robot.tree)
    return grouped(sampled_regressor(robot.tree), names, tree_names(robot.tree, names), tolerance)


def tree_names(tree: Tree, names: Sequence[str]) -> tuple[str, ...]:
    """Short names: term and number, links and joints counted along the tree."""
    return short_names(names, [body.name for body in tree.bodies], tree.coordinates)


def grouped(Y: Array, names: Sequence[str], short: Sequence[str], tolerance: float = TOLERANCE) -> BaseParameters:
    """The grouping that a tall regressor Y (rows, p) shows: with Y_d = Y_b K, base = pi_b + K pi_d.

    Columns are kept from the first to the last as long as they are independent.
    """
    p = Y.shape[1]
    kept = sorted(independent_columns(Y, range(p), tolerance))
    scale = np.linalg.norm(Y, axis=0)
    scale[scale == 0] = 1.0
    matrix = np.zeros((len(kept), p))
    rest = [j for j in range(p) if j not in set(kept)]
    if kept:
        K, *_ = np.linalg.lstsq(Y[:, kept] / scale[kept], Y[:, rest] / scale[rest], rcond=None)
        # relative to the columns' sizes an entry below the tolerance is rounding
        K[np.abs(K) < max(tolerance, 1e-10) * 10] = 0.0
        matrix[:, rest] = tidy(K / scale[kept][:, None] * scale[rest])
        matrix[range(len(kept)), kept] = 1.0
    matrix.flags.writeable = False
    return BaseParameters(tuple(kept), matrix, tuple(names), tuple(short))


def tidy(K: Array) -> Array:
    """Entries within rounding of a whole number are that number: the coefficients of a grouping are lengths, their products, 0 and +-1."""
    whole = np.round(K)
    return np.where(np.abs(K - whole) < 1e-9, whole, K)
