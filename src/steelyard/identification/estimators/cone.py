"""The cone program: least squares over parameters whose every link is a real body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError, needs_extra
from ...parameters.pseudo_inertia import pseudo_inertia
from ..model.bounds import Inequalities
from ..model.model import Model
from ..model.prior import IDENTITY, SVEC, Anchor

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Program:
    """min |A x - b|^2 with pi = T x: x holds svec(S) of each body, then the other parameters, scaled.

    s.t. S_i >= margin 1, inequalities on pi, held parameters at their values.
    """

    model: Model
    anchor: Anchor
    rows: Array
    target: Array
    inequalities: Inequalities
    margin: float = 1e-4

    def T(self) -> Array:
        """pi = T x, (p, p)."""
        p, inner = len(self.model.names), 10 * self.anchor.bodies
        T = np.zeros((p, p))
        for i, block in enumerate(self.anchor.to_pi):
            T[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = block
        T[range(inner, p), range(inner, p)] = 1.0
        return T

    def unheld(self) -> list[int]:
        """Bodies that have at least one free parameter: those wholly held need not be real ones."""
        free = set(self.model.free)
        return [i for i in range(self.anchor.bodies) if any(k in free for k in range(10 * i, 10 * i + 10))]


def solve(program: Program) -> tuple[Array, str]:
    """The parameters pi (p,) and the solver's word. Raises ProblemError when nothing satisfies the inequalities.

    Where the unconstrained minimum x0 is consistent it is the answer. Else min 1/2 |r|^2 over (dx, r) with r = A dx from there: the
    residual form keeps the condition of A instead of squaring it, and the step from x0 is of the size of the price, not of the torques.
    Goulart and Chen, "Clarabel", 2024; Sousa and Cortesao, Int. J. Robotics Research 33 (2014), p. 931.
    """
    try:
        import clarabel
    except ImportError:
        raise needs_extra("clarabel", "sdp", "physically consistent estimation") from None
    from scipy import sparse

    T = program.T()
    A = np.asarray(np.linalg.qr(np.column_stack([program.rows @ T, program.target]), mode="r"))
    start = unconstrained(A, program, T)
    if feasible(program, T @ start, slack=0.0) and inside(program, start):
        return T @ start, "Solved"
    A = A[: T.shape[1], :-1]
    k, p = A.shape
    scale = max(float(np.linalg.norm(A @ (projected(program, start) - start))), 1e-9 * float(np.linalg.norm(A @ start)), 1e-300)
    size = np.maximum(np.linalg.norm(A, axis=0), 1e-12 * max(1.0, float(np.abs(A).max(initial=0.0)))) / scale
    size[: 10 * program.anchor.bodies] = 1.0  # the cone wants svec as it is
    blocks, rights, cones = constraints(program, T, clarabel)
    rights = [right - block @ start for block, right in zip(blocks, rights, strict=True)]
    equality = np.hstack([A / size / scale, -np.eye(k)])
    G = sparse.csc_matrix(np.vstack([equality, *(np.hstack([block / size, np.zeros((len(block), k))]) for block in blocks)]))
    P = sparse.csc_matrix(np.diag(np.concatenate([np.zeros(p), np.ones(k)])))
    h = np.concatenate([np.zeros(k), *rights])
    solution = clarabel.DefaultSolver(P, np.zeros(p + k), G, h, [clarabel.ZeroConeT(k), *cones], settings(clarabel)).solve()
    status = str(solution.status)
    if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
        raise ProblemError(f"no robot meets the bounds together: {', '.join(dict.fromkeys(program.inequalities.names))}")
    return T @ (start + np.array(solution.x)[:p] / size), status


def unconstrained(A: Array, program: Program, T: Array) -> Array:
    """argmin |A x - b| from the factor of [A b], held parameters at their values, (p,)."""
    rows, target = A[:, :-1], A[:, -1]
    index = [i for i, _ in program.model.held]
    if index:  # heavy rows: the cone program makes them exact
        weight = 1e6 * max(float(np.abs(rows).max(initial=0.0)), 1.0)
        rows = np.vstack([rows, weight * T[index]])
        target = np.concatenate([target, weight * np.array([value for _, value in program.model.held])])
    size = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    x, *_ = np.linalg.lstsq(rows / size, target, rcond=1e-14)
    return np.asarray(x / size)


def inside(program: Program, x: Array) -> bool:
    """Whether every body keeps the margin, and what is held is where it should be."""
    least = min((body_eigenvalues(x, i)[0] for i in program.unheld()), default=np.inf)
    pi = program.T() @ x
    return bool(least >= program.margin) and all(abs(pi[i] - value) <= 1e-12 * max(1.0, abs(value)) for i, value in program.model.held)


def projected(program: Program, x: Array) -> Array:
    """Each body raised to the margin, joint terms to zero: a point near x that satisfies what is not a user's bound."""
    x = x.copy()
    for i in program.unheld():
        S = np.einsum("k,kij->ij", x[10 * i : 10 * i + 10], SVEC)
        values, vectors = np.linalg.eigh(S)
        raised = (vectors * np.maximum(values, program.margin)) @ vectors.T
        x[10 * i : 10 * i + 10] = [np.sum(E * raised) for E in SVEC]
    inner = 10 * program.anchor.bodies
    single = [int(np.flatnonzero(row)[0]) for row in program.inequalities.A if np.count_nonzero(row) == 1]
    for k in single:
        if k >= inner:
            x[k] = max(x[k], 0.0)
    return x


