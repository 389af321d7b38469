"""python -m benchmarks.forks: children and threads, round after round, are right and finish.

python -m benchmarks.forks --rounds 50  every scenario so often; the exit code states the outcome
python -m benchmarks.forks --rounds 50 --update   write the table into docs/measured/forks.md

Answers are compared to the bit with answers of a process that has no thread and no child. In every
second round the kernel cache is empty.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.forks.scenarios import SCENARIOS, alone
from benchmarks.forks.work import everything
from steelyard.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 300.0  # [s] of one scenario, from which it hangs


@dataclass(frozen=True)
class Trial:
    """One scenario of one round: its seconds, and what went wrong, if anything did."""

    scenario: str
    seconds: float
    wrong: str = ""


def main() -> int:
    """Run what was asked for."""
    options = _options()
    if options.scenario:
        name, number, file = options.scenario
        {**SCENARIOS, "alone": alone}[name](int(number), np.load(file))
        return 0
    start, trials = perf_counter(), list[Trial]()
    with (
        tempfile.TemporaryDirectory(prefix="forks-") as folder,
        ThreadPoolExecutor(options.processes) as pool,
    ):
        os.environ["STEELYARD_CACHE"] = str(Path(folder) / "reference")
        rounds = [
            pool.submit(one_round, number, Path(folder), options.only or tuple(SCENARIOS))
            for number in range(options.rounds)
        ]
        for count, done in enumerate(as_completed(rounds), 1):
            trials += done.result()
            wrong = [f"{each.scenario}: {each.wrong}" for each in trials if each.wrong]
            sys.stderr.write(
                f"{count} of {options.rounds} rounds, {(perf_counter() - start) / 60:.1f} min,"
                f" {len(wrong)} wrong\n"
            )
            (ROOT / "build").mkdir(exist_ok=True)
            write_atomic(ROOT / "build" / "forks.md", page(trials, count), overwrite=True)
    print(table(trials))
    print(*wrong, sep="\n")
    if options.update:
        write_atomic(
            ROOT / "docs" / "measured" / "forks.md", page(trials, options.rounds), overwrite=True
        )
    return int(bool(wrong))


def one_round(number: int, folder: Path, names: Sequence[str]) -> list[Trial]:
    """Each scenario in its own process."""
    file, result = folder / f"reference-{number}.npy", []
    np.save(file, everything(number))
    for path, name in enumerate(names):
        cache = folder / (f"cache-{number}-{path}" if number % 2 else "cache")
        cache.mkdir(exist_ok=True)
        result.append(trial(name, number, file, cache))
    return result


def trial(name: str, number: int, reference: Path, cache: Path) -> Trial:
    """Run a scenario; what it says on the way counts only if it fails."""
    start = perf_counter()
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    variables = {
        **os.environ,
        "PYTHONPATH": paths,
        "STEELYARD_CACHE": str(cache),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.forks",
        "--scenario",
        name,
        str(number),
        str(reference),
    ]
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return Trial(name, perf_counter() - start, f"round {number}: not finished in {LIMIT:g} s")
    message = done.stderr.strip().splitlines()[-1:] or ["no word"]
    return Trial(
        name, perf_counter() - start, f"round {number}: {message[0]}" if done.returncode else ""
    )


def table(trials: Sequence[Trial]) -> str:
    """Rounds, those right and finished, and the longest, by scenario."""
    lines = ["| scenario | rounds | right and finished | longest [s] |", "|---|---|---|---|"]
    for name in dict.fromkeys(each.scenario for each in trials):
        of = [each for each in trials if each.scenario == name]
        lines.append(
            f"| {name} | {len(of)} | {sum(not each.wrong for each in of)} |"
            f" {max(each.seconds for each in of):.1f} |"
        )
    return "\n".join(lines)


def page(trials: Sequence[Trial], rounds: int) -> str:
    """docs/measured/forks.md."""
    wrong = [f"- {each.scenario}: {each.wrong}" for each in trials if each.wrong]
    return f"""# Processes and threads

Written by `python -m benchmarks.forks --rounds {rounds} --update`.
Each scenario runs in a separate process.
A child, thread or process compiles new kernels, identifies an arm, and writes and reads a CSV \
and a Parquet file; its result must equal, to the bit, the result of a process without threads \
and children.
In every second round the kernel cache is empty at first.
Forks "while a thread" works happen at varying moments, in the middle of the thread's work.

{table(trials)}

{chr(10).join(wrong) or "No result was wrong, and no process hung."}
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument(
        "--only",
        action="append",
        choices=tuple(SCENARIOS),
        metavar="SCENARIO",
        help="; ".join(SCENARIOS),
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="rounds at once")
    parser.add_argument("--update", action="store_true")
    parser.add_argument(
        "--scenario", nargs=3, metavar=("NAME", "NUMBER", "FILE"), help=argparse.SUPPRESS
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
