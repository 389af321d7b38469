"""Summary tables of the unseen benchmark, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.unseen.judge import Judgement
from benchmarks.unseen.outcome import Outcome, rms

PICKED, BEST = 1.02, 1.10
"""The default's error over the picked and over the best plain candidate, at most."""


def ratio_cells(judgements: Sequence[Judgement]) -> list[str]:
    """Return median, worst and share of both ratios within their targets."""
    cells = []
    for values, target in (
        ([j.over_picked for j in judgements], PICKED),
        ([j.over_best for j in judgements], BEST),
    ):
        within = np.mean([value <= target for value in values])
        cells += [f"{np.median(values):.2f}", f"{np.max(values):.2f}", f"{within:.0%}"]
    return cells


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells in columns."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def share(values: Sequence[bool]) -> str:
    """Return the share of true values, and their number."""
    return f"{np.mean(values):.0%} of {len(values)}" if values else "–"


def healthy_table(outcomes: Sequence[Outcome]) -> str:
    """Return one row for each class of healthy draws, and one for all."""
    header = "class|n|d/p med|max|ok|d/b med|max|ok|trusted|error kept|true kept|joints kept"
    header += "|2 sigma|rms z|false faults|wrong trust"
    kinds = sorted({o.kind for o in outcomes})
    groups = [(kind, [o for o in outcomes if o.kind == kind]) for kind in kinds]
    return table(
        header.split("|"), [healthy_row(*group) for group in [*groups, ("all", list(outcomes))]]
    )


def healthy_row(kind: str, outcomes: Sequence[Outcome]) -> list[str]:
    judged = [o.judgement for o in outcomes if o.judgement is not None]
    if not judged:
        return [kind, str(len(outcomes)), *["–"] * 14]
    z = np.concatenate([np.array(o.z) for o in outcomes])
    return [
        kind,
        str(len(outcomes)),
        *ratio_cells(judged),
        share([j.trusted for j in judged]),
        share([j.kept for j in judged if j.kept is not None]),
        share([o.kept for o in outcomes if o.kept is not None]),
        share([x <= 1 for j in judged for x in j.joints if np.isfinite(j.moving)]),
        f"{np.mean(np.abs(z) <= 2):.0%}" if len(z) else "–",
        f"{rms(z):.2f}" if len(z) else "–",
        share([bool(o.claimed) for o in outcomes]),
        share([o.wrong_trust for o in outcomes]),
    ]


def faulty_table(outcomes: Sequence[Outcome]) -> str:
    """Return one row for each planted fault, and one for all."""
    header = ("fault", "n", "named", "trusted", "wrong trust", "claimed instead")
    rows = []
    for fault in [*sorted({o.fault for o in outcomes}), ""]:
        chosen = [o for o in outcomes if not fault or o.fault == fault]
        missed = [o for o in chosen if o.named is False]
        instead = sorted({name for o in missed for name in o.claimed})
        rows.append(
            [
                fault or "all",
                str(len(chosen)),
                share([bool(o.named) for o in chosen]),
                share([o.judgement is not None and o.judgement.trusted for o in chosen]),
                share([o.wrong_trust for o in chosen]),
                ", ".join(instead) if fault else "",
            ]
        )
    return table(header, rows)


def real_table(judgements: Sequence[tuple[str, Judgement]]) -> str:
    """Return one row for each measured set."""
    header = [
        "set",
        "default",
        "picked",
        "best",
        "d/p",
        "d/b",
        "word",
        "stated",
        "moving",
        "faults",
        "by",
    ]
    rows = [
        [
            name,
            f"{100 * j.default:.2f}",
            f"{100 * j.plain[j.picked]:.2f}",
            f"{100 * j.plain[j.best]:.2f}",
            f"{j.over_picked:.2f}{' !' if j.over_picked > PICKED else '  '}",
            f"{j.over_best:.2f}{' !' if j.over_best > BEST else '  '}",
            j.word or "error",
            f"{100 * j.expected:.1f}" if np.isfinite(j.expected) else "–",
            f"{100 * j.moving:.1f}" if np.isfinite(j.moving) else "–",
            ", ".join(sorted({f[0] for f in j.findings if f[3] == "fault"})),
            f"{j.picked} / {j.best}",
        ]
        for name, j in judgements
    ]
    within = [
        np.mean([j.over_picked <= PICKED for _, j in judgements]),
        np.mean([j.over_best <= BEST for _, j in judgements]),
    ]
    return (
        f"{table(header, rows)}\nwithin {PICKED} of the picked candidate: {within[0]:.0%} of"
        f" {len(judgements)}; within {BEST} of the best: {within[1]:.0%}"
    )
