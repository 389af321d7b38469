"""Pinocchio's opinion of the same robot, where it is installed: built from our numbers, asked for the same torques."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.spatial import at_com
from ..algebra.vector import ZERO, full
from ..mechanism.tree import Tree
from ..robot import Robot

Array = NDArray[np.float64]


def pinocchio_torques(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array | None:
    """Rigid-body torques (N, n) [N m|N] by pinocchio.rnea, or None where the package is absent. Friction and rotors are not in them."""
    try:
        pin: Any = importlib.import_module("pinocchio")
    except ImportError:
        return None
    tree = robot.tree
    model, rows = _model(pin, tree)
    data = model.createData()
    G, offset = np.zeros((model.nv, tree.n)), np.zeros(model.nv)
    for body, row in zip(tree.bodies, rows, strict=True):
        G[row, body.coordinate], offset[row] = body.multiplier, body.offset
    return np.array([G.T @ pin.rnea(model, data, G @ a + offset, G @ b, G @ c) for a, b, c in zip(q, qd, qdd, strict=True)])


def _model(pin: Any, tree: Tree) -> tuple[Any, list[int]]:
    """A Pinocchio model of the tree's bodies, and the row of each body's joint in its vectors."""
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    ids, rows = {-1: 0}, []
    for i, body in enumerate(tree.bodies):
        kind = pin.JointModelRevoluteUnaligned if body.kind == "revolute" else pin.JointModelPrismaticUnaligned
        placement = pin.SE3(np.array(body.placement.R), np.array(body.placement.p))
        ids[i] = model.addJoint(ids[body.parent], kind(np.array(body.axis)), placement, f"joint{i}")
        m, c, I = at_com(body.inertia) if body.inertia.m else (0.0, ZERO, body.inertia.I)  # noqa: E741
        model.appendBodyToJoint(ids[i], pin.Inertia(m, np.array(c), np.array(full(I))), pin.SE3.Identity())
        rows.append(model.joints[ids[i]].idx_v)
    return model, rows
