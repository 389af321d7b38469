"""python -m benchmarks.estimators.

Every estimator over noise levels, filters and controllers, and on measured logs.

python -m benchmarks.estimators  everything on two processes; the exit code states the outcome
python -m benchmarks.estimators --table noise  one table; also --robot, --estimator
python -m benchmarks.estimators --seed 1          other robots and motions; can be repeated
python -m benchmarks.estimators --results FILE    the results of an earlier run; can be repeated
python -m benchmarks.estimators --resume  continue an interrupted run (--out)
python -m benchmarks.estimators --update          write the tables of docs/estimators.md

In the manner of Leboutet, Roux, Janot, Guadarrama-Olvera and Cheng, "Inertial parameter
identification in robotics: a survey", Applied Sciences 11 (2021), 4303. Everything follows from the
seed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from benchmarks.estimators.cells import cells
from benchmarks.estimators.measure import Job, measure
from benchmarks.estimators.page import Result, by_plain, tables, targets, with_tables
from steelyard.errors import SteelyardError
from steelyard.files import write_atomic
from steelyard.identification import ESTIMATORS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "estimators.md"
# of the published figures: for tuning, take others
SEEDS = (3026, 3027, 3028, 3029, 3030, 3031, 3032, 3033)
# of them for each table: rows differ least where noise is low
DRAWS = {"noise": 8, "filter": 4, "controller": 4, "measured": 1}


def main() -> int:
    """Run what was asked for."""
    options = _options()
    if options.results:
        parts = [kept(path) for path in options.results]
        results, minutes = (
            tuple(each for part, _ in parts for each in part),
            sum(spent for _, spent in parts),
        )
    else:
        results, minutes = run(jobs(options), options)
    order = {name: i for i, name in enumerate(ESTIMATORS)}
    results = tuple(
        sorted(results, key=lambda r: (list(cells()).index(r.table), order.get(r.estimator, 99)))
    )
    seeds = sorted({r.seed for r in results})
    if options.update:
        write_atomic(
            PAGE,
            with_tables(PAGE.read_text(encoding="utf-8"), results, seeds, minutes),
            overwrite=True,
        )
    print(f"\n{tables(results)}\n")
    for each in targets(results):
        print(f"{'met   ' if each.met else 'MISSED'} {each.what}: {each.found}")
    for result in results:
        if result.failure:
            print(f"{result.estimator} in {result.cell}: {result.failure}")
    return 0 if all(each.met for each in targets(results)) else 1


def jobs(options: argparse.Namespace) -> list[Job]:
    """Cells, each with all of its estimators.

    Seed by seed, with the cells of a robot beside each other, so that they share motions.
    """
    names = tuple(options.estimator) or tuple(ESTIMATORS)
    chosen = [
        (table, cell, seed, names)
        for table, row in cells().items()
        if not options.table or table in options.table
        for cell in row
        if not options.robot or cell.robot in options.robot
        for seed in (options.seed or SEEDS)[: DRAWS[table]]
    ]
    return sorted(chosen, key=lambda job: (job[2], job[1].robot))


def run(chosen: Sequence[Job], options: argparse.Namespace) -> tuple[tuple[Result, ...], float]:
    """Measure the cells, with a line about the progress.

    What is done outlives an interrupted run.
    """
    start, (results, before) = perf_counter(), kept(options.out) if options.resume else ([], 0.0)
    have = {(each.table, each.cell, each.seed, each.estimator) for each in results}
    chosen = [job for job in chosen if not all((*job[:3], name) in have for name in job[3])]
    for count, more in enumerate(_measured(chosen, options.processes), 1):
        results += more
        spent = perf_counter() - start
        remaining = spent / count * (len(chosen) - count)
        line = (
            f"{count} of {len(chosen)} cells, {spent / 60:.1f} min,"
            f" about {remaining / 60:.1f} min left:"
            f" {more[0].cell}"
        )
        sys.stderr.write(f"\r\033[K{line[:140]}" if sys.stderr.isatty() else f"{line}\n")
        options.out.parent.mkdir(parents=True, exist_ok=True)
        plain = {"minutes": before + spent / 60, "results": [asdict(result) for result in results]}
        write_atomic(options.out, json.dumps(plain, indent=1), overwrite=True)
    return tuple(results), before + (perf_counter() - start) / 60


def kept(path: Path) -> tuple[list[Result], float]:
    """The results of an earlier run, and its minutes."""
    if not path.is_file():
        return [], 0.0
    plain = json.loads(path.read_text(encoding="utf-8"))
    return [by_plain(each) for each in plain["results"]], float(plain["minutes"])


def _measured(chosen: Sequence[Job], processes: int) -> Iterator[list[Result]]:
    if processes == 1:
        yield from map(measure, chosen)
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes that start now: each uses one core
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measure, job) for job in chosen]):
            yield done.result()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.estimators",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--table", action="append", default=[], choices=tuple(cells()))
    parser.add_argument("--robot", action="append", default=[], metavar="NAME")
    parser.add_argument(
        "--estimator",
        action="append",
        default=[],
        choices=tuple(ESTIMATORS),
        metavar="NAME",
        help=", ".join(ESTIMATORS),
    )
    parser.add_argument(
        "--seed",
        type=int,
        action="append",
        help=f"{SEEDS} are the seeds of the published figures: do not tune on them",
    )
    parser.add_argument("--results", type=Path, action="append", metavar="FILE")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/estimators.json"),
        metavar="FILE",
        help="where results go",
    )
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
