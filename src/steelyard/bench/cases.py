"""Every kernel once: our batch in one call with `out=`, Pinocchio's best way to the same numbers, taking turns on one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from ..c_export import nanoseconds_per_call
from ..checks.states import Array, States, random_states
from ..checks.timing import Call, best_times
from ..compiler.runtime.threads import threads
from ..errors import MissingExtra, ProblemError
from ..robot import Robot
from .rival import Pinocchio

LOOP = 512  # samples of a Python loop: its time per sample does not depend on how many there are


@dataclass(frozen=True, slots=True)
class Measurement:
    """Nanoseconds per sample of one kernel, and of the rival where there is one."""

    robot: str
    quantity: str
    samples: int
    ours: float
    rival: float | None = None
    how: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the rival."""
        return self.rival / self.ours if self.rival else None


@dataclass(frozen=True, slots=True)
class Case:
    """A quantity of a Robot, the states it takes (q, qd, qdd by position) and Pinocchio's function for it."""

    quantity: str
    inputs: str
    rival: str
    samples: int = 16384


CASES = (
    Case("inverse_dynamics", "q qd qdd", "rneaInParallel"),
    Case("forward_dynamics", "q qd tau", "abaInParallel"),
    Case("mass_matrix", "q", "crba"),
    Case("coriolis_matrix", "q qd", "computeCoriolisMatrix"),
    Case("gravity_torque", "q", "computeGeneralizedGravity"),
    Case("kinetic_energy", "q qd", "computeKineticEnergy"),
    Case("potential_energy", "q", "computePotentialEnergy"),
    Case("regressor", "q qd qdd", "computeJointTorqueRegressor", samples=4096),
    Case("inverse_dynamics_derivatives", "q qd qdd", "computeRNEADerivatives", samples=4096),
    Case("forward_dynamics_derivatives", "q qd tau", "computeABADerivatives", samples=4096),
)


def measure(robot: Robot, rounds: int = 12, quantities: tuple[str, ...] = ()) -> tuple[tuple[Measurement, ...], str]:
    """Time every kernel (or those named) of the robot without friction, which Pinocchio does not know; and say what is missing.

    Arrays are plain (N, n) C-order float64. Returns the measurements and a sentence, empty where the rival took part.
    """
    robot = robot.without_friction()
    rival, missing = _rival(robot)
    wanted = [case for case in CASES if not quantities or case.quantity in quantities]
    with threads(1):
        rows = [_batch(robot, rival, case, rounds) for case in wanted]
        rows.append(_single(robot, rival, rounds))
        rows += _in_c(robot, rows[-1])
    rows.append(_two_threads(robot, rounds))
    return tuple(rows), missing


def _rival(robot: Robot) -> tuple[Pinocchio | None, str]:
    """The rival, if it is there and computes the same thing; else why not."""
    try:
        rival = Pinocchio(robot)
    except (MissingExtra, ProblemError) as absent:
        return None, str(absent)
    states = random_states(robot, 8)
    theirs, ours = rival.torques(states), robot.inverse_dynamics(*states)
    error = float(np.abs(theirs - ours).max() / (np.abs(ours).max() or 1.0))
    return (rival, "") if error < 1e-9 else (None, f"Pinocchio's torques differ from ours by {error:.0e} of the largest")


def _batch(robot: Robot, rival: Pinocchio | None, case: Case, rounds: int) -> Measurement:
    states = random_states(robot, case.samples)
    named = {**states._asdict(), "tau": states.qdd}
    inputs = [named[name] for name in case.inputs.split()]
    method = getattr(robot, case.quantity)
    out = method(*inputs)
    calls: dict[str, Call] = {"ours": lambda: method(*inputs, out=out)}
    row = Measurement(robot.mechanism.name, case.quantity, case.samples, 0.0)
    if rival is None or case.rival in rival.refused:
        how = f"{case.rival} knows no mimic joints" if rival else ""
        return replace(row, how=how, ours=_nanoseconds(best_times(calls, rounds)["ours"], case.samples))
    call, count, how = _rival_call(rival, case, states)
    best = best_times({**calls, "rival": call}, rounds)
    return replace(row, ours=_nanoseconds(best["ours"], case.samples), rival=_nanoseconds(best["rival"], count), how=how)


def _rival_call(rival: Pinocchio, case: Case, states: States) -> tuple[Call, int, str]:
    """The rival's call, how many samples it handles and how it is made."""
    batched = case.rival.endswith("InParallel")
    count = case.samples if batched else min(LOOP, case.samples)
    arranged = rival.arrange(States(*(x[:count] for x in states)))
    named: dict[str, Array] = {**arranged._asdict(), "tau": arranged.qdd}
    inputs = [named[name] for name in case.inputs.split()]
    if not batched:
        return rival.loop(case.rival, *inputs), count, f"a loop of {case.rival}"
    return rival.batch(case.rival, *inputs), count, f"{case.rival}, 1 thread"


def _single(robot: Robot, rival: Pinocchio | None, rounds: int) -> Measurement:
    """One call for one sample from Python: what a controller's loop sees."""
    states = random_states(robot, 1)
    q, qd, qdd = (x[0] for x in states)
    calls: dict[str, Call] = {"ours": lambda: robot.inverse_dynamics(q, qd, qdd)}
    if rival is not None:
        calls["rival"] = rival.single("rnea", *(x[0] for x in rival.arrange(states)))
    best = best_times(calls, rounds)
    theirs = _nanoseconds(best["rival"], 1) if rival else None
    return Measurement(
        robot.mechanism.name, "inverse_dynamics, one call", 1, _nanoseconds(best["ours"], 1), theirs, "rnea" if rival else ""
    )


def _in_c(robot: Robot, single: Measurement) -> list[Measurement]:
    """The C for a controller, timed inside C, beside the rival's single call from Python; nothing where there is no C compiler."""
    try:
        ours = nanoseconds_per_call(robot.tree, "inverse_dynamics", robot.end_effector)
    except ProblemError:
        return []
    return [
        replace(single, quantity="inverse_dynamics, generated C", ours=ours, how=f"{single.how}, called from Python" if single.how else "")
    ]


def _two_threads(robot: Robot, rounds: int) -> Measurement:
    """Two threads against one, on a batch that leaves the caches."""
    samples = 262144
    q, qd, qdd = random_states(robot, samples)
    out = robot.inverse_dynamics(q, qd, qdd)

    def with_threads(count: int) -> Callable[[], object]:
        def run() -> None:
            with threads(count):
                robot.inverse_dynamics(q, qd, qdd, out=out)

        return run

    best = best_times({"two": with_threads(2), "one": with_threads(1)}, rounds, clock=perf_counter)
    two, one = (_nanoseconds(best[name], samples) for name in ("two", "one"))
    return Measurement(robot.mechanism.name, "inverse_dynamics, 2 threads", samples, two, one, "steelyard on 1 thread")


def _nanoseconds(seconds: float, samples: int) -> float:
    return 1e9 * seconds / samples
