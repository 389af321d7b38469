"""Weighted least squares for the ten parameters of a load, together with the arm.

It computes the uncertainty and the nearest physically consistent load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import ProblemError, translate_errors
from ...identification.estimators.cone import settings, symmetric_matrix
from ...identification.estimators.least_squares import inverse_root, least_squares
from ...identification.estimators.noise_levels import inflation
from ...identification.model.accumulator import Accumulator, triangular
from ...identification.model.prior import SVEC
from ...identification.model.problem import Problem
from ...identification.result.jackknife import jackknife
from ...identification.result.residuals import residuals
from ...identification.samples.decimation import common_decimation
from ...parameters.orders import from_urdf, to_urdf, urdf_jacobian
from ...parameters.pseudo_inertia import from_pseudo_inertia, nearest_consistent, pseudo_inertia
from .arm import LoadedArm
from .load_columns import LoadFrame
from .payload_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class ArmDifference(NamedTuple):
    """Relative residuals |tau - predicted| / |tau| with and without the load; NaN without logs."""

    loaded: float
    empty: float


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Estimated load: ten parameters (10,), physically consistent, and unconstrained (`free`).

    Parameters are about the origin of the load's frame.

    `numbers` (10,) are mass [kg], centre [m] and the inertia about it [kg m2], Ixx Ixy Ixz Iyy Iyz
    Izz: what all outputs state. `covariance` (10, 10) is theirs, `seen` (10,) says which of them
    are identified; the others have the values of `safe_numbers`. `noise` (n,) [N m|N] is the
    standard deviation of the residuals.
    """

    parameters: Array
    free: Array
    free_std: Array
    numbers: Array
    covariance: Array
    seen: NDArray[np.bool_]
    noise: Array
    residual: ArmDifference


def fit_load(arm: LoadedArm, frame: LoadFrame) -> LoadFit:
    """Estimate the load at a frame of the arm from its samples.

    argmin sum_j |tau_j - Y_j base - L_j load|^2 / sigma_j^2.

    The arm's base parameters and the load are found together, so that the uncertainty of the arm
    counts, and errors of the model that are the same with and without the load cancel. Swevers,
    Naumer, Pieters, Biber, Verdonck and De Schutter, "An experimental robot load identification
    method for industrial application", Int. J. Robotics Research 21 (2002), p. 701.
    """
    columns = arm.columns(frame)
    problem = Problem(
        arm.model, arm.samples, arm.decimate or common_decimation(arm.samples), columns
    )
    total = accumulate(problem, arm.model.base.n_base + columns.count)
    prior = np.insert(arm.prior, arm.model.base.n_base, np.zeros((columns.count, 1)), axis=1)
    sizes, centre = np.ones(10), np.zeros(10)
    x = np.zeros(total.width)
    for _ in range(2):  # the second time with the load's own size
        mass = max(float(x[-10]), THRESHOLDS.compared_mass)
        sizes = mass * np.repeat(
            [1.0, THRESHOLDS.gyration_radius, THRESHOLDS.gyration_radius**2], [1, 3, 6]
        )
        prior_all = np.vstack([prior, vague_rows(total.width, sizes, centre)])
        x, weights = solve_weighted(total, prior_all, problem)
        centre = solid_ball(x[-10:])
    root = inverse_root(triangular(np.vstack([total.triangle(weights), prior_all])))
    covariance = load_covariance(problem, root, prior_all, x, weights)
    covariance = covariance + transmission_covariance(problem, root, x, weights)
    if arm.scale_std:
        change = arm.scale_std * scale_response(problem, root, x, weights)
        covariance = covariance + np.outer(change, change)
    free = x[-10:]
    solution = nearest_body(whitening(root[-10:], sizes), free, sizes)
    jacobian = urdf_jacobian(solution)
    spread = jacobian @ covariance @ jacobian.T
    free_std = np.sqrt(np.diag(covariance))
    limits = np.concatenate(
        [
            [mass],
            np.full(3, THRESHOLDS.gyration_radius),
            np.full(6, float(solution[0]) * THRESHOLDS.gyration_radius**2),
        ]
    )
    seen = np.sqrt(np.diag(spread)) <= limits
    # no load is as likely: its mass alone is known, and it has neither centre nor inertia
    if free[0] < THRESHOLDS.load_deviations * free_std[0]:
        seen[1:] = False
    numbers = safe_numbers(to_urdf(solution), float(free[0]), seen)
    residual = ArmDifference(
        *(relative_error(problem, x, which, len(arm.empty)) for which in (True, False))
    )
    return LoadFit(
        parameters=from_urdf(numbers),
        free=free,
        free_std=free_std,
        numbers=numbers,
        covariance=spread,
        seen=seen,
        noise=1.0 / weights,
        residual=residual,
    )


