"""Instrumental variables: least squares that noise of the regressor does not bias."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError, mention
from ...model.problem import Problem
from ...samples.samples import Samples
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import weighted
from .didim import DIDIM
from .feedback_loop import feedback_loop
from .linearised import InstrumentProblem
from .simulated_states import (
    as_smoothed,
    is_simulated,
    with_simulated_motion,
    without_smoothing_width,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IV(DIDIM):
    """base = (Z^T W^2 X)^-1 Z^T W^2 tau.

    X is the regressor of the smoothed motion, Z (the instruments) of the simulated closed loop.

    Noise of the positions is in X but not in Z, so that it does not bias the estimate as it does
    least squares; an error of the simulated motion makes the estimate less certain, not wrong.
    Options are as for DIDIM. Janot, Vandanjon and Gautier, IEEE Trans. Control Systems Technology
    22 (2014), p. 132.
    """

    name = "iv"

    def linearise(self, problem: Problem) -> Problem:
        """Return the problem of least squares that has the solution of the instruments."""
        if isinstance(problem, InstrumentProblem) or not any(map(is_simulated, problem.samples)):
            return problem
        _, weights = weighted(problem.total, problem.prior)
        start = InstrumentProblem(
            problem.model,
            problem.samples,
            problem.decimate,
            point=problem.prior,
            projection=np.eye(problem.base.n_base),
        )
        for _ in range(THRESHOLDS.weighting_rounds):
            base, projection = solved(start, weights)
            linearised = replace(start, point=base, projection=projection)
            squares, counts = residual_squares(linearised, base)
            weights = np.sqrt(np.maximum(counts, 1.0) / np.maximum(squares, 1e-300))
        return linearised

    def instruments(self, problem: Problem, pi: Array) -> tuple[Samples, ...]:
        """Return the samples with the motion simulated with parameters pi (p,).

        It does not depend on the noise of the measured positions.

        Without a controller the tracking error is unknown, and the samples are not changed.
        """
        if self.controller is None:
            return problem.samples
        loops = [(feedback_loop(as_smoothed(s), self.controller), s) for s in problem.samples]
        motions = [
            loop.simulated(without_smoothing_width(problem.model), pi, s) for loop, s in loops
        ]
        if not all(np.all(np.isfinite(motion.states)) for motion in motions):
            return problem.samples
        return tuple(
            with_simulated_motion(s, motion, False, problem.decimate)
            for s, motion in zip(problem.samples, motions, strict=True)
        )


def solved(problem: InstrumentProblem, weights: Array) -> tuple[Array, Array]:
    """Return base parameters (b,) and the projection (b, b) of the regressor onto the instruments.

    `weights` (n,) has one weight per joint.

    Columns are scaled to unit norm. Raises ProblemError where the instruments do not distinguish
    the parameters.
    """
    b = problem.base.n_base
    G, P, z = np.zeros((b, b)), np.zeros((b, b)), np.zeros(b)
    for block in problem.wide.blocks():
        W = weights**2 * (1.0 if block.keep is None else block.keep)
        Z, X = block.Y[:, :, :b], block.Y[:, :, b:-1]
        weighed = Z * np.broadcast_to(W, block.tau.shape)[:, :, None]
        G += np.einsum("tjb,tjc->bc", weighed, Z, optimize=True)
        P += np.einsum("tjb,tjc->bc", weighed, X, optimize=True)
        z += np.einsum("tjb,tj->b", weighed, block.tau + block.known - block.Y[:, :, -1])
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    values = np.linalg.svd(P / np.outer(size, size), compute_uv=False)
    if values[-1] < THRESHOLDS.instrument_rank * values[0]:
        rank = int(np.sum(values >= THRESHOLDS.instrument_rank * values[0]))
        raise ProblemError(
            f"the simulated motion shows {rank} of {b} base parameters: use"
            f" {mention('estimator', 'auto')}, or a motion made by excite()"
        )
    projection = (
        np.linalg.solve(G / np.outer(size, size), P / np.outer(size, size)) * size / size[:, None]
    )
    return np.linalg.solve(P / np.outer(size, size), z / size) / size, projection


def residual_squares(problem: Problem, base: Array) -> tuple[Array, Array]:
    """Return the squared residuals of each joint and the number of its rows, both (n,)."""
    squares, counts = np.zeros((2, problem.n))
    for block in problem.blocks():
        e = block.tau - block.rows @ base
        keep = np.ones(e.shape, bool) if block.keep is None else block.keep
        squares, counts = squares + np.sum(keep * e**2, axis=0), counts + keep.sum(axis=0)
    return squares, counts
