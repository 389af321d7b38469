"""Simulation: torques turned into motion, one run or thousands side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import numbers
from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, require_robot
from ..robot import Robot
from .adaptive import integrated
from .control import Control, Law, Plan, control_of, torque_function
from .controllers import Controller
from .integrators import require_method
from .run import Run
from .step import Setup, step_kernel

Array = NDArray[np.float64]
BLOCK = 512  # runs that go through their steps together, so that their states stay in the processor's cache


def simulate(
    robot: Robot,
    controller: Controller | Law | ArrayLike | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    seconds: float = 1.0,
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
    *,
    saturate: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """The motion of a robot under a controller, from q0 [rad|m] and qd0 [rad/s|m/s] (..., n), both zero by default, one run per row.

    controller: one of `steelyard.simulation.controllers` (PD, ComputedTorque, FeedForward), traced into the step; a function (t, q, qd) ->
    tau of all runs at once, q (..., n); torques [N m|N], (n,) that stay or (steps, n), one row per step; or None, for no torque. The torque
    at the beginning of a step [s] is held to its end.
    method: "rk4" or "rk8" (Runge-Kutta of order 4 or 8), "euler" (semi-implicit); "adaptive" (DOP853, one run after the other, torques as
    they are at every instant, the instants found where joints stick and break loose). `every` so many steps a sample is kept. With
    `saturate` torques stay within the robot's effort limits. `progress` is called with the part that is done.
    M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd); joints that dry friction holds, stay.
    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.1.
    """
    require_robot(robot, "simulate")
    require_method(method)
    plan = Plan.of(seconds, step, every)
    q, qd = _initial(robot, q0, qd0)
    control = control_of(robot, controller, plan)
    setup = Setup(robot, method, control.kind, control.law, saturate)
    record = Record.empty(robot, q.shape[:-1], plan)
    with np.errstate(all="ignore"):  # a run that diverges is said in the status, and leaves the others alone
        if method == "adaptive":
            _adapt(setup, plan, control, q, qd, record, progress)
        else:
            _drive(step_kernel(setup), plan, control, q, qd, record, progress)
    work, heat = record.books[..., 0], record.books[..., 1]
    return Run(robot, plan.times, record.q, record.qd, record.tau, work, heat, method, plan.steps)


@dataclass(frozen=True, eq=False)
class Record:
    """Arrays to keep samples in, (..., T, n), and the books: work and heat [J], (..., T, 2)."""

    q: Array
    qd: Array
    tau: Array
    books: Array

    @classmethod
    def empty(cls, robot: Robot, batch: tuple[int, ...], plan: Plan) -> Record:
        """Zeros where nothing will be written: no torque, no heat."""
        shape = *batch, len(plan.kept)
        q, qd, tau = np.zeros((3, *shape, robot.n))
        return cls(q, qd, tau, np.zeros((*shape, 2)))

    def flat(self) -> Record:
        """The same memory with one row per run, (runs, T, ...)."""
        return Record(*(x.reshape(-1, *x.shape[-2:]) for x in self.arrays))

    def part(self, runs: slice) -> Record:
        """Some of the runs of a flat record."""
        return Record(*(x[runs] for x in self.arrays))

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.q, self.qd, self.tau, self.books

    def keep(self, row: int, state: tuple[Array, ...]) -> None:
        """Write q, qd and the books of a sample."""
        self.q[..., row, :], self.qd[..., row, :], self.books[..., row, :] = state


def _initial(robot: Robot, q0: ArrayLike | None, qd0: ArrayLike | None) -> tuple[Array, Array]:
    """States of one batch shape; raises CallError where they do not fit."""
    made = []
    for name, given in (("q0", q0), ("qd0", qd0)):
        value = np.zeros(robot.n) if given is None else numbers(f"simulate: {name}", given)
        if value.shape[-1:] != (robot.n,):
            raise CallError(f"simulate: {name} has shape {value.shape}; expected (..., {robot.n}): {', '.join(robot.joint_names)}")
        if not np.all(np.isfinite(value)):
            raise CallError(f"simulate: {name} is not finite")
        made.append(value)
    try:
        q, qd = np.broadcast_arrays(*made)
    except ValueError:
        raise CallError(f"simulate: q0 {made[0].shape} and qd0 {made[1].shape} do not go together") from None
    return q.copy(), qd.copy()


def _adapt(
    setup: Setup,
    plan: Plan,
    control: Control,
    q: Array,
    qd: Array,
    record: Record,
    progress: Callable[[float], None] | None,
) -> None:
    """Every run by the adaptive method, one after the other."""
    t, torque = plan.times, torque_function(setup, plan, control)
    runs = record.flat()
    starts = zip(q.reshape(-1, q.shape[-1]), qd.reshape(-1, q.shape[-1]), strict=True)
    for i, start in enumerate(starts):
        runs.q[i], runs.qd[i], runs.books[i] = integrated(setup.robot, torque, *start, t, 10 * plan.step)
        runs.tau[i] = [torque(s, x, v) for s, x, v in zip(t.tolist(), runs.q[i], runs.qd[i], strict=True)]
        if progress is not None:
            progress((i + 1) / len(runs.q))


def _drive(
    kernel: Kernel, plan: Plan, control: Control, q: Array, qd: Array, record: Record, progress: Callable[[float], None] | None
) -> None:
    """Take the runs through all steps: all at once where a Python function sees them, else in blocks."""
    if control.function is not None:
        _march(kernel, plan, control, q, qd, record, progress)
        return
    runs = record.flat()
    flat, count = (q.reshape(-1, q.shape[-1]), qd.reshape(-1, q.shape[-1])), len(runs.q)
    for begin in range(0, count, BLOCK):
        block = slice(begin, begin + BLOCK)
        part, scale = runs.part(block), min(begin + BLOCK, count) / count
        _march(kernel, plan, control, flat[0][block], flat[1][block], part, None if count > BLOCK else progress)
        if progress is not None:
            progress(scale)


def _march(
    kernel: Kernel, plan: Plan, control: Control, q: Array, qd: Array, record: Record, progress: Callable[[float], None] | None
) -> None:
    """All steps of some runs: states go back and forth between two sets of arrays, since a kernel must not write what it reads."""
    sets = [tuple(np.empty((*q.shape[:-1], *operand.shape)) for operand in kernel.outputs) for _ in range(2)]
    state: tuple[Array, ...] = (q, qd, np.zeros((*q.shape[:-1], 2)))
    record.keep(0, state)
    call, h, every, row = kernel.ufunc, plan.step, plan.every, 1
    often = max(plan.steps // 100, 1)
    for k in range(plan.steps):
        out = sets[k % 2]
        call(h, *state, *control.at(k, k * h, state[0], state[1]), out=out)
        if k % every == 0:
            record.tau[..., row - 1, :] = out[3]
        state = out[:3]
        if (k + 1) % every == 0 or k + 1 == plan.steps:
            record.keep(row, state)
            row += 1
        if progress is not None and k % often == 0:
            progress(k / plan.steps)
    record.tau[..., -1, :] = out[3]
