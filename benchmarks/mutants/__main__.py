"""python -m benchmarks.mutants.

Bugs planted into the source one at a time; which of them do the tests notice?

python -m benchmarks.mutants  360 mutants on two processes; resumes
python -m benchmarks.mutants --count 40 --minutes 20    a part
python -m benchmarks.mutants --again TEXT --also PATH  survivors by name, with more tests
python -m benchmarks.mutants --show NUMBER  the diff of one mutant and the tests that run its line
python -m benchmarks.mutants --update           write docs/measured/mutants.md

Needs pytest-cov. Tests run in a copy of the clone, without measured logs beside it. Tools that
exist either run all tests for every mutant or rewrite functions in place, which a compiler of
expression graphs does not survive; a mutant here is one replaced piece of text.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter

from benchmarks.mutants.covering import Covering, covering
from benchmarks.mutants.justified import JUSTIFIED
from benchmarks.mutants.mutations import Mutation, drawn
from benchmarks.mutants.page import page, rate
from benchmarks.mutants.trial import Outcome, environment, plain_clone, tried
from steelyard.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measured" / "mutants.md"
SEED, COUNT = 1, 360
MOST_SECONDS = 60.0  # of tests for one mutant
LIVED = ("survived", "uncovered")
LIMIT = 240.0  # [s] from which a mutant runs on and on


def main() -> int:
    """Run what was asked for."""
    options = _options()
    chosen = list(drawn(sources(), options.count, options.seed))
    if options.show is not None:
        return show(chosen[options.show])
    outcomes = {
        name: each
        for name, each in done(options.out).items()
        if name in {mutant.name for mutant in chosen}
    }
    remaining = [mutant for mutant in chosen if mutant.name not in outcomes]
    if options.again is not None:
        lived = {
            name
            for name, each in outcomes.items()
            if each.word in LIVED and options.again in name and name not in JUSTIFIED
        }
        remaining = [mutant for mutant in chosen if mutant.name in lived]
    with tempfile.TemporaryDirectory() as folder:
        for outcome in (
            run(remaining, Path(folder), options) if remaining and options.minutes > 0 else ()
        ):
            outcomes[outcome.name] = outcome
    results = [outcomes[mutant.name] for mutant in chosen if mutant.name in outcomes]
    if options.update:
        write_atomic(PAGE, page(chosen, results), overwrite=True)
    for each in results:
        if each.word in LIVED:
            print(
                f"{each.word}: {each.name}"
                + (f" ({JUSTIFIED[each.name]})" if each.name in JUSTIFIED else "")
            )
    print(f"{rate(results):.1%} of {len(results)} mutants that change behaviour are killed")
    return 0 if len(results) == len(chosen) and rate(results) >= 0.97 else 1


def sources() -> dict[str, str]:
    """Every file of the source by its name."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "src").rglob("*.py"))
    }


def done(path: Path) -> dict[str, Outcome]:
    """What earlier runs found."""
    if not path.is_file():
        return {}
    return {
        each["name"]: Outcome(**each)
        for each in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }


def run(remaining: Sequence[Mutation], folder: Path, options: argparse.Namespace) -> list[Outcome]:
    """Try mutants, each process in its own clone; outcomes are appended to a file."""
    start, result = perf_counter(), list[Outcome]()
    clones: SimpleQueue[Path] = SimpleQueue()
    for number in range(options.processes):
        clones.put(plain_clone(folder / f"clone{number}"))
    first = folder / "clone0"
    map_of = covering(first, options.covering, environment(first, options.cache), options.tests)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with (
        ThreadPoolExecutor(options.processes) as pool,
        options.out.open("a", encoding="utf-8") as file,
    ):
        tasks = [pool.submit(one, mutant, clones, map_of, options, start) for mutant in remaining]
        for count, task in enumerate(as_completed(tasks), 1):
            outcome = task.result()
            if outcome is None:
                continue
            result.append(outcome)
            file.write(json.dumps(asdict(outcome)) + "\n")
            file.flush()
            sys.stderr.write(
                f"{count} of {len(remaining)}, {(perf_counter() - start) / 60:.1f} min:"
                f" {outcome.word}"
                f" {outcome.name[:110]}\n"
            )
    return result


def one(
    mutant: Mutation,
    clones: SimpleQueue[Path],
    map_of: Covering,
    options: argparse.Namespace,
    start: float,
) -> Outcome | None:
    """Try one mutant in a clone that is free; None if the time is over."""
    if perf_counter() - start > 60 * options.minutes:
        return None
    clone = clones.get()
    try:
        tests = options.also or map_of.tests(mutant.path, mutant.line, MOST_SECONDS)
        return tried(mutant, clone, options.cache, tests, LIMIT)
    finally:
        clones.put(clone)


def show(mutant: Mutation) -> int:
    """Print the diff of a mutant."""
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    lines = difflib.unified_diff(
        source.splitlines(), mutant.into(source).splitlines(), mutant.path, mutant.name, lineterm=""
    )
    print("\n".join(lines))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    build = Path("build").absolute()
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--minutes", type=float, default=240.0, help="after which no mutant is begun"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--out",
        type=Path,
        default=build / "mutants.jsonl",
        metavar="FILE",
        help="where outcomes are kept",
    )
    parser.add_argument(
        "--covering",
        type=Path,
        default=build / "covering.json",
        metavar="FILE",
        help="which test runs which line",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=build / "mutants-cache",
        metavar="FOLDER",
        help="kernels of these runs alone",
    )
    parser.add_argument(
        "--tests",
        action="append",
        default=[],
        metavar="PATH",
        help="only these, to work with; all of them if not given",
    )
    parser.add_argument("--again", metavar="TEXT", help="which survivors to try again; '' for all")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PATH",
        help="with these tests: a test may see what another has run",
    )
    parser.add_argument("--show", type=int, metavar="NUMBER")
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
