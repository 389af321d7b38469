"""Base parameters: the combinations of parameters that torques depend on, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.parametric import JOINT_TERMS, parameter_names
from ..dynamics.regressor import regressor
from ..mechanism.tree import Tree

Array = NDArray[np.float64]

TOLERANCE = 1e-9


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


def expression(row: NDArray[np.float64], first: int, names: Sequence[str]) -> str:
    """'Izz2 + Ia2 + 0.0506*m3 - mcx4' of one row of coefficients, beginning with the parameter `first`."""
    order = [first, *(int(j) for j in np.flatnonzero(row) if j != first)]
    text = ""
    for j in order:
        value = row[j]
        size = "" if abs(value) == 1 else f"{abs(value):.6g}*"
        sign = ("" if value > 0 else "-") if not text else (" + " if value > 0 else " - ")
        text += f"{sign}{size}{names[j]}"
    return text


def short_names(names: Sequence[str], links: Sequence[str] = (), joints: Sequence[str] = ()) -> tuple[str, ...]:
    """'upper_arm.mcx' -> 'mcx2', 'elbow.Fv' -> 'Fv3': the term and the number of its link or joint, counted from 1.

    `links` and `joints` are the owners in order. A name whose owner is neither stays as it is.
    """
    number = {("link", name): i for i, name in enumerate(links, 1)} | {("joint", name): i for i, name in enumerate(joints, 1)}
    short = []
    for name in names:
        owner, _, term = name.rpartition(".")
        index = number.get(("joint" if term in JOINT_TERMS else "link", owner))
        short.append(name if index is None else f"{term}{index}")
    return tuple(short)


def independent_columns(matrix: np.ndarray, order: Sequence[int], tolerance: float = TOLERANCE) -> list[int]:
    """The columns, in that order, that are not combinations of those kept before them.

    A column counts as dependent when what is left of it after two passes of Gram-Schmidt is below `tolerance` times its norm
    (twice is enough: Parlett, The Symmetric Eigenvalue Problem, section 6.9).
    """
    kept: list[int] = []
    basis = np.zeros((matrix.shape[0], min(matrix.shape)))
    scale = np.linalg.norm(matrix, axis=0)
    floor = np.finfo(float).eps * (scale.max() if scale.size else 0.0) * max(matrix.shape, default=1)
    for j in order:
        if scale[j] <= floor or len(kept) == basis.shape[1]:
            continue
        Q = basis[:, : len(kept)]
        rest = matrix[:, j] / scale[j]
        for _ in range(2):
            rest = rest - Q @ (Q.T @ rest)
        size = np.linalg.norm(rest)
        if size > tolerance:
            basis[:, len(kept)] = rest / size
            kept.append(j)
    return kept


def sampled_regressor(tree: Tree, samples: int | None = None, seed: int = 0) -> np.ndarray:
    """Y at random q, qd, qdd, stacked: (samples * n, p). Angles over the whole turn, slides within 1 m, rates and accelerations of order 1.

    Enough samples for the rank of any tree by default: twice as many rows as columns.
    Gautier 1991, "Numerical calculation of the base inertial parameters of robots", section III.
    """
    q, qd, qdd = random_states(tree, samples, seed)
    return dense(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))


def random_states(tree: Tree, samples: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q [rad|m], qd, qdd, each (samples, n), that show all that any motion can show."""
    rng = np.random.default_rng(seed)
    n, columns = max(tree.n, 1), 10 * len(tree.bodies) + 4 * tree.n
    count = samples or 2 * -(-columns // n) + 4
    turning = np.array([any(b.kind == "revolute" and b.coordinate == i for b in tree.bodies) for i in range(tree.n)])
    q = rng.uniform(-1.0, 1.0, (count, tree.n)) * np.where(turning, np.pi, 1.0)
    qd, qdd = rng.normal(size=(2, count, tree.n)) * 2.0
    return q, qd, qdd


def dense(rows: Sequence[Sequence[Any]], count: int) -> np.ndarray:
    """Nested lists of floats and (count,) arrays as one (count * rows, columns) matrix, sample by sample."""
    block = np.array([[np.broadcast_to(x, (count,)) for x in row] for row in rows])
    return np.ascontiguousarray(block.transpose(2, 0, 1)).reshape(-1, block.shape[1])
