"""Single states: times of a method, its bare function, its gufunc and Pinocchio's call.

    python -m benchmarks.single_call [robot]

All are timed by turns, the best of many rounds, one thread, each method on its own robot. The
exit code says whether every method takes at most half, and inverse dynamics at most a quarter, of
Pinocchio's time.
"""

from __future__ import annotations

import argparse
import sys
from timeit import Timer
from typing import Any

import numpy as np
import pinocchio as pin

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.targets import ROBOTS, urdf
from steelyard.apps.inputs import load_robot
from steelyard.apps.show.terminal import console
from steelyard.errors import SteelyardError
from steelyard.kernels import ALGORITHMS
from steelyard.robot import SINGLE_CALLS

CALLS, ROUNDS = 2000, 60
HALF, QUARTER = 0.5, 0.25


THEIRS = {
    "inverse_dynamics": "pin.rnea(model, data, {})",
    "forward_dynamics": "pin.aba(model, data, {})",
    "mass_matrix": "pin.crba(model, data, {})",
    "coriolis_matrix": "pin.computeCoriolisMatrix(model, data, {})",
    "gravity_torque": "pin.computeGeneralizedGravity(model, data, {})",
    "jacobian": "pin.computeFrameJacobian(model, data, {}, frame, world)",
    "forward_kinematics": "pin.framesForwardKinematics(model, data, {})",
    "inverse_dynamics_derivatives": "pin.computeRNEADerivatives(model, data, {})",
    "forward_dynamics_derivatives": "pin.computeABADerivatives(model, data, {})",
}
"""Pinocchio's calls by the names of ours: those that compute the same from the same arrays."""


def peer_names(path: str, frame: str) -> dict[str, Any]:
    """What the calls of Pinocchio name."""
    model = pin.buildModelFromUrdf(path)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    return {
        "pin": pin,
        "model": model,
        "data": model.createData(),
        "frame": model.getFrameId(frame),
        "world": world,
    }


def microseconds(robot: sy.Robot, method: str, frame: str, peer: dict[str, Any]) -> list[float]:
    """Return the time of one call [us] of a method, the bare function, the gufunc and the peer."""
    name = SINGLE_CALLS[method]
    framed = frame if ALGORITHMS[name].needs_frame else None
    kernel = robot._kernel(name, frame=framed)
    rng = np.random.default_rng(0)
    names = {f"x{i}": rng.normal(size=operand.shape) for i, operand in enumerate(kernel.inputs)}
    argument = ", ".join(names)
    calls = [f"robot.{method}({argument})", f"bare({argument})", f"gufunc({argument})"]
    calls += [THEIRS[method].format(argument)] if method in THEIRS else []
    known = {
        "robot": robot,
        "bare": robot.kernel(name, framed),
        "gufunc": kernel.ufunc,
        **peer,
        **names,
    }
    timers = [Timer(call, globals=known) for call in calls]
    rounds = [[timer.timeit(CALLS) for timer in timers] for _ in range(ROUNDS)]
    return [float(x) for x in np.min(rounds, axis=0) / CALLS * 1e6]


def main() -> int:
    """Print a row per method."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.single_call", description=__doc__.splitlines()[0]
    )
    parser.add_argument("robot", nargs="?", default="ur5", choices=list(ROBOTS))
    path = urdf(parser.parse_args().robot)
    robot, out, missed = load_robot(path, quiet=True), console(), list[str]()
    frame = robot.end_effector
    peer = peer_names(path, frame)
    out.print(this_machine())
    columns = f"{'method':>10}{'bare':>10}{'gufunc':>10}{'Pinocchio':>12}{'share':>8}"
    out.print(f"{'one call [us]':32}{columns}", highlight=False, markup=False)
    with sy.threads(1):
        for method in SINGLE_CALLS:
            try:
                times = microseconds(load_robot(path, quiet=True), method, frame, peer)
            except SteelyardError as error:
                out.print(f"{method:32} {error}", highlight=False, markup=False)
                continue
            row = f"{method:32}" + "".join(f"{x:10.2f}" for x in times[:3])
            if len(times) > 3:
                share, limit = (
                    times[0] / times[3],
                    (QUARTER if method == "inverse_dynamics" else HALF),
                )
                missed += [f"{method} {share:.2f} of {limit}"] if share > limit else []
                row += f"{times[3]:12.2f}{share:8.2f}"
            out.print(row, highlight=False, markup=False)
    out.print(
        f"missed: {', '.join(missed)}" if missed else "every target is met",
        highlight=False,
        markup=False,
    )
    return int(bool(missed))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