def safe_numbers(numbers: Array, free_mass: float, seen: NDArray[np.bool_]) -> Array:
    """Replace numbers (10,) that are not identified by safe values.

    A centre is set to the origin of the frame, where it adds no torque about the axes through it.
    An inertia of which no entry is identified is the inertia of a solid ball of the mass. A mass
    without centre and inertia is the unconstrained one, at least zero: the condition that it
    belongs to a body with a centre would change it.

    Parameters
    ----------
    numbers : mass [kg], centre (3,) [m] and six entries of the inertia about it [kg m2], of a
        physically consistent body
    free_mass : mass of the unconstrained estimate [kg]
    seen : which of the ten are identified

    Returns
    -------
    The ten numbers, physically consistent or all zero.
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


def accumulate(problem: Problem, width: int) -> Accumulator:
    """Return all rows of a problem with its extra columns, folded."""
    accumulator = Accumulator.empty([range(width)] * problem.n, width)
    for block in problem.blocks():
        accumulator = accumulator.fold(block.Y, block.tau, block.keep)
    return accumulator


def vague_rows(width: int, sizes: Array, centre: Array) -> Array:
    """Return prior rows (10, width + 1): mean `centre` (10,), std `prior_spread` times sizes."""
    rows = np.zeros((10, width + 1))
    rows[:, -11:-1] = np.diag(1.0 / (THRESHOLDS.prior_spread * sizes))
    rows[:, -1] = centre / (THRESHOLDS.prior_spread * sizes)
    return rows


def solve_weighted(total: Accumulator, prior: Array, problem: Problem) -> tuple[Array, Array]:
    """Solve for all unknowns, and return them with the weights (n,) of the joints.

    Weights are 1 / (sigma_j sqrt(k_j)), with k_j rows per independent row.

    sigma_j^2 = |residual_j|^2 / (N_j - tr H_j), with H_j the leverage of the joint's rows.
    """
    weights = 1.0 / rms_torque(total)
    x, sigma = np.zeros(total.width), 1.0 / weights
    for _ in range(THRESHOLDS.weighting_rounds):
        triangle = triangular(np.vstack([total.triangle(weights), prior]))
        x = least_squares(triangle, np.zeros(total.width))
        half = inverse_root(triangle)
        taken = np.array(
            [weights[j] ** 2 * np.sum((total.rows(j)[:, :-1] @ half) ** 2) for j in range(total.n)]
        )
        sigma = np.sqrt(total.residual_squares(x) / np.maximum(np.array(total.counts) - taken, 1.0))
        sigma = np.maximum(sigma, THRESHOLDS.least_noise * rms_torque(total))
        weights = 1.0 / sigma
    # beside the information from before the samples must not count for more than they are
    if len(prior) > 10:
        weights = weights / np.sqrt(inflation(problem, x))
        x = least_squares(
            triangular(np.vstack([total.triangle(weights), prior])), np.zeros(total.width)
        )
    return x, weights


def rms_torque(total: Accumulator) -> Array:
    """Return the RMS torque of each joint (n,) [N m|N], at least 0.1 % of the largest."""
    size = np.sqrt(total.torque_squares() / np.maximum(np.array(total.counts), 1.0))
    return np.maximum(size, 1e-3 * max(float(size.max(initial=0.0)), 1e-300))


def load_covariance(problem: Problem, root: Array, prior: Array, x: Array, weights: Array) -> Array:
    """Return the covariance (10, 10) of the load.

    By the jackknife over the motion, and from prior knowledge.

    With the precision P = (root root^T)^-1 of samples and prior D the error is P^-1 (scores + D
    (prior - truth)): see `identification.result.uncertainty`.
    """
    errors = residuals(problem, x, weights)
    C = jackknife(errors.information, errors.scores, errors.cells.ends, root)
    load_rows, before = root[-10:], prior[:, :-1] @ root
    return np.asarray(load_rows @ (C + before.T @ before) @ load_rows.T)


def transmission_covariance(problem: Problem, root: Array, x: Array, weights: Array) -> Array:
    """Return what model errors that grow with the load add to the covariance (10, 10) of the load.

    sum_j (c r_j)^2 d_j d_j^T, with r_j the relative model error of joint j and d_j = P^-1 Y_j^T W^2
    L_j load the change of the load if its torque at that joint is twice as large. Model errors that
    do not depend on the load are in both runs, or differ along the motion, as the jackknife shows.
    Friction and gains that the load changes do neither: the same load would weigh more in one
    motion than in another. Model errors are residuals that are correlated between neighbouring
    samples; r_j = sqrt(mean e_t e_t+1 / mean tau^2). Kennedy and O'Hagan, J. Royal Statistical
    Society B 63 (2001), p. 425 (model discrepancy).
    """
    squares, torque = np.zeros(problem.n), np.zeros(problem.n)
    scores = np.zeros((problem.n, len(x)))
    for block in problem.blocks():
        keep = np.ones(block.tau.shape) if block.keep is None else block.keep.astype(float)
        e = keep * (block.tau - block.Y @ x)
        squares += np.sum(e[1:] * e[:-1], axis=0)
        torque += np.sum((keep * (block.tau + block.known)) ** 2, axis=0)
        of_load = keep * weights**2 * (block.Y[:, :, -10:] @ x[-10:])
        scores += np.einsum("tjb,tj->jb", block.Y, of_load)
    error = np.sqrt(np.maximum(squares, 0.0) / np.maximum(torque, 1e-300))
    changes = THRESHOLDS.load_error_share * error[:, None] * (scores @ root @ root[-10:].T)
    return np.asarray(changes.T @ changes)


def scale_response(problem: Problem, root: Array, x: Array, weights: Array) -> Array:
    """Return d load / d s (10,) for torques that are all multiplied by 1 + s.

    With the precision P = (root root^T)^-1 of all unknowns x it is x + P^-1 Y^T W^2 known: unknowns
    scale with the torque, and the load takes over the rest of the known torque.
    """
    rest = np.zeros(len(x))
    for block in problem.blocks():
        weight = weights**2 if block.keep is None else weights**2 * block.keep
        rest += np.einsum("tjb,tj->b", block.Y, weight * block.known)
    return np.asarray((x + root @ (root.T @ rest))[-10:])


def solid_ball(parameters: Array) -> Array:
    """Return the ten parameters of a solid ball with the mass and centre of a load.

    A point without mass for one that is not positive.
    """
    mass = float(parameters[0])
    if mass <= 0:
        return np.zeros(10)
    centre = parameters[1:4] / mass
    radius = (3.0 * mass / (4.0 * np.pi * THRESHOLDS.density)) ** (1 / 3)
    J = np.zeros((4, 4))
    J[:3, :3] = 0.2 * mass * radius**2 * np.eye(3)
    return from_pseudo_inertia(J + mass * np.outer([*centre, 1.0], [*centre, 1.0]))


def nearest_body(R: Array, free: Array, sizes: Array) -> Array:
    """Return argmin |R (load - free)| over physically consistent loads (10,).

    `free` itself if it has a positive pseudo-inertia.

    Wensing, Kim and Slotine, IEEE RA-L 3 (2018), eq. (18). The residual form keeps the condition of
    R instead of squaring it.
    """
    L = np.sqrt(np.array([sizes[4], sizes[4], sizes[4], sizes[0]]))
    T = from_pseudo_inertia(L[:, None] * SVEC * L).T
    start: Array = np.asarray(np.linalg.solve(T, free), np.float64)
    if float(np.linalg.eigvalsh(symmetric_matrix(start))[0]) >= THRESHOLDS.least_eigenvalue:
        return free
    A = R @ T
    scale = float(np.linalg.norm(A))
    G = sparse.csc_matrix(
        np.vstack(
            [np.hstack([A / scale, -np.eye(10)]), np.hstack([-np.eye(10), np.zeros((10, 10))])]
        )
    )
    floor = np.array([np.trace(E) for E in SVEC]) * THRESHOLDS.least_eigenvalue
    P = sparse.csc_matrix(np.diag(np.repeat([0.0, 1.0], 10)))
    cones = [clarabel.ZeroConeT(10), clarabel.PSDTriangleConeT(4)]
    with translate_errors("the cone solver Clarabel failed on this problem"):
        solution = clarabel.DefaultSolver(
            P, np.zeros(20), G, np.concatenate([A @ start / scale, -floor]), cones, settings()
        ).solve()
    load = T @ np.array(solution.x)[:10]
    if not np.all(np.isfinite(load)):
        raise ProblemError(f"the solver ended with '{solution.status}' and without a load")
    return load if np.linalg.eigvalsh(pseudo_inertia(load))[0] > 0 else nearest_consistent(load)


def relative_error(problem: Problem, x: Array, loaded: bool, first: int) -> float:
    """Return |tau - predicted| / |tau| over the logs with, or without, the load."""
    error = size = 0.0
    for block in problem.blocks():
        if (block.log >= first) is loaded:
            keep = 1.0 if block.keep is None else block.keep
            error += float(np.sum((keep * (block.tau - block.Y @ x)) ** 2))
            size += float(np.sum((keep * (block.tau + block.known)) ** 2))
    return float(np.sqrt(error / size)) if size else float("nan")
