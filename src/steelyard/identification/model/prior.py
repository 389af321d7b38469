"""The prior: the description's own values of each body, in the metric of its pseudo-inertia."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...parameters.pseudo_inertia import from_pseudo_inertia, nearest_consistent, pseudo_inertia
from .linear_model import Model
from .model_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BodyPrior:
    """Gaussian prior of each body's parameters, in the metric L L^T of its pseudo-inertia.

    J = L S L^T, where S is about the identity for a body as described. |S - S0|_F^2 is the
    second-order form of the entropic divergence: Lee, Wensing and Park, IEEE T-RO 36 (2020),
    section IV-B.

    Parameters
    ----------
    to_pi : (bodies, 10, 10) maps svec(S) (10,) to pi
    centre : (bodies, 10) svec(S) of the description
    described : whether the description of a body is used; the prior of the others is a typical
        body of the robot's size
    """

    to_pi: Array
    centre: Array
    described: tuple[bool, ...]

    @property
    def bodies(self) -> int:
        return len(self.to_pi)


def body_prior(model: Model, aside: Collection[int] = ()) -> BodyPrior:
    """Return the prior of a model's bodies; the description of the bodies `aside` is not used."""
    count = len(model.robot.tree.bodies)
    pi = model.start[: 10 * count].reshape(count, 10)
    described = tuple(
        i not in aside and bool(np.any(row)) and row[0] > 0 for i, row in enumerate(pi)
    )
    some = typical_body(model)
    metric = np.array(
        [body_metric(row) if k else some for row, k in zip(pi, described, strict=True)]
    )
    L = np.linalg.cholesky(metric)
    to_pi = from_pseudo_inertia(L[:, None] @ SVEC @ L.transpose(0, 2, 1)[:, None]).transpose(
        0, 2, 1
    )
    prior = np.array(
        [row if k else from_pseudo_inertia(some) for row, k in zip(pi, described, strict=True)]
    )
    centre = np.linalg.solve(to_pi, prior[:, :, None])[:, :, 0]
    return BodyPrior(to_pi, centre, described)


def typical_body(model: Model) -> Array:
    """Return the pseudo-inertia (4, 4) of a body of 1 kg and typical radius of gyration.

    The radius is half the usual length between joints.
    """
    lengths = [
        float(np.linalg.norm([float(x) for x in body.placement.p]))
        for body in model.robot.tree.bodies
    ]
    half = 0.5 * max(
        float(np.mean([length for length in lengths if length > 0] or [0.0])),
        THRESHOLDS.least_body_length,
    )
    return np.diag([half**2, half**2, half**2, 1.0])


def parameter_sizes(model: Model) -> Array:
    """Return the typical size of each parameter, (p,), of bodies like the described ones.

    It is the change of the parameter for a unit change of S, 0 for parameters of joints.
    """
    sizes = np.zeros(len(model.names))
    to_pi = body_prior(model).to_pi
    sizes[: 10 * len(to_pi)] = np.linalg.norm(to_pi, axis=2).reshape(-1)
    return sizes


def body_metric(pi: Array) -> Array:
    """Return a positive definite pseudo-inertia of the body's size, also if `pi` is impossible."""
    J = pseudo_inertia(nearest_consistent(pi, margin=1e-6))
    c = J[:3, 3] / J[3, 3]
    S = J[:3, :3] - J[3, 3] * np.outer(c, c)  # second moments about the centre
    values, vectors = np.linalg.eigh(S)
    least = max(
        J[3, 3] * THRESHOLDS.least_gyration**2,
        THRESHOLDS.least_gyration_ratio**2 * float(values[-1]),
    )
    S = (vectors * np.maximum(values, least)) @ vectors.T
    J[:3, :3] = S + J[3, 3] * np.outer(c, c)
    return np.asarray(J)


def _svec() -> Array:
    """Return the symmetric 4x4 matrix of each unit svec entry, (10, 4, 4).

    Upper triangle by columns, off-diagonals over sqrt(2).
    """
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
