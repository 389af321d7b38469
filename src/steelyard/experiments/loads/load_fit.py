"""The ten numbers of a load by weighted least squares together with the arm, their uncertainty, and the nearest that a body can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import ProblemError, foreign
from ...identification.estimators.cone import settings, symmetric
from ...identification.estimators.evidence import inflation
from ...identification.estimators.least_squares import inverse_root, least_squares
from ...identification.model.accumulator import Accumulator, triangular
from ...identification.model.prior import SVEC
from ...identification.model.problem import Problem
from ...identification.result.jackknife import jackknife, moving_blocks
from ...identification.result.prediction import BAND
from ...identification.result.residuals import residuals
from ...identification.samples.decimation import common_factor
from ...parameters.orders import from_urdf, to_urdf
from ...parameters.pseudo_inertia import from_pseudo_inertia, nearest_consistent, pseudo_inertia
from .arm import Arm
from .load_columns import Place

Array = NDArray[np.float64]
ROUNDS = 6  # of weighting the joints by what they leave
GYRATION = 0.1  # [m] typical distance of a load's mass from its centre
LEAST_MASS = 1.0  # [kg] to which uncertainties are compared for loads that are lighter
VAGUE = 10.0  # times the typical size: the standard deviation before the samples
DENSITY = 2000.0  # [kg/m3] of the ball whose inertia a load has where the samples say nothing
MARGIN = 1e-6  # least eigenvalue of the pseudo-inertia, over the typical size
ROUNDING = 1e-8  # of a torque
SURE = 2.0  # standard deviations that the mass must be above zero to be a load
OVERLAPPING = 1.5  # degrees of freedom of blocks that overlap, over those of blocks side by side


class Relative(NamedTuple):
    """What is left of the measured torque, |tau - predicted| / |tau|, in the logs with and without the load (NaN if there is none)."""

    loaded: float
    empty: float


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Ten parameters (10,) of a load about its frame's origin that a body can have, and those without that condition, `free`.

    `numbers` (10,) are mass [kg], centre [m] and the inertia about it [kg m2], Ixx Ixy Ixz Iyy Iyz Izz: what all outputs state.
    `covariance` (10, 10) is theirs, `seen` (10,) says which of them are identified; the others have the values of `safe_numbers`.
    `noise` (n,) [N m|N] is the standard deviation of the residuals.
    """

    parameters: Array
    free: Array
    free_std: Array
    numbers: Array
    covariance: Array
    seen: NDArray[np.bool_]
    noise: Array
    left: Relative


def fit_load(arm: Arm, place: Place) -> LoadFit:
    """Return the load at a place of the arm that explains its samples: argmin sum_j |tau_j - Y_j base - L_j load|^2 / sigma_j^2.

    The arm's base parameters and the load are found together, so that the uncertainty of the arm counts, and errors of the model that are
    the same with and without the load cancel. Swevers, Naumer, Pieters, Biber, Verdonck and De Schutter, "An experimental robot load
    identification method for industrial application", Int. J. Robotics Research 21 (2002), p. 701.
    """
    columns = arm.columns(place)
    problem = Problem(arm.model, arm.samples, arm.decimate or common_factor(arm.samples), columns)
    total = accumulated(problem, arm.model.base.n_base + columns.count)
    prior = np.insert(arm.prior, arm.model.base.n_base, np.zeros((columns.count, 1)), axis=1)
    sizes, centre = np.ones(10), np.zeros(10)
    x = np.zeros(total.width)
    for _ in range(2):  # the second time with the load's own size
        mass = max(float(x[-10]), LEAST_MASS)
        sizes = mass * np.repeat([1.0, GYRATION, GYRATION**2], [1, 3, 6])
        prior_all = np.vstack([prior, vague_rows(total.width, sizes, centre)])
        x, weights = weighted(total, prior_all, problem)
        centre = solid_ball(x[-10:])
    root = inverse_root(triangular(np.vstack([total.triangle(weights), prior_all])))
    covariance = load_covariance(problem, root, prior_all, x, weights)
    free = x[-10:]
    found = possible(whitening(root[-10:], sizes), free, sizes)
    jacobian = slope(found)
    spread = jacobian @ covariance @ jacobian.T
    free_std = np.sqrt(np.diag(covariance))
    limits = np.concatenate([[mass], np.full(3, GYRATION), np.full(6, float(found[0]) * GYRATION**2)])
    seen = np.sqrt(np.diag(spread)) <= limits
    if free[0] < SURE * free_std[0]:  # no load is as likely: its mass alone is known, and it has neither centre nor inertia
        seen[1:] = False
    numbers = safe_numbers(to_urdf(found), float(free[0]), seen)
    left = Relative(*(relative(problem, x, which, len(arm.empty)) for which in (True, False)))
    return LoadFit(from_urdf(numbers), free, free_std, numbers, spread, seen, 1.0 / weights, left)


