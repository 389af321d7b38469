"""The posterior of the parameters.

The description as a Gaussian prior of the links, the samples as data, and their evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.linalg.lapack import dtpqrt, dtrtrs

from ...cached import cached_property
from ..model.linear_model import Model
from ..model.prior import BodyPrior, body_prior
from .estimator_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates u of the free parameters.

    Pi = origin + matrix u, with u = 0 at the centre of the prior.

    The first `inner` of them belong to bodies, in the metric of their pseudo-inertia; the others
    are joint terms. `bodies` (.., inner) has ten rows for each body, with |S - S0|^2 = |rows u|^2.
    """

    origin: Array
    matrix: Array
    bodies: Array

    @property
    def inner(self) -> int:
        return self.bodies.shape[1]

    def precision(self, weights: ArrayLike) -> Array:
        """Return the prior precision (u, u) for the weight of each body (bodies,)."""
        D = np.zeros((self.matrix.shape[1],) * 2)
        for weight, (used, metric) in zip(np.asarray(weights, float), self.metric, strict=True):
            D[used[:, None], used] += weight * metric
        return D

    @cached_property
    def metric(self) -> tuple[tuple[NDArray[np.intp], Array], ...]:
        """Coordinates (k,) of each body, and the metric (k, k) with |S - S0|^2 = u^T metric u."""
        rows = [self.bodies[i : i + 10] for i in range(0, len(self.bodies), 10)]
        used = [np.flatnonzero(np.any(block != 0, axis=0)) for block in rows]
        return tuple(
            (columns, block[:, columns].T @ block[:, columns])
            for columns, block in zip(used, rows, strict=True)
        )


def coordinates(model: Model, prior: BodyPrior) -> Coordinates:
    """Return coordinates of the free parameters of a model; held parameters keep their values.

    |u|^2 = |S - S0|^2 over all bodies where nothing is held.
    """
    p, inner = len(model.names), 10 * prior.bodies
    T, origin = np.eye(p), model.start.copy()
    for i, block in enumerate(prior.to_pi):
        body = slice(10 * i, 10 * i + 10)
        T[body, body], origin[body] = block, block @ prior.centre[i]
    fixed = [(i, value) for i, value in model.held if i < inner]
    bodies, links = np.eye(inner), T[:, :inner]
    if fixed:
        rows = T[[i for i, _ in fixed]][:, :inner]
        bodies = null_space(rows)
        links = links @ bodies
        gap = np.array([value - origin[i] for i, value in fixed])
        origin[:inner] += T[:inner, :inner] @ np.linalg.lstsq(rows, gap, rcond=None)[0]
    matrix = np.hstack([links, np.eye(p)[:, [i for i in model.free if i >= inner]]])
    return Coordinates(origin, matrix, bodies)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The Gaussian posterior of the free parameters u (k,).

    Mean, factor R (k, k) of the precision, and log evidence [nats].

    R^T R = data^T data + prior^T prior, with `data` the rows of the samples and `prior` the rows of
    the description, (., k). `weights` (bodies,) are the weights of the description, `vague` (k -
    inner,) the precisions of the joint terms before the samples.
    """

    coordinates: Coordinates
    mean: Array
    factor: Array
    data: Array
    prior: Array
    log_evidence: float
    weights: Array
    vague: Array

    @property
    def parameters(self) -> Array:
        """The mean as parameters (p,); links may be physically inconsistent."""
        return self.coordinates.origin + self.coordinates.matrix @ self.mean

    @cached_property
    def root(self) -> Array:
        """R^-1, (k, k): the covariance of u is root root^T."""
        return np.asarray(np.linalg.inv(self.factor))

    @cached_property
    def decided(self) -> Array:
        """The part of each direction that the samples decide, (k, k).

        Covariance data^T data; its trace counts parameters.
        """
        return np.asarray(
            np.eye(len(self.mean)) - self.root @ (self.root.T @ self.prior.T @ self.prior)
        )

    def variance(self, directions: Array) -> Array:
        """Return the variance of the combinations directions u, (m,), for directions (m, k)."""
        return np.asarray(np.sum((directions @ self.root) ** 2, axis=1))

    def share(self, directions: Array) -> Array:
        """Return the share (m,), 0 to 1, of the samples in the information on combinations u.

        1 - variance after / variance before the samples.
        """
        before = np.sum(np.linalg.solve(self.prior.T, directions.T) ** 2, axis=0)
        return np.asarray(
            np.clip(1.0 - self.variance(directions) / np.maximum(before, 1e-300), 0.0, 1.0)
        )

    def effective(self, body: int) -> float:
        """Return how many of a body's parameters the samples decide, from 0 to 10."""
        used, metric = self.coordinates.metric[body]
        return float(np.sum(self.decided[used[:, None], used] * metric.T))

    def distance(self, body: int) -> float:
        """Return |S - S0|^2 of a body: how far the mean is from the description."""
        used, metric = self.coordinates.metric[body]
        return float(self.mean[used] @ metric @ self.mean[used])


