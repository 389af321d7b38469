"""How often two standard deviations and 95 % bands hold the truth.

A Monte-Carlo with the default identification, and measured logs.

python -m benchmarks.coverage             about fifteen minutes; the exit code states the outcome
python -m benchmarks.coverage --runs 4    fewer draws of each scenario, to work with
python -m benchmarks.coverage --update    write docs/measured/coverage.md
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.arms import DATA, arm, available, measured
from benchmarks.coverage.measure import USUAL, bands, between, count, exact_rank, together
from benchmarks.coverage.page import BANDS, HALVES, INSIDE, TABLES, Row, page
from benchmarks.coverage.scenarios import COUPLED, DESCRIPTIONS, ELBOW, Scenario, one_joint
from steelyard.files import write_atomic
from tests.real.measured import kr300, kr300_counterbalance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "coverage.md"
RUNS = 8
CONDITIONS = (
    ("white", "as modelled"),
    ("coloured", "as modelled"),
    ("white", "Stribeck"),
    ("coloured", "asymmetric"),
)
SMALL, LARGE = "planar_2r", "ur5"
STANDING = ("elbow_3r", "elbow_6r", "ur5", "xarm7")


def scenarios() -> tuple[Scenario, ...]:
    """Return the scenarios: an elbow arm in every condition, and some of other arms."""
    elbow = [Scenario(ELBOW, kind, *condition) for kind in DESCRIPTIONS for condition in CONDITIONS]
    again = [
        Scenario(ELBOW, "3-5 % off", "white", friction, "two periods")
        for friction in ("as modelled", "asymmetric")
    ]
    others = [
        Scenario(robot, kind, *CONDITIONS[(i + k) % len(CONDITIONS)])
        for k, robot in enumerate((SMALL, COUPLED, LARGE))
        for i, kind in enumerate(DESCRIPTIONS)
    ]
    return (*elbow, *again, *others)


def simulated(runs: int) -> Iterator[Row]:
    """Coverage and bands of every scenario.

    Of the small arm twice as many draws, of the large one half as many.
    """
    for s in scenarios():
        draws = {SMALL: 2 * runs, LARGE: max(1, runs // 2)}.get(s.robot, runs)
        result = together([count(s, seed) for seed in range(draws)])
        names = (s.robot, s.description, s.noise, s.friction, s.motion)
        cells = (
            *names,
            f"{percent(result.inside)} ± {percent(result.errors[0])}",
            f"{result.rms:.2f}",
            *map(percent, result.bands),
        )
        limits = (INSIDE, *[BANDS] * 4)
        shares = zip((result.inside, *result.bands), limits, result.errors, strict=True)
        yield Row(cells, all(within(share, limit, 2.0 * error) for share, limit, error in shares))


def halves() -> Iterator[Row]:
    """Compare halves of the measured logs, and the two runs of the KUKA."""
    for name, robot, parts, options in pairs():
        fits = tuple(sy.identify(robot, part, **options) for part in parts)
        compared = (
            fits
            if fits[0].base.names == fits[1].base.names
            else tuple(sy.identify(robot, p, friction=USUAL, **options) for p in parts)
        )
        single, along = (float(np.sqrt(np.mean(z**2))) for z in between(*compared))
        own, other, within_region = (
            np.mean(
                [bands(fit, parts[k if same else 1 - k], region) for k, fit in enumerate(fits)],
                axis=0,
            )
            for same, region in ((True, False), (False, False), (False, True))
        )
        cells = (
            name,
            f"{single:.2f}",
            f"{along:.2f}",
            *map(percent, (*own, *other, *within_region)),
        )
        met = within(along, HALVES) and all(within(band, BANDS) for band in (*own, *other))
        yield Row(cells, met)


def pairs() -> Iterator[tuple[str, sy.Robot, tuple[sy.Log, sy.Log], dict[str, Any]]]:
    """Two measured logs of each robot that is beside the project, with what is known besides."""
    for name in available():
        robot, log = measured(name)
        yield name, robot, (log[: log.N // 2], log[log.N // 2 :]), {}
    if (DATA / "kuka_kr300").is_dir():
        with TemporaryDirectory() as folder:
            robot, A, B = kr300(Path(folder))
        yield "kuka runs A and B", robot, (A, B), {"known": kr300_counterbalance}


def standing() -> Iterator[Row]:
    """Only the elbow moves: how many directions are excited, with and without noise."""
    for name in STANDING:
        robot = arm(name)
        log, states = one_joint(robot, 2, 1)
        fit = sy.identify(robot, log)
        exact, infinite = exact_rank(fit, *states), int(np.sum(~np.isfinite(fit.base_std)))
        yield Row(
            (name, str(fit.base.n_base), str(exact), str(fit.rank), str(infinite)),
            fit.rank == exact,
        )


def percent(share: float) -> str:
    """A share as per cent."""
    return f"{100 * share:.1f}"


def within(value: float, limits: tuple[float, float], error: float = 0.0) -> bool:
    """Whether a value is within limits, as far as it is printed and known.

    `error` is how far chance may have moved it.
    """
    return bool(limits[0] - 5e-4 - error <= value <= limits[1] + 5e-4 + error)


def main() -> int:
    """Print the tables; the exit code says whether every target was met."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--runs", type=int, default=RUNS, help=f"draws of each scenario (default {RUNS})"
    )
    parser.add_argument("--update", action="store_true", help="write docs/measured/coverage.md")
    options = parser.parse_args()
    start, tables = perf_counter(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        for title, rows in zip(
            TABLES, (simulated(options.runs), halves(), standing()), strict=True
        ):
            tables[title] = [shown(row) for row in rows]
            print()
    if options.update:
        write_atomic(PAGE, page(tables, options.runs).encode(), overwrite=True)
    met = [row.met for rows in tables.values() for row in rows]
    print(
        f"{sum(met)} of {len(met)} rows within the targets, {(perf_counter() - start) / 60:.1f}"
        " minutes"
    )
    return 0 if all(met) else 1


def shown(row: Row) -> Row:
    """Print a row when it is done."""
    print(" | ".join(row.cells), "" if row.met else "  MISSED", flush=True)
    return row


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")
