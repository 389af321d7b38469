"""Chains of any number of revolute joints with oblique axes and links of equal shape."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Matrix, Symmetric, vector
from steelyard.mechanism.model import Joint, Link, Mechanism


def chain(joints: int, seed: int = 0) -> sy.Robot:
    """Return a chain with links of 5 to 10 cm and 0.1 to 0.3 kg at random angles."""
    rng = np.random.default_rng(seed)
    links, result = [Link("base", _inertia(rng))], list[Joint]()
    for i in range(1, joints + 1):
        x, y, z = map(float, rng.uniform(0.05, 0.1, 3))
        result.append(
            Joint(
                f"joint{i}",
                "revolute",
                links[-1].name,
                f"link{i}",
                Pose(_rotation(rng), (x, y, z)),
                (0.0, 0.0, 1.0),
            )
        )
        links.append(Link(f"link{i}", _inertia(rng)))
    return sy.Robot(Mechanism(f"chain of {joints}", tuple(links), tuple(result)))


def _inertia(rng: np.random.Generator) -> Inertia:
    """That of a few point masses."""
    points, masses = 0.05 * rng.normal(size=(6, 3)), rng.uniform(0.02, 0.05, 6)
    S = np.einsum("k,ki,kj->ij", masses, points, points)
    full = np.trace(S) * np.eye(3) - S
    x, y, z = map(float, masses @ points)
    return Inertia(
        float(masses.sum()),
        (x, y, z),
        Symmetric(*(float(full[i, j]) for i in range(3) for j in range(i, 3))),
    )


def _rotation(rng: np.random.Generator) -> Matrix:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q *= np.sign(np.diag(R))
    Q[:, 0] *= np.linalg.det(Q)
    x, y, z = (vector([float(entry) for entry in row]) for row in Q)
    return (x, y, z)
