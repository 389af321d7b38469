"""The kernel against the same algorithm as it is written, in plain Python and in plain NumPy: what compiling buys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..compiler.runtime.threads import threads
from ..dynamics.rnea import inverse_dynamics
from ..robot import Robot
from .states import Array, States
from .timing import best_times


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Nanoseconds per sample of the kernel on one thread, of a loop over samples, of the algorithm on whole arrays; and how far all differ.

    `difference` is the largest between any two torques [N m|N].
    """

    samples: int
    kernel: float
    loop: float
    arrays: float
    difference: float


def against_plain_python(robot: Robot, states: States, loop_samples: int = 64) -> Yardstick:
    """Inverse dynamics of a motion three ways: compiled, sample by sample in a Python loop, and on NumPy arrays of samples."""
    loop, arrays = _loop(robot, States(*(x[:loop_samples] for x in states))), _arrays(robot, states)
    tau = robot.inverse_dynamics(*states)
    out = np.empty_like(tau)
    with threads(1):
        best = best_times({"kernel": lambda: robot.inverse_dynamics(*states, out=out), "loop": loop, "arrays": arrays}, rounds=5)
    difference = max(np.abs(arrays() - tau).max(), np.abs(loop() - tau[:loop_samples]).max())
    per = {"kernel": len(tau), "loop": min(loop_samples, len(tau)), "arrays": len(tau)}
    nanoseconds = {name: 1e9 * seconds / per[name] for name, seconds in best.items()}
    return Yardstick(len(tau), nanoseconds["kernel"], nanoseconds["loop"], nanoseconds["arrays"], float(difference))


def _loop(robot: Robot, states: States) -> Callable[[], Array]:
    rows = list(zip(*(x.tolist() for x in states), strict=True))
    return lambda: np.array([inverse_dynamics(robot.tree, *row) for row in rows], dtype=np.float64)


def _arrays(robot: Robot, states: States) -> Callable[[], Array]:
    """A NumPy user's way: each joint's samples are one array, and the algorithm runs once."""
    q, qd, qdd = (list(np.ascontiguousarray(x.T)) for x in states)
    samples = len(states.q)
    return lambda: np.stack([np.broadcast_to(tau, samples) for tau in inverse_dynamics(robot.tree, q, qd, qdd)], axis=-1)
