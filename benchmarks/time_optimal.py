"""`time_optimal` against toppra on random paths of the Puma 560, at the same grid, in one run.

python -m benchmarks.time_optimal              12 paths, 500 intervals
python -m benchmarks.time_optimal --paths 3    fewer

Both get the same curve and limits of velocity and acceleration, and sample the motion at 1 kHz.
toppra keeps these limits at grid points, `time_optimal` at every instant. The last columns have
torque limits as well, which toppra's run does not have. Times are CPU times of one thread, the
best of several rounds.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from steelyard.motion import time_optimal
from steelyard.motion.trajectories.time_optimal import joint_path

Array = NDArray[np.float64]
TORQUE = np.array([100.0, 120.0, 60.0, 15.0, 10.0, 8.0])  # [N m]
RATE = 1000.0  # [Hz]


def milliseconds(function: Callable[[], Any], rounds: int = 5) -> float:
    """Return the CPU time of a call on this thread [ms], the best of several."""
    best = np.inf
    for _ in range(rounds):
        start = time.thread_time()
        function()
        best = min(best, time.thread_time() - start)
    return 1e3 * float(best)


def random_path(seed: int) -> tuple[Array, Array, Array]:
    """Return way points (K, 6) [rad], velocity limits [rad/s] and acceleration limits [rad/s2]."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-0.7, 0.7, (int(rng.integers(2, 12)), 6))
    return np.cumsum(steps, axis=0), rng.uniform(1.0, 3.0, 6), rng.uniform(2.0, 8.0, 6)


def toppra_time(
    robot: sy.Robot, points: Array, velocity: Array, acceleration: Array, grid: Array
) -> float:
    """Return the time that toppra takes for the same curve on the same grid [ms]."""
    import toppra
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.ERROR)
    curve = joint_path(robot, points, None, None)
    dense = np.linspace(0.0, curve.length, 4001)
    path = toppra.SplineInterpolator(dense, curve.curve(dense))
    limits = [
        constraint.JointVelocityConstraint(np.c_[-velocity, velocity]),
        constraint.JointAccelerationConstraint(np.c_[-acceleration, acceleration]),
    ]

    def run() -> None:
        solver = algorithm.TOPPRA(
            limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel"
        )
        motion = solver.compute_trajectory()
        t = np.arange(0.0, motion.duration, 1 / RATE)
        for order in range(3):
            motion(t, order)

    return milliseconds(run)


def main() -> int:
    """Print the table; the exit code says whether the median ratio at equal limits is at most 1."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=12)
    options = parser.parse_args()
    robot = sy.load("puma560").without_friction()
    time_optimal(robot, random_path(0)[0], TORQUE, 2.0, 5.0, rate=RATE)  # compiles
    print(
        "| path | toppra [ms] | same limits [ms] | ratio | torque limits too [ms] | ratio"
        " |\n|---|---|---|---|---|---|"
    )
    ratios = []
    for seed in range(options.paths):
        points, velocity, acceleration = random_path(seed)
        path = time_optimal(robot, points, None, velocity, acceleration).motion
        grid = path.s  # type: ignore[attr-defined]
        peer = toppra_time(robot, points, velocity, acceleration, grid)
        same, torque = (
            milliseconds(
                partial(time_optimal, robot, points, limit, velocity, acceleration, rate=RATE)
            )
            for limit in (None, TORQUE)
        )
        ratios.append((same / peer, torque / peer))
        print(
            f"| {seed} | {peer:.0f} | {same:.0f} | {same / peer:.2f} | {torque:.0f} |"
            f" {torque / peer:.2f} |",
            flush=True,
        )
    equal, more = np.median(ratios, axis=0)
    print(f"median ratio to toppra: {equal:.2f} at the same limits, {more:.2f} with torque limits")
    return int(equal > 1.0)


if __name__ == "__main__":
    sys.exit(main())
