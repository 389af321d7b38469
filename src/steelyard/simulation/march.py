"""The steps of a simulation, one after the other: of a batch in blocks, of one run under a Python function, or of the adaptive method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import isfinite, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, ProblemError
from ..robot import Robot
from .adaptive import integrated, integrated_whole, patient
from .control import Control, Plan, checked_torque, torque_function
from .integrators import RATES
from .loops import integrated_closed
from .setup import Setup
from .step import packed_kernel, step_kernel
from .switching import Torque

Array = NDArray[np.float64]
State: TypeAlias = tuple[Array, ...]
"""q, qd, the books (work and heat so far [J]), the pose and twist of a free base, and what drives and the controller keep."""
Progress: TypeAlias = "Callable[[float], None] | None"
LONGEST = 1000  # steps in one call, which cannot be interrupted
LONGEST_WORK = 200_000_000  # nodes times steps times runs in one call: about 20 ms
BLOCK = 512  # runs that go through their steps together, so that their states stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Record:
    """Arrays to keep samples in: those of the state and the torques, (..., T, size)."""

    states: tuple[Array, ...]
    tau: Array

    @classmethod
    def empty(cls, robot: Robot, state: State, plan: Plan) -> Record:
        """Zeros where nothing will be written."""
        T = len(plan.kept)
        return cls(tuple(np.zeros((*x.shape[:-1], T, x.shape[-1])) for x in state), np.zeros((*state[0].shape[:-1], T, robot.n)))

    def flat(self) -> Record:
        """The same memory with one row per run, (runs, T, size)."""
        return Record(tuple(x.reshape(-1, *x.shape[-2:]) for x in self.states), self.tau.reshape(-1, *self.tau.shape[-2:]))

    def part(self, runs: slice) -> Record:
        """Some of the runs of a flat record."""
        return Record(tuple(x[runs] for x in self.states), self.tau[runs])

    def keep(self, row: int, state: State) -> None:
        """Write a sample of the state."""
        for kept, x in zip(self.states, state, strict=True):
            kept[..., row, :] = x


def adapt(setup: Setup, plan: Plan, control: Control, state: State, record: Record, progress: Progress) -> None:
    """Every run by the adaptive method, one after the other."""
    if setup.free or setup.drive is not None:
        _adapt_whole(setup, plan, control, state, record, progress)
        return
    t, torque = plan.times, patient(torque_function(setup, plan, control), plan.step)
    runs, n, restitution = record.flat(), setup.robot.n, control.last[-1] if setup.stops else None
    for i, start in enumerate(zip(state[0].reshape(-1, n), state[1].reshape(-1, n), strict=True)):
        closed = setup.robot.tree.loops
        way = (
            partial(integrated_closed, setup.robot, torque)
            if closed
            else partial(integrated, setup.robot, torque, longest=10 * plan.step, restitution=restitution)
        )
        _keep_whole(runs, i, partial(way, *start, t=t), torque, t, control)
        if progress is not None:
            progress((i + 1) / len(runs.tau))


def _adapt_whole(setup: Setup, plan: Plan, control: Control, state: State, record: Record, progress: Progress) -> None:
    """The same with a base that nothing holds, or with drives."""
    t, torque, n = plan.times, patient(torque_function(setup, plan, control), plan.step), setup.robot.n
    call = packed_kernel(replace(setup, method=RATES, control="held", controller=None)).ufunc
    runs, cuts = record.flat(), np.cumsum([x.shape[-1] for x in state])[:-1]
    for i, start in enumerate(np.concatenate(state, axis=-1).reshape(len(runs.tau), -1)):

        def rates(s: float, x: Array) -> Array:
            return np.asarray(call(1.0, x, torque(s, x[:n], x[n : 2 * n]), *control.last) - x)

        def integrate(rates: Any = rates, start: Array = start) -> list[Array]:
            made = np.split(integrated_whole(rates, start, t), cuts, axis=-1)
            if setup.free:
                made[3][:, 3:] /= np.linalg.norm(made[3][:, 3:], axis=1, keepdims=True)
            return made

        _keep_whole(runs, i, integrate, torque, t, control)
        if progress is not None:
            progress((i + 1) / len(runs.tau))


def _keep_whole(runs: Record, i: int, integrate: Callable[[], Sequence[Array]], torque: Torque, t: Array, control: Control) -> None:
    """Integrate run i and keep it. One that fails is NaN, and `control.failures` says why; raises where all runs have failed."""
    try:
        made = integrate()
        runs.tau[i] = [torque(s, x, v) for s, x, v in zip(t.tolist(), made[0], made[1], strict=True)]
    except (CallError, ProblemError) as error:
        if len(control.failures) + 1 == len(runs.tau):
            raise
        made, runs.tau[i] = [np.full(x.shape[1:], np.nan) for x in runs.states], np.nan
        control.failures[i] = str(error).removeprefix("simulate: ")
    for kept, x in zip(runs.states, made, strict=True):
        kept[i] = x


def march(setup: Setup, plan: Plan, control: Control, state: State, record: Record, progress: Progress) -> None:
    """Take the runs through all steps: all at once where a Python function sees them, else in blocks."""
    if control.function is not None and state[0].ndim == 1:
        _march_alone(setup, plan, control, state, record, progress)
        return
    kernel = step_kernel(setup)
    if control.function is not None:
        _march(kernel, plan, control, state, record, progress)
        return
    runs, flat = record.flat(), tuple(x.reshape(-1, x.shape[-1]) for x in state)
    count = len(runs.tau)
    for begin in range(0, count, BLOCK):
        block = slice(begin, begin + BLOCK)
        _march(kernel, plan, control, tuple(x[block] for x in flat), runs.part(block), None if count > BLOCK else progress)
        if progress is not None:
            progress(min(begin + BLOCK, count) / count)


def _march(kernel: Kernel, plan: Plan, control: Control, state: State, record: Record, progress: Progress) -> None:
    """All steps of some runs: states go back and forth between two sets of arrays, since a kernel must not write what it reads."""
    sets = [tuple(np.empty((*state[0].shape[:-1], *operand.shape)) for operand in kernel.outputs) for _ in range(2)]
    record.keep(0, state)
    call, h, every, row, k = kernel.ufunc, plan.step, plan.every, 1, 0
    counted = kernel.inputs[-1].name == "count"
    often = max(plan.steps // 100, 1)
    most = max(LONGEST_WORK // max(kernel.nodes * prod(state[0].shape[:-1]), 1), 1)
    longest = min(often if progress is not None else LONGEST, most) if counted else 1
    for turn in count():
        out, many = sets[turn % 2], min(longest, control.lasting(k, every), plan.steps - k)
        call(h, *state, *control.at(k, k * h, state[0], state[1]), *((float(many),) if counted else ()), out=out)
        if k % every == 0:
            record.tau[..., row - 1, :] = out[-1]
        state, k = out[:-1], k + many
        if k % every == 0 or k == plan.steps:
            record.keep(row, state)
            row += 1
        if progress is not None and (k - many) // often != k // often:
            progress(k / plan.steps)
        if k == plan.steps:
            break
    record.tau[..., -1, :] = out[-1]


def _march_alone(setup: Setup, plan: Plan, control: Control, state: State, record: Record, progress: Progress) -> None:
    """All steps of one run under a Python function, with its state in one array, since every array that NumPy looks at costs time."""
    n, cuts = setup.robot.n, np.cumsum([len(x) for x in state])[:-1]
    call, h, rest, function = packed_kernel(setup).ufunc, np.array(plan.step), control.last, control.function
    limits = np.array([limit.effort if setup.saturated else np.inf for limit in setup.robot.tree.limits])
    step, every, row, often, x = plan.step, plan.every, 1, max(plan.steps // 100, 1), np.concatenate(state)
    assert function is not None
    record.keep(0, state)
    for k in range(plan.steps):
        own = x.copy()  # what a function keeps or changes must not touch the state
        said = function(k * step, own[:n], own[n : 2 * n])
        if type(said) is not np.ndarray or said.shape != (n,) or said.dtype != np.float64:
            said = checked_torque(k * step, said, x[:n], x[n : 2 * n], control.failures)
        after = call(h, x, said, *rest)
        if not isfinite(after.item(2 * n)):  # the work: a torque that is not finite makes it so
            checked_torque(k * step, said, x[:n], x[n : 2 * n], control.failures)
        if k % every == 0:
            record.tau[row - 1] = np.clip(said, -limits, limits)
        x = after
        if (k + 1) % every == 0 or k + 1 == plan.steps:
            record.keep(row, tuple(np.split(x, cuts)))
            row += 1
        if progress is not None and k % often == 0:
            progress(k / plan.steps)
    record.tau[-1] = np.clip(said, -limits, limits)