def safe_numbers(numbers: Array, free_mass: float, seen: NDArray[np.bool_]) -> Array:
    """Return mass, centre and inertia (10,) with safe values in place of those that are not identified.

    A centre is set to the origin of the frame, where it adds no torque about the axes through it. An inertia of which no entry is
    identified is that of a solid ball of the mass. A mass without centre and inertia is the unconstrained one, at least zero: the
    condition that it belongs to a body with a centre would change it.

    Parameters
    ----------
    numbers : mass [kg], centre (3,) [m] and six entries of the inertia about it [kg m2], of a body that can exist
    free_mass : mass of the unconstrained estimate [kg]
    seen : which of the ten are identified

    Returns
    -------
    The ten numbers, of a body that can exist or of none.
    """
    safe = numbers.copy()
    if not np.any(seen[1:]):
        safe[0] = max(free_mass, 0.0)
    safe[1:4] = np.where(seen[1:4], safe[1:4], 0.0)
    if not np.any(seen[4:]):
        safe[4:] = solid_ball(np.array([safe[0], *np.zeros(9)]))[4:]
    return safe


def whitening(root: Array, sizes: Array) -> Array:
    """Return R (10, 10) with R^T R the inverse of the covariance root root^T of a load."""
    scaled = root / sizes[:, None]
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1]))).T / sizes)


def accumulated(problem: Problem, width: int) -> Accumulator:
    """Return all rows of a problem with its extra columns, folded."""
    made = Accumulator.empty([range(width)] * problem.n, width)
    for block in problem.blocks():
        made = made.fold(block.Y, block.tau, block.keep)
    return made


def vague_rows(width: int, sizes: Array, centre: Array) -> Array:
    """Return rows (10, width + 1) that keep what no sample shows near `centre` (10,), VAGUE times the typical size or less."""
    rows = np.zeros((10, width + 1))
    rows[:, -11:-1] = np.diag(1.0 / (VAGUE * sizes))
    rows[:, -1] = centre / (VAGUE * sizes)
    return rows


def weighted(total: Accumulator, prior: Array, problem: Problem) -> tuple[Array, Array]:
    """Return all unknowns and the weights 1 / (sigma_j sqrt(k_j)) (n,) of the joints, k_j their rows per independent row.

    sigma_j^2 = |residual_j|^2 / (N_j - tr H_j), with H_j the leverage of the joint's rows.
    """
    weights = 1.0 / typical_torque(total)
    x, sigma = np.zeros(total.width), 1.0 / weights
    for _ in range(ROUNDS):
        triangle = triangular(np.vstack([total.triangle(weights), prior]))
        x = least_squares(triangle, np.zeros(total.width))
        half = inverse_root(triangle)
        taken = np.array([weights[j] ** 2 * np.sum((total.rows(j)[:, :-1] @ half) ** 2) for j in range(total.n)])
        sigma = np.sqrt(total.residual_squares(x) / np.maximum(np.array(total.counts) - taken, 1.0))
        sigma = np.maximum(sigma, ROUNDING * typical_torque(total))
        weights = 1.0 / sigma
    if len(prior) > 10:  # beside the information from before the samples must not count for more than they are
        weights = weights / np.sqrt(inflation(problem, x))
        x = least_squares(triangular(np.vstack([total.triangle(weights), prior])), np.zeros(total.width))
    return x, weights


def typical_torque(total: Accumulator) -> Array:
    """Return the root mean square torque of each joint, (n,) [N m|N], at least a small part of the largest."""
    size = np.sqrt(total.torque_squares() / np.maximum(np.array(total.counts), 1.0))
    return np.maximum(size, 1e-3 * max(float(size.max(initial=0.0)), 1e-300))