def posterior(
    model: Model,
    triangle: Array,
    weights: ArrayLike,
    where: Coordinates | None = None,
    vague: Array | None = None,
) -> Posterior:
    """Return the posterior for the factor R (b + 1, b + 1) of [Y tau] and the body weights.

    Rows are in units of their noise.

    p(u) = N(0, (w |.|^2)^-1) over the bodies, and over the joint terms with the precision `vague`,
    by default next to none. log evidence = 1/2 log det prior - 1/2 log det (data + prior) - 1/2 (|A
    u - z|^2 + u^T prior u), up to a constant that does not depend on the weights. Bishop, "Pattern
    Recognition and Machine Learning", 2006, section 3.5; MacKay, Neural Computation 4 (1992), p.
    415.
    """
    coordinate_system = coordinates(model, body_prior(model)) if where is None else where
    A, z = projected(model, triangle, coordinate_system)
    rows, target = own_rows(model)
    if not len(rows):
        return posterior_of(coordinate_system, A, z, weights, vague)
    rows, target = rows @ coordinate_system.matrix, target - rows @ coordinate_system.origin
    result = posterior_of(
        coordinate_system, np.vstack([A, rows]), np.append(z, target), weights, vague
    )
    # the given prior belongs to the description, not to the samples
    prior = np.linalg.qr(np.vstack([result.prior, rows]), mode="r")
    return replace(result, data=A, prior=np.asarray(prior))


def own_rows(model: Model) -> tuple[Array, Array]:
    """Return rows (k, p) and target (k,) of the given prior and equalities, in units of their std.

    Equalities have a small standard deviation, `equality_std` of the size of their terms.
    """
    rows, target = [np.zeros((0, len(model.names)))], [np.zeros(0)]
    if model.own_prior is not None:
        rows.append(model.own_prior.over(model.names))
        target.append(model.own_prior.target)
    if model.equalities is not None:
        A, b = model.equalities.over(model.names), model.equalities.target
        size = np.maximum(np.abs(b), np.abs(A) @ np.abs(model.start))
        std = THRESHOLDS.equality_std * np.maximum(size, np.linalg.norm(A, axis=1))
        rows.append(A / std[:, None])
        target.append(b / std)
    return np.concatenate(rows), np.concatenate(target)


def projected(model: Model, triangle: Array, coordinate_system: Coordinates) -> tuple[Array, Array]:
    """Return A (b + 1, k) and z (b + 1,) of the factor R (b + 1, b + 1) of [Y tau].

    Its squared residual is |A u - z|^2.
    """
    R, B = triangle[:, :-1], model.base.matrix
    return R @ (B @ coordinate_system.matrix), triangle[:, -1] - R @ (B @ coordinate_system.origin)


def triangle_with(root: Array, A: Array, z: Array) -> Array:
    """Return the upper triangle R (k + 1, k + 1) of the rows [A z] below [root 0].

    `root` (k, k) is an upper triangle.

    The zeros below the diagonal of the root cost nothing. Elmroth and Gustavson, IBM J. Research
    and Development 44 (2000), p. 605.
    """
    k = len(root) + 1
    stacked, below = np.zeros((k, k), order="F"), np.empty((len(A), k), order="F")
    stacked[:-1, :-1], below[:, :-1], below[:, -1] = root, A, z
    return np.triu(
        dtpqrt(
            0, min(THRESHOLDS.reflected_columns, k), stacked, below, overwrite_a=1, overwrite_b=1
        )[0]
    )


def posterior_of(
    coordinate_system: Coordinates,
    A: Array,
    z: Array,
    weights: ArrayLike,
    vague: Array | None = None,
) -> Posterior:
    """Return the posterior of the unknowns u for |A u - z|^2 and the weight of each body."""
    squares, prior = np.sum(A**2, axis=0), coordinate_system.precision(weights)
    outer = np.arange(coordinate_system.inner, len(prior))
    prior[outer, outer] = (
        np.where(squares[outer] > 0, THRESHOLDS.least_precision * squares[outer], 1.0)
        if vague is None
        else vague
    )
    root = np.asarray(np.linalg.cholesky(prior).T, np.float64)
    size = np.sqrt(squares + np.diag(prior))
    R = triangle_with(root / size, A / size, z)
    factor = R[: len(prior), :-1]
    mean = dtrtrs(factor, R[: len(prior), -1])[0] / size
    determinants = np.sum(np.log(np.diag(root))) - np.sum(np.log(np.abs(np.diag(factor)) * size))
    misfit = float(np.sum((A @ mean - z) ** 2) + np.sum((root @ mean) ** 2))
    return Posterior(
        coordinates=coordinate_system,
        mean=mean,
        factor=factor * size,
        data=A,
        prior=root,
        log_evidence=float(determinants) - 0.5 * misfit,
        weights=np.asarray(weights, float),
        vague=np.diag(prior)[outer],
    )
