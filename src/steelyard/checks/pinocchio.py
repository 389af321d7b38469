"""The same robot in Pinocchio, built from our numbers, for comparison and timing. Needs `pin`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.spatial import at_com
from ..algebra.vector import ZERO, full
from ..errors import needs_extra
from ..mechanism.tree import Body, Tree
from ..robot import Robot
from .states import States

Array = NDArray[np.float64]

# Functions that Pinocchio 4 lacks for mimic joints. On its own threads this would end the
# process, so it is not tried.
NO_MIMIC = frozenset({
    "abaInParallel", "computeJointTorqueRegressor", "computeKineticEnergy",
    "computePotentialEnergy", "computeRNEADerivatives", "computeABADerivatives",
})  # fmt: skip


class PinocchioModel:
    """A robot's rigid bodies and rotor inertias in Pinocchio.

    It has no friction and no rotors that spin on moving links. `refused` are the functions of
    Pinocchio that do not support this robot.
    """

    def __init__(self, robot: Robot) -> None:
        try:
            self.pin: Any = importlib.import_module("pinocchio")
        except ImportError:
            raise needs_extra("pin", "test", "the comparison with Pinocchio") from None
        self.model, self.columns = _model(self.pin, robot.tree)
        self.data = self.model.createData()
        self.refused = NO_MIMIC if len(robot.tree.bodies) > robot.n else frozenset()

    def arrange(self, states: States) -> States:
        """Return states with their columns in Pinocchio's order."""
        order = np.argsort(self.columns)
        return States(*(np.ascontiguousarray(x[:, order]) for x in states))

    def torques(self, states: States) -> Array:
        """Return inverse dynamics by pinocchio.rnea: (N, n) [N m|N], in our order."""
        rows = zip(*self.arrange(states), strict=True)
        return np.array([self.pin.rnea(self.model, self.data, *row) for row in rows]).reshape(
            len(states.q), -1
        )[:, self.columns]

    def batch(self, function: str, *inputs: Array) -> Callable[[], object]:
        """Return a call of a batched function of Pinocchio on one thread, in place."""
        call, pool = getattr(self.pin, function), self.pin.ModelPool(self.model, 1)
        columns, out = [x.T for x in inputs], np.empty((len(inputs[0]), self.model.nv)).T
        return lambda: call(1, pool, *columns, out)

    def loop(self, function: str, *inputs: Array) -> Callable[[], object]:
        """Return a minimal Python loop of one of Pinocchio's functions over samples.

        Rows are cut before the loop, and results are dropped.
        """
        rows = list(zip(*(list(x) for x in inputs), strict=True))
        call, model, data = getattr(self.pin, function), self.model, self.data

        def run() -> None:
            for row in rows:
                call(model, data, *row)

        return run


def _model(pin: Any, tree: Tree) -> tuple[Any, list[int]]:
    """Return a Pinocchio model of a tree, and the velocity index of each of our coordinates."""
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    ids = {-1: 0}
    for i, body in enumerate(tree.bodies):
        placement = pin.SE3(np.array(body.placement.R), np.array(body.placement.p))
        ids[i] = model.addJoint(ids[body.parent], _joint(pin, body), placement, body.joint)
        m, c, I_c = at_com(body.inertia) if body.inertia.m else (0.0, ZERO, body.inertia.I)
        model.appendBodyToJoint(
            ids[i], pin.Inertia(m, np.array(c), np.array(full(I_c))), pin.SE3.Identity()
        )
    leaders = {
        body.coordinate: ids[i]
        for i, body in enumerate(tree.bodies)
        if body.joint == tree.coordinates[body.coordinate]
    }
    for i, body in enumerate(tree.bodies):
        if ids[i] != leaders[body.coordinate]:
            model = pin.transformJointIntoMimic(
                model, leaders[body.coordinate], ids[i], body.multiplier, body.offset
            )
    columns = [model.joints[leaders[k]].idx_v for k in range(tree.n)]
    model.armature[columns] = [terms.get("armature", 0.0) for terms in tree.terms]
    return model, columns


def _joint(pin: Any, body: Body) -> Any:
    """Return Pinocchio's joint, its faster one for the axes x, y and z."""
    turns = body.kind == "revolute"
    axis = next(
        (
            letter
            for letter, unit in zip("XYZ", np.eye(3), strict=True)
            if np.array_equal(unit, body.axis)
        ),
        "",
    )
    if axis:
        return getattr(pin, f"JointModel{'R' if turns else 'P'}{axis}")()
    return (pin.JointModelRevoluteUnaligned if turns else pin.JointModelPrismaticUnaligned)(
        np.array(body.axis)
    )
