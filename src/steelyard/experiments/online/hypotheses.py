"""What may have changed: a load at the end of the arm, or the friction of a joint; each a few columns of the regressor."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import Scalar, Scalars, dot
from ...compiler.ir.program import Operand, Program, trace
from ...compiler.runtime.kernel import Kernel
from ...dynamics.forward.by_crba import factorise, solve
from ...identification.model.linear_model import Model
from ...kernels import kernel_of

Array = NDArray[np.float64]
FRICTION = ("Fv", "Fc", "F0")
LOAD = ("m", "mcx", "mcy", "mcz")
MODES = 16  # directions in which the parameters are least certain that count as such
RIDGE = 1e-9  # of a diagonal entry: keeps columns apart that a window cannot tell from each other


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A change of base parameters by D x: `names` (d,) of x, D (b, d). `joint` is that of the friction, None for a load on `link`."""

    names: tuple[str, ...]
    D: Array
    joint: int | None = None
    link: str = ""

    @property
    def d(self) -> int:
        return len(self.names)

    @property
    def size(self) -> int:
        """How many numbers a window of samples is summed into: score (d), information (d (d + 1) / 2), influence of the modes (d, r)."""
        return self.d + self.d * (self.d + 1) // 2 + self.d * MODES


def hypotheses(model: Model) -> tuple[Hypothesis, ...]:
    """Return a load on every link that carries no other, then the friction of every joint that has any."""
    tree = model.robot.tree
    parents = {body.parent for body in tree.bodies}
    ends = [i for i in range(len(tree.bodies)) if i not in parents]
    loads = [Hypothesis(LOAD, model.base.matrix[:, 10 * i : 10 * i + 4], None, model.robot.body_names[i]) for i in ends]
    place = {name: k for k, name in enumerate(model.base.names)}
    found = []
    for j, joint in enumerate(model.row_names):
        names = tuple(name for name in FRICTION if f"{joint}.{name}" in place)
        if names:
            found.append(Hypothesis(names, np.eye(model.base.n_base)[:, [place[f"{joint}.{name}"] for name in names]], j))
    return (*loads, *found)


@dataclass(frozen=True, eq=False)
class Sums:
    """The two kernels of a set of hypotheses, and where each finds its numbers.

    `terms(columns (n, 1 + r + l), tau (n), friction (n, 3), weights (n))` gives what a sample adds to the sums (c,); `tests(sums)`
    gives b^T (A + B B^T)^-1 b of every hypothesis, (h,), with A the information, b the score and B the influence of the modes: how far
    the score is from what noise and the uncertainty of the parameters make.
    """

    every: tuple[Hypothesis, ...]
    n: int

    @property
    def edges(self) -> list[tuple[int, int]]:
        return list(pairwise(accumulate((h.size for h in self.every), initial=0)))

    @property
    def width(self) -> int:
        return sum(h.size for h in self.every)

    @property
    def loads(self) -> list[int]:
        """The hypotheses that are loads."""
        return [k for k, h in enumerate(self.every) if h.joint is None]

    @property
    def _shapes(self) -> tuple[tuple[int, int | None], ...]:
        return tuple((h.d, h.joint) for h in self.every)

    @property
    def terms(self) -> Kernel:
        return kernel_of(terms_program, self.n, self._shapes)

    @property
    def tests(self) -> Kernel:
        return kernel_of(tests_program, self.n, self._shapes)

    def _terms(self, columns: Any, tau: Scalars, friction: Any, weights: Scalars) -> list[Scalar]:
        made: list[Scalar] = []
        error = [t - row[0] for t, row in zip(tau, columns, strict=True)]
        first = 1 + MODES
        for h in self.every:
            if h.joint is None:
                joints: Any = range(self.n)
                Z = [row[first : first + 4] for row in columns]
                first += 4
            else:
                joints, Z = [h.joint], [row[: h.d] for row in friction]
            weighted = {j: [weights[j] * z for z in Z[j]] for j in joints}
            made += [dot([weighted[j][i] for j in joints], [error[j] for j in joints]) for i in range(h.d)]
            made += [dot([weighted[j][i] for j in joints], [Z[j][k] for j in joints]) for i in range(h.d) for k in range(i + 1)]
            made += [dot([weighted[j][i] for j in joints], [columns[j][1 + m] for j in joints]) for i in range(h.d) for m in range(MODES)]
        return made

    def _tests(self, sums: Scalars) -> list[Scalar]:
        made = []
        for h, (a, b) in zip(self.every, self.edges, strict=True):
            score, A, B = split(h.d, sums[a:b])
            C = [[A[i][j] + dot(B[i], B[j]) for j in range(i + 1)] for i in range(h.d)]
            for i in range(h.d):
                C[i][i] = C[i][i] * (1.0 + RIDGE) + 1e-300
            made.append(dot(score, solve(factorise(C), score)))
        return made


def split(d: int, own: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return score (d), the rows of the lower triangle of A, and the rows of B (d, r) of one hypothesis' sums."""
    edges = list(accumulate(range(1, d + 1), initial=d))
    A = [own[a:b] for a, b in pairwise(edges)]
    B = [own[edges[-1] + i * MODES : edges[-1] + (i + 1) * MODES] for i in range(d)]
    return own[:d], A, B


def least_certain(covariance: Array, typical: Array, weights: Array) -> Array:
    """Return L (b, r): the r directions of the parameters' uncertainty that matter most to torques at typical states (N, n, b).

    L L^T is the nearest of rank r to the covariance (b, b) in the norm of the torques they cause, each joint's in its noise.
    Eckart and Young, Psychometrika 1 (1936), p. 211.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rows = (typical * np.sqrt(weights)[:, None]).reshape(-1, len(covariance)) @ root
    _, _, Vt = np.linalg.svd(rows.T @ rows)
    L = np.zeros((len(covariance), MODES))
    L[:, : min(MODES, len(Vt))] = root @ Vt[:MODES].T
    return L


def sums_of(n: int, shapes: tuple[tuple[int, int | None], ...]) -> Sums:
    """Return the sums of hypotheses with (columns, joint) each, whatever the numbers of their columns are."""
    return Sums(tuple(Hypothesis(("",) * d, np.zeros((0, d)), joint) for d, joint in shapes), n)


def terms_program(n: int, shapes: tuple[tuple[int, int | None], ...]) -> Program:
    """Return the program of what a sample adds to the sums."""
    sums = sums_of(n, shapes)
    sizes = {"columns": (n, 1 + MODES + 4 * len(sums.loads)), "tau": (n,), "friction": (n, 3), "weights": (n,)}
    inputs = [Operand(name, size) for name, size in sizes.items()]
    return trace("change_terms", sums._terms, inputs, [Operand("terms", (sums.width,))])


def tests_program(n: int, shapes: tuple[tuple[int, int | None], ...]) -> Program:
    """Return the program of the statistics of all hypotheses."""
    sums = sums_of(n, shapes)
    return trace("change_tests", sums._tests, [Operand("sums", (sums.width,))], [Operand("statistic", (len(shapes),))])
