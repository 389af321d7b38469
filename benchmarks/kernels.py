"""Every kernel of a robot, timed.

Batches against Pinocchio, one call, generated C, two threads against one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from benchmarks.generated_c import nanoseconds_per_call
from steelyard import Robot, threads
from steelyard.checks.pinocchio import PinocchioModel
from steelyard.checks.states import random_states
from steelyard.checks.timing import Call, Timing, against_pinocchio, best_times, pinocchio_model
from steelyard.errors import ProblemError


def measure(robot: Robot, rounds: int = 12) -> tuple[tuple[Timing, ...], str]:
    """Time all of the robot without friction, which Pinocchio does not know.

    Arrays are plain (N, n) C-order float64. Returns the timings and a sentence on why Pinocchio
    took no part, empty if it did.
    """
    robot = robot.without_friction()
    batches, absent = against_pinocchio(robot, rounds)
    with threads(1):
        single = _single(robot, pinocchio_model(robot)[0], rounds)
        c = _in_c(robot, single)
    return (*batches, single, *c, _two_threads(robot, rounds)), absent


def _single(robot: Robot, other: PinocchioModel | None, rounds: int) -> Timing:
    """One call for one sample from Python, as in the loop of a controller."""
    states = random_states(robot, 1)
    q, qd, qdd = (x[0] for x in states)
    calls: dict[str, Call] = {"ours": lambda: robot.inverse_dynamics(q, qd, qdd)}
    if other is not None:
        rnea, model, data, rows = (
            other.pin.rnea,
            other.model,
            other.data,
            [x[0] for x in other.arrange(states)],
        )
        calls["other"] = lambda: rnea(model, data, *rows)
    best = best_times(calls, rounds)
    theirs = 1e9 * best["other"] if other else None
    return Timing(
        "inverse_dynamics, one call", 1, 1e9 * best["ours"], theirs, "rnea" if other else ""
    )


def _in_c(robot: Robot, single: Timing) -> list[Timing]:
    """The generated C, timed inside C, beside Pinocchio's single call from Python.

    Nothing if there is no C compiler.
    """
    try:
        ours = nanoseconds_per_call(robot.tree, "inverse_dynamics", None)
    except ProblemError:
        return []
    how = f"{single.how}, called from Python" if single.how else ""
    return [replace(single, quantity="inverse_dynamics, generated C", ours=ours, how=how)]


def _two_threads(robot: Robot, rounds: int) -> Timing:
    """Two threads against one, on a batch that does not fit into the caches."""
    samples = 262144
    states = random_states(robot, samples)
    out = robot.inverse_dynamics(*states)

    def with_threads(count: int) -> Callable[[], object]:
        def run() -> None:
            with threads(count):
                robot.inverse_dynamics(*states, out=out)

        return run

    best = best_times({"two": with_threads(2), "one": with_threads(1)}, rounds, clock=perf_counter)
    two, one = (1e9 * best[name] / samples for name in ("two", "one"))
    return Timing("inverse_dynamics, 2 threads", samples, two, one, "steelyard on 1 thread")
