"""Time stepping: batches in blocks, one run under a Python function, or the adaptive method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import isfinite, prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, ProblemError
from ..robot import Robot
from .adaptive import integrated, integrated_smooth, with_evaluation_limit
from .control import Control, checked_torque, torque_function
from .integrators import RATES
from .loops import integrated_closed
from .options import StepSchedule
from .simulation_thresholds import THRESHOLDS
from .state import State
from .step import packed_kernel, step_kernel
from .step_model import StepModel
from .switching import Torque

Array = NDArray[np.float64]
Parts: TypeAlias = tuple[Array, ...]
"""The arrays of a `State` in the order of the kernel, for loops that call it at every step."""
Progress: TypeAlias = "Callable[[float], None] | None"


class SimulationProblem(NamedTuple):
    """A simulation before its first step: model, schedule, control and initial state."""

    model: StepModel
    schedule: StepSchedule
    control: Control
    state: State[Array]


@dataclass(frozen=True, eq=False)
class Record:
    """Recorded samples of states and torques, (..., T, size)."""

    state: State[Array]
    tau: Array

    @classmethod
    def empty(cls, robot: Robot, state: State[Array], schedule: StepSchedule) -> Record:
        """Return a record of zeros for the batch of a state."""
        T = len(schedule.recorded)
        samples = [np.zeros((*x.shape[:-1], T, x.shape[-1])) for x in state.parts()]
        return cls(state.with_parts(samples), np.zeros((*state.q.shape[:-1], T, robot.n)))

    def flat(self) -> Record:
        """Return a view with one row per run, (runs, T, size)."""
        views = [x.reshape(-1, *x.shape[-2:]) for x in self.state.parts()]
        return Record(self.state.with_parts(views), self.tau.reshape(-1, *self.tau.shape[-2:]))

    def part(self, runs: slice) -> Record:
        """Return a view of some runs of a flat record."""
        return Record(self.state.with_parts([x[runs] for x in self.state.parts()]), self.tau[runs])


def write_sample(samples: Parts, row: int, parts: Sequence[Array]) -> None:
    """Write the parts of a state into a row of the recorded arrays."""
    for array, x in zip(samples, parts, strict=True):
        array[..., row, :] = x


def adapt(problem: SimulationProblem, record: Record, progress: Progress) -> None:
    """Integrate every run by the adaptive method, one after the other."""
    model, schedule, control, state = problem
    if model.free_base or model.drive is not None:
        _adapt_smooth(problem, record, progress)
        return
    t, robot, n = schedule.times, model.robot, model.robot.n
    torque = with_evaluation_limit(torque_function(model, schedule, control), schedule.step)
    runs = record.flat()
    if robot.tree.loops:
        integrate: Callable[..., Sequence[Array]] = partial(integrated_closed, robot, torque)
    else:
        integrate = partial(
            integrated,
            robot,
            torque,
            longest=10 * schedule.step,
            restitution=control.constants.restitution,
        )
    for i, start in enumerate(zip(state.q.reshape(-1, n), state.qd.reshape(-1, n), strict=True)):
        _record_run(runs, i, partial(integrate, *start, t=t), torque, t, control)
        if progress is not None:
            progress((i + 1) / len(runs.tau))


def _adapt_smooth(problem: SimulationProblem, record: Record, progress: Progress) -> None:
    """Integrate every run of a model with a free base or drives, which has no events."""
    model, schedule, control, state = problem
    t, n, parts = schedule.times, model.robot.n, state.parts()
    torque = with_evaluation_limit(torque_function(model, schedule, control), schedule.step)
    call = packed_kernel(replace(model, method=RATES, control="held", controller=None)).ufunc
    constants = replace(control.constants, gains=None).parts()
    runs, cuts = record.flat(), np.cumsum([x.shape[-1] for x in parts])[:-1]
    for i, start in enumerate(np.concatenate(parts, axis=-1).reshape(len(runs.tau), -1)):

        def rates(s: float, x: Array) -> Array:
            return np.asarray(call(1.0, x, torque(s, x[:n], x[n : 2 * n]), *constants) - x)

        def integrate(rates: Any = rates, start: Array = start) -> Sequence[Array]:
            samples = state.with_parts(np.split(integrated_smooth(rates, start, t), cuts, axis=-1))
            if samples.base_pose is not None:
                quaternion = samples.base_pose[:, 3:]
                quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
            return samples.parts()

        _record_run(runs, i, integrate, torque, t, control)
        if progress is not None:
            progress((i + 1) / len(runs.tau))


def _record_run(
    runs: Record,
    i: int,
    integrate: Callable[[], Sequence[Array]],
    torque: Torque,
    t: Array,
    control: Control,
) -> None:
    """Integrate run i and record it.

    A run that fails is NaN, with the reason in `control.failures`; raises where all runs fail.
    """
    recorded = runs.state.parts()
    try:
        parts = integrate()
        q, qd = parts[:2]
        runs.tau[i] = [torque(s, x, v) for s, x, v in zip(t.tolist(), q, qd, strict=True)]
    except (CallError, ProblemError) as error:
        if len(control.failures) + 1 == len(runs.tau):
            raise
        parts, runs.tau[i] = [np.full(x.shape[1:], np.nan) for x in recorded], np.nan
        control.failures[i] = str(error).removeprefix("simulate: ")
    for samples, x in zip(recorded, parts, strict=True):
        samples[i] = x


def run_steps(problem: SimulationProblem, record: Record, progress: Progress) -> None:
    """Take all steps of all runs, in blocks unless a Python function controls the whole batch."""
    model, _, control, state = problem
    if control.function is not None and state.q.ndim == 1:
        _step_single_run(problem, record, progress)
        return
    kernel = step_kernel(model)
    if control.function is not None:
        _step_block(kernel, problem, record, progress)
        return
    runs, flat = record.flat(), [x.reshape(-1, x.shape[-1]) for x in state.parts()]
    total = len(runs.tau)
    for begin in range(0, total, THRESHOLDS.block_runs):
        block = slice(begin, begin + THRESHOLDS.block_runs)
        part = problem._replace(state=state.with_parts([x[block] for x in flat]))
        _step_block(
            kernel, part, runs.part(block), None if total > THRESHOLDS.block_runs else progress
        )
        if progress is not None:
            progress(min(begin + THRESHOLDS.block_runs, total) / total)


def _step_block(
    kernel: Kernel, problem: SimulationProblem, record: Record, progress: Progress
) -> None:
    """Take all steps of some runs.

    States alternate between two sets of arrays, since a kernel must not write what it reads.
    """
    _, schedule, control, initial = problem
    parts, samples, batch = initial.parts(), record.state.parts(), initial.q.shape[:-1]
    buffers = [
        tuple(np.empty((*batch, *operand.shape)) for operand in kernel.outputs) for _ in range(2)
    ]
    write_sample(samples, 0, parts)
    call, h, every, row, k = kernel.ufunc, schedule.step, schedule.every, 1, 0
    counted = kernel.inputs[-1].name == "count"
    interval = max(schedule.steps // 100, 1)  # steps between two calls of progress
    affordable = max(THRESHOLDS.work_per_call // max(kernel.nodes * prod(batch), 1), 1)
    longest = (
        min(interval if progress is not None else THRESHOLDS.steps_per_call, affordable)
        if counted
        else 1
    )
    for turn in count():
        out = buffers[turn % 2]
        steps = min(longest, control.steps_per_call(k, every), schedule.steps - k)
        call(
            h,
            *parts,
            *control.step_inputs(k, k * h, parts[0], parts[1]),
            *((float(steps),) if counted else ()),
            out=out,
        )
        if k % every == 0:
            record.tau[..., row - 1, :] = out[-1]
        parts, k = out[:-1], k + steps
        if k % every == 0 or k == schedule.steps:
            write_sample(samples, row, parts)
            row += 1
        if progress is not None and (k - steps) // interval != k // interval:
            progress(k / schedule.steps)
        if k == schedule.steps:
            break
    record.tau[..., -1, :] = out[-1]


def _step_single_run(problem: SimulationProblem, record: Record, progress: Progress) -> None:
    """Take all steps of one run under a Python function.

    The state is one array, since every array that NumPy looks at costs time.
    """
    model, schedule, control, initial = problem
    parts, samples = initial.parts(), record.state.parts()
    n, cuts = model.robot.n, np.cumsum([len(x) for x in parts])[:-1]
    call, function = packed_kernel(model).ufunc, control.function
    constants = control.constants.parts()
    limits = np.array(
        [limit.effort if model.saturated else np.inf for limit in model.robot.tree.limits]
    )
    h, step, every, row = np.array(schedule.step), schedule.step, schedule.every, 1
    interval, x = max(schedule.steps // 100, 1), np.concatenate(parts)
    assert function is not None
    write_sample(samples, 0, parts)
    for k in range(schedule.steps):
        copy = x.copy()  # a function may store or change its arguments
        tau = function(k * step, copy[:n], copy[n : 2 * n])
        if type(tau) is not np.ndarray or tau.shape != (n,) or tau.dtype != np.float64:
            tau = checked_torque(k * step, tau, x[:n], x[n : 2 * n], control.failures)
        after = call(h, x, tau, *constants)
        if not isfinite(after.item(2 * n)):  # the work: a torque that is not finite makes it so
            checked_torque(k * step, tau, x[:n], x[n : 2 * n], control.failures)
        if k % every == 0:
            record.tau[row - 1] = np.clip(tau, -limits, limits)
        x = after
        if (k + 1) % every == 0 or k + 1 == schedule.steps:
            write_sample(samples, row, np.split(x, cuts))
            row += 1
        if progress is not None and k % interval == 0:
            progress(k / schedule.steps)
    record.tau[-1] = np.clip(tau, -limits, limits)
