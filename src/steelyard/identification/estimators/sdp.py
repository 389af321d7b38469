"""Physically consistent estimation by semidefinite programming."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...arguments import real_number
from ...errors import CallError, ProblemError, suggest
from ...option_groups.identification import Bounds
from ..model.bounds import Inequalities, check_bounds, inequalities, physical_limits
from ..model.linear_model import Model
from ..model.prior import IDENTITY, SVEC, BodyPrior, body_prior
from ..model.problem import Problem
from .cone import ConeProgram, feasible, repaired, solve_cone_program, symmetric_matrix
from .estimator_thresholds import THRESHOLDS
from .joint_prior import choose_joint_precision, vague_precision
from .least_squares import Estimate, Estimator, excitation, trimmed, weighted
from .noise_levels import loosest, noise_of_joints
from .posterior import coordinates, posterior
from .prior_weight import PriorWeight, choose_prior_weight

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SDP(Estimator):
    """Least squares with a prior and a positive definite pseudo-inertia S_i of every link.

    argmin sum_j |tau_j - Y_j base|^2 / (k_j sigma_j^2) + sum_i w_i |S_i - S0_i|^2.

    Ia, Fv, Fc >= 0. k_j is the variance inflation due to autocorrelated residuals. w_i says how
    much the description of link i counts: 1 for inertias that are right to their own size, 100 for
    a tenth of it. `prior_weight` gives one number for all links, or link -> number for some of
    them; None chooses it by the evidence, and discards the description of links that contradict the
    samples. It is chosen so for links that a mapping does not name. `exact` keeps the weighted
    least-squares solution wherever consistent parameters have it: the prior then only decides
    directions that the data do not determine. `entropic` takes the divergence 2 (tr S - log det S -
    4) instead of its second-order form |S - S0|^2. `bounds` are added to those given to `identify`.
    Wensing, Kim and Slotine 2018; Lee, Wensing and Park 2020; Sousa and Cortesao 2014; MacKay 1992.
    """

    prior_weight: float | Mapping[str, float] | None = None
    bounds: Bounds | None = None
    margin: float = 1e-4
    exact: bool = False
    entropic: bool = False
    pull: InitVar[float | None] = None
    name = "sdp"

    def __post_init__(self, pull: float | None) -> None:
        if pull is not None:
            warnings.warn(
                "SDP(pull=...) is now called prior_weight", DeprecationWarning, stacklevel=3
            )
            object.__setattr__(self, "prior_weight", pull)
        weight = self.prior_weight
        if isinstance(weight, Mapping):
            weight = {
                str(link): real_number(f"SDP: prior_weight of {link!r}", x, 0.0, 1e15)
                for link, x in weight.items()
            }
            object.__setattr__(self, "prior_weight", weight)
        elif weight is not None:
            weight = real_number("SDP: prior_weight", weight, 0.0, 1e15)
            object.__setattr__(self, "prior_weight", weight)
        real_number("SDP: margin", self.margin, 0.0, 1.0)
        check_bounds(self.bounds)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        model, free = problem.model, weighted(problem.total, problem.prior)[0]
        sigma, rows = noise_of_joints(problem)
        weights = 1.0 / (sigma * np.sqrt(rows))
        whole = problem.total.triangle(weights)
        triangle = trimmed(
            whole, excitation(whole, problem.regressor_noise.triangle(weights)[:-1, :-1])
        )
        vague = vague_precision(model, problem.total, coordinates(model, body_prior(model)))
        vague = choose_joint_precision(
            model, triangle, vague, THRESHOLDS.prior_weight, loosest(problem)
        )
        chosen = self.chosen_weight(model, triangle, vague)
        bounds = {**(model.bounds or {}), **(self.bounds or {})}
        solution = consistent(model, triangle, free, replace(self, bounds=bounds), chosen, vague)
        prior = body_prior(model, chosen.aside)
        estimate = posterior(
            model, triangle, chosen.body_weights(prior), coordinates(model, prior), vague
        )
        details = {
            "prior_weight": chosen.weight,
            "descriptions_not_used": chosen.names(model),
            "solver": solution.solver,
        }
        by_evidence = not isinstance(self.prior_weight, float)
        notes = solution.notes + (chosen.sentences(model) if by_evidence else ())
        return Estimate(
            base=problem.base.values(solution.parameters),
            weights=weights,
            notes=notes,
            details=details,
            parameters=solution.parameters,
            posterior=estimate,
        )

    def chosen_weight(self, model: Model, triangle: Array, vague: Array) -> PriorWeight:
        """Return the weight of the description: as given, or by the evidence."""
        if isinstance(self.prior_weight, float):
            return PriorWeight(self.prior_weight)
        chosen = choose_prior_weight(model, triangle, vague)
        if self.prior_weight is None:
            return chosen
        links = model.robot.body_names
        for link in self.prior_weight:
            if link not in links:
                raise CallError(
                    f"SDP: prior_weight: no moving link is called {link!r}; {suggest(link, links)}"
                )
        return chosen.with_link_weights(
            {links.index(link): x for link, x in self.prior_weight.items()}
        )


@dataclass(frozen=True, eq=False)
class Consistent:
    """Parameters (p,) that a real robot can have, the solver's status, and notes."""

    parameters: Array
    solver: str
    notes: tuple[str, ...]


