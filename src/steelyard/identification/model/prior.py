"""Where parameters are pulled to when the data do not say: the description's own values, in the metric of its bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...parameters.pseudo_inertia import from_pseudo_inertia, nearest_consistent, pseudo_inertia
from .model import Model

Array = NDArray[np.float64]
SMALLEST = 0.02  # [m] radius of gyration that the metric never goes below: a description's thin rod is no reason to be sure
UNKNOWN = np.diag([0.01, 0.01, 0.01, 1.0])  # the metric of a body that the description says nothing about: 1 kg, 0.1 m


@dataclass(frozen=True, eq=False)
class Anchor:
    """Per body the prior pseudo-inertia J0, and L with L L^T = the metric: J = L S L^T makes S about 1 for a body as described.

    `to_pi` (bodies, 10, 10) maps the ten numbers of svec(S) to pi; `known` says which bodies the description had numbers for.
    |S - S0|_F^2 is the second-order form of the entropic divergence: Lee, Wensing and Park, IEEE T-RO 36 (2020), section IV-B.
    """

    to_pi: Array
    centre: Array
    known: tuple[bool, ...]

    @property
    def bodies(self) -> int:
        return len(self.to_pi)


def anchor(model: Model) -> Anchor:
    """The anchor of a model's robot."""
    count = len(model.robot.tree.bodies)
    pi = model.start[: 10 * count].reshape(count, 10)
    known = tuple(bool(np.any(row)) and row[0] > 0 for row in pi)
    metric = np.array([body_metric(row) if k else UNKNOWN for row, k in zip(pi, known, strict=True)])
    L = np.linalg.cholesky(metric)
    to_pi = np.array([[from_pseudo_inertia(l @ E @ l.T) for E in SVEC] for l in L]).transpose(0, 2, 1)  # noqa: E741
    prior = np.array([row if k else from_pseudo_inertia(UNKNOWN) for row, k in zip(pi, known, strict=True)])
    centre = np.array([np.linalg.solve(T, row) for T, row in zip(to_pi, prior, strict=True)])
    return Anchor(to_pi, centre, known)


def parameter_sizes(model: Model) -> Array:
    """How large each parameter of a body like the described one may be, (p,): its change for a unit change of S; 0 for those of joints."""
    sizes = np.zeros(len(model.names))
    to_pi = anchor(model).to_pi
    sizes[: 10 * len(to_pi)] = np.linalg.norm(to_pi, axis=2).reshape(-1)
    return sizes


def body_metric(pi: Array) -> Array:
    """A positive definite pseudo-inertia of the body's size, even where its description is degenerate or impossible."""
    J = pseudo_inertia(nearest_consistent(pi, margin=1e-6))
    c = J[:3, 3] / J[3, 3]
    S = J[:3, :3] - J[3, 3] * np.outer(c, c)  # second moments about the centre
    values, vectors = np.linalg.eigh(S)
    S = (vectors * np.maximum(values, J[3, 3] * SMALLEST**2)) @ vectors.T
    J[:3, :3] = S + J[3, 3] * np.outer(c, c)
    return np.asarray(J)


def _svec() -> Array:
    """The symmetric 4x4 matrix of each unit svec entry, (10, 4, 4): upper triangle by columns, off-diagonals over sqrt(2)."""
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
