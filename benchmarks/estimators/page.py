"""The tables of the comparison in Markdown, and what is asked of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.estimators.cells import NOISES, Cell
from benchmarks.trust.page import markdown
from steelyard.identification import ESTIMATORS

BEGIN, END = (
    "<!-- written by python -m benchmarks.estimators --update -->",
    "<!-- end of what is written -->",
)
# of the best row; of least squares; true torque error of the Puma at 1e-2 rad
NEAR, SAME, GOAL = 1.05, 1.02, 0.003
HEADS = {
    "noise": "Noise of the encoders [rad]; computed torque of 5 Hz, filter of the estimator's own",
    "filter": "Filters of the positions; Puma, computed torque of 5 Hz, noise [rad]",
    "controller": "Controllers; Puma, noise [rad]",
    "measured": "Measured logs: the second half predicted from the first",
}


@dataclass(frozen=True)
class Result:
    """An estimator in a cell: |e| / |tau| and seconds, or why there is none."""

    table: str
    cell: Cell
    seed: int
    estimator: str
    error: float
    seconds: float
    failure: str = ""


def column(table: str, cell: Cell) -> str:
    """The head of a cell's column."""
    size = f"{cell.noise:.0e}".replace("e-0", "e-")
    return {
        "noise": f"{cell.robot} {size}",
        "filter": f"{cell.filter}, {size}",
        "controller": f"{cell.controller}, {size}",
    }.get(table, cell.robot)


def errors(results: Sequence[Result]) -> dict[str, dict[Cell, dict[str, float]]]:
    """By table, cell and estimator the root mean square error over seeds.

    Infinite where one of them failed.
    """
    outcomes: dict[str, dict[Cell, dict[str, list[float]]]] = {}
    for each in results:
        outcomes.setdefault(each.table, {}).setdefault(each.cell, {}).setdefault(
            each.estimator, []
        ).append(each.error)
    return {
        table: {cell: {name: rms(x) for name, x in row.items()} for cell, row in cells.items()}
        for table, cells in outcomes.items()
    }


def rms(values: Sequence[float]) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def tables(results: Sequence[Result]) -> str:
    """All tables, the best of each column in bold."""
    result = errors(results)
    parts = []
    for table, cells in result.items():
        names = list(dict.fromkeys(each.estimator for each in results if each.table == table))
        seconds = {
            n: float(
                np.median(
                    [
                        r.seconds
                        for r in results
                        if r.estimator == n and r.table == table and not r.failure
                    ]
                    or [np.nan]
                )
            )
            for n in names
        }
        best = {cell: min(row.values()) for cell, row in cells.items()}
        rows = [
            [
                name,
                *(shown(row.get(name, np.inf), best[cell]) for cell, row in cells.items()),
                f"{seconds[name]:.1f}",
            ]
            for name in names
        ]
        head = ["estimator", *(column(table, cell) for cell in cells), "s"]
        parts.append(f"### {HEADS[table]}\n\n{markdown(head, rows)}")
    return "\n\n".join(parts)


def shown(error: float, best: float) -> str:
    """An error in per cent; in bold within 5 % of the best."""
    if not np.isfinite(error):
        return "–"
    text = f"{100 * error:.2f}" if error < 0.1 else f"{100 * error:.0f}"
    return f"**{text}**" if error <= NEAR * best else text


@dataclass(frozen=True)
class Target:
    """What is asked of the tables, whether it is met, and what was found."""

    what: str
    met: bool
    found: str


def targets(results: Sequence[Result]) -> tuple[Target, ...]:
    """What the comparison is to show."""
    result = errors(results)
    outcomes = []
    cell = Cell("Puma", 1e-2)
    row = result.get("noise", {}).get(cell)
    if row and {"iv", "didim", "sdp"} <= set(row):
        best = min(("iv", "didim"), key=lambda name: row[name])
        outcomes.append(
            Target(
                f"IV or DIDIM at most {GOAL:.1%} on the Puma at 1e-2 rad",
                row[best] <= GOAL,
                f"{best} {row[best]:.2%}, sdp {row['sdp']:.2%}",
            )
        )
    few = [
        (c, r)
        for cells in result.values()
        for c, r in cells.items()
        if c.simulated and c.noise <= NOISES[0]
    ]
    worse = [
        f"{n} {c.robot} {c.controller} {r[n] / r['wls']:.2f}"
        for c, r in few
        for n in ("iv", "didim", "cloe", "auto")
        if n in r and r[n] > SAME * r.get("wls", np.inf)
    ]
    outcomes.append(
        Target(
            "at 1e-5 rad nothing that simulates is worse than weighted least squares by more"
            " than 2 %",
            not worse,
            "; ".join(worse) or "none",
        )
    )
    others = [
        f"{n} {c.robot} {c.controller} {r[n] / r['ols']:.2f}"
        for c, r in few
        for n in r
        if n not in ("iv", "didim", "cloe", "auto") and r[n] > SAME * r.get("ols", np.inf)
    ]
    outcomes.append(
        Target(
            "at 1e-5 rad no other is worse than ordinary least squares by more than 2 %",
            not others,
            "; ".join(others) or "none",
        )
    )
    cells = [
        (table, c, r) for table, all_of in result.items() for c, r in all_of.items() if "auto" in r
    ]
    far = [
        f"{column(t, c)} {r['auto'] / min(r.values()):.2f} ({min(r, key=lambda n: r[n])})"
        for t, c, r in cells
        if r["auto"] > NEAR * min(r.values())
    ]
    near = len(cells) - len(far)
    outcomes.append(
        Target(
            f"the automatic choice is within 5 % of the best row in every cell ({near} of"
            f" {len(cells)})",
            not far,
            "; ".join(far) or "none beyond",
        )
    )
    return tuple(outcomes)


def with_tables(text: str, results: Sequence[Result], seeds: Sequence[int], minutes: float) -> str:
    """The page with the tables instead of those that it has."""
    asked = "\n".join(
        f"- {'met' if each.met else 'missed'}: {each.what}. {each.found}."
        for each in targets(results)
    )
    draws = {table: len({each.seed for each in results if each.table == table}) for table in HEADS}
    many = ", ".join(
        f"{count} ({table})" for table, count in draws.items() if count and table != "measured"
    )
    head = (
        f"True torque error |e|/|τ| [%], root mean square over robots and motions: {many}, of the"
        f" seeds {', '.join(map(str, seeds))}, on unseen motion without noise, where joints move;"
        " `s` is the median time of a fit in seconds of one core. Bold: within 5 % of the best of"
        f" the column. All of it took {minutes:.0f} minutes."
    )
    missing = [name for name in ESTIMATORS if name not in {each.estimator for each in results}]
    head += f" Not measured here: {', '.join(missing)}." if missing else ""
    body = f"{BEGIN}\n\n{head}\n\n{tables(results)}\n\nTargets:\n\n{asked}\n\n{END}"
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not pattern.search(text):
        return f"{text.rstrip()}\n\n{body}\n"
    return pattern.sub(lambda _: body, text)


def by_plain(data: Mapping[str, object]) -> Result:
    """A result from a file."""
    cell = Cell(**data["cell"])  # type: ignore[arg-type]
    return Result(**{**data, "cell": cell})  # type: ignore[arg-type]