def consistent(
    model: Model,
    triangle: Array,
    free: Array,
    options: SDP,
    chosen: PriorWeight,
    vague: Array | None = None,
) -> Consistent:
    """Return the consistent parameters that fit the factor R of [Y tau] best.

    `free` (b,) is the solution without constraints.
    """
    prior = body_prior(model, chosen.aside)
    physical_bounds = physical_limits(model.names, model.free)
    asked = with_equalities(inequalities(options.bounds, model.names), model)
    limits = Inequalities(
        np.vstack([physical_bounds.A, asked.A]),
        np.concatenate([physical_bounds.b, asked.b]),
        physical_bounds.names + asked.names,
    )
    data = triangle[:, :-1] @ model.base.matrix, triangle[:, -1]
    weights = chosen.body_weights(prior)
    rows, target = prior_rows(prior, weights, model, vague)
    if model.own_prior is not None:
        rows = np.vstack([rows, model.own_prior.over(model.names)])
        target = np.concatenate([target, model.own_prior.target])
    program = ConeProgram(
        model=model,
        prior=prior,
        rows=np.vstack([data[0], rows]),
        target=np.concatenate([data[1], target]),
        inequalities=limits,
        margin=options.margin,
    )
    pi, status = solve_or_name_bounds(program, asked)
    if options.entropic:
        pi, status = entropic(program, data, weights, pi)
    pi = as_described(model, pi, np.linalg.norm(data[0], axis=0), 10 * prior.bodies)
    if not feasible(program, pi):
        pi = repaired(program, pi)
    if not feasible(program, pi):
        raise solver_error(status)
    notes = (
        ()
        if status == "Solved"
        else (
            f"The solver stopped early ({status}); the parameters were checked and are consistent.",
        )
    )
    if options.exact:
        exact = with_base_values(program, pi, free)
        pi = pi if exact is None else exact
    return Consistent(pi, status, notes)


def with_equalities(bounds: Inequalities, model: Model) -> Inequalities:
    """Return bounds with the equalities of a model as bounds from both sides."""
    if model.equalities is None:
        return bounds
    A, b = model.equalities.over(model.names), model.equalities.target
    labels = tuple(f"constraint {k}" for k in range(1, len(b) + 1))
    return Inequalities(
        np.vstack([bounds.A, A, -A]),
        np.concatenate([bounds.b, b, -b]),
        (*bounds.names, *labels, *labels),
    )


def as_described(model: Model, pi: Array, norms: Array, inner: int) -> Array:
    """Return pi with unexcited joint terms exactly at their described values.

    A parameter is excited if the norm of its column, `norms` (p,), is not zero.
    """
    dead = (norms <= 1e-12 * norms.max(initial=0.0)) & (np.arange(len(pi)) >= inner)
    return np.where(dead, model.start, pi)


def solve_or_name_bounds(program: ConeProgram, asked: Inequalities) -> tuple[Array, str]:
    """Solve; raise ProblemError with the names of bounds that no robot can meet."""
    try:
        return solved(program)
    except ProblemError:
        blamed, start = [], program.model.start
        # whether bounds contradict each other is not up to the samples
        alone = replace(program, rows=np.eye(len(start)), target=start)
        for name in dict.fromkeys(asked.names):
            try:
                solved(replace(alone, inequalities=program.inequalities.without(name)))
            except ProblemError:
                continue
            blamed.append(name)
        if not blamed:
            raise
        raise ProblemError(
            f"no robot meets these bounds: {'; '.join(blamed)}. Without any one of them there is a"
            " solution"
        ) from None


def solved(program: ConeProgram) -> tuple[Array, str]:
    """Solve; raise ProblemError also where the solver gives up at parameters that no robot has.

    Bounds that contradict each other.
    """
    pi, status = solve_cone_program(program)
    if (
        status != "Solved"
        and not feasible(program, pi)
        and not feasible(program, repaired(program, pi))
    ):
        raise solver_error(status)
    return pi, status


def solver_error(status: str) -> ProblemError:
    """Return the error for a solver that ended without a solution."""
    return ProblemError(
        f"the solver ended with '{status}' and parameters that no robot has; try a larger"
        " prior_weight or wider bounds"
    )


