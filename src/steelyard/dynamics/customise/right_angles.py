"""Rounding of joint angles to right angles where that changes no acceleration noticeably."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...algebra.spatial import Pose
from ...mechanism import near_integers as snap
from ...mechanism.tree import Body, Tree
from ..crba import mass_matrix
from ..rnea import rnea

HARMLESS = 4e-10  # of the largest acceleration
_SAMPLES = 6


def with_right_angles(tree: Tree) -> Tree:
    """Return the tree with rotations and axes rounded from 1e-11, or the tree itself.

    A joint angle written as 1.57079632679 then costs no operations. The tree is returned unchanged
    if an acceleration changes by more than 4e-10 of the largest one, as with light bodies at the
    end of heavy arms. The change is M^-1 of the change in torque at random states.
    """
    close = replace(tree, bodies=tuple(_body(body) for body in tree.bodies))
    return close if close != tree and _change(tree, close) <= HARMLESS else tree


def _body(body: Body) -> Body:
    pose = Pose(snap.matrix(body.placement.R, snap.LOOSE), body.placement.p)
    return replace(body, placement=pose, axis=snap.axis(body.axis, snap.LOOSE))


def _change(tree: Tree, close: Tree) -> float:
    """Return the largest relative change in acceleration at equal torques."""
    rng = np.random.default_rng(0)
    q, qd, qdd = (list(x) for x in rng.uniform(-1.0, 1.0, (3, tree.n, _SAMPLES)))
    M = _dense([x for row in mass_matrix(tree, q) for x in row]).reshape(_SAMPLES, tree.n, tree.n)
    tau = _dense(rnea(close, q, qd, qdd)) - _dense(rnea(tree, q, qd, qdd))
    try:
        change = np.linalg.solve(M, tau[:, :, None])
    except np.linalg.LinAlgError:
        return np.inf
    return float(np.abs(change).max() / np.abs(qdd).max())


def _dense(scalars: list) -> NDArray[np.float64]:  # type: ignore[type-arg]
    """Return scalars as an array (samples, scalars)."""
    return np.array([np.broadcast_to(x, _SAMPLES) for x in scalars], dtype=np.float64).T
