"""The trust benchmark: 400 logs, half of them healthy, through the doctor and the identification.

python -m benchmarks.trust  everything, on two processes; the exit code states the outcome
python -m benchmarks.trust --logs 40 --seed 1 a balanced part with another seed, to work with
python -m benchmarks.trust --fault delay  logs with this fault; also --robot
python -m benchmarks.trust --case ID          everything about one case, such as 'ur5/1017/delay'
python -m benchmarks.trust --results FILE     the results of an earlier run
python -m benchmarks.trust --update           write docs/measured/trust.md, of the published seed
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
from typing import Any

import steelyard as sy
from benchmarks.experiments import experiment
from benchmarks.faults import FAULTS
from benchmarks.trust.cases import SEED, Case, cases, robots
from benchmarks.trust.judge import Judgement, quietly
from benchmarks.trust.page import fault_table, page, rates
from steelyard.files import write_atomic

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "trust.md"
PROCESSES = 2


def main() -> int:
    """Run what was asked for."""
    options = _options()
    if options.case:
        return show(Case.of(options.case))
    if options.results:
        data = json.loads(options.results.read_text(encoding="utf-8"))
        results, seed, minutes = (
            tuple(map(from_plain, data["results"])),
            data["seed"],
            data["minutes"],
        )
    else:
        start, seed = perf_counter(), options.seed
        chosen = cases(options.logs, seed, options.fault, options.robot)
        results, minutes = (), 0.0
        for result in run(chosen, options.processes):
            results, minutes = (*results, result), (perf_counter() - start) / 60
            # what is done outlives an interrupted run
            if len(results) % 20 in (0, len(chosen) % 20):
                keep(options.out, results, seed, minutes)
        results = tuple(sorted(results, key=lambda result: result.case.seed))
    if options.update:
        write_atomic(PAGE, page(results, seed, minutes), overwrite=True)
    return report(results, minutes)


def keep(path: Path, results: Sequence[Judgement], seed: int, minutes: float) -> None:
    """Write the results to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {"seed": seed, "minutes": minutes, "results": [asdict(result) for result in results]}
    write_atomic(path, json.dumps(plain, indent=1), overwrite=True)


def run(chosen: Sequence[Case], processes: int) -> Iterator[Judgement]:
    """Judge the cases, with a line about the progress."""
    start = perf_counter()
    for count, result in enumerate(_judged(chosen, processes), 1):
        spent = perf_counter() - start
        line = (
            f"{count} of {len(chosen)}, {spent / 60:.1f} min, about"
            f" {spent / count * (len(chosen) - count) / 60:.1f} min left: {result.id}"
        )
        sys.stderr.write(f"\r\033[K{line[:140]}" if sys.stderr.isatty() else f"{line}\n")
        yield result
    sys.stderr.write("\n")


def _judged(chosen: Sequence[Case], processes: int) -> Iterator[Judgement]:
    if processes == 1:
        yield from map(quietly, chosen)
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes that start now: each uses one core
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(quietly, case) for case in chosen]):
            yield done.result()


def report(results: Sequence[Judgement], minutes: float) -> int:
    """Print failures, the table and the rates."""
    for result in results:
        for failure in result.failures():
            print(f"{result.id}: {failure}")
    print(f"\n{fault_table(results)}\n")
    for each in rates(results):
        print(
            f"{'met   ' if each.met else 'MISSED'} {each.share:>7} of {each.of:3} (at least"
            f" {each.target:.0%}): {each.what}"
        )
    print(f"{len(results)} logs in {minutes:.1f} minutes")
    return 0 if all(each.met for each in rates(results)) else 1


def show(case: Case) -> int:
    """Print everything about one case."""
    trial = experiment(case.robot, case.seed, case.faults)
    print(f"{case.id}\n{trial.log!r} for {trial.described!r}")
    for planted in trial.planted:
        print(
            f"planted: {planted.key} at {', '.join(planted.joints)}, size {planted.size:.4g}"
            f" {FAULTS[planted.key].unit}"
        )
    result = quietly(case)
    for fault, joints, probability, severity, sentence in result.findings:
        print(f"found: {fault} {list(joints)} ({severity}, {probability:.2f}): {sentence}")
    print(
        f"verdict: {result.word}, expected error {result.expected_error}, true {result.true_error}"
    )
    print(
        "\n".join([*(f"  {reason}" for reason in result.reasons), *result.failures(), result.crash])
    )
    print(
        f"doctor {result.doctor_time:.1f} s, identification and prediction"
        f" {result.identify_time:.1f} s"
    )
    return int(any(True for _ in result.failures()))


def from_plain(data: dict[str, Any]) -> Judgement:
    """A judgement from a file."""
    planted = tuple((key, tuple(joints), size) for key, joints, size in data["planted"])
    findings = tuple((f[0], tuple(f[1]), *f[2:]) for f in data["findings"])
    return Judgement(
        **{
            **data,
            "planted": planted,
            "findings": findings,
            "named": tuple(data["named"]),
            "reasons": tuple(data["reasons"]),
        }
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trust",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        help=f"{SEED} is the seed of the published figures: do not tune on it",
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        choices=tuple(FAULTS),
        metavar="KEY",
        help=", ".join(FAULTS),
    )
    parser.add_argument(
        "--robot",
        action="append",
        default=[],
        choices=robots(),
        metavar="NAME",
        help=", ".join(robots()),
    )
    parser.add_argument("--case", metavar="ID")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/trust.json"),
        metavar="FILE",
        help="where results go: build/trust.json",
    )
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if options.update and (
        options.fault
        or options.robot
        or options.case
        or (options.seed != SEED and not options.results)
    ):
        parser.error(f"the page is of all faults and robots and of seed {SEED}")
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
