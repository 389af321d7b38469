"""The same quantities by Pinocchio, called as its users call it. Needs the package `pin`."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..checks.states import Array, States
from ..errors import ProblemError, needs_extra
from ..robot import Robot

# What Pinocchio 4 does not compute where a joint mimics another. On its own threads that would end the process, so it is not tried.
NO_MIMIC = frozenset(
    {
        "abaInParallel",
        "computeJointTorqueRegressor",
        "computeKineticEnergy",
        "computePotentialEnergy",
        "computeRNEADerivatives",
        "computeABADerivatives",
    }
)


class Pinocchio:
    """A robot in Pinocchio, with its coordinates in our order.

    The batched functions of Pinocchio (one thread) where it has them, a Python loop over samples elsewhere. Loops read rows that were cut
    before and throw results away, which is the least that a user could do.
    """

    name = "Pinocchio"

    def __init__(self, robot: Robot) -> None:
        self.pin = _import()
        self.model = _model(self.pin, robot)
        self.model.gravity.linear = np.asarray(robot.mechanism.gravity, dtype=float)
        for column, armature in zip(_columns(self.model, robot), robot.tree.armature, strict=True):
            self.model.armature[column] = armature or 0.0
        self.data = self.model.createData()
        self.pool = self.pin.ModelPool(self.model, 1)
        self.columns = _columns(self.model, robot)
        self.refused = NO_MIMIC if _mimics(robot) else frozenset()

    def arrange(self, states: States) -> States:
        """Our states as Pinocchio wants them: its joint order, and two numbers for the angle of a continuous joint."""
        order = np.argsort(self.columns)
        q, qd, qdd = (np.ascontiguousarray(x[:, order]) for x in states)
        neutral = self.pin.neutral(self.model)
        return States(np.array([self.pin.integrate(self.model, neutral, row) for row in q]), qd, qdd)

    def torques(self, states: States) -> Array:
        """Inverse dynamics of our states, in our order: (N, n) [N m|N]."""
        rows = zip(*self.arrange(states), strict=True)
        return np.array([self.pin.rnea(self.model, self.data, *row) for row in rows])[:, self.columns]

    def batch(self, function: str, *inputs: Array) -> Callable[[], object]:
        """One of Pinocchio's batched functions on one thread, writing into an array made before."""
        call, pool = getattr(self.pin, function), self.pool
        columns = [x.T for x in inputs]
        out = np.empty((len(inputs[0]), self.model.nv)).T
        return lambda: call(1, pool, *columns, out)

    def loop(self, function: str, *inputs: Array) -> Callable[[], object]:
        """A Python loop of one of Pinocchio's functions over the rows of its inputs."""
        rows = list(zip(*(list(x) for x in inputs), strict=True))
        call, model, data = getattr(self.pin, function), self.model, self.data

        def run() -> None:
            for row in rows:
                call(model, data, *row)

        return run

    def single(self, function: str, *inputs: Array) -> Callable[[], object]:
        call, model, data = getattr(self.pin, function), self.model, self.data
        return lambda: call(model, data, *inputs)


def _import() -> Any:
    try:
        return importlib.import_module("pinocchio")
    except ImportError:
        raise needs_extra("pin", "test", "the comparison with Pinocchio") from None


def _model(pin: Any, robot: Robot) -> Any:
    """The robot through its URDF, whatever file it came from."""
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
        path = Path(folder) / "robot.urdf"
        robot.to_urdf(path)
        return pin.buildModelFromUrdf(str(path), mimic=_mimics(robot))


def _mimics(robot: Robot) -> bool:
    return len(robot.tree.bodies) > robot.n


def _columns(model: Any, robot: Robot) -> list[int]:
    """Pinocchio's velocity index of each of our coordinates."""
    if model.nv != robot.n:
        raise ProblemError(f"Pinocchio reads {model.nv} coordinates where steelyard has {robot.n}")
    return [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
