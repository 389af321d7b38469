"""Every kernel against Pinocchio in one run, and the time to the first answer, beside what is claimed."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import steelyard as sy
from benchmarks.targets import COMPILED_WITHIN, FASTER, ROBOTS, urdf
from steelyard.apps.inputs import load
from steelyard.apps.show.console import console
from steelyard.apps.show.speed import speed_table, startup_table
from steelyard.bench import measure, measure_startup, this_machine


def main() -> int:
    """Print the tables; the exit code says whether every target was met."""
    options = _options()
    out = console()
    machine = this_machine()
    out.print(str(machine), machine.busy)
    rows = []
    for robot in options.robots:
        measured, missing = measure(load(urdf(robot), quiet=True), options.rounds)
        rows += [replace(row, robot=robot) for row in measured]
        out.print(speed_table(robot, measured, FASTER))
        if missing:
            out.print(f"Absolute times only, because {missing}.")
    if not options.no_startup:
        wanted = [key for key in COMPILED_WITHIN if key[0] in options.robots]
        starts = [replace(measure_startup(urdf(robot), kernel), robot=robot) for robot, kernel in wanted]
        out.print(startup_table(starts, COMPILED_WITHIN))
    slow = [row for row in rows if row.ratio is not None and row.ratio < FASTER.get((row.robot, row.quantity), 0.0)]
    return 1 if slow else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("robots", nargs="*", default=list(ROBOTS), help=f"some of {', '.join(ROBOTS)}")
    parser.add_argument("--rounds", type=int, default=20, help="how many rounds to take the best of")
    parser.add_argument("--no-startup", action="store_true", help="leave out the measurements in fresh processes")
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