def load_covariance(problem: Problem, root: Array, prior: Array, x: Array, weights: Array) -> Array:
    """Return the covariance (10, 10) of the load: what the samples make, by the jackknife over the motion, and what was known before.

    With the precision P = (root root^T)^-1 of samples and prior D the error is P^-1 (scores + D (prior - truth)): see
    `identification.result.uncertainty`.
    """
    made = residuals(problem, x, weights)
    C = jackknife(made.information, made.scores, made.cells.ends, root) * student_factor(made.cells.ends)
    own, before = root[-10:], prior[:, :-1] @ root
    return np.asarray(own @ (C + before.T @ before) @ own.T)


def student_factor(ends: tuple[int, ...]) -> float:
    """Return by how much a jackknife over few blocks is enlarged, so that 1.96 standard deviations hold 95 % all the same.

    (t / 1.96)^2, with the 97.5 % quantile t of Student's distribution: blocks that overlap count for 1.5 times as many degrees of freedom
    as there are blocks side by side, less one. Meketon and Schmeiser, Winter Simulation Conference 1984, p. 227.
    """
    from scipy.stats import t

    blocks = sum(weight for _, weight in moving_blocks(ends))
    return float((t.ppf(0.975, max(OVERLAPPING * (blocks - 1.0), 1.0)) / BAND) ** 2)


def solid_ball(parameters: Array) -> Array:
    """Return the ten parameters of a solid ball with the mass and centre of a load; a point without mass for one that is not positive."""
    mass = float(parameters[0])
    if mass <= 0:
        return np.zeros(10)
    centre = parameters[1:4] / mass
    radius = (3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1 / 3)
    J = np.zeros((4, 4))
    J[:3, :3] = 0.2 * mass * radius**2 * np.eye(3)
    return from_pseudo_inertia(J + mass * np.outer([*centre, 1.0], [*centre, 1.0]))


def possible(R: Array, free: Array, sizes: Array) -> Array:
    """Return argmin |R (load - free)| over loads (10,) with a positive pseudo-inertia; `free` itself if it has one.

    Wensing, Kim and Slotine, IEEE RA-L 3 (2018), eq. (18). The residual form keeps the condition of R instead of squaring it.
    """
    L = np.sqrt(np.array([sizes[4], sizes[4], sizes[4], sizes[0]]))
    T = from_pseudo_inertia(L[:, None] * SVEC * L).T
    start: Array = np.asarray(np.linalg.solve(T, free), np.float64)
    if float(np.linalg.eigvalsh(symmetric(start))[0]) >= MARGIN:
        return free
    A = R @ T
    scale = float(np.linalg.norm(A))
    G = sparse.csc_matrix(np.vstack([np.hstack([A / scale, -np.eye(10)]), np.hstack([-np.eye(10), np.zeros((10, 10))])]))
    floor = np.array([np.trace(E) for E in SVEC]) * MARGIN
    P = sparse.csc_matrix(np.diag(np.repeat([0.0, 1.0], 10)))
    cones = [clarabel.ZeroConeT(10), clarabel.PSDTriangleConeT(4)]
    with foreign("the cone solver Clarabel failed on this problem"):
        solution = clarabel.DefaultSolver(P, np.zeros(20), G, np.concatenate([A @ start / scale, -floor]), cones, settings()).solve()
    found = T @ np.array(solution.x)[:10]
    if not np.all(np.isfinite(found)):
        raise ProblemError(f"the solver ended with '{solution.status}' and without a load")
    return found if np.linalg.eigvalsh(pseudo_inertia(found))[0] > 0 else nearest_consistent(found)


def slope(parameters: Array) -> Array:
    """Return the derivatives (10, 10) of mass, centre and inertia about it by the ten parameters, by central differences."""
    steps = 1e-6 * np.maximum(np.abs(parameters), 1e-3 * parameters[0])
    return np.column_stack(
        [(to_urdf(parameters + e) - to_urdf(parameters - e)) / (2 * h) for e, h in zip(np.diag(steps), steps, strict=True)]
    )


def relative(problem: Problem, x: Array, loaded: bool, first: int) -> float:
    """Return |tau - predicted| / |tau| over the logs with, or without, the load."""
    left = size = 0.0
    for block in problem.blocks():
        if (block.log >= first) is loaded:
            keep = 1.0 if block.keep is None else block.keep
            left += float(np.sum((keep * (block.tau - block.Y @ x)) ** 2))
            size += float(np.sum((keep * (block.tau + block.known)) ** 2))
    return float(np.sqrt(left / size)) if size else float("nan")
