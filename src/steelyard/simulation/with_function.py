"""Simulation of a robot with a known torque that is a Python function: it is taken from the torque of the drives at each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import numbers
from ..errors import CallError, refuse_known_function
from ..robot import Robot
from ..robot.known_function import RobotWithFunction
from ..signals.log import Log
from .controllers.controller import Controller
from .run import Run

Array = NDArray[np.float64]
Law = Callable[[float, Array, Array], Any]


def require_plain_options(robot: Robot, **options: Any) -> None:
    """Raise CallError for options of `simulate` that a known torque cannot be combined with."""
    for name, value in options.items():
        if value is not None and value is not False:
            refuse_known_function(robot, f"simulate with {name}=")


def simulated_with_function(simulate: Callable[..., Run], robot: Robot, controller: Any, *more: Any, **options: Any) -> Run:
    """Return the run of a robot with a known torque: M qdd = tau - known(q, qd) - bias, the known torque held over each step.

    Parameters
    ----------
    simulate : of a robot without such a torque
    robot : with a known torque
    controller : None, torques (n,) [N m|N] or a function (t, q, qd) -> torques
    more, options : further arguments of `simulate`

    Returns
    -------
    Run, whose `tau` is the torque of the drives; `heat` contains the work of the known torque [J], by the trapezoidal rule.
    """
    assert isinstance(robot, RobotWithFunction)
    law = law_of(robot, controller)

    last = [np.zeros(robot.n)]

    def driven(t: float, q: Array, qd: Array) -> Array:
        last[0] = np.asarray(law(t, q, qd), dtype=float)
        return last[0] - robot.torque_without_acceleration(q, qd)

    run = simulate(robot.without_known_function(), driven, *more, **options)
    known = robot.torque_without_acceleration(run.q, run.qd)
    power = np.sum(known * run.qd, axis=-1)
    parts = 0.5 * (power[..., 1:] + power[..., :-1]) * np.diff(run.t)
    taken = np.concatenate([np.zeros_like(power[..., :1]), np.cumsum(parts, axis=-1)], axis=-1)
    tau = run.tau + known
    if run.method != "adaptive":  # the torque of the last sample is that of the last step, which began before it
        tau[..., -1, :] = last[0]
    return replace(run, robot=robot, tau=tau, work=run.work + taken, heat=run.heat + taken)


def law_of(robot: Robot, controller: Any) -> Law:
    """Return a controller as a function (t, q, qd) -> torques [N m|N]; raise CallError for one that must be compiled."""
    if controller is None:
        return lambda t, q, qd: np.zeros_like(q)
    if isinstance(controller, (Controller, Log)):
        refuse_known_function(robot, f"simulate with a {type(controller).__name__}, in place of a function (t, q, qd) -> tau,")
    if callable(controller):
        return controller
    tau = numbers("simulate: torques", controller)
    if tau.shape != (robot.n,):
        raise CallError(f"simulate: torques have shape {tau.shape}; expected ({robot.n},) with a known torque that is a function")
    return lambda t, q, qd: np.broadcast_to(tau, q.shape)
