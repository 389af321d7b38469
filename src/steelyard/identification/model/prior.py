"""The prior: the description's own values of each body, in the metric of its pseudo-inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...parameters.pseudo_inertia import from_pseudo_inertia, nearest_consistent, pseudo_inertia
from .model import Model

Array = NDArray[np.float64]
SMALLEST = 0.02  # [m] least radius of gyration of the metric: a thin rod in the description does not make its inertia certain
UNKNOWN = np.diag([0.01, 0.01, 0.01, 1.0])  # the metric of a body without numbers in the description: 1 kg, 0.1 m


@dataclass(frozen=True, eq=False)
class BodyPrior:
    """For each body L with L L^T = the metric of its pseudo-inertia: J = L S L^T makes S about 1 for a body as described.

    `to_pi` (bodies, 10, 10) maps svec(S) (10,) to pi, `centre` (bodies, 10) is svec(S) of the description, `described` says which bodies
    have numbers in the description.
    |S - S0|_F^2 is the second-order form of the entropic divergence: Lee, Wensing and Park, IEEE T-RO 36 (2020), section IV-B.
    """

    to_pi: Array
    centre: Array
    described: tuple[bool, ...]

    @property
    def bodies(self) -> int:
        return len(self.to_pi)


def body_prior(model: Model) -> BodyPrior:
    """Return the prior of a model's bodies."""
    count = len(model.robot.tree.bodies)
    pi = model.start[: 10 * count].reshape(count, 10)
    described = tuple(bool(np.any(row)) and row[0] > 0 for row in pi)
    metric = np.array([body_metric(row) if k else UNKNOWN for row, k in zip(pi, described, strict=True)])
    L = np.linalg.cholesky(metric)
    to_pi = np.array([[from_pseudo_inertia(l @ E @ l.T) for E in SVEC] for l in L]).transpose(0, 2, 1)  # noqa: E741
    prior = np.array([row if k else from_pseudo_inertia(UNKNOWN) for row, k in zip(pi, described, strict=True)])
    centre = np.array([np.linalg.solve(T, row) for T, row in zip(to_pi, prior, strict=True)])
    return BodyPrior(to_pi, centre, described)


def parameter_sizes(model: Model) -> Array:
    """Return the typical size of each parameter of a body like the described one, (p,): its change for a unit change of S; 0 for joints."""
    sizes = np.zeros(len(model.names))
    to_pi = body_prior(model).to_pi
    sizes[: 10 * len(to_pi)] = np.linalg.norm(to_pi, axis=2).reshape(-1)
    return sizes


def body_metric(pi: Array) -> Array:
    """Return a positive definite pseudo-inertia of the body's size, also for a degenerate or impossible description."""
    J = pseudo_inertia(nearest_consistent(pi, margin=1e-6))
    c = J[:3, 3] / J[3, 3]
    S = J[:3, :3] - J[3, 3] * np.outer(c, c)  # second moments about the centre
    values, vectors = np.linalg.eigh(S)
    S = (vectors * np.maximum(values, J[3, 3] * SMALLEST**2)) @ vectors.T
    J[:3, :3] = S + J[3, 3] * np.outer(c, c)
    return np.asarray(J)


def _svec() -> Array:
    """Return the symmetric 4x4 matrix of each unit svec entry, (10, 4, 4): upper triangle by columns, off-diagonals over sqrt(2)."""
    result = []
    for j in range(4):
        for i in range(j + 1):
            E = np.zeros((4, 4))
            E[i, j] = E[j, i] = 1.0 if i == j else np.sqrt(0.5)
            result.append(E)
    return np.array(result)


SVEC = _svec()
IDENTITY = np.array([1.0 if E.trace() else 0.0 for E in SVEC])
"""svec of the identity."""
