"""The learned residual on held-out logs: the default prediction, and the same with it.

python -m benchmarks.learned_residual                     the measured logs of ../shared/data
python -m benchmarks.learned_residual ur10 staubli        sets whose folder begins so
python -m benchmarks.learned_residual --draws 0 61        unseen draws of CLASSES, seeds 0 to 60
python -m benchmarks.learned_residual --update            write docs/measured/learned_residual.md

Bands and halves are as in `benchmarks.unseen`. Parameters do not depend on the learned residual, so
that one identification gives both predictions.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.unseen.draw import CLASSES as DRAW_CLASSES
from benchmarks.unseen.draw import draw
from benchmarks.unseen.judge import Trial, held_out_errors
from benchmarks.unseen.plain import banded
from benchmarks.unseen.real import trials
from steelyard.files import write_atomic

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "learned_residual.md"
CLASSES = ("rigid", "thermal", "ripple", "load friction")
DEVELOPMENT, JUDGED = range(61), range(61, 121)  # seeds of the page
WORSE = 1.01  # error over the default's, which no set may exceed


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Errors |e| / |tau| on held-out logs without and with the learned residual.

    `joints` have it, of `n`; `covered` the shares of held-out torques of these joints
    inside the region that the bands of `fit.predict` hold, without and with it.
    """

    name: str
    default: float
    learned: float
    joints: int
    n: int
    covered: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Error with the learned residual over the default's."""
        return self.learned / self.default

    def row(self) -> str:
        """Return the comparison as a row of a table in Markdown."""
        shares = " | ".join("–" if np.isnan(x) else f"{100 * x:.0f}" for x in self.covered)
        change = f"{100 * (self.ratio - 1):+.1f}" if self.joints else "off"
        return (
            f"| {self.name} | {100 * self.default:.2f} | {100 * self.learned:.2f} | {change}"
            f" | {self.joints} of {self.n} | {shares} |"
        )


def compare(trial: Trial) -> Comparison:
    """Identify from the training logs, and predict the held-out ones with and without it."""
    known: dict[str, Any] = {} if trial.known is None else {"known": trial.known}
    logs = trial.training if len(trial.training) > 1 else trial.training[0]
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        fit = sy.identify(trial.robot, logs, residual="learned", **known, **trial.options)
        plain = replace(fit, pipeline=replace(fit.pipeline, learned=None))
        errors = [
            held_out_errors(each, trial.held_out, trial.band)["default"] for each in (plain, fit)
        ]
        covered = [coverage(each, fit, trial) for each in (plain, fit)]
    decision = fit.learned_residual
    return Comparison(
        name=trial.name,
        default=errors[0],
        learned=errors[1],
        joints=0 if decision is None else len(decision.kept),
        n=trial.robot.n,
        covered=(covered[0], covered[1]),
    )


def coverage(fit: sy.Fit, learned: sy.Fit, trial: Trial) -> float:
    """Return the share of held-out torques inside the region that the band holds.

    Of joints with a learned residual, in the band of the trial; NaN without one.
    """
    decision = learned.learned_residual
    names = () if decision is None else decision.kept
    joints = [j for j, name in enumerate(trial.robot.joint_names) if name in names]
    if not joints:
        return float("nan")
    shares = []
    for log in (banded(log, trial.band) for log in trial.held_out):
        band = fit.predict(log.q, log.qd, log.qdd, cutoff=trial.band)
        within = (np.asarray(band.low) <= log.tau) & (log.tau <= np.asarray(band.high))
        shares.append(within[log.inner][np.asarray(band.inside)[log.inner]][:, joints])
    every = np.concatenate(shares)
    return float(every.mean()) if every.size else float("nan")


def drawn(seeds: Iterable[int]) -> Iterator[Trial]:
    """Yield the unseen draws of CLASSES."""
    for seed in seeds:
        if DRAW_CLASSES[seed % len(DRAW_CLASSES)] in CLASSES:
            each = draw(seed)
            yield Trial(each.id, each.description, (each.training,), (each.held_out,))


def compared(every: Iterable[Trial]) -> list[Comparison]:
    """Return the comparisons of trials, printed as they finish; refused ones are left out."""
    rows = []
    for trial in every:
        try:
            rows.append(compare(trial))
        except sy.SteelyardError as error:
            print(f"{trial.name}: {error}", flush=True)
            continue
        print(rows[-1].row(), flush=True)
    return rows


def table(rows: list[Comparison]) -> str:
    """Return comparisons as a table in Markdown."""
    head = (
        "| log | default [%] | learned [%] | change [%] | joints | held without [%] | with [%] |\n"
        "|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(row.row() for row in rows)])


def page(measured: list[Comparison], simulated: list[Comparison], judged: list[Comparison]) -> str:
    """Return the page of measured results: measured logs, draws for development, and judged."""
    worst, unseen = (max(row.ratio for row in rows) for rows in ([*measured, *simulated], judged))
    rigid = [row for row in [*simulated, *judged] if row.name.endswith("rigid")]
    changed = [row for row in judged if row.joints]
    return f"""# Learned residual

`sy.identify(..., residual="learned")` against the default, \
on held-out logs in the bands of [unseen robots](unseen.md).
`python -m benchmarks.learned_residual --update` writes this page.
Errors are |τ − τ̂| / |τ| over all joints.
"off": no joint keeps the learned residual, and both predictions are the same.
The last columns are the shares of held-out torques inside the region, \
of the joints that keep it, that the 95 % band of `fit.predict` holds.
The largest error over the default's is {worst:.3f} on these logs \
and on the draws for development, \
{unseen:.3f} on the draws that were not looked at; the aim is {WORSE}.
It is kept on {sum(row.joints > 0 for row in rigid)} of {len(rigid)} rigid robots.

## Measured logs

Its thresholds were chosen on these logs.

{table(measured)}

## Simulated draws

Seeds {DEVELOPMENT[0]} to {DEVELOPMENT[-1]} of the classes {", ".join(CLASSES)}; \
thresholds were chosen on the seeds 0 to 54.

{table(simulated)}

Seeds {JUDGED[0]} to {JUDGED[-1]}, which were not looked at: \
it is kept on {len(changed)} of {len(judged)} logs, \
{sum(row.ratio > WORSE for row in changed)} of them worse by more than 1 %.

{table(judged)}
"""


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learned_residual",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sets", nargs="*", help="folders of ../shared/data, or their beginnings")
    parser.add_argument("--draws", type=int, nargs=2, metavar=("FIRST", "END"), help="seeds")
    parser.add_argument("--update", action="store_true", help="write the page of results")
    options = parser.parse_args()
    if options.draws:
        rows = compared(drawn(range(*options.draws)))
    else:
        rows = compared(trials(tuple(options.sets)))
    if options.update:
        seeds = DEVELOPMENT, JUDGED
        simulated, judged = (compared(drawn(each)) for each in seeds)
        write_atomic(PAGE, page(rows, simulated, judged), overwrite=True)
    return int(any(row.ratio > WORSE for row in rows))


if __name__ == "__main__":
    sys.exit(main())
