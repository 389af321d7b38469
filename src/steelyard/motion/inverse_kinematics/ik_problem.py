"""An inverse kinematics problem: robot, frame and method, with the closed form if it exists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .analytic import UNREACHED, VALID, Analytic
from .inverse_kinematics_thresholds import THRESHOLDS
from .numerical import polish
from .solutions import Array, Context


class IkProblem(NamedTuple):
    """Robot, frame and method, the closed form or None, and the default preferred position."""

    context: Context
    closed: Analytic | None
    rest: Array
    # whether the numerical solver takes the poses that the closed form misses
    complete: bool = False

    def call(self, pose: Array, start: Array) -> tuple[Array, Array, Array]:
        """Evaluate the closed form: q, code and pose error; without threads for few poses."""
        assert self.closed is not None
        # infinities; a warning of a single pose is worth less than the time to hide it
        with np.errstate(all="ignore"):
            q, code, fault = (
                self.closed.kernel.ufunc
                if pose.size <= THRESHOLDS.single_thread_scalars
                else self.closed.kernel
            )(pose, start)
        return (
            *(_polish_solutions(self, pose, q, code) if self.closed.inexact else (q, code)),
            fault,
        )


def _polish_solutions(setup: IkProblem, pose: Array, q: Array, code: Array) -> tuple[Array, Array]:
    """Refine solutions of an idealised arm for the actual one.

    Branches that the actual arm lacks are dropped.
    """
    robot = setup.context.robot
    fixed = tuple(robot.joint_names.index(name) for name in setup.context.free_joints)
    valid = np.nonzero(code == VALID)
    goal = np.broadcast_to(pose[..., None, :, :], (*code.shape, 4, 4))[valid]
    q[valid] = polish(robot, setup.context.frame, goal, q[valid], fixed)
    code[valid] = np.where(np.isnan(q[valid]).any(axis=-1), UNREACHED, VALID)
    return q, code