def body_eigenvalues(x: Array, i: int) -> Array:
    """Of S of body i, ascending."""
    return np.asarray(np.linalg.eigvalsh(np.einsum("k,kij->ij", x[10 * i : 10 * i + 10], SVEC)))


def constraints(program: Program, T: Array, clarabel: Any) -> tuple[list[Array], list[Array], list[Any]]:
    """Blocks (G, h, cone) with h - G x in the cone: held values, inequalities, bodies."""
    p = T.shape[1]
    blocks, rights, cones = [], [], []
    if program.model.held:
        index = [i for i, _ in program.model.held]
        blocks.append(T[index])
        rights.append(np.array([value for _, value in program.model.held]))
        cones.append(clarabel.ZeroConeT(len(index)))
    if len(program.inequalities.b):
        blocks.append(program.inequalities.A @ T)
        rights.append(program.inequalities.b)
        cones.append(clarabel.NonnegativeConeT(len(program.inequalities.b)))
    for i in program.unheld():
        block = np.zeros((10, p))
        block[:, 10 * i : 10 * i + 10] = -np.eye(10)
        blocks.append(block)
        rights.append(-program.margin * IDENTITY)
        cones.append(clarabel.PSDTriangleConeT(4))
    return blocks, rights, cones


def settings(clarabel: Any) -> Any:
    """Quiet, and as exact as double precision lets it be."""
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.max_iter = 200
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = 1e-11
    chosen.tol_infeas_abs = chosen.tol_infeas_rel = 1e-9
    return chosen


def feasible(program: Program, pi: Array, slack: float = 1e-9) -> bool:
    """Whether parameters satisfy everything, judged by ourselves and not by the solver."""
    for i in program.unheld():
        if np.linalg.eigvalsh(pseudo_inertia(pi[10 * i : 10 * i + 10]))[0] <= 0:
            return False
    return program.inequalities.violation(pi) <= slack


def repaired(program: Program, pi: Array) -> Array:
    """The parameters moved inside where the solver stopped a hair outside: towards the anchor's bodies, and up to zero."""
    pi = pi.copy()
    for i in program.unheld():
        S = np.linalg.solve(program.anchor.to_pi[i], pi[10 * i : 10 * i + 10])
        lift = 0.5 * program.margin * IDENTITY
        if np.linalg.eigvalsh(pseudo_inertia(pi[10 * i : 10 * i + 10]))[0] <= 0:
            pi[10 * i : 10 * i + 10] = program.anchor.to_pi[i] @ (S + lift)
    held = dict(program.model.held)
    for row, b in zip(program.inequalities.A, program.inequalities.b, strict=True):
        single = np.flatnonzero(row)
        if len(single) == 1 and b == 0 and row @ pi > 0 and single[0] not in held:
            pi[single[0]] = 0.0
    return pi
