"""The kernel against the same algorithm on plain floats in a Python loop: what compiling buys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics.inverse import inverse_dynamics
from ..robot import Robot
from ..states import States
from .timing import best_times


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Nanoseconds per sample of the compiled kernel and of the loop, and how far their torques differ [N m|N]."""

    samples: int
    kernel: float
    loop: float
    difference: float

    @property
    def ratio(self) -> float:
        return self.loop / self.kernel


def against_plain_loop(robot: Robot, states: States, loop_samples: int = 64) -> Yardstick:
    """Inverse dynamics of a motion, compiled and in one call, against the algorithm as it is written, sample by sample."""
    q, qd, qdd = states
    out = robot.inverse_dynamics(q, qd, qdd)
    rows = list(zip(*(x[:loop_samples].tolist() for x in states), strict=True))

    def loop() -> list[list[float]]:
        return [inverse_dynamics(robot.tree, *row) for row in rows]

    best = best_times({"kernel": lambda: robot.inverse_dynamics(q, qd, qdd, out=out), "loop": loop}, rounds=5)
    difference = float(np.abs(np.array(loop(), dtype=float) - out[:loop_samples]).max())
    return Yardstick(len(q), 1e9 * best["kernel"] / len(q), 1e9 * best["loop"] / len(rows), difference)
