"""Chains of 24 and 100 joints.

Seconds to the first answer in fresh processes with empty caches, and times against Pinocchio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import steelyard as sy
from benchmarks.chains import chain
from benchmarks.machine import this_machine
from steelyard.apps.show.terminal import console
from steelyard.checks.timing import PINOCCHIO, Timing, against_pinocchio
from steelyard.drawing.table import Table, named_columns
from steelyard.kernels import ALGORITHMS, kernel

KINEMATICS = ("forward_kinematics", "jacobian", "jacobian_rate")
SECONDS = {
    24: dict.fromkeys(ALGORITHMS, 5.0) | {"christoffel": 15.0},
    100: (
        {"inverse_dynamics": 5.0, "forward_dynamics": 5.0, "regressor": 20.0}
        | dict.fromkeys(KINEMATICS, 5.0)
    ),
}
"""Per number of joints: seconds that the first answer of an algorithm may take."""
FASTER = 10.0  # times faster than Pinocchio's loop
AGAINST = {24: tuple(PINOCCHIO), 100: ("inverse_dynamics", "forward_dynamics", "regressor")}
RESULTS, FEWEST, MOST = 4e6, 8, 256
"""Approximate bytes of a batch's results, and its fewest and most samples: they fit the cache."""


@dataclass(frozen=True, slots=True)
class First:
    """Wall and processor time [s] of the first answer of a new robot, after imports and loading."""

    joints: int
    algorithm: str
    wall: float
    processor: float

    @property
    def allowed(self) -> float:
        return SECONDS[self.joints][self.algorithm]


def main() -> int:
    """Print the tables; the exit code says whether every bar was met."""
    options = _options()
    out = console()
    out.print(this_machine())
    firsts = [
        measure(joints, name)
        for joints in options.joints
        for name in options.only or SECONDS[joints]
        if name in SECONDS[joints]
    ]
    out.print(first_table(firsts))
    met = all(each.wall <= each.allowed for each in firsts)
    for joints in options.joints:
        expected = [name for name in AGAINST[joints] if not options.only or name in options.only]
        robot = chain(joints)
        results = [
            against_pinocchio(robot, options.rounds, [name], batch(robot, name))
            for name in expected
        ]
        timings, absent = (
            [row for rows, _ in results for row in rows],
            {why for _, why in results if why},
        )
        out.print(speed_table(joints, timings))
        for why in absent:
            out.print(f"Absolute times only: {why}.")
        met &= all(row.ratio is None or row.ratio >= FASTER for row in timings)
    return 0 if met else 1


def measure(joints: int, algorithm: str, rounds: int = 2) -> First:
    """The best of some fresh processes, each with its own cache that is empty."""
    results = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as cache:
            environment = {
                **os.environ,
                "STEELYARD_CACHE": cache,
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            }
            line = [sys.executable, "-m", "benchmarks.large", "--first", str(joints), algorithm]
            run = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        results.append(json.loads(run.stdout.splitlines()[-1]))
    return First(joints, algorithm, *min(results))


def first(joints: int, algorithm: str) -> tuple[float, float]:
    """Seconds of the first answer in this process: wall and processor time."""
    from time import perf_counter, process_time

    robot = chain(joints)
    tree, frame = robot.tree, robot.body_names[-1] if ALGORITHMS[algorithm].needs_frame else None
    inputs, _ = ALGORITHMS[algorithm].operands(tree, [])
    start = perf_counter(), process_time()
    kernel(tree, algorithm, frame=frame)(*(np.full(o.shape, 0.3) for o in inputs))
    return perf_counter() - start[0], process_time() - start[1]


def batch(robot: sy.Robot, algorithm: str) -> int:
    """How many samples are computed at once."""
    _, outputs = ALGORITHMS[algorithm].operands(robot.tree, [])
    return int(np.clip(RESULTS / (8 * sum(operand.size for operand in outputs)), FEWEST, MOST))


def first_table(rows: Sequence[First]) -> Table:
    columns = named_columns(">joints", "algorithm", ">wall [s]", ">processor [s]", ">allowed [s]")
    cells = [
        (str(r.joints), r.algorithm, f"{r.wall:.2f}", f"{r.processor:.2f}", f"{r.allowed:.0f}")
        for r in rows
    ]
    return Table("First answer", columns, tuple(cells), "fresh processes, empty cache; best of two")


def speed_table(joints: int, rows: Sequence[Timing]) -> Table:
    columns = named_columns(
        "algorithm",
        ">samples",
        ">us a sample",
        ">Pinocchio",
        ">times faster",
        ">claimed",
        "against",
    )
    cells = []
    for row in rows:
        other = ("-", "-") if row.other is None else (f"{row.other / 1e3:.2f}", f"{row.ratio:.1f}")
        cells.append(
            (
                row.quantity,
                str(row.samples),
                f"{row.ours / 1e3:.2f}",
                *other,
                f"{FASTER:.0f}",
                row.how,
            )
        )
    return Table(f"{joints} joints", columns, tuple(cells), "one thread")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument(
        "joints",
        nargs="*",
        type=int,
        default=list(SECONDS),
        help=f"some of {', '.join(map(str, SECONDS))}",
    )
    parser.add_argument("--only", nargs="+", metavar="ALGORITHM", help="some of the algorithms")
    parser.add_argument(
        "--rounds",
        type=int,
        default=12,
        help="how many rounds to take the best of, against Pinocchio",
    )
    options = parser.parse_args()
    if unknown := [joints for joints in options.joints if joints not in SECONDS]:
        parser.error(
            f"no chain of {unknown[0]} joints in the benchmark; known:"
            f" {', '.join(map(str, SECONDS))}"
        )
    return options


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first"]:
        print(json.dumps(first(int(sys.argv[2]), sys.argv[3])))
    else:
        try:
            sys.exit(main())
        except sy.SteelyardError as error:
            sys.exit(f"benchmarks: {error}")
