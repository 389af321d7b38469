"""Compare every kernel with Pinocchio in one run, and measure the time to the first result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import steelyard as sy
from benchmarks.kernels import measure
from benchmarks.machine import this_machine
from benchmarks.startup import Startup, measure_startup
from benchmarks.targets import COMPILED_WITHIN, FASTER, ROBOTS, urdf
from steelyard.apps.commands.bench import speed_table
from steelyard.apps.inputs import load_robot
from steelyard.apps.show.terminal import console
from steelyard.drawing.table import Table, named_columns


def main() -> int:
    """Print the tables; the exit code says whether every target was met."""
    options = _options()
    out = console()
    out.print(this_machine())
    met = True
    for robot in options.robots:
        timings, absent = measure(load_robot(urdf(robot), quiet=True), options.rounds)
        targets = {quantity: ratio for (name, quantity), ratio in FASTER.items() if name == robot}
        out.print(speed_table(robot, timings, targets))
        if absent:
            out.print(f"Absolute times only: {absent}.")
        met &= all(
            row.ratio is None or row.ratio >= targets.get(row.quantity, 0.0) for row in timings
        )
    if not options.no_startup:
        expected = [key for key in COMPILED_WITHIN if key[0] in options.robots]
        starts = [
            replace(measure_startup(urdf(robot), kernel), robot=robot) for robot, kernel in expected
        ]
        out.print(startup_table(starts))
    return 0 if met else 1


def startup_table(rows: Sequence[Startup]) -> Table:
    """How long the first answer takes, in milliseconds."""
    columns = named_columns(
        "robot", "kernel", ">import", ">load", ">compile", ">from disk cache", ">allowed"
    )
    results = []
    for row in rows:
        allowed = COMPILED_WITHIN[row.robot, row.quantity]
        cells = [
            f"{1e3 * x:.0f}"
            for x in (row.importing, row.loading, row.compiling, row.cached, allowed)
        ]
        results.append((row.robot, row.quantity, *cells))
    return Table("Start-up [ms]", columns, tuple(results), "each in a fresh process")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "robots", nargs="*", default=list(ROBOTS), help=f"some of {', '.join(ROBOTS)}"
    )
    parser.add_argument(
        "--rounds", type=int, default=20, help="how many rounds to take the best of"
    )
    parser.add_argument(
        "--no-startup", action="store_true", help="leave out the measurements in fresh processes"
    )
    options = parser.parse_args()
    unknown = [robot for robot in options.robots if robot not in ROBOTS]
    if unknown:
        parser.error(f"no robot {unknown[0]!r} in the benchmark; known: {', '.join(ROBOTS)}")
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
