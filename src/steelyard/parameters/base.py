"""Base parameters: the combinations of parameters on which torques depend.

Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic Systems 8
(1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..drawing.table import Column, Table
from ..dynamics.regressor import regressor
from ..errors import require_robot
from ..floating_point import default_errstate
from ..mechanism.parameter_vector import LINK_TERMS, parameter_names
from ..mechanism.tree import Tree

Array = NDArray[np.float64]

TOLERANCE = 1e-9  # residual of a dependent column, relative to its norm


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of parameters on which torques depend.

    base = matrix @ pi, with Y pi = Y[:, columns] base for every motion. `columns` (b,): the first
    parameter of each combination. `matrix`: (b, p). `short_names` are used in `expressions`.
    Gautier 1991; Khalil and Dombre 2002, section 9.5.
    """

    columns: tuple[int, ...]
    matrix: Array
    parameter_names: tuple[str, ...]
    short_names: tuple[str, ...]

    @property
    def n_base(self) -> int:
        """The number of combinations, b."""
        return len(self.columns)

    @property
    def rank(self) -> int:
        """The rank of the regressor, which is the number of combinations."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The first parameter of each combination, such as link2.Izz."""
        return tuple(self.parameter_names[c] for c in self.columns)

    @property
    def expressions(self) -> tuple[str, ...]:
        """The combinations as text, such as 'Izz2 + Ia2 + 0.0506*m3'."""
        return tuple(
            expression(row, column, self.short_names)
            for row, column in zip(self.matrix, self.columns, strict=True)
        )

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The parameters that are in no combination: no motion identifies them."""
        used = np.any(self.matrix != 0, axis=0)
        return tuple(
            name for name, is_used in zip(self.parameter_names, used, strict=True) if not is_used
        )

    @property
    def alone(self) -> tuple[str, ...]:
        """The parameters that are a combination by themselves.

        Only these can be identified one by one.
        """
        single = np.count_nonzero(self.matrix, axis=1) == 1
        return tuple(name for name, s in zip(self.names, single, strict=True) if s)

    def values(self, pi: ArrayLike) -> Array:
        """Return matrix @ pi: (..., p) -> (..., b)."""
        return np.asarray(pi, float) @ self.matrix.T

    def table(self) -> Table:
        """Return each combination, and its first parameter."""
        columns = (Column("parameter", numeric=False), Column("is", numeric=False))
        head = f"{self.n_base} base parameters of {len(self.parameter_names)}"
        rows = tuple(zip(self.names, self.expressions, strict=True))
        return Table(head, columns, rows, f"No effect: {', '.join(self.unidentifiable) or 'none'}.")

    def _repr_html_(self) -> str:
        return self.table().to_html()

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        head = (
            f"{self.n_base} base parameters of {len(self.parameter_names)};"
            f" {len(self.unidentifiable)} have no effect"
        )
        rows = [
            f"  {name:<{width}}  {text}"
            for name, text in zip(self.names, self.expressions, strict=True)
        ]
        return "\n".join([head, *rows, f"  no effect: {', '.join(self.unidentifiable) or 'none'}"])


@default_errstate
def base_parameters(robot: Any, tolerance: float = TOLERANCE) -> BaseParameters:
    """Return a robot's base parameters, from its regressor at random states.

    Parameters are taken from the base to the tip: those that cannot be distinguished are grouped
    with the link nearer to the base. With loops the torques act on the independent coordinates.
    Gautier 1991, section III.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    tolerance : relative size below which a singular value of the regressor is zero.

    Returns
    -------
    `BaseParameters`: .names and .expressions of the combinations, .n_base.

    Examples
    --------
    >>> sy.base_parameters(sy.load("planar_2r")).n_base
    6
    """
    require_robot(robot, "base_parameters", known_function=True)
    names = parameter_names(robot.tree)
    Y = closed_regressor(robot) if robot.tree.loops else sampled_regressor(robot.tree)
    return group_parameters(Y, names, short_parameter_names(robot.tree, names), tolerance)


def group_parameters(
    Y: Array, names: Sequence[str], short: Sequence[str], tolerance: float = TOLERANCE
) -> BaseParameters:
    """Return the grouping of a tall regressor Y (rows, p): with Y_d = Y_b K, base = pi_b + K pi_d.

    Columns are kept from the first to the last as long as they are independent.
    """
    p = Y.shape[1]
    independent = independent_columns(Y, tolerance)
    scale = np.linalg.norm(Y, axis=0)
    scale[scale == 0] = 1.0
    matrix = np.zeros((len(independent), p))
    rest = [j for j in range(p) if j not in set(independent)]
    if independent:
        K, *_ = np.linalg.lstsq(
            Y[:, independent] / scale[independent], Y[:, rest] / scale[rest], rcond=None
        )
        # relative to the columns' sizes an entry below the tolerance is rounding
        K[np.abs(K) < max(tolerance, 1e-10) * 10] = 0.0
        matrix[:, rest] = round_near_integers(K / scale[independent][:, None] * scale[rest])
        matrix[range(len(independent)), independent] = 1.0
    matrix.flags.writeable = False
    return BaseParameters(tuple(independent), matrix, tuple(names), tuple(short))


def independent_columns(matrix: Array, tolerance: float = TOLERANCE) -> list[int]:
    """Return the columns that are not combinations of those before them.

    A column is dependent if its residual after two passes of Gram-Schmidt is below `tolerance`
    times its norm (twice is enough: Parlett, The Symmetric Eigenvalue Problem, section 6.9).
    """
    independent: list[int] = []
    basis = np.zeros((matrix.shape[0], min(matrix.shape)))
    scale = np.linalg.norm(matrix, axis=0)
    floor = (
        np.finfo(float).eps * (scale.max() if scale.size else 0.0) * max(matrix.shape, default=1)
    )
    for j in range(matrix.shape[1]):
        if scale[j] <= floor or len(independent) == basis.shape[1]:
            continue
        Q = basis[:, : len(independent)]
        rest = matrix[:, j] / scale[j]
        for _ in range(2):
            rest = rest - Q @ (Q.T @ rest)
        size = np.linalg.norm(rest)
        if size > tolerance:
            basis[:, len(independent)] = rest / size
            independent.append(j)
    return independent


def round_near_integers(K: Array) -> Array:
    """Round entries within 1e-9 of an integer.

    The coefficients of a grouping are lengths, their products, 0 and +-1.
    """
    whole = np.round(K)
    return np.where(np.abs(K - whole) < 1e-9, whole, K)


# random states: a regressor that shows all that any motion can show


def closed_regressor(robot: Any) -> Array:
    """Return N^T Y of a robot with loops at random closed states, stacked: (samples * f, p).

    It has three times as many rows as columns.
    """
    names = parameter_names(robot.tree)
    count = -(-3 * len(names) // max(robot.loop_structure.freedoms, 1))
    return np.asarray(robot.constrained_regressor(*robot.closed_states(count))).reshape(
        -1, len(names)
    )


def sampled_regressor(tree: Tree, samples: int | None = None, seed: int = 0) -> Array:
    """Return Y at random states, stacked: (samples * n, p).

    By default with twice as many rows as columns. Gautier 1991, section III.
    """
    q, qd, qdd = exciting_states(tree, samples, seed)
    return stack_samples(regressor(tree, list(q.T), list(qd.T), list(qdd.T)), len(q))


def exciting_states(
    tree: Tree, samples: int | None = None, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Return random q [rad|m], qd, qdd, each (samples, n).

    Angles within +-pi, prismatic positions within 1 m, the others of order 1.
    """
    rng = np.random.default_rng(seed)
    n, columns = max(tree.n, 1), 10 * len(tree.bodies) + 4 * tree.n
    count = samples or 2 * -(-columns // n) + 4
    turning = np.array(
        [
            any(b.kind == "revolute" and b.coordinate == i for b in tree.bodies)
            for i in range(tree.n)
        ]
    )
    q = rng.uniform(-1.0, 1.0, (count, tree.n)) * np.where(turning, np.pi, 1.0)
    qd, qdd = rng.normal(size=(2, count, tree.n)) * 2.0
    return q, qd, qdd


def stack_samples(rows: Sequence[Sequence[Any]], count: int) -> Array:
    """Return nested lists of floats and (count,) arrays as one (count * rows, columns) matrix."""
    block = np.array([[np.broadcast_to(x, (count,)) for x in row] for row in rows])
    return np.ascontiguousarray(block.transpose(2, 0, 1)).reshape(-1, block.shape[1])


# names for people


def short_parameter_names(tree: Tree, names: Sequence[str]) -> tuple[str, ...]:
    """Return 'mcx2' for 'upper_arm.mcx': the term and the number of its link or joint.

    Links and joints are counted along the tree from 1.
    """
    return short_names(names, [body.name for body in tree.bodies], tree.coordinates)


def short_names(
    names: Sequence[str], links: Sequence[str] = (), joints: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return 'mcx2' for 'upper_arm.mcx', 'Fv3' for 'elbow.Fv', with `links` and `joints` in order.

    Other names stay as they are.
    """
    numbers = [{name: i for i, name in enumerate(owners, 1)} for owners in (links, joints)]
    short = []
    for name in names:
        owner, _, term = name.rpartition(".")
        index = numbers[term not in LINK_TERMS].get(owner)
        short.append(name if index is None else f"{term}{index}")
    return tuple(short)


def expression(row: Array, first: int, names: Sequence[str]) -> str:
    """Return 'Izz2 + Ia2 + 0.0506*m3 - mcx4' for one row of coefficients, with `first` in front."""
    order = [first, *(int(j) for j in np.flatnonzero(row) if j != first)]
    text = ""
    for j in order:
        value = row[j]
        size = "" if abs(value) == 1 else f"{abs(value):.6g}*"
        sign = ("" if value > 0 else "-") if not text else (" + " if value > 0 else " - ")
        text += f"{sign}{size}{names[j]}"
    return text
