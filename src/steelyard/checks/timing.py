"""Timing of a robot's kernels against plain Python and NumPy, and against Pinocchio.

Calls take turns and the best time of each counts: the ratio of two best times is steady even if the
times are not.
"""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import thread_time

import numpy as np

from ..compiler.runtime.threads import threads
from ..dynamics.rnea import inverse_dynamics
from ..errors import MissingExtra
from ..robot import Robot
from ..version import __version__
from .pinocchio import PinocchioModel
from .states import Array, States, random_states

Call = Callable[[], object]
Clock = Callable[[], float]
LOOP = 512  # samples of a Python loop: its time per sample does not depend on their number

# quantity of a Robot -> its inputs and Pinocchio's function for it
PINOCCHIO = {
    "inverse_dynamics": ("q qd qdd", "rneaInParallel"),
    "forward_dynamics": ("q qd tau", "abaInParallel"),
    "mass_matrix": ("q", "crba"),
    "coriolis_matrix": ("q qd", "computeCoriolisMatrix"),
    "gravity_torque": ("q", "computeGeneralizedGravity"),
    "kinetic_energy": ("q qd", "computeKineticEnergy"),
    "potential_energy": ("q", "computePotentialEnergy"),
    "regressor": ("q qd qdd", "computeJointTorqueRegressor"),
    "inverse_dynamics_derivatives": ("q qd qdd", "computeRNEADerivatives"),
    "forward_dynamics_derivatives": ("q qd tau", "computeABADerivatives"),
}


@dataclass(frozen=True, slots=True)
class Timing:
    """Nanoseconds per sample of one quantity, and of the alternative named by `how`, if any."""

    quantity: str
    samples: int
    ours: float
    other: float | None = None
    how: str = ""

    @property
    def ratio(self) -> float | None:
        """Speed-up over the alternative."""
        return self.other / self.ours if self.other else None


def best_times(
    calls: Mapping[str, Call], rounds: int = 12, least: float = 2e-3, clock: Clock = thread_time
) -> dict[str, float]:
    """Return seconds per call, the best of many rounds in which the calls take turns.

    A short call is repeated until one measurement lasts `least` seconds. The clock is the calling
    thread's own processor time: on a busy machine a wall clock would count the interruptions of the
    longer call. Calls that run on several threads need `perf_counter`.
    """
    repeats = {name: _repeats(call, least, clock) for name, call in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                best[name] = min(best[name], _seconds(call, repeats[name], clock))
    finally:
        if collecting:
            gc.enable()
    return best


def _repeats(call: Call, least: float, clock: Clock) -> int:
    """Return how often to repeat a call so that it lasts `least` seconds.

    The first call may compile and is not timed.
    """
    call()
    repeats = 1
    while (spent := _seconds(call, repeats, clock) * repeats) < least:
        repeats = max(repeats + 1, min(10 * repeats, int(1.2 * repeats * least / max(spent, 1e-9))))
    return repeats


def _seconds(call: Call, repeats: int, clock: Clock) -> float:
    turns = range(repeats)
    start = clock()
    for _ in turns:
        call()
    return (clock() - start) / repeats


def against_python(
    robot: Robot, states: States, loop_samples: int = 64
) -> tuple[tuple[Timing, ...], float]:
    """Time inverse dynamics on one thread against NumPy arrays and a Python loop over samples.

    Returns both timings and the largest difference between any two torques [N m|N].
    """
    tree, tau = robot.tree, robot.inverse_dynamics(*states)
    out, count = np.empty_like(tau), len(tau)
    rows = list(zip(*(x[:loop_samples].tolist() for x in states), strict=True))
    columns = [list(np.ascontiguousarray(x.T)) for x in states]

    def arrays() -> Array:
        return np.stack(
            [np.broadcast_to(x, count) for x in inverse_dynamics(tree, *columns)], axis=-1
        )

    def loop() -> Array:
        return np.array([inverse_dynamics(tree, *row) for row in rows], dtype=np.float64)

    with threads(1):
        best = best_times(
            {
                "kernel": lambda: robot.inverse_dynamics(*states, out=out),
                "loop": loop,
                "arrays": arrays,
            },
            rounds=5,
        )
    difference = max(np.abs(arrays() - tau).max(), np.abs(loop() - tau[:loop_samples]).max())
    kernel, array, single = (
        1e9 * best[name] / n
        for name, n in (("kernel", count), ("arrays", count), ("loop", len(rows)))
    )
    names = "the same algorithm on NumPy arrays", "the same algorithm in a Python loop"
    return tuple(
        Timing("inverse_dynamics", count, kernel, x, how)
        for x, how in zip((array, single), names, strict=True)
    ), float(difference)


def against_pinocchio(
    robot: Robot,
    rounds: int = 12,
    quantities: Sequence[str] = tuple(PINOCCHIO),
    samples: int | None = None,
) -> tuple[tuple[Timing, ...], str]:
    """Time kernels on batches, one thread, against Pinocchio's fastest function, without friction.

    `samples`: size of a batch; None for a size that suits an arm. Returns the timings and the
    reason why Pinocchio took no part, empty if it did.
    """
    robot = robot.without_friction()
    other, absent = pinocchio_model(robot)
    with threads(1):
        return (
            tuple(_batch(robot, other, quantity, rounds, samples) for quantity in quantities),
            absent,
        )


def pinocchio_model(robot: Robot) -> tuple[PinocchioModel | None, str]:
    """Return the robot in Pinocchio if it is installed and agrees, else None and the reason."""
    try:
        other = PinocchioModel(robot)
    except MissingExtra as error:
        return None, str(error)
    states = random_states(robot, 8)
    tau = robot.inverse_dynamics(*states)
    off = float(np.abs(other.torques(states) - tau).max() / (np.abs(tau).max() or 1.0))
    return (
        (other, "")
        if off < 1e-9
        else (None, f"Pinocchio's torques differ from ours by {off:.0e} of the largest")
    )


def _batch(
    robot: Robot, other: PinocchioModel | None, quantity: str, rounds: int, samples: int | None
) -> Timing:
    inputs, function = PINOCCHIO[quantity]
    samples = samples or (
        4096
        if quantity in ("regressor", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
        else 16384
    )
    states, method = random_states(robot, samples), getattr(robot, quantity)
    ours = _select_arrays(states, inputs)
    out = method(*ours)
    calls: dict[str, Call] = {"ours": lambda: method(*ours, out=out)}
    if other is None or function in other.refused:
        how = f"{function} takes no mimic joints" if other else ""
        return Timing(quantity, samples, 1e9 * best_times(calls, rounds)["ours"] / samples, how=how)
    batched = function.endswith("InParallel")
    count = samples if batched else min(LOOP, samples)
    theirs = _select_arrays(other.arrange(States(*(x[:count] for x in states))), inputs)
    best = best_times(
        {**calls, "other": (other.batch if batched else other.loop)(function, *theirs)}, rounds
    )
    how = f"{function}, 1 thread" if batched else f"a loop of {function}"
    return Timing(quantity, samples, 1e9 * best["ours"] / samples, 1e9 * best["other"] / count, how)


def _select_arrays(states: States, names: str) -> list[Array]:
    """Return the arrays of states by name; accelerations serve as torques."""
    return [{**states._asdict(), "tau": states.qdd}[name] for name in names.split()]


def machine_summary() -> str:
    """Return the processor, its cores and the versions on which times depend, in a line."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = named[0] if named else platform.processor() or platform.machine()
    return (
        f"steelyard {__version__} on {cpu}, {os.cpu_count() or 1} cores; Python"
        f" {platform.python_version()}, NumPy {np.__version__}"
    )