def prior_rows(
    prior: BodyPrior, weights: Array, model: Model, vague: Array | None
) -> tuple[Array, Array]:
    """Return rows (k, p) and target.

    |rows pi - target|^2 = sum_i weights_i |S_i - S0_i|^2 + sum_k vague_k (pi_k - pi0_k)^2.

    The second sum is over the joint terms; without `vague` there is none.
    """
    inner, p = 10 * prior.bodies, len(model.names)
    rows, target = np.zeros((inner, p)), np.zeros(inner)
    for i, T in enumerate(prior.to_pi):
        body = slice(10 * i, 10 * i + 10)
        rows[body, body] = np.sqrt(weights[i]) * np.linalg.inv(T)
        target[body] = np.sqrt(weights[i]) * prior.centre[i]
    if vague is None:
        return rows, target
    joints = [k for k in model.free if k >= inner]
    more = np.sqrt(vague)[:, None] * np.eye(p)[joints]
    return np.vstack([rows, more]), np.concatenate([target, more @ model.start])


def with_base_values(program: ConeProgram, pi: Array, free: Array) -> Array | None:
    """Return the least change of pi that gives the base parameters `free`, None if inconsistent.

    The change is measured in the metric of the prior.
    """
    model, T = program.model, program.T
    fixed = [i for i, _ in model.held]
    M = np.vstack([model.base.matrix @ T, T[fixed]])
    gap = np.concatenate([free - model.base.values(pi), np.zeros(len(fixed))])
    unit = np.maximum(np.linalg.norm(M, axis=0), 1e-12)
    step, *_ = np.linalg.lstsq(M / unit, gap, rcond=1e-12)
    moved = pi + T @ (step / unit)
    return moved if feasible(program, moved) else None


def entropic(
    program: ConeProgram, data: tuple[Array, Array], weights: Array, pi: Array
) -> tuple[Array, str]:
    """Return argmin |A pi - b|^2 + sum_i w_i 2 (tr S_i - log det S_i - 4), and the status.

    S_i = 1 for the body as described.

    Starts from a consistent pi. Unlike a quadratic form, log det grows without bound towards a
    physically inconsistent body. Each Newton step solves the cone program of the second-order form
    at the present S: its metric is S, its centre 2 S - S^2. Steps are damped as for self-concordant
    functions. Lee, Wensing and Park, IEEE T-RO 36 (2020), eq. (19); Boyd and Vandenberghe 2004,
    section 9.6.4.
    """
    inverse = [np.linalg.inv(T) for T in program.prior.to_pi]
    status = "Solved"
    for _ in range(THRESHOLDS.newton_steps):
        rows, target = second_order(inverse, weights, pi)
        solution, status = solve_cone_program(
            replace(
                program, rows=np.vstack([data[0], rows]), target=np.concatenate([data[1], target])
            )
        )
        size = step_size(inverse, pi, solution)
        if size < THRESHOLDS.newton_tolerance:
            return solution, status
        pi = pi + (solution - pi) / (1.0 + size if size > 0.25 else 1.0)
    return pi, status


def second_order(inverse: list[Array], weights: Array, pi: Array) -> tuple[Array, Array]:
    """Return rows and target over pi of the divergence's second-order form at pi.

    |S_k^-1/2 (S - 2 S_k + S_k^2) S_k^-1/2|^2 per body.
    """
    inner = 10 * len(inverse)
    rows, target = np.zeros((inner, len(pi))), np.zeros(inner)
    for i, to_x in enumerate(inverse):
        body = slice(10 * i, 10 * i + 10)
        half = inverse_square_root(symmetric_matrix(to_x @ pi[body]))
        scaling = np.array([[np.sum(E * (half @ F @ half)) for F in SVEC] for E in SVEC])
        rows[body, body] = np.sqrt(weights[i]) * scaling @ to_x
        target[body] = np.sqrt(weights[i]) * (2.0 * IDENTITY - to_x @ pi[body])
    return rows, target


def step_size(inverse: list[Array], pi: Array, solution: Array) -> float:
    """Return the largest |S_k^-1/2 dS S_k^-1/2| of any body."""
    sizes = [0.0]
    for i, to_x in enumerate(inverse):
        body = slice(10 * i, 10 * i + 10)
        half = inverse_square_root(symmetric_matrix(to_x @ pi[body]))
        sizes.append(
            float(
                np.linalg.norm(half @ symmetric_matrix(to_x @ (solution[body] - pi[body])) @ half)
            )
        )
    return max(sizes)


def inverse_square_root(S: Array) -> Array:
    """Return S^-1/2 of a positive definite matrix."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T)
