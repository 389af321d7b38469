"""The cone program: least squares over physically consistent parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...cached import cached_property
from ...errors import ProblemError, translate_errors
from ...parameters.pseudo_inertia import pseudo_inertia
from ..model.bounds import Inequalities
from ..model.linear_model import Model
from ..model.prior import IDENTITY, SVEC, BodyPrior
from .estimator_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """min |rows pi - target|^2 with pi = T x.

    X holds svec(S) of each body, then the parameters of the joints.

    Subject to S_i >= margin 1, the inequalities on pi, and held parameters at their values.
    """

    model: Model
    prior: BodyPrior
    rows: Array
    target: Array
    inequalities: Inequalities
    margin: float = 1e-4

    @property
    def inner(self) -> int:
        """How many of the unknowns belong to bodies."""
        return 10 * self.prior.bodies

    @cached_property
    def T(self) -> Array:
        """pi = T x, (p, p)."""
        T = np.eye(len(self.model.names))
        for i, block in enumerate(self.prior.to_pi):
            T[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = block
        return T

    @cached_property
    def free_bodies(self) -> list[int]:
        """Bodies with at least one free parameter.

        A body that is held whole need not be a real one.
        """
        free = set(self.model.free)
        return [
            i
            for i in range(self.prior.bodies)
            if any(k in free for k in range(10 * i, 10 * i + 10))
        ]

    @cached_property
    def triangle(self) -> Array:
        """Triangular factor of [A b], (p + 1, p + 1), completed along unexcited directions."""
        A, b = self.rows @ self.T, self.target
        more, right = self.unexcited_rows(np.linalg.norm(A, axis=0), A[:, self.inner :])
        return np.asarray(
            np.linalg.qr(
                np.vstack([np.column_stack([A, b]), np.column_stack([more, right])]), mode="r"
            )
        )

    def unexcited_rows(self, norms: Array, outer: Array) -> tuple[Array, Array]:
        """Return rows that keep unexcited joint parameters at their described values.

        `outer` are the columns of the joint terms; the rows act where these vanish.

        A joint that stands still has columns of zeros; without these rows the program has no unique
        minimum. `norms` are the norms of all columns: the largest is the weight of these rows.
        """
        largest = max(float(norms.max(initial=0.0)), 1e-300)
        scale = np.where(norms > 1e-12 * largest, norms, largest)[self.inner :]
        _, values, Vt = np.linalg.svd(np.linalg.qr(outer / scale, mode="r"))
        directions = Vt[int(np.sum(values > THRESHOLDS.rank * values.max(initial=0.0))) :] * scale
        return (
            np.pad(directions, ((0, 0), (self.inner, 0))),
            directions @ self.model.start[self.inner :],
        )


def solve_cone_program(program: ConeProgram) -> tuple[Array, str]:
    """Return the parameters pi (p,) and the solver's status.

    Raise ProblemError if nothing satisfies the inequalities.

    Where the unconstrained minimum x0 is consistent it is the answer. Else min 1/2 |r|^2 over (dx,
    r) with r = A dx from there: the residual form keeps the condition of A instead of squaring it,
    and the step from x0 is of the size of the price, not of the torques. Goulart and Chen,
    "Clarabel", 2024; Sousa and Cortesao, Int. J. Robotics Research 33 (2014), p. 931.
    """
    T, start = program.T, unconstrained(program)
    if feasible(program, T @ start, slack=0.0) and inside(program, start):
        return T @ start, "Solved"
    A = program.triangle[: T.shape[1], :-1]
    k, p = A.shape
    scale = max(
        float(np.linalg.norm(A @ (projected(program, start) - start))),
        1e-9 * float(np.linalg.norm(A @ start)),
        1e-300,
    )
    size = np.linalg.norm(A, axis=0) / scale
    size[: program.inner] = 1.0  # the cone needs svec as it is
    blocks, rights, cones = constraints(program)
    rights = [right - block @ start for block, right in zip(blocks, rights, strict=True)]
    equality = np.hstack([A / size / scale, -np.eye(k)])
    G = sparse.csc_matrix(
        np.vstack(
            [equality, *(np.hstack([block / size, np.zeros((len(block), k))]) for block in blocks)]
        )
    )
    P = sparse.csc_matrix(np.diag(np.concatenate([np.zeros(p), np.ones(k)])))
    h = np.concatenate([np.zeros(k), *rights])
    with translate_errors("the cone solver Clarabel failed on this problem"):
        solution = clarabel.DefaultSolver(
            P, np.zeros(p + k), G, h, [clarabel.ZeroConeT(k), *cones], settings()
        ).solve()
    status = str(solution.status)
    if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
        raise ProblemError(
            "no robot meets the bounds together:"
            f" {', '.join(dict.fromkeys(program.inequalities.names))}"
        )
    return T @ (start + np.array(solution.x)[:p] / size), status


def unconstrained(program: ConeProgram) -> Array:
    """Return argmin |A x - b| with held parameters at their values, (p,)."""
    rows, target = program.triangle[:, :-1], program.triangle[:, -1]
    index = [i for i, _ in program.model.held]
    if index:  # heavy rows: the cone program makes them exact
        weight = 1e6 * max(float(np.abs(rows).max(initial=0.0)), 1.0)
        rows = np.vstack([rows, weight * program.T[index]])
        target = np.concatenate(
            [target, weight * np.array([value for _, value in program.model.held])]
        )
    size = np.linalg.norm(rows, axis=0)
    size[size == 0] = 1.0
    x, *_ = np.linalg.lstsq(rows / size, target, rcond=1e-14)
    return np.asarray(x / size)


def inside(program: ConeProgram, x: Array) -> bool:
    """Return whether every body keeps the margin and every held parameter its value."""
    least = min(
        (
            np.linalg.eigvalsh(symmetric_matrix(x[10 * i : 10 * i + 10]))[0]
            for i in program.free_bodies
        ),
        default=np.inf,
    )
    pi = program.T @ x
    return bool(least >= program.margin) and all(
        abs(pi[i] - value) <= 1e-12 * max(1.0, abs(value)) for i, value in program.model.held
    )


def projected(program: ConeProgram, x: Array) -> Array:
    """Return a point near x.

    Each body raised to the margin, then every inequality that is not met made so by the least step,
    in turn.
    """
    x = x.copy()
    for i in program.free_bodies:
        values, vectors = np.linalg.eigh(symmetric_matrix(x[10 * i : 10 * i + 10]))
        raised = (vectors * np.maximum(values, program.margin)) @ vectors.T
        x[10 * i : 10 * i + 10] = [np.sum(E * raised) for E in SVEC]
    for row, b in zip(program.inequalities.A @ program.T, program.inequalities.b, strict=True):
        x -= row * (max(float(row @ x - b), 0.0) / max(float(row @ row), 1e-300))
    return x


def symmetric_matrix(x: Array) -> Array:
    """Return the symmetric 4x4 matrix of an svec (10,)."""
    return np.asarray(np.einsum("k,kij->ij", x, SVEC))


def constraints(program: ConeProgram) -> tuple[list[Array], list[Array], list[Any]]:
    """Return blocks G, right sides h and cones, with h - G x in the cone.

    Held values, inequalities, bodies.
    """
    T = program.T
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
    for i in program.free_bodies:
        block = np.zeros((10, len(T)))
        block[:, 10 * i : 10 * i + 10] = -np.eye(10)
        blocks.append(block)
        rights.append(-program.margin * IDENTITY)
        cones.append(clarabel.PSDTriangleConeT(4))
    return blocks, rights, cones


def settings() -> Any:
    """Return settings for a silent run to double precision."""
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.max_iter = 200
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = 1e-11
    chosen.tol_infeas_abs = chosen.tol_infeas_rel = 1e-9
    return chosen


def feasible(program: ConeProgram, pi: Array, slack: float = 1e-9) -> bool:
    """Return whether pi satisfies all constraints, computed here and not taken from the solver."""
    for i in program.free_bodies:
        if np.linalg.eigvalsh(pseudo_inertia(pi[10 * i : 10 * i + 10]))[0] <= 0:
            return False
    return program.inequalities.violation(pi) <= slack


def repaired(program: ConeProgram, pi: Array) -> Array:
    """Return pi moved inside where the solver stopped just outside.

    Bodies towards the prior, joint terms to zero.
    """
    pi = pi.copy()
    for i in program.free_bodies:
        S = np.linalg.solve(program.prior.to_pi[i], pi[10 * i : 10 * i + 10])
        lift = 0.5 * program.margin * IDENTITY
        if np.linalg.eigvalsh(pseudo_inertia(pi[10 * i : 10 * i + 10]))[0] <= 0:
            pi[10 * i : 10 * i + 10] = program.prior.to_pi[i] @ (S + lift)
    fixed = dict(program.model.held)
    for row, b in zip(program.inequalities.A, program.inequalities.b, strict=True):
        single = np.flatnonzero(row)
        if len(single) == 1 and b == 0 and row @ pi > 0 and single[0] not in fixed:
            pi[single[0]] = 0.0
    return pi
