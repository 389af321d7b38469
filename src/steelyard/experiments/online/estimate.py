"""Estimates from the square-root information of live samples.

Weighted least squares, their covariance, and a physically consistent robot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, refuse_loops, require_robot
from ...identification.estimators.least_squares import inverse_root, least_squares, noise, weighted
from ...identification.estimators.prior_weight import PriorWeight
from ...identification.estimators.sdp import SDP, consistent
from ...identification.model.accumulator import Accumulator, triangular
from ...identification.model.linear_model import Model, build_model
from ...identification.model.model_options import ModelOptions
from ...identification.options import make_options
from ...identification.result.fit import Fit
from ...option_groups.identification import ModelKeywords
from ...robot import Robot
from ...signals.autocorrelation import lagged_products, variance_inflation
from ...simulation.controllers.joint_space import parameter_sizes
from ..payload_identification.arm import information_rows
from .online_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def starting_model(
    start: Robot | Fit, options: ModelOptions | None, short: ModelKeywords
) -> tuple[Model, Array]:
    """Return the model to identify, and rows (k, b + 1) of prior information of a fit.

    A robot has no such rows.
    """
    if isinstance(start, Fit):
        if options is not None or short:
            raise CallError(
                "OnlineIdentifier: a fit has its own model; model options go with a robot"
            )
        return start.model, information_rows(start)
    require_robot(start, "OnlineIdentifier")
    refuse_loops(start, "OnlineIdentifier", "identify its logs with sy.identify")
    model = build_model(start, make_options(None, model=options, **short).model)
    return model, np.zeros((0, model.base.n_base + 1))


def estimate_base(total: Accumulator, before: Array, prior: Array) -> tuple[Array, Array]:
    """Estimate base parameters (b,) and weights 1/sigma_j (n,) by weighted least squares.

    `before` (k, b + 1) are rows of prior information.
    """
    if not len(before):
        return weighted(total, prior)
    base = least_squares(triangular(before), prior)
    weights = np.ones(total.n)
    for _ in range(THRESHOLDS.weighting_rounds):
        weights = 1.0 / noise(total, base)
        base = least_squares(triangular(np.vstack([total.triangle(weights), before])), prior)
    return base, weights


def covariance_root(total: Accumulator, before: Array, weights: Array) -> Array:
    """Return a matrix H (b, b), H H^T the covariance of the base parameters.

    Its columns are zero for directions that nothing shows.
    """
    return inverse_root(triangular(np.vstack([total.triangle(weights), before])))


def with_description(
    model: Model, total: Accumulator, before: Array, weights: Array
) -> tuple[Array, Array]:
    """Estimate base parameters (b,) and their covariance (b, b) with the description as a prior.

    Its standard deviation is `prior_spread` times the size of each parameter.

    Weighted least squares alone may put directions that are hardly excited anywhere. The
    description as a prior keeps them where a robot can have them, and says how uncertain they are.
    Swevers, Verdonck and De Schutter, IEEE Control Systems Magazine 27 (2007), p. 64.
    """
    spread = (
        THRESHOLDS.prior_spread * model.base.matrix * np.array(parameter_sizes(model.robot.tree))
    )
    scale = np.sqrt(np.maximum(np.sum(spread**2, axis=1), 1e-300))
    values, vectors = np.linalg.eigh((spread / scale[:, None]) @ (spread / scale[:, None]).T)
    rows = (vectors / np.sqrt(np.maximum(values, 1e-12))).T / scale
    described = np.column_stack([rows, rows @ model.base.values(model.start)])
    triangle = triangular(np.vstack([total.triangle(weights), before, described]))
    root = inverse_root(triangle)
    return least_squares(triangle, np.zeros(len(root))), np.asarray(root @ root.T)


def physical_parameters(
    model: Model, total: Accumulator, before: Array, base: Array, weights: Array
) -> Array:
    """Return physically consistent parameters (p,) for base parameters (b,).

    Where there are none, the nearest in torque.
    """
    triangle = triangular(np.vstack([total.triangle(weights), before]))
    triangle[:-1, -1] = triangle[:-1, :-1] @ base
    triangle[-1, -1] = 0.0
    return consistent(
        model, triangle, base, SDP(1e-3, model.bounds, exact=True), PriorWeight(1e-3)
    ).parameters


class RecentSamples:
    """The last `recent_samples` rows of a stream, for the autocorrelation of the residuals."""

    def __init__(self, width: int, n: int) -> None:
        self.rows, self.keep, self.count = (
            np.zeros((THRESHOLDS.recent_samples, width)),
            np.ones((THRESHOLDS.recent_samples, n), bool),
            0,
        )

    def add(self, rows: Array, keep: Bools | None) -> None:
        """Take in rows (N, width)."""
        rows, keep = (
            rows[-THRESHOLDS.recent_samples :],
            None if keep is None else keep[-THRESHOLDS.recent_samples :],
        )
        rows_at = (
            (self.count + np.arange(len(rows))) % THRESHOLDS.recent_samples
            if len(rows) > 1
            else self.count % THRESHOLDS.recent_samples
        )
        self.rows[rows_at] = rows
        self.keep[rows_at] = True if keep is None else keep
        self.count += len(rows)

    def inflation(self, base: Array, n: int) -> Array:
        """Return the variance inflation (n,) of autocorrelated residuals of parameters (b,)."""
        order = (
            np.arange(max(self.count - THRESHOLDS.recent_samples, 0), self.count)
            % THRESHOLDS.recent_samples
        )
        if len(order) < 2:
            return np.ones(n)
        Y = self.rows[order, : n * len(base)].reshape(len(order), n, len(base))
        e = (self.rows[order, n * len(base) : -1] - Y @ base) * self.keep[order]
        sums = lagged_products(e)
        return variance_inflation(sums[1] / np.maximum(sums[0], 1e-300))
