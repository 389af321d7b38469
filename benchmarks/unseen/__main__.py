"""Identification of robots and logs that were not looked at, against plain least squares.

python -m benchmarks.unseen --draws 200 --seed 1000   half healthy, half faulty; seeds from 1000
python -m benchmarks.unseen --draws 20 --healthy      development: seeds 0 to 19, healthy logs
python -m benchmarks.unseen --faulty --fault clock --class lugre
python -m benchmarks.unseen real [SET ...]            every set of ../shared/data with torque

Seeds 0 to 99 are for development; published figures come from seeds of 1000 and above, which must
not be looked at while rules are tuned.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import steelyard as sy
from benchmarks.unseen.draw import CLASSES
from benchmarks.unseen.faults import FAULTS
from benchmarks.unseen.judge import Judgement, judge
from benchmarks.unseen.outcome import Outcome, plain_data, run
from benchmarks.unseen.tables import faulty_table, healthy_table, real_table
from steelyard.files import write_atomic

Task = tuple[int, bool, str]


def main() -> int:
    """Run what was asked for."""
    options = _options()
    if options.what == "real":
        return real(tuple(options.sets), options.out)
    tasks = choose(options)
    outcomes: list[Outcome] = []
    start = perf_counter()
    for outcome in outcomes_of(tasks, options.processes):
        outcomes.append(outcome)
        print(outcome.line(), flush=True)
        save(options.out, [plain_data(o) for o in outcomes])
    outcomes.sort(key=lambda o: (o.fault, o.seed))
    healthy, faulty = [o for o in outcomes if not o.fault], [o for o in outcomes if o.fault]
    if healthy:
        print(f"\nHealthy draws\n{healthy_table(healthy)}")
    if faulty:
        print(f"\nFaulty draws\n{faulty_table(faulty)}")
    minutes = (perf_counter() - start) / 60
    print(f"\n{len(outcomes)} draws in {minutes:.1f} minutes")
    return int(any(o.crash for o in outcomes))


def choose(options: argparse.Namespace) -> list[Task]:
    """Return the tasks: seeds in order, healthy and faulty ones in turn unless one was chosen."""
    if options.healthy or options.faulty or options.fault:
        faulty = bool(options.faulty or options.fault)
        tasks = [(options.seed + k, faulty, options.kind) for k in range(options.draws)]
    else:
        tasks = [(options.seed + k // 2, bool(k % 2), options.kind) for k in range(options.draws)]
    if options.fault:
        path = list(FAULTS).index(options.fault)
        first = options.seed + (path - options.seed) % len(FAULTS)
        tasks = [(first + k * len(FAULTS), True, options.kind) for k in range(options.draws)]
    return tasks


def outcomes_of(tasks: Sequence[Task], processes: int) -> Iterator[Outcome]:
    """Yield outcomes as they finish."""
    if processes == 1:
        for task in tasks:
            yield run(*task)
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the processes that start now
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run, *task) for task in tasks]):
            yield done.result()


def real(sets: tuple[str, ...], out: Path | None) -> int:
    """Judge the measured sets."""
    from benchmarks.unseen.real import trials  # needs the tests' readers

    rows: list[tuple[str, Judgement]] = []
    for trial in trials(sets):
        judgement, fit = judge(trial)
        named = [(trial.name, judgement)]
        if fit is not None and len(trial.held_out) > 1:  # each held-out log by itself, too
            for k, log in enumerate(trial.held_out, 1):
                alone = replace(trial, held_out=(log,))
                named.append((f"{trial.name} test {k}", judge(alone, fit)[0]))
        for name, each in named:
            print(f"{name:40} {each.line()}  {each.seconds:.1f} s", flush=True)
        rows += named
        save(out, [{"name": name, **asdict(j)} for name, j in rows])
    print(f"\n{real_table(rows)}")
    return 0


def save(path: Path | None, rows: Sequence[object]) -> None:
    """Write results as JSON; results that are done survive an interrupted run."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps(rows, indent=1), overwrite=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.unseen",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", choices=("draws", "real"), default="draws")
    parser.add_argument("sets", nargs="*", help="folders of ../shared/data, or their beginnings")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--healthy", action="store_true")
    chosen.add_argument("--faulty", action="store_true")
    parser.add_argument("--fault", choices=tuple(FAULTS), metavar="KEY", help=", ".join(FAULTS))
    parser.add_argument(
        "--class",
        dest="kind",
        default="",
        choices=("", *CLASSES),
        metavar="KEY",
        help=", ".join(CLASSES),
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="results as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
