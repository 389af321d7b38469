"""Control of a simulation: none, torques, a function of the state, or a controller."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import instance, numbers
from ..cached import cached_property
from ..errors import CallError, refuse_known_function
from ..robot import Robot
from ..signals.log import Log
from .controllers.controller import Controller, sampled_reference
from .options import StepSchedule
from .simulation_thresholds import THRESHOLDS
from .state import StepInputs
from .step import law_kernel
from .step_model import StepModel

Array = NDArray[np.float64]
Law: TypeAlias = "Callable[[float, Array, Array], ArrayLike]"


@dataclass(frozen=True, eq=False)
class Control:
    """Source of the torques: kind "none", "held" torques or a controller's "law".

    Parameters
    ----------
    kind : "none", "held" or "law"
    law : the controller
    rows : one row per step, the last one repeated: references (steps, ...) or torques (steps, n)
    function : Python function (t, q, qd) -> tau
    constants : inputs that are the same at every step
    remarks : sentences for the status of the run
    failures : filled during the run: why runs of a batch ended, by their index
    """

    kind: str
    law: Controller | None = None
    rows: Array | None = None
    function: Law | None = None
    constants: StepInputs[Array] = field(default_factory=StepInputs)
    remarks: tuple[str, ...] = ()
    failures: dict[int, str] = field(default_factory=dict)

    def step_inputs(self, k: int, t: float, q: Array, qd: Array) -> tuple[Any, ...]:
        """Return the inputs of the kernel at step k that follow the state."""
        if self.function is not None:
            return (_torque(self.function, t, q, qd, self.failures), *self._constant_inputs)
        if self.rows is None:
            return self._constant_inputs
        return (self.rows[min(k, len(self.rows) - 1)], *self._constant_inputs)

    def steps_per_call(self, k: int, every: int) -> int:
        """Return how many steps from step k on have equal inputs and end at a recorded sample.

        A sample records the torque of the step after it, so that a law stops there.
        """
        if self.function is not None or (
            self.rows is not None and k < len(self.rows) - 1 and not self._has_equal_rows
        ):
            return 1
        remaining = every - k % every
        return 1 if self.law is not None and remaining == every else remaining

    @cached_property
    def _constant_inputs(self) -> tuple[Array, ...]:
        """The constants in the order of the kernel."""
        return self.constants.parts()

    @cached_property
    def _has_equal_rows(self) -> bool:
        """Whether all rows are the same."""
        return self.rows is None or bool(np.all(self.rows == self.rows[0]))


def control_of(robot: Robot, controller: Any, schedule: StepSchedule) -> Control:
    """Return the control that a `controller` argument describes; raise CallError for others."""
    if controller is None:
        return Control("none")
    if isinstance(controller, type):
        raise CallError(
            f"simulate: the controller is the class {controller.__name__}; make an instance:"
            f" {controller.__name__}(...)"
        )
    if isinstance(controller, Controller):
        return _law(robot, controller, schedule)
    if isinstance(controller, Log):
        rows, remarks = _log_torques(robot, controller, schedule)
        return Control("held", rows=rows, remarks=remarks)
    if callable(controller):
        return Control("held", function=controller)
    tau = numbers("simulate: torques", controller)
    if (
        tau.shape[-1:] != (robot.n,)
        or tau.ndim > 2
        or (tau.ndim == 2 and len(tau) < schedule.steps)
        or not np.all(np.isfinite(tau))
    ):
        expected = f"({robot.n},) or ({schedule.steps}, {robot.n}), one row per step"
        raise CallError(
            f"simulate: torques have shape {tau.shape}; expected finite numbers {expected}"
        )
    return Control("held", rows=np.atleast_2d(tau))


def _law(robot: Robot, controller: Controller, schedule: StepSchedule) -> Control:
    """Return the control of a controller; raise CallError where its model does not fit."""
    model = (
        robot
        if controller.model is None
        else instance("the controller's model", controller.model, Robot, "sy.load returns one")
    )
    refuse_known_function(model, f"the model of {type(controller).__name__}")
    if model.n != robot.n:
        raise CallError(
            f"simulate: the controller's model has {model.n} joints, the robot has {robot.n}:"
            f" {', '.join(robot.joint_names)}"
        )
    law = controller.bound(robot) if hasattr(controller, "bound") else controller
    return Control(
        "law",
        law,
        rows=sampled_reference(robot, law, schedule.starts),
        constants=StepInputs(gains=law.gains(robot.n)),
    )


def _log_torques(robot: Robot, log: Log, schedule: StepSchedule) -> tuple[Array, tuple[str, ...]]:
    """Return the torques of a log at the beginning of each step (steps, n), and remarks.

    Torques are linear between samples; the last one is held after the end of the log.
    """
    log = log.reordered(robot)
    if log.tau is None:
        raise CallError(
            f"simulate: {log.where}the log has no torque to play; it has {', '.join(log.signals)}"
        )
    if not (np.all(np.isfinite(log.tau)) and np.all(np.diff(log.t) > 0)):
        raise CallError(
            f"simulate: {log.where}torques to play must be finite, at times that increase:"
            " clean(log) first"
        )
    t = log.t[0] + schedule.starts
    length = float(log.t[-1] - log.t[0])
    late = t[-1] > log.t[-1] + 1.5 * (log.t[-1] - log.t[-2] if len(log.t) > 1 else 0.0)
    remark = f"the log's torques end at {length:g} s, the last one was held from there on"
    tau = np.column_stack([np.interp(t, log.t, column) for column in log.tau.T])
    return tau, (remark,) if late else ()


def _torque(function: Law, t: float, q: Array, qd: Array, failures: dict[int, str]) -> Array:
    """Call a Python controller; raise CallError where it returns no torque for every run."""
    # a function may store its arguments, which must not change with the next step
    tau = function(t, q.copy(), qd.copy())
    if type(tau) is np.ndarray and tau.shape == q.shape:
        few = tau.size <= 16  # where a loop is faster than a call
        if (
            all(map(math.isfinite, tau.tolist()))
            if few and tau.ndim == 1
            else math.isfinite(tau.sum())
        ):
            return tau
    return checked_torque(t, tau, q, qd, failures)


def checked_torque(t: float, torque: Any, q: Array, qd: Array, failures: dict[int, str]) -> Array:
    """Return a controller's torque for states q, qd (..., n) at a time [s].

    Raise CallError for anything but a torque. Runs of a batch whose torque is not finite get NaN
    and an entry in `failures`; raise CallError where all runs are like that.
    """
    tau = numbers(f"simulate: the controller's torque at {t:g} s", torque)
    fits = tau.ndim <= q.ndim and all(
        a in (1, b) for a, b in zip(tau.shape[::-1], q.shape[::-1], strict=False)
    )
    if not fits or tau.shape[-1:] != q.shape[-1:]:
        raise CallError(
            f"simulate: at {t:g} s the controller returned shape {tau.shape}; expected {q.shape}"
        )
    bad = np.asarray(np.broadcast_to(~np.isfinite(tau), q.shape).any(axis=-1))
    if not np.any(bad):
        return tau
    sound = np.all(
        (np.abs(q) < THRESHOLDS.diverged_state) & (np.abs(qd) < THRESHOLDS.diverged_state), axis=-1
    )
    if np.all(bad & sound):
        raise CallError(
            f"simulate: at {t:g} s the controller returned a torque that is not finite for a finite"
            " state"
        )
    what = "NaN" if np.any(np.isnan(tau)) else "an infinite torque"
    for run in np.flatnonzero(bad & sound):
        failures.setdefault(int(run), f"the controller returned {what} at {t:g} s")
    return np.where(bad[..., None], np.nan, tau)


def torque_function(
    model: StepModel, schedule: StepSchedule, control: Control
) -> Callable[[float, Array, Array], Array]:
    """Return the controller as a function of time and state, for any time."""
    limits = np.array(
        [limit.effort if model.saturated else np.inf for limit in model.robot.tree.limits]
    )
    if control.function is not None:
        function = control.function
        return lambda t, q, qd: np.clip(_torque(function, t, q, qd, {}), -limits, limits)
    if control.law is None:
        rows = np.clip(
            np.zeros((1, len(limits))) if control.rows is None else control.rows, -limits, limits
        )
        return lambda t, q, qd: rows[min(int(t / schedule.step * (1 + 1e-12)), len(rows) - 1)]
    kernel, gains = law_kernel(model).ufunc, control.constants.gains
    law, robot = control.law, model.robot
    return lambda t, q, qd: kernel(q, qd, sampled_reference(robot, law, np.array([t]))[0], gains)
