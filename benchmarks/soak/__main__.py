"""Mixed calls over random robots, logs, files and threads, for as long as asked.

Memory, handles, threads and answers are watched.

python -m benchmarks.soak --minutes 60  a line each minute, a table at the end
python -m benchmarks.soak --minutes 60 --update    write the table into docs/measured/soak.md
python -m benchmarks.soak --call "identify" 17  one call, twice, compared to the bit
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.soak.calls import CALLS
from benchmarks.soak.resources import Resources, resources
from benchmarks.soak.workers import Tally, Workers, answer
from steelyard import kernels
from steelyard.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
SEED = 3  # of the published table
SETTLED = 5.0  # minutes after which nothing may grow
GROWTH = 0.10  # of memory from then on
PATIENCE = 120.0  # s for one call
UNCACHED = 3  # in one minute of so many nothing is read from the kernel cache or written there
# kept in memory: fewer than by default, so that kernels are removed and made again all the time
KERNELS = 128


class Minute(NamedTuple):
    """What was there after some minutes, while no call was made."""

    minutes: float
    calls: int
    held: Resources


def main() -> int:
    """Run what was asked for."""
    options = _options()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        os.environ["STEELYARD_CACHE"] = f"{folder}/cache"
        if options.call:
            return once(options.call[0], int(options.call[1]), options.seed)
        tally, minutes = soak(options.minutes, options.threads, options.seed, f"{folder}/cache")
    missed = failures(tally, minutes)
    print(f"\n{table(tally)}\n\n{history(minutes)}\n")
    print(*(missed or ["every target is met"]), sep="\n")
    if options.update:
        write_atomic(
            ROOT / "docs" / "measured" / "soak.md", page(tally, minutes, options), overwrite=True
        )
    return int(bool(missed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--call", nargs=2, metavar=("KIND", "NUMBER"))
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def once(kind: str, number: int, seed: int) -> int:
    """Make a call twice; print the bits of both answers."""
    results = [answer(CALLS[kind][0], number, seed, kind) for _ in range(2)]
    print(*(" ".join(each) for each in results), sep="\n")
    return int(results[0] != results[1])


def soak(
    length: float, threads: int, seed: int, cache: str, minute: float = 60.0
) -> tuple[Tally, list[Minute]]:
    """Make calls for `length` minutes of `minute` seconds each.

    Return what was answered and what was held after each.
    """
    kernels._MOST = KERNELS
    for kind, (call, _) in CALLS.items():  # packages that are imported count for nothing
        answer(call, 0, seed, kind)
    workers = Workers(CALLS, threads, seed)
    minutes: list[Minute] = []
    start, reported = time.monotonic(), 0
    while time.monotonic() - start < length * minute:
        os.environ["STEELYARD_CACHE"] = "" if len(minutes) % UNCACHED == UNCACHED - 1 else cache
        workers.go()
        time.sleep(
            max(min((len(minutes) + 1) * minute, length * minute) - (time.monotonic() - start), 0.0)
        )
        if stuck := workers.rest(PATIENCE):
            workers.tally.wrong.append(f"no answer within {PATIENCE:g} s: {', '.join(stuck)}")
            faulthandler.dump_traceback()
            break
        gc.collect()
        minutes.append(
            Minute((time.monotonic() - start) / minute, workers.tally.calls.total(), resources())
        )
        print(
            _line(minutes[-1], len(workers.tally.wrong)),
            *workers.tally.wrong[reported:],
            sep="\n",
            flush=True,
        )
        reported = len(workers.tally.wrong)
    workers.end()
    gc.collect()
    minutes.append(
        Minute((time.monotonic() - start) / minute, workers.tally.calls.total(), resources())
    )
    return workers.tally, minutes


def _line(minute: Minute, wrong: int) -> str:
    resources = minute.held
    memory = f"{resources.memory:.0f} MB, readers {resources.children_memory:.0f} MB"
    return (
        f"{minute.minutes:5.1f} min: {minute.calls} calls, {wrong} wrong, {memory},"
        f" {resources.handles} handles, {resources.threads} threads"
    )


def failures(tally: Tally, minutes: Sequence[Minute]) -> list[str]:
    """Return the targets that are missed, in words."""
    early = [each for each in minutes if each.minutes < SETTLED + 0.5] or list(minutes[:1])
    settled, end = early[-1].held, minutes[-1].held
    most = max(each.held.children_memory for each in early)
    result = [f"{len(tally.wrong)} calls have a wrong answer or none"] if tally.wrong else []
    if end.memory > (1 + GROWTH) * settled.memory:
        result.append(
            f"memory grows: {settled.memory:.0f} MB after {early[-1].minutes:.0f} minutes,"
            f" {end.memory:.0f} MB at the end"
        )
    if end.children_memory > (1 + GROWTH) * most:
        result.append(
            f"memory of the readers grows: at most {most:.0f} MB at first,"
            f" {end.children_memory:.0f} MB at the end"
        )
    for what in ("handles", "threads", "children"):
        before, after = getattr(settled, what), getattr(end, what)
        if after > before:
            result.append(
                f"{what}: {before} after {early[-1].minutes:.0f} minutes, {after} at the end"
            )
    return result


def table(tally: Tally) -> str:
    """Return the calls of each kind as a table in Markdown."""
    lines = [
        "| call | made | of these repeated | answered by a sentence | longest [s] |",
        "|---|---|---|---|---|",
    ]
    for kind in CALLS:
        counts = f"{tally.calls[kind]} | {tally.repeated[kind]} | {tally.sentences[kind]}"
        lines.append(f"| {kind} | {counts} | {tally.longest.get(kind, 0.0):.1f} |")
    counts = " | ".join(
        str(count.total()) for count in (tally.calls, tally.repeated, tally.sentences)
    )
    return "\n".join(
        [*lines, f"| all | {counts} | {max(tally.longest.values(), default=0.0):.1f} |"]
    )


def history(minutes: Sequence[Minute]) -> str:
    """Return what was held every five minutes as a table in Markdown.

    In the last row the calling threads have ended.
    """
    lines = [
        "| minutes | calls | memory [MB] | of readers [MB] | handles | threads | child processes |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, each in enumerate(minutes):
        resources = each.held
        if number == 0 or (number + 1) % 5 == 0 or each is minutes[-1]:
            memory = f"{resources.memory:.0f} | {resources.children_memory:.0f}"
            lines.append(
                f"| {each.minutes:.1f} | {each.calls} | {memory} | {resources.handles} |"
                f" {resources.threads}"
                f" | {resources.children} |"
            )
    return "\n".join(lines)


def page(tally: Tally, minutes: Sequence[Minute], options: argparse.Namespace) -> str:
    """Return the page of outcomes."""
    missed = "; ".join(failures(tally, minutes)) or "every target is met"
    return f"""# Soak test

Written by `python -m benchmarks.soak --minutes {options.minutes:g} --update`, seed \
{options.seed}, {options.threads} threads.
Calls of every kind, over zoo, built-in and random robots, logs, good and damaged files, run in \
random order.
Each result is compared with the first result of the same call, to the bit, and with laws of \
mechanics where that is cheap; an error that is not a `SteelyardError` is wrong.
{KERNELS} kernels are cached in memory, fewer than are in use, so that they are rebuilt \
repeatedly; in one minute of {UNCACHED} the disk cache is off.

Targets: no wrong result; memory at the end within {GROWTH:.0%} of its value after {SETTLED:g} \
minutes, memory of the reading process within {GROWTH:.0%} of its maximum until then; no more \
handles, threads and child processes than then.
Outcome: {len(tally.wrong)} wrong results; {missed}.

{table(tally)}

Resources of the process between calls:

{history(minutes)}
"""


if __name__ == "__main__":
    sys.exit(main())
