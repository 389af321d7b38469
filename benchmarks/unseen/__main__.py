"""Identification of robots and logs that were not looked at, against plain least squares.

python -m benchmarks.unseen --draws 200 --seed 3000   half healthy, half faulty
python -m benchmarks.unseen --draws 20 --healthy      development: seeds 0 to 19, healthy logs
python -m benchmarks.unseen --faulty --fault clock --class lugre
python -m benchmarks.unseen real [SET ...]            every set of ../shared/data with torque
python -m benchmarks.unseen loro                      write docs/measured/leave_one_out.md
python -m benchmarks.unseen --draws 110 --seed 3000 --update   write docs/measured/unseen.md

Seeds 0 to 499, 2000 to 2099 and 3000 to 3041 were looked at; published figures come from other
seeds, which must not be looked at while rules are tuned.
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
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.unseen.draw import CLASSES
from benchmarks.unseen.faults import FAULTS
from benchmarks.unseen.judge import Judgement, judge
from benchmarks.unseen.outcome import Outcome, plain_data, run
from benchmarks.unseen.tables import BEST, PICKED, faulty_table, healthy_table, real_table
from steelyard.files import write_atomic

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "unseen.md"
LEFT_OUT_PAGE = PAGE.with_name("leave_one_out.md")
Task = tuple[int, bool, str]


def main() -> int:
    """Run what was asked for."""
    options = _options()
    if options.what == "real":
        return real(tuple(options.sets), options.out)
    if options.what == "loro":
        return left_out(tuple(options.sets))
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
    if options.update:
        write_atomic(PAGE, page(options.seed, healthy, faulty, minutes), overwrite=True)
    print(f"\n{len(outcomes)} draws in {minutes:.1f} minutes")
    return int(any(o.crash for o in outcomes))


def page(seed: int, healthy: list[Outcome], faulty: list[Outcome], minutes: float) -> str:
    """Return the page of measured results.

    Parameters
    ----------
    seed : the first seed
    healthy, faulty : outcomes of the draws
    minutes : that the run took
    """
    judged = [o.judgement for o in healthy if o.judgement is not None]
    z = np.concatenate([np.array(o.z) for o in healthy]) if healthy else np.zeros(0)
    by_class = {kind: [o for o in healthy if o.kind == kind] for kind in CLASSES}
    coverage = [
        float(np.mean(np.abs(np.concatenate([np.array(o.z) for o in each])) <= 2))
        for each in by_class.values()
        if sum(len(o.z) for o in each)
    ]
    figures: list[tuple[str, str, Any]] = [
        ("default at most 1.02 times the candidate that cross-validation picks", "100 %",
         np.mean([j.over_picked <= PICKED for j in judged])),
        ("default at most 1.1 times the best candidate in hindsight", "100 %",
         np.mean([j.over_best <= BEST for j in judged])),
        ("healthy fits trusted", "90 %", np.mean([j.trusted for j in judged])),
        ("errors of moving joints within `verdict.error`", "95 %",
         np.mean([j.kept for j in judged if j.kept is not None])),
        ("the same without noise of the held-out log: true torque at true states", "95 %",
         np.mean([o.kept for o in healthy if o.kept is not None])),
        ("faults named", "90 %", np.mean([bool(o.named) for o in faulty])),
        ("healthy logs with a false fault", "at most 3 %",
         np.mean([bool(o.claimed) for o in healthy])),
        ("wrong fits that are trusted", "at most 1 %",
         np.mean([o.wrong_trust for o in [*healthy, *faulty]])),
        ("2 sigma coverage", "90 to 97 %", np.mean(np.abs(z) <= 2)),
        ("2 sigma coverage of the worst class", "85 %", min(coverage, default=np.nan)),
    ]  # fmt: skip
    rows = "\n".join(
        f"| {name} | {target} | {100 * value:.0f} % |" for name, target, value in figures
    )
    last = max(o.seed for o in [*healthy, *faulty])
    return f"""# Unseen robots

`python -m benchmarks.unseen` draws robots and logs, \
and compares the default identification with plain least squares and with the described links.
The plant is written on Pinocchio and shares no code with the package.
It has LuGre friction, elastic joints, play, thermal drift, ripple and a cascaded controller.
Encoders are quantised and stamps scattered; 1 to 7 joints, 20 Hz to 8 kHz.
Rules were developed on the seeds 0 to 499 and 2000 to 2099.
The seeds {seed} to {last} of this page were not looked at.
`python -m benchmarks.unseen --draws {len(healthy) + len(faulty)} --seed {seed} --update` \
writes this page; it took {minutes:.0f} minutes.

| share | target | measured |
|---|---|---|
{rows}

Healthy draws, by what the plant has beyond rigid links with viscous and Coulomb friction.
`d/p` and `d/b` are errors of the default over the picked and over the best plain candidate.

```text
{healthy_table(healthy)}
```

Faulty draws:

```text
{faulty_table(faulty)}
```
"""


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


def left_out(sets: tuple[str, ...]) -> int:
    """Judge each measured robot with thresholds that the others chose, and write the page."""
    from benchmarks.unseen.leave_one_out import FIELDS, leave_one_out
    from benchmarks.unseen.real import trials  # needs the tests' readers

    text = leave_one_out(trials(sets), FIELDS, lambda line: print(line, flush=True))
    if not sets:
        write_atomic(LEFT_OUT_PAGE, text, overwrite=True)
    print(f"\n{text}")
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
    parser.add_argument("what", nargs="?", choices=("draws", "real", "loro"), default="draws")
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
    parser.add_argument("--update", action="store_true", help="write the page of results")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
