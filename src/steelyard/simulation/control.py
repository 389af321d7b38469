"""What drives a simulation: nothing, torques, a function of the state, or a controller with its reference; and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import instance, numbers, real_number, whole_number
from ..errors import CallError
from ..motion import Trajectory
from ..robot import Robot
from .controllers import Controller
from .step import Setup, law_kernel

Array = NDArray[np.float64]
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
    def times(self) -> Array:
        """When the samples that are kept are taken [s]."""
        return np.asarray(self.kept * self.step, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Control:
    """What gives the torques: kind "none", "held" or "law"; per step a reference or torques, and a function of the state."""

    kind: str
    law: Controller | None = None
    extra: tuple[Array, ...] = ()  # what the kernel takes at every step beside the state
    rows: Array | None = None  # one row per step: references (steps, 3, n) or torques (steps, n)
    function: Law | None = None

    def at(self, k: int, t: float, q: Array, qd: Array) -> tuple[Any, ...]:
        """What the kernel takes at a step."""
        if self.function is not None:
            return (_torque(self.function, t, q, qd),)
        return (*(() if self.rows is None else (self.rows[min(k, len(self.rows) - 1)],)), *self.extra)


def control_of(robot: Robot, controller: Any, plan: Plan) -> Control:
    """What a `controller` argument is; raises CallError for what is none."""
    if controller is None:
        return Control("none")
    if isinstance(controller, Controller):
        model = robot if controller.model is None else instance("the controller's model", controller.model, Robot, "sy.load returns one")
        if model.n != robot.n:
            raise CallError(
                f"simulate: the controller's model has {model.n} joints, the robot has {robot.n}: {', '.join(robot.joint_names)}"
            )
        return Control("law", controller, (controller.gains(robot.n),), _references(robot, controller.reference, plan))
    if callable(controller):
        return Control("held", function=controller)
    tau = numbers("simulate: torques", controller)
    if tau.shape[-1:] != (robot.n,) or tau.ndim > 2 or (tau.ndim == 2 and len(tau) < plan.steps) or not np.all(np.isfinite(tau)):
        expected = f"({robot.n},) or ({plan.steps}, {robot.n}), one row per step"
        raise CallError(f"simulate: torques have shape {tau.shape}; expected finite numbers {expected}")
    return Control("held", rows=np.atleast_2d(tau))


def _references(robot: Robot, reference: Any, plan: Plan) -> Array:
    """q, qd and qdd to follow at the beginning of each step, (steps, 3, n), or (1, 3, n) of a position that is held."""
    if isinstance(reference, Trajectory):
        if reference.n != robot.n:
            raise CallError(f"simulate: the reference moves {reference.n} joints, the robot has {robot.n}: {', '.join(robot.joint_names)}")
        start, end = float(reference.t[0]), float(reference.t[-1])
        t = np.arange(plan.steps) * plan.step + start
        q, qd, qdd = reference.motion(np.clip(t, start, end))
        moving = (t <= end)[:, None]
        return np.stack([q, np.where(moving, qd, 0.0), np.where(moving, qdd, 0.0)], axis=1)
    position = np.zeros(robot.n) if reference is None else numbers("simulate: the reference", reference)
    if position.shape != (robot.n,) or not np.all(np.isfinite(position)):
        raise CallError(f"simulate: the reference has shape {position.shape}; expected a Trajectory or a position ({robot.n},)")
    return np.stack([position, 0 * position, 0 * position])[None]


def _torque(function: Law, t: float, q: Array, qd: Array) -> Array:
    """What a Python controller says; raises CallError where it is no torque for every run."""
    said = function(t, q.copy(), qd.copy())  # what it keeps of them must not change with the next step
    if type(said) is np.ndarray and said.shape == q.shape:
        few = said.size <= 16  # where a loop is faster than a call
        if all(map(math.isfinite, said.tolist())) if few and said.ndim == 1 else math.isfinite(said.sum()):
            return said
    tau = numbers(f"simulate: the controller's torque at {t:g} s", said)
    fits = tau.ndim <= q.ndim and all(a in (1, b) for a, b in zip(tau.shape[::-1], q.shape[::-1], strict=False))
    if not fits or tau.shape[-1:] != q.shape[-1:]:
        raise CallError(f"simulate: at {t:g} s the controller returned shape {tau.shape}; expected {q.shape}")
    if np.any(~np.isfinite(tau) & np.isfinite(q)):
        raise CallError(f"simulate: at {t:g} s the controller returned a torque that is not finite for a state that is")
    return tau


def torque_function(setup: Setup, plan: Plan, control: Control) -> Callable[[float, Array, Array], Array]:
    """The controller as a function of time and state, for any time."""
    limits = np.array([limit.effort if setup.saturated else np.inf for limit in setup.robot.tree.limits])
    if control.function is not None:
        function = control.function
        return lambda t, q, qd: np.clip(_torque(function, t, q, qd), -limits, limits)
    if control.law is None:
        rows = np.clip(np.zeros((1, len(limits))) if control.rows is None else control.rows, -limits, limits)
        return lambda t, q, qd: rows[min(int(t / plan.step * (1 + 1e-12)), len(rows) - 1)]
    kernel, (gains,) = law_kernel(setup).ufunc, control.extra
    wanted = partial(_reference_at, control.law.reference, control.rows)
    return lambda t, q, qd: kernel(q, qd, wanted(t), gains)


def _reference_at(reference: Any, rows: Array | None, t: float) -> Array:
    """q, qd and qdd to follow at a time, (3, n)."""
    if not isinstance(reference, Trajectory):
        assert rows is not None
        return rows[0]
    start, end = float(reference.t[0]), float(reference.t[-1])
    q, qd, qdd = (x[0] for x in reference.motion(np.array([min(start + t, end)])))
    return np.stack([q, qd, qdd] if start + t <= end else [q, 0 * q, 0 * q])
