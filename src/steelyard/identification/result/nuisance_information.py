"""Information on quantities that are estimated beside the parameters: friction shapes and delay."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import BY_KEY, FRICTION, JointState, Terms
from ...robot import Robot
from ...signals.segments import split
from ..model.problem import Block, Problem
from ..nuisance.presliding_distance import kept_derivative
from ..samples.decimation import low_passed
from .residuals import Residuals
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]
SEARCHED = tuple(row.key for row in BY_KEY.values() if not row.linear and row.between[0] > 0)
"""Shapes of friction that are searched for."""


@dataclass(frozen=True, eq=False)
class NuisanceColumns:
    """Derivatives of the torque by k nuisance parameters, at the kept samples.

    `of_joints` has for each joint its columns: number of the parameter, and derivative (N,).
    `precision` (k,) is known of each parameter before the samples.
    """

    of_joints: tuple[tuple[tuple[int, Array], ...], ...]
    precision: Array

    @property
    def count(self) -> int:
        """Number of nuisance parameters."""
        return len(self.precision)


@dataclass(frozen=True, eq=False)
class NuisanceInformation:
    """Information on k nuisance parameters in each of c cells of the motion.

    With D the derivatives of the torque: `scores` D^T W^2 e (c, k), `cross` Y^T W^2 D (c, b, k),
    `square` D^T W^2 D (c, k, k); `precision` (k,) is known before the samples.
    """

    scores: Array
    cross: Array
    square: Array
    precision: Array

    def information(self, of_base: Array) -> Array:
        """Return the information on base and nuisance parameters, (c, b + k, b + k)."""
        top = np.concatenate([of_base, self.cross], axis=2)
        below = np.concatenate([self.cross.transpose(0, 2, 1), self.square], axis=2)
        return np.concatenate([top, below], axis=1)

    def every_score(self, of_base: Array, change: Array | None = None) -> Array:
        """Return scores of base and nuisance parameters, (c, b + k).

        `change` (b,) is how much base parameters of the residuals exceed the ones that `of_base`
        (c, b) belong to.
        """
        scores = self.scores if change is None else self.scores + change @ self.cross
        return np.concatenate([of_base, scores], axis=1)

    def roots(self, root: Array) -> tuple[Array, Array]:
        """Return roots of the covariance with the nuisance parameters.

        With x the coordinates in which the precision of the parameters is one, C = root^T Y^T W^2 D
        and S = D^T W^2 D + precision - C^T C, the precision [1 C; C^T D^T W^2 D + precision] has
        the inverse R R^T with R = [1 -C S^-1/2; 0 S^-1/2] (elimination of nuisance parameters).

        Parameters
        ----------
        root : (b, m) changes of the base parameters by x

        Returns
        -------
        whole : (b + k, m + k) R in base and nuisance parameters
        head : (m, m + k) the rows of R that belong to x
        """
        m, k = root.shape[1], len(self.precision)
        scale = 1.0 / np.sqrt(np.diag(self.square.sum(axis=0)) + self.precision)
        C = root.T @ (self.cross.sum(axis=0) * scale)
        known = np.diag(self.precision * scale**2)
        S = self.square.sum(axis=0) * np.outer(scale, scale) + known - C.T @ C
        values, vectors = np.linalg.eigh(0.5 * (S + S.T))
        least = np.maximum(values, np.min(np.diag(known)))
        half = vectors / np.sqrt(least)
        head = np.hstack([np.eye(m), -C @ half])
        tail = np.hstack([np.zeros((k, m)), scale[:, None] * half])
        return np.vstack([root @ head, tail]), head


def nuisance_columns(
    problem: Problem,
    robot: Robot,
    errors: Residuals,
    *,
    widths: bool,
    delays: Array | None,
) -> NuisanceColumns:
    """Return the derivatives of the torque by logarithms of friction shapes, and by delays.

    Parameters
    ----------
    problem : rows of the estimate
    robot : the identified robot
    errors : residuals of the estimate
    widths : whether widths of Coulomb steps were estimated
    delays : (n,) [s] estimated delays, None if they were given; equal ones are one parameter
    """
    columns: list[list[tuple[int, Array]]] = [[] for _ in range(problem.n)]
    precision: list[float] = []
    for j, terms in enumerate(robot.tree.terms):
        for key in SEARCHED:
            if terms.get(key) and (widths or key != "width"):
                columns[j].append((len(precision), shape_derivative(problem, terms, j, key)))
                precision.append(THRESHOLDS.shape_spread**-2)
    if delays is not None:
        first, common = len(precision), bool(np.all(delays == delays[0]))
        for j, derivative in enumerate(time_derivative(errors).T):
            columns[j].append((first + (0 if common else j), -derivative))
        precision += [THRESHOLDS.delay_spread**-2] * (1 if common else problem.n)
    return NuisanceColumns(tuple(map(tuple, columns)), np.array(precision))


def shape_derivative(problem: Problem, terms: Terms, joint: int, key: str) -> Array:
    """Return the derivative (N,) of a joint's friction by the logarithm of a shape [N m|N].

    `terms` are the identified values of the joint.
    """
    if key == "distance":
        return terms[key] * kept_derivative(problem, joint, terms)
    step = THRESHOLDS.shape_step
    larger, smaller = (terms.changed({key: terms[key] * factor}) for factor in (1 + step, 1 - step))
    parts = []
    for s in problem.samples:
        qd = s.qd[:, joint]
        change = friction_of_shape(larger, key, qd) - friction_of_shape(smaller, key, qd)
        parts.append(low_passed(change / (2 * step), s, problem.decimate))
    return np.concatenate(parts)


def friction_of_shape(terms: Terms, key: str, qd: Array) -> Array:
    """Return the sliding friction (N,) [N m|N] that depends on a shape, at velocities (N,)."""
    state = JointState(0.0, qd, 0.0, 0.0)
    torque = np.zeros(len(qd))
    for row in FRICTION:
        if row.factor is not None and key in row.shapes and row.key in terms and not row.reads:
            torque = torque + terms[row.key] * row.factor(terms, state)
    return torque


def time_derivative(errors: Residuals) -> Array:
    """Return the derivative of the predicted torque (N, n) by time [N m/s|N/s]."""
    rate = np.zeros_like(errors.predicted)
    for part in split(errors.t):
        if part.stop - part.start > 1:
            rate[part] = np.gradient(errors.predicted[part], errors.t[part], axis=0)
    return rate


def nuisance_information(
    problem: Problem, errors: Residuals, weights: Array, columns: NuisanceColumns
) -> NuisanceInformation:
    """Sum the information on nuisance parameters over the cells of the motion.

    One in several samples is read of a long log, and counts for those left out.

    Parameters
    ----------
    problem, errors : rows of the estimate, and its residuals with their cells
    weights : (n,) of the joints' rows
    columns : derivatives by the nuisance parameters
    """
    every = -(-problem.N // THRESHOLDS.information_samples)

    def thinned_rows(block: Block) -> list[Array]:
        index = np.arange(-block.first % every, len(block.t), every)
        return [block.rows.row(j)[index] for j in range(problem.n)]

    rows = [np.concatenate(parts) for parts in zip(*problem.each(thinned_rows), strict=True)]
    picked = np.arange(0, problem.N, every)
    cells = np.concatenate(errors.cells.numbers)[picked]
    order = np.argsort(cells, kind="stable")
    edges = np.searchsorted(cells[order], np.arange(errors.cells.count + 1))
    b, k, c = problem.base.n_base, columns.count, errors.cells.count
    scores, cross, square = np.zeros((c, k)), np.zeros((c, b, k)), np.zeros((c, k, k))
    for j, of_joint in enumerate(columns.of_joints):
        if not of_joint:
            continue
        numbers = np.array([number for number, _ in of_joint], np.intp)
        used = weights[j] * np.sqrt(every) * errors.keep[picked, j][order]
        D = np.stack([column[picked][order] for _, column in of_joint], axis=1) * used[:, None]
        Y, e = rows[j][order] * used[:, None], errors.values[picked, j][order] * used
        reached = np.asarray(problem.reach.columns[j], np.intp)
        for cell, (start, end) in enumerate(pairwise(edges)):
            part = slice(start, end)
            scores[cell, numbers] += D[part].T @ e[part]
            cross[cell][np.ix_(reached, numbers)] += Y[part].T @ D[part]
            square[cell][np.ix_(numbers, numbers)] += D[part].T @ D[part]
    return NuisanceInformation(scores, cross, square, columns.precision)


def information_of_nuisance(
    problem: Problem,
    robot: Robot,
    errors: Residuals,
    weights: Array,
    *,
    widths: bool,
    delays: Array | None,
) -> NuisanceInformation | None:
    """Return the information on friction shapes and delays; None where none was estimated."""
    columns = nuisance_columns(problem, robot, errors, widths=widths, delays=delays)
    return nuisance_information(problem, errors, weights, columns) if columns.count else None
