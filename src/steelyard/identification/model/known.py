"""The known torque of an identification.

Expressions that the robot carries, or a function that it cannot carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import numbers, short_repr
from ...errors import CallError
from ...mechanism.known_torque import traced
from ...option_groups.identification import KnownArgument
from ...parameters.base import exciting_states
from ...robot import Robot
from .friction_memory import memory_torque

Array = NDArray[np.float64]
Torque = Callable[..., Array]


@dataclass(frozen=True)
class KnownFunction:
    """A user's function (q, qd, qdd) -> torque [N m|N] over arrays (N, n).

    What it does wrong ends in a CallError.
    """

    function: Callable[..., Any]

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        try:
            returned = self.function(q, qd, qdd)
        except Exception as error:  # any error of a user's function
            raise CallError(
                f"known: the function failed with {type(error).__name__}: {error}",
                argument="known",
            ) from error
        tau = numbers("known: the torque that the function returns", returned)
        if tau.ndim > 2 or any(
            length not in (1, size)
            for length, size in zip(tau.shape[::-1], q.shape[::-1], strict=False)
        ):
            raise CallError(
                f"known: the function must return torques of the shape of q, here {q.shape}; it"
                f" returned {tau.shape}",
                argument="known",
            )
        if not np.all(np.isfinite(tau)) and all(np.all(np.isfinite(x)) for x in (q, qd, qdd)):
            raise CallError(
                "known: the function returned NaN or infinity at finite states", argument="known"
            )
        return np.broadcast_to(tau, q.shape)


Known = Mapping[str, str] | KnownFunction


def check_known(known: object) -> Any:
    """Return what was given as known torque.

    A function, joint -> expression, or None; raise CallError for anything else.
    """
    if known is None or isinstance(known, KnownFunction):
        return known
    if isinstance(known, Mapping):
        return dict(known)
    if not callable(known):
        expected = (
            "expected a function (q, qd, qdd) -> torque (N, n) or a mapping such as {'joint2': \"5"
            " * sin(q['joint2'])\"}"
        )
        raise CallError(
            f"known must be a torque, not {short_repr(known)}; {expected}", argument="known"
        )
    return KnownFunction(known)


def resolve_known(robot: Robot, known: KnownArgument | None) -> Known | None:
    """Return a function as expressions if it can be traced and these give the same torques.

    All else as it is.
    """
    checked: Known | None = check_known(known)
    if not isinstance(checked, KnownFunction):
        return checked
    q, qd, qdd = exciting_states(robot.tree)
    expected = checked(q, qd, qdd)
    trace = traced(checked.function, robot.joint_names)
    if trace is None:
        return checked
    expressions = {each.joint: each.expression for each in trace}
    gap = (
        robot.with_known_torque(expressions).inverse_dynamics(q, qd, qdd)
        - robot.inverse_dynamics(q, qd, qdd)
        - expected
    )
    return (
        expressions
        if np.linalg.norm(gap) <= 1e-9 * max(float(np.linalg.norm(expected)), 1.0)
        else checked
    )


def with_known(robot: Robot, known: KnownArgument | None) -> tuple[Robot, KnownFunction | None]:
    """Return the robot with the compiled part of the known torque, and a function for the rest.

    A function that the robot has is taken out of it and added to the one that is given.
    """
    carried, robot = robot.known_function, robot.without_known_function()
    resolved = resolve_known(robot, known)
    if resolved is None or isinstance(resolved, KnownFunction):
        return robot, total_known_torque(carried, resolved)
    return robot.with_known_torque(resolved), total_known_torque(carried, None)


def total_known_torque(carried: Torque | None, known: KnownFunction | None) -> KnownFunction | None:
    """Return the sum of two known torques; either may be absent."""
    if carried is None or known is None or carried == known:
        return (
            known
            if carried is None or carried == known
            else carried
            if isinstance(carried, KnownFunction)
            else KnownFunction(carried)
        )
    return KnownFunction(lambda q, qd, qdd: carried(q, qd, qdd) + known(q, qd, qdd))


@dataclass(frozen=True, eq=False)
class RobotTorque:
    """Inverse dynamics of a robot plus a known torque that it cannot carry."""

    robot: Robot
    known: KnownFunction | None

    def __call__(self, q: Array, qd: Array, qdd: Array, base: Array | None = None) -> Array:
        """Return the torque (N, n) [N m|N] of single states; joints that move slide."""
        tau = self.robot.inverse_dynamics(q, qd, qdd, base=base)
        return tau if self.known is None else tau + self.known(q, qd, qdd)

    def along(self, t: Array, q: Array, qd: Array, *rest: Array) -> Array:
        """Return the torque (N, n) [N m|N] of consecutive samples, with the memory of friction.

        t (N,) [s]; `rest` are qdd and, where the base moves, its motion.
        """
        tau, more = self(q, qd, *rest), memory_torque(self.robot, t, q, qd)
        return tau if more is None else tau + more


def torque_of(robot: Robot, known: KnownArgument | None = None) -> RobotTorque:
    """Return inverse dynamics plus known torque as a function of q, qd, qdd, each (N, n).

    A function that the robot already has is not added again.
    """
    return RobotTorque(*with_known(robot, known))
