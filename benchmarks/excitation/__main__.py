"""Motions worth recording.

Log-dets against a stochastic search and against more starts, limits, gradients, predictions,
targets.

python -m benchmarks.excitation  about twenty minutes on two cores; the exit code states the outcome
python -m benchmarks.excitation --quick  the UR10 alone, with few runs
python -m benchmarks.excitation --update     write the table of docs/excitation.md
python -m benchmarks.excitation --part limits --robot ur10     one part of it
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.excitation import measures
from steelyard.files import write_atomic

PAGE = Path(__file__).resolve().parents[2] / "docs" / "excitation.md"
START, END = "<!-- benchmark -->\n", "<!-- end of benchmark -->\n"


class Row(NamedTuple):
    """A claim: robot, quantity, result, target, and whether it is met."""

    robot: str
    what: str
    figure: str
    target: str
    met: bool


def log_dets(name: str, seconds: float) -> Iterator[Row]:
    """Log-dets, and the times that they take: without distances, and as it is by default."""
    for harmonics, _ in measures.SERIES:
        searched = measures.STATED.get((name, harmonics)) or measures.stochastic(
            name, harmonics, seconds
        )
        for collision, words in (("none", "without distances"), ("auto", "links apart (default)")):
            result, wall, cpu, others = measures.excited(name, harmonics, collision)
            reached, (best, count) = (
                measures.log_det(result),
                measures.best_of_starts(name, harmonics, collision),
            )
            share = float(np.exp((reached - best) / count))
            what = f"{harmonics} harmonics, {words}"
            yield Row(
                name,
                f"log-det, {what}",
                f"{reached:.1f}",
                f"≥ {searched:.1f}, search of 60 s",
                reached >= searched,
            )
            yield Row(
                name,
                f"efficiency, {what}, p = {count}",
                f"{share:.3f}",
                f"≥ 0.98 of {best:.1f}, best of 20",
                share >= 0.98,
            )
            yield Row(
                name,
                f"time, {what}",
                f"{wall:.1f} s; CPU {cpu:.1f} s, others {others:.1f} s",
                "≤ 10 s on two cores",
                wall <= 10,
            )


def limits(name: str) -> Iterator[Row]:
    """Limits at 10 kHz, certificates, distances."""
    for harmonics, _ in measures.SERIES:
        result, *_ = measures.excited(name, harmonics)
        assert result.excitation is not None
        assert result.excitation.certificate is not None
        share, worst = measures.largest_share(name, result), result.excitation.certificate.worst
        fixed = result.excitation.certificate.holds and share <= 1 + 1e-9
        yield Row(
            name,
            f"largest share of a limit, {harmonics} harmonics",
            f"10 kHz {share:.5f}, certified {worst:.5f}",
            "≤ 1",
            fixed,
        )
        room = measures.least_distance(name, result)
        yield Row(
            name,
            f"distance beyond the clearance, {harmonics} harmonics",
            f"{1000 * room:.2f} mm",
            "≥ 0",
            room >= 0,
        )


def exactness(name: str, runs: int) -> Iterator[Row]:
    """Gradients and predicted standard deviations."""
    error = measures.gradient_error(name)
    what = "gradient against finite differences"
    yield Row(name, what, f"{error:.1e}", "≤ 1e-6", error <= 1e-6)
    worst = measures.monte_carlo(name)
    yield Row(
        name,
        "predicted σ against Monte-Carlo, worst parameter",
        f"{100 * worst:.1f} %",
        "≤ 10 %",
        worst <= 0.1,
    )
    if runs:
        ratio = measures.through_identify(name, runs)
        yield Row(
            name,
            f"the same through identify, median of {runs} runs",
            f"{100 * (ratio - 1):+.1f} %",
            "± 10 %",
            abs(ratio - 1) <= 0.1,
        )


def shortest_times(quick: bool) -> Iterator[Row]:
    """Times of motions that reach an accuracy."""
    for name, share in (("puma560", 0.003),) if quick else (("puma560", 0.003), ("ur10", 0.004)):
        time, least = measures.shortest(name, share, 2 if quick else 4)
        words = f"time for {100 * share:g} % of the torque"
        yield Row(
            name,
            words,
            f"{time:.1f} s, {time / least:.2f} x",
            f"≤ 1.3 x {least:.1f} s",
            time <= 1.3 * least,
        )


def colliding(name: str, quick: bool) -> Iterator[Row]:
    """Starts that collide, and what is returned."""
    bad, count, room = measures.colliding_starts(name, 1 if quick else 5)
    yield Row(
        name,
        f"{bad} of {count} random starts collide; returned",
        f"{1000 * room:+.2f} mm",
        "≥ 0 beyond the clearance",
        room >= 0,
    )


PARTS: dict[str, Callable[[Sequence[str], bool], Iterator[Row]]] = {
    "limits": lambda names, quick: chain.from_iterable(limits(name) for name in names),
    "exactness": lambda names, quick: chain.from_iterable(
        exactness(name, 0 if quick else 40) for name in names
    ),
    "starts": lambda names, quick: chain.from_iterable(colliding(name, quick) for name in names),
    "log-dets": lambda names, quick: chain.from_iterable(
        log_dets(name, 5.0 if quick else 60.0) for name in names
    ),
    "shortest": lambda names, quick: shortest_times(quick),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument(
        "--part", choices=PARTS, help="one part of the table alone, which is not written"
    )
    parser.add_argument(
        "--robot", choices=measures.ROBOTS, help="one robot alone, which is not written"
    )
    asked = parser.parse_args()
    names = [asked.robot] if asked.robot else ["ur10"] if asked.quick else list(measures.ROBOTS)
    parts = [PARTS[asked.part]] if asked.part else list(PARTS.values())
    rows = []
    print("| robot | what | measured | target | met |\n|---|---|---|---|---|")
    for row in chain.from_iterable(part(names, asked.quick) for part in parts):
        rows.append(row)
        print(line(row), flush=True)
    if asked.update and not (asked.part or asked.robot):
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(START)
        table = [
            "| robot | what | measured | target | met |",
            "|---|---|---|---|---|",
            *map(line, rows),
        ]
        write_atomic(
            PAGE, head + START + "\n".join(table) + "\n" + END + rest.split(END)[1], overwrite=True
        )
    return 0 if all(row.met for row in rows) else 1


def line(row: Row) -> str:
    """A row as Markdown."""
    return (
        f"| {row.robot} | {row.what} | {row.figure} | {row.target} | {'yes' if row.met else 'no'} |"
    )


if __name__ == "__main__":
    sys.exit(main())
