"""Simulation of a robot with a known torque that is a Python function.

The function's torque is subtracted from the torque of the drives at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import numbers
from ..errors import CallError, refuse_known_function
from ..options import options_of
from ..robot import Robot
from ..robot.known_function import RobotWithFunction
from ..signals.log import Log
from .controllers.controller import Controller
from .options import SimulationOptions
from .run import Run

Array = NDArray[np.float64]
Law = Callable[[float, Array, Array], Any]


def require_plain_options(
    robot: Robot, parameters: ArrayLike | None, options: SimulationOptions
) -> None:
    """Raise CallError for options of `simulate` that a known torque cannot be combined with."""
    values = {each.name: getattr(options, each.name) for each in options_of(SimulationOptions)}
    for name, value in {"parameters": parameters, **values}.items():
        if value is not None and value is not False:
            refuse_known_function(robot, f"simulate with {name}=")


def simulated_with_function(
    robot: Robot, controller: Any, simulate: Callable[[Robot, Law], Run]
) -> Run:
    """Simulate a robot with a known torque: M qdd = tau - known(q, qd) - bias.

    The known torque is held over each step.

    Parameters
    ----------
    robot : robot with a known torque
    controller : None, torques (n,) [N m|N] or a function (t, q, qd) -> torques
    simulate : simulation of a robot without such a torque under a function

    Returns
    -------
    Run, whose `tau` is the torque of the drives; `heat` contains the work of the known torque [J],
    by the trapezoidal rule.
    """
    assert isinstance(robot, RobotWithFunction)
    law = law_of(robot, controller)

    commanded = [np.zeros(robot.n)]  # the latest torque of the controller

    def net_torque(t: float, q: Array, qd: Array) -> Array:
        commanded[0] = np.asarray(law(t, q, qd), dtype=float)
        return commanded[0] - robot.torque_without_acceleration(q, qd)

    run = simulate(robot.without_known_function(), net_torque)
    known = robot.torque_without_acceleration(run.q, run.qd)
    power = np.sum(known * run.qd, axis=-1)
    parts = 0.5 * (power[..., 1:] + power[..., :-1]) * np.diff(run.t)
    taken = np.concatenate([np.zeros_like(power[..., :1]), np.cumsum(parts, axis=-1)], axis=-1)
    tau = run.tau + known
    # the torque of the last sample is the torque of the last step, which began before it
    if run.method != "adaptive":
        tau[..., -1, :] = commanded[0]
    return replace(run, robot=robot, tau=tau, work=run.work + taken, heat=run.heat + taken)


def law_of(robot: Robot, controller: Any) -> Law:
    """Return a controller as a function (t, q, qd) -> torques [N m|N].

    Raise CallError for one that must be compiled.
    """
    if controller is None:
        return lambda t, q, qd: np.zeros_like(q)
    if isinstance(controller, (Controller, Log)):
        refuse_known_function(
            robot,
            f"simulate with a {type(controller).__name__}, in place of a function (t, q, qd) ->"
            " tau,",
        )
    if callable(controller):
        return controller
    tau = numbers("simulate: torques", controller)
    if tau.shape != (robot.n,):
        raise CallError(
            f"simulate: torques have shape {tau.shape}; expected ({robot.n},) with a known torque"
            " that is a function"
        )
    return lambda t, q, qd: np.broadcast_to(tau, q.shape)
