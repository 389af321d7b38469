"""Estimates from the square-root information of live samples: weighted least squares, their covariance, and a robot that can exist."""

from __future__ import annotations

from typing import Any

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
from ...robot import Robot
from ...signals.autocorrelation import lagged_products, variance_inflation
from ...simulation.controllers.joint_space import parameter_sizes
from ..loads.arm import prior_rows

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROUNDS = 5  # of weighting joints by what they leave, where there is information from before
VAGUE = 3.0  # times the size of a parameter: its standard deviation before any sample
RECENT = 512  # samples from which the autocorrelation of the residuals is found


def starting_model(given: Robot | Fit, options: ModelOptions | None, short: dict[str, Any]) -> tuple[Model, Array]:
    """Return the model to identify, and rows (k, b + 1) of what a fit knows of it already, none for a robot."""
    if isinstance(given, Fit):
        if options is not None or short:
            raise CallError("OnlineIdentifier: a fit has its own model; model options go with a robot")
        return given.model, prior_rows(given)
    require_robot(given, "OnlineIdentifier")
    refuse_loops(given, "OnlineIdentifier", "identify its logs with sy.identify")
    model = build_model(given, make_options(None, model=options, **short).model)
    return model, np.zeros((0, model.base.n_base + 1))


def estimated(total: Accumulator, before: Array, prior: Array) -> tuple[Array, Array]:
    """Return base parameters (b,) and weights 1/sigma_j (n,) from all samples and rows (k, b + 1) of information from before."""
    if not len(before):
        return weighted(total, prior)
    base = least_squares(triangular(before), prior)
    weights = np.ones(total.n)
    for _ in range(ROUNDS):
        weights = 1.0 / noise(total, base)
        base = least_squares(triangular(np.vstack([total.triangle(weights), before])), prior)
    return base, weights


def covariance_root(total: Accumulator, before: Array, weights: Array) -> Array:
    """Return a matrix H (b, b), H H^T the covariance of the base parameters; its columns are zero for directions that nothing shows."""
    return inverse_root(triangular(np.vstack([total.triangle(weights), before])))


def with_description(model: Model, total: Accumulator, before: Array, weights: Array) -> tuple[Array, Array]:
    """Return base parameters (b,) and their covariance (b, b) where what no sample shows is as described, to VAGUE times its size.

    Weighted least squares alone may put directions that are hardly excited anywhere. The description as a prior keeps them where a robot
    can have them, and says how uncertain they are. Swevers, Verdonck and De Schutter, IEEE Control Systems Magazine 27 (2007), p. 64.
    """
    spread = VAGUE * model.base.matrix * np.array(parameter_sizes(model.robot.tree))
    scale = np.sqrt(np.maximum(np.sum(spread**2, axis=1), 1e-300))
    values, vectors = np.linalg.eigh((spread / scale[:, None]) @ (spread / scale[:, None]).T)
    rows = (vectors / np.sqrt(np.maximum(values, 1e-12))).T / scale
    described = np.column_stack([rows, rows @ model.base.values(model.start)])
    triangle = triangular(np.vstack([total.triangle(weights), before, described]))
    root = inverse_root(triangle)
    return least_squares(triangle, np.zeros(len(root))), np.asarray(root @ root.T)


def physical(model: Model, total: Accumulator, before: Array, base: Array, weights: Array) -> Array:
    """Return parameters (p,) of a robot that can exist with these base parameters (b,), or the nearest to them in torque."""
    triangle = triangular(np.vstack([total.triangle(weights), before]))
    triangle[:-1, -1] = triangle[:-1, :-1] @ base
    triangle[-1, -1] = 0.0
    return consistent(model, triangle, base, SDP(1e-3, model.bounds, exact=True), PriorWeight(1e-3)).parameters


class Recent:
    """The last RECENT rows of a stream, for the autocorrelation of what the estimate leaves."""

    def __init__(self, width: int, n: int) -> None:
        self.rows, self.keep, self.count = np.zeros((RECENT, width)), np.ones((RECENT, n), bool), 0

    def add(self, rows: Array, keep: Bools | None) -> None:
        """Take in rows (N, width)."""
        rows, keep = rows[-RECENT:], None if keep is None else keep[-RECENT:]
        at = (self.count + np.arange(len(rows))) % RECENT if len(rows) > 1 else self.count % RECENT
        self.rows[at] = rows
        self.keep[at] = True if keep is None else keep
        self.count += len(rows)

    def inflation(self, base: Array, n: int) -> Array:
        """Return the variance inflation (n,) due to autocorrelated residuals of base parameters (b,)."""
        order = np.arange(max(self.count - RECENT, 0), self.count) % RECENT
        if len(order) < 2:
            return np.ones(n)
        Y = self.rows[order, : n * len(base)].reshape(len(order), n, len(base))
        e = (self.rows[order, n * len(base) : -1] - Y @ base) * self.keep[order]
        sums = lagged_products(e)
        return variance_inflation(sums[1] / np.maximum(sums[0], 1e-300))
