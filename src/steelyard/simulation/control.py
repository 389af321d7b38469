"""What drives a simulation: nothing, torques, a function of the state, or a controller with its reference; and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import instance, numbers, real_number, whole_number
from ..cached import cached_property
from ..errors import CallError, refuse_known_function
from ..robot import Robot
from ..signals.log import Log
from .controllers.controller import Controller, wanted_at
from .setup import Setup
from .step import law_kernel

Array = NDArray[np.float64]
HUGE = 1e50  # rad/s|m/s and so on: a state beyond it diverges, and what a controller makes of it is not its fault
Law: TypeAlias = "Callable[[float, Array, Array], ArrayLike]"


@dataclass(frozen=True)
class Plan:
    """How many steps of what length [s], and which of them are kept."""

    steps: int
    step: float
    every: int

    @classmethod
    def of(cls, seconds: float, step: float, every: int) -> Plan:
        """Raises CallError where no whole number of steps fits."""
        length = real_number("simulate: step", step, unit="s")
        if length <= 0:
            raise CallError(f"simulate: step = {step!r}; expected a positive time [s], such as 1e-3")
        return cls(
            round(real_number("simulate: seconds", seconds, length, unit="s") / length), length, whole_number("simulate: every", every, 1)
        )

    @property
    def kept(self) -> NDArray[np.int64]:
        """The steps after which a sample is kept: the start, every so many, and the last."""
        inner = np.arange(0, self.steps + 1, self.every)
        return inner if inner[-1] == self.steps else np.append(inner, self.steps)

    @property
    def starts(self) -> Array:
        """When each step begins [s], (steps,)."""
        return np.asarray(np.arange(self.steps) * self.step, dtype=np.float64)

    @property
    def times(self) -> Array:
        """When the samples that are kept are taken [s]."""
        return np.asarray(self.kept * self.step, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Control:
    """What gives the torques: kind "none", "held" or "law"; per step a reference or torques, and a function of the state."""

    kind: str
    law: Controller | None = None
    extra: tuple[Array, ...] = ()  # what the kernel takes at every step beside the state
    rows: Array | None = None  # one row per step: references (steps, ...) or torques (steps, n)
    function: Law | None = None
    last: tuple[Array, ...] = ()  # numbers of drives and stops
    remarks: tuple[str, ...] = ()
    failures: dict[int, str] = field(default_factory=dict)  # filled while it runs: what ended a run of a batch, by its place

    def at(self, k: int, t: float, q: Array, qd: Array) -> tuple[Any, ...]:
        """What the kernel takes at a step."""
        if self.function is not None:
            return (_torque(self.function, t, q, qd, self.failures), *self.last)
        return (*(() if self.rows is None else (self.rows[min(k, len(self.rows) - 1)],)), *self.extra, *self.last)

    def lasting(self, k: int, every: int) -> int:
        """How many steps from step k on one call can take: up to the next sample, which keeps the torque of the step after it."""
        if self.function is not None or (self.rows is not None and k < len(self.rows) - 1 and not self._constant):
            return 1
        left = every - k % every
        return 1 if self.law is not None and left == every else left

    @cached_property
    def _constant(self) -> bool:
        """Whether all rows are the same."""
        return self.rows is None or bool(np.all(self.rows == self.rows[0]))


def control_of(robot: Robot, controller: Any, plan: Plan) -> Control:
    """What a `controller` argument is; raises CallError for what is none."""
    if controller is None:
        return Control("none")
    if isinstance(controller, type):
        raise CallError(f"simulate: the controller is the class {controller.__name__}; make one of it: {controller.__name__}(...)")
    if isinstance(controller, Controller):
        model = robot if controller.model is None else instance("the controller's model", controller.model, Robot, "sy.load returns one")
        refuse_known_function(model, f"the model of {type(controller).__name__}")
        if model.n != robot.n:
            raise CallError(
                f"simulate: the controller's model has {model.n} joints, the robot has {robot.n}: {', '.join(robot.joint_names)}"
            )
        law = controller.bound(robot) if hasattr(controller, "bound") else controller
        return Control("law", law, (law.gains(robot.n),), wanted_at(robot, law, plan.starts))
    if isinstance(controller, Log):
        rows, remarks = _played(robot, controller, plan)
        return Control("held", rows=rows, remarks=remarks)
    if callable(controller):
        return Control("held", function=controller)
    tau = numbers("simulate: torques", controller)
    if tau.shape[-1:] != (robot.n,) or tau.ndim > 2 or (tau.ndim == 2 and len(tau) < plan.steps) or not np.all(np.isfinite(tau)):
        expected = f"({robot.n},) or ({plan.steps}, {robot.n}), one row per step"
        raise CallError(f"simulate: torques have shape {tau.shape}; expected finite numbers {expected}")
    return Control("held", rows=np.atleast_2d(tau))


def _played(robot: Robot, log: Log, plan: Plan) -> tuple[Array, tuple[str, ...]]:
    """The torques of a log at the beginning of each step, (steps, n), straight between its samples; the last one stays, with a remark."""
    log = log.reordered(robot)
    if log.tau is None:
        raise CallError(f"simulate: {log.where}the log has no torque to play; it has {', '.join(log.signals)}")
    if not (np.all(np.isfinite(log.tau)) and np.all(np.diff(log.t) > 0)):
        raise CallError(f"simulate: {log.where}torques to play must be finite, at times that increase: clean(log) first")
    t = log.t[0] + plan.starts
    length = float(log.t[-1] - log.t[0])
    late = t[-1] > log.t[-1] + 1.5 * (log.t[-1] - log.t[-2] if len(log.t) > 1 else 0.0)
    said = (f"the log's torques end at {length:g} s, the last one was held from there on",) if late else ()
    return np.column_stack([np.interp(t, log.t, column) for column in log.tau.T]), said


def _torque(function: Law, t: float, q: Array, qd: Array, failures: dict[int, str]) -> Array:
    """What a Python controller says; raises CallError where it is no torque for every run."""
    said = function(t, q.copy(), qd.copy())  # what it keeps of them must not change with the next step
    if type(said) is np.ndarray and said.shape == q.shape:
        few = said.size <= 16  # where a loop is faster than a call
        if all(map(math.isfinite, said.tolist())) if few and said.ndim == 1 else math.isfinite(said.sum()):
            return said
    return checked_torque(t, said, q, qd, failures)


def checked_torque(t: float, said: Any, q: Array, qd: Array, failures: dict[int, str]) -> Array:
    """A torque that goes with states q, qd (..., n) at a time [s]; raises CallError for what is none.

    NaN for a whole run of a batch where some of it is not finite, which `failures` then tells; CallError where no run is left.
    """
    tau = numbers(f"simulate: the controller's torque at {t:g} s", said)
    fits = tau.ndim <= q.ndim and all(a in (1, b) for a, b in zip(tau.shape[::-1], q.shape[::-1], strict=False))
    if not fits or tau.shape[-1:] != q.shape[-1:]:
        raise CallError(f"simulate: at {t:g} s the controller returned shape {tau.shape}; expected {q.shape}")
    bad = np.asarray(np.broadcast_to(~np.isfinite(tau), q.shape).any(axis=-1))
    if not np.any(bad):
        return tau
    sound = np.all((np.abs(q) < HUGE) & (np.abs(qd) < HUGE), axis=-1)
    if np.all(bad & sound):
        raise CallError(f"simulate: at {t:g} s the controller returned a torque that is not finite for a state that is")
    what = "NaN" if np.any(np.isnan(tau)) else "an infinite torque"
    for run in np.flatnonzero(bad & sound):
        failures.setdefault(int(run), f"the controller returned {what} at {t:g} s")
    return np.where(bad[..., None], np.nan, tau)


def torque_function(setup: Setup, plan: Plan, control: Control) -> Callable[[float, Array, Array], Array]:
    """The controller as a function of time and state, for any time."""
    limits = np.array([limit.effort if setup.saturated else np.inf for limit in setup.robot.tree.limits])
    if control.function is not None:
        function = control.function
        return lambda t, q, qd: np.clip(_torque(function, t, q, qd, {}), -limits, limits)
    if control.law is None:
        rows = np.clip(np.zeros((1, len(limits))) if control.rows is None else control.rows, -limits, limits)
        return lambda t, q, qd: rows[min(int(t / plan.step * (1 + 1e-12)), len(rows) - 1)]
    kernel, (gains,), law, robot = law_kernel(setup).ufunc, control.extra, control.law, setup.robot
    return lambda t, q, qd: kernel(q, qd, wanted_at(robot, law, np.array([t]))[0], gains)
