"""What a robot, a frame and a method come to: the closed form of an inverse kinematics problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .analytic import UNREACHED, VALID, Analytic
from .numerical import polish
from .solutions import Array, Context

FEW = 512  # scalars of poses; with more, threads may be faster


class IkProblem(NamedTuple):
    """What a robot, a frame and a method come to: the closed form if there is one, and the position preferred by default."""

    context: Context
    closed: Analytic | None
    rest: Array
    complete: bool = False  # whether the numerical solver takes the poses that the closed form misses

    def call(self, pose: Array, start: Array) -> tuple[Array, Array, Array]:
        """q, code and fault of the closed form; past threads where poses are few."""
        assert self.closed is not None
        with np.errstate(all="ignore"):  # infinities; a warning of a single pose is worth less than the time to hide it
            q, code, fault = (self.closed.kernel.ufunc if pose.size <= FEW else self.closed.kernel)(pose, start)
        return (*(_polished(self, pose, q, code) if self.closed.inexact else (q, code)), fault)


def _polished(setup: IkProblem, pose: Array, q: Array, code: Array) -> tuple[Array, Array]:
    """Solutions of a nearly equal arm made those of this one; branches that this arm lacks are left out."""
    robot = setup.context.robot
    held = tuple(robot.joint_names.index(name) for name in setup.context.free_joints)
    at = np.nonzero(code == VALID)
    goal = np.broadcast_to(pose[..., None, :, :], (*code.shape, 4, 4))[at]
    q[at] = polish(robot, setup.context.frame, goal, q[at], held)
    code[at] = np.where(np.isnan(q[at]).any(axis=-1), UNREACHED, VALID)
    return q, code
