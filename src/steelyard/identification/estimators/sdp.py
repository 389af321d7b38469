"""Physically consistent estimation: every link a body that can exist."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ..model.bounds import Bounds, Inequalities, inequalities, natural
from ..model.model import Model
from ..model.prior import Anchor, anchor
from ..model.problem import Problem
from ..result.covariance import inflation
from .cone import Program, feasible, repaired, solve
from .entropic import entropic
from .estimate import Estimate
from .wls import weighted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SDP:
    """argmin sum_j |tau_j - Y_j base|^2 / (k_j sigma_j^2) + pull |S - S0|^2, every pseudo-inertia positive definite, Ia, Fv, Fc >= 0.

    k_j is how many neighbouring samples tell as much as one independent one. `pull` is how much the description counts: 1 is a
    description whose inertias are trusted to their own size, 100 to a tenth of it. `exact` keeps the weighted least-squares solution
    wherever consistent parameters with it exist: the pull then only fills in what the data do not say. `entropic` pulls by the divergence
    2 (tr S - log det S - 4) itself instead of its second-order form |S - S0|^2. `bounds` as in `identify.bounds`.
    Wensing, Kim and Slotine 2018; Lee, Wensing and Park 2020; Sousa and Cortesao 2014.
    """

    pull: float = 1.0
    bounds: Bounds | None = None
    margin: float = 1e-4
    exact: bool = False
    entropic: bool = False
    name = "sdp"

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        free, weights = weighted(problem.total, problem.prior)
        triangle = problem.total.triangle(weights / np.sqrt(inflation(problem, free)))
        found = consistent(problem.model, triangle, free, self.pull, self.bounds, self.margin, self.exact, self.entropic)
        details = {"pull": self.pull, "solver": found.word}
        return Estimate(problem.base.values(found.parameters), weights, found.status, details, found.parameters)


@dataclass(frozen=True, eq=False)
class Consistent:
    """Parameters (p,) that a real robot can have, and how they were found."""

    parameters: Array
    word: str
    status: tuple[str, ...]


def consistent(
    model: Model, triangle: Array, free: Array, pull: float, bounds: Bounds | None, margin: float, exact: bool, log_det: bool = False
) -> Consistent:
    """The consistent parameters that fit the factor R of [Y tau] best; `free` (b,) is the solution without constraints."""
    place = anchor(model)
    own = natural(model.names, model.free)
    asked = inequalities(bounds, model.names)
    limits = Inequalities(np.vstack([own.A, asked.A]), np.concatenate([own.b, asked.b]), own.names + asked.names)
    rows, target = stacked(model, triangle, place, pull)
    program = Program(model, place, rows, target, limits, margin)
    pi, word = try_solve(program, asked)
    if log_det:
        pi, word = entropic(program, (rows[: -10 * place.bodies], target[: -10 * place.bodies]), strengths(place, pull), pi)
    if not feasible(program, pi):
        pi = repaired(program, pi)
    if not feasible(program, pi):
        raise ProblemError(f"the solver ended with '{word}' and parameters that no robot has; try a larger pull or wider bounds")
    status = () if word == "Solved" else (f"The solver stopped early ({word}); the parameters were checked and are consistent.",)
    if exact or not any(place.known):  # without a description there is nothing to be pulled to
        moved = snapped(model, program, pi, free, place)
        pi = pi if moved is None else moved
    return Consistent(pi, word, status)


def try_solve(program: Program, asked: Inequalities) -> tuple[Array, str]:
    """Solve, and where no robot meets the bounds say which of them are to blame."""
    try:
        return solve(program)
    except ProblemError:
        blamed = []
        for name in dict.fromkeys(asked.names):
            lighter = replace(program, inequalities=program.inequalities.without(name))
            try:
                solve(lighter)
            except ProblemError:
                continue
            blamed.append(name)
        if not blamed:
            raise
        raise ProblemError(f"no robot meets these bounds: {'; '.join(blamed)}. Without any one of them there is a solution") from None


def stacked(model: Model, triangle: Array, place: Anchor, pull: float) -> tuple[Array, Array]:
    """Rows and target over pi: the data, then the pull of each body towards its description."""
    R, z = triangle[:-1, :-1], triangle[:-1, -1]
    p, inner = len(model.names), 10 * place.bodies
    strength = strengths(place, pull)
    rows, target = np.zeros((inner, p)), np.zeros(inner)
    for i, T in enumerate(place.to_pi):
        own = slice(10 * i, 10 * i + 10)
        rows[own, own] = np.sqrt(strength[i]) * np.linalg.inv(T)
        target[own] = np.sqrt(strength[i]) * place.centre[i]
    return np.vstack([R @ model.base.matrix, rows]), np.concatenate([z, target])


def strengths(place: Anchor, pull: float) -> Array:
    """How strongly each body is pulled: one that the description says nothing about, hardly at all."""
    return np.array([pull if known else 1e-4 * pull for known in place.known])


def snapped(model: Model, program: Program, pi: Array, free: Array, place: Anchor) -> Array | None:
    """The least change of pi (in the anchor's metric) that gives the unconstrained base parameters, if it stays consistent."""
    T = program.T()
    fixed = [i for i, _ in model.held]
    M = model.base.matrix @ T
    if fixed:
        M = np.vstack([M, T[fixed]])
    gap = np.concatenate([free - model.base.values(pi), np.zeros(len(fixed))])
    unit = np.maximum(np.linalg.norm(M, axis=0), 1e-12)
    step, *_ = np.linalg.lstsq(M / unit, gap, rcond=1e-12)
    moved = pi + T @ (step / unit)
    return moved if feasible(program, moved) else None
