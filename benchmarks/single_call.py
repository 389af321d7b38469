"""What a method of a robot adds to its bare gufunc in a call with one state.

    python -m benchmarks.single_call [robot]

Both are timed by turns, the best of many rounds, one thread. The claim: no method adds more than 0.2 us on a quiet machine.
"""

from __future__ import annotations

import argparse
import sys
from timeit import Timer

import numpy as np

import steelyard as sy
from benchmarks.targets import ROBOTS, urdf
from steelyard.apps.inputs import load
from steelyard.apps.show.terminal import console
from steelyard.kernels import kernel
from steelyard.mechanism.edit import tips
from steelyard.robot import SINGLE_CALLS

CALLS, ROUNDS = 2000, 60
FRAMED = ("forward_kinematics", "jacobian", "jacobian_rate")


def microseconds(robot: sy.Robot, method: str) -> tuple[float, float]:
    """The time of one call of a method, and of its gufunc [us]."""
    name = SINGLE_CALLS[method]
    frame = tips(robot.mechanism)[-1] if name in FRAMED else None
    made = kernel(robot.fingerprint, robot.tree, name, frame=frame)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=operand.shape) for operand in made.inputs]
    call = f"f({', '.join(f'x{i}' for i in range(len(arrays)))})"
    names = {f"x{i}": x for i, x in enumerate(arrays)}
    timers = [Timer(call.replace("f", f), globals={"robot": robot, "f": made.ufunc, **names}) for f in (f"robot.{method}", "f")]
    rounds = [[timer.timeit(CALLS) for timer in timers] for _ in range(ROUNDS)]
    best = np.min(rounds, axis=0) / CALLS * 1e6
    return float(best[0]), float(best[1])


def main() -> int:
    """Print a row per method."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_call", description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="ur5", choices=list(ROBOTS))
    robot = load(urdf(parser.parse_args().robot), quiet=True)
    out = console()
    out.print(f"{'one call [us]':32}{'method':>10}{'gufunc':>10}{'added':>10}", highlight=False)
    with sy.threads(1):
        for method in SINGLE_CALLS:
            taken, bare = microseconds(robot, method)
            out.print(f"{method:32}{taken:10.2f}{bare:10.2f}{taken - bare:10.2f}", highlight=False)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
