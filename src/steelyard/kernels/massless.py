"""Robots that cannot be accelerated: joints that move no mass."""

from __future__ import annotations

import numpy as np

from ..dynamics.crba import mass_matrix
from ..errors import ModelError
from ..mechanism.tree import Tree

NEEDS_MASS = frozenset(("forward_dynamics", "forward_dynamics_derivatives", "forward_reactions"))
_LEAST = 1e-14  # of the largest entry of M: below it a diagonal entry is rounding


def massless_joints(tree: Tree) -> list[str]:
    """The coordinates whose motion moves no mass, at any of a few random poses: their row of M is zero."""
    samples = 4
    q = list(np.random.default_rng(0).uniform(-1.0, 1.0, (tree.n, samples)))
    M = mass_matrix(tree, q)
    diagonal = np.array([np.broadcast_to(M[i][i], samples) for i in range(tree.n)], dtype=float).max(axis=1, initial=0.0)
    largest = max((float(np.max(np.abs(x))) for row in M for x in row), default=0.0)
    return [name for name, entry in zip(tree.coordinates, diagonal, strict=True) if not entry > _LEAST * largest]


def require_mass(tree: Tree, what: str) -> None:
    """A ModelError that names the joints where the equations of motion cannot be solved for accelerations."""
    joints = massless_joints(tree)
    if joints:
        raise ModelError(
            f"{what}: no mass moves with {', '.join(joints)}, so the mass matrix is singular and no acceleration follows from the torques. "
            "Give the links after it an inertia, or the joint a rotor inertia (with_rotors); inverse dynamics, gravity, energies and the "
            "regressor work as they are"
        )
