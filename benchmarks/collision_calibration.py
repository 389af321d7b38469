"""False collisions in free motion of measured robots, and the choice of the calibration constants.

python -m benchmarks.collision_calibration         two tables; exit code 1 at a false alarm
python -m benchmarks.collision_calibration 0.4     logs are divided at 40 % instead of 50 %

Each log: fit of one half, free motion of the other half, both ways; of the KUKA also run A against
run B. The needed factor is the largest residual of monitored samples over the largest held-out
residual of its joint and state.

Leave one robot out, in two steps. In both, of the settings with which no other robot has a false
alarm, those whose monitored share is within TOLERANCE of the best are compared, and the strictest
of them is chosen.

1. GRID, where only joints that the verdict trusts are monitored: the most visits, then the largest
share.
2. TAILS, with the constants of step 1: the smallest tail probability.

Residuals are computed once; `factor` is the bound 1.5, and `rest` is a dead band of the velocity in
the residual itself.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from steelyard.errors import SteelyardWarning
from steelyard.experiments.online.calibration.half_fits import half_fits
from steelyard.experiments.online.calibration.monitored_states import MonitoredThreshold
from steelyard.experiments.online.calibration.rule import RULE, CalibrationRule
from steelyard.experiments.online.collision_calibration import calibration_of, joint_words
from steelyard.experiments.online.held_out_residuals import (
    HalfStreams,
    HeldOutLimits,
    ResidualStream,
    filtered,
    half_streams,
    held_out_limits,
    part_residuals,
    residual_streams,
)
from steelyard.experiments.online.momentum_residual import predicting_terms
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from steelyard.identification.result.held_out_motion import HeldOutMotion
from tests.real.free_motion import ROBOTS, Case, cases, observe

GAIN = 100.0  # [1/s]
MEMORY, SLOW, FEWEST = (3.0, 5.0, 10.0), (0.05, 0.1, 0.2), (2, 3, 4, 5, 6)
GRID = tuple(
    CalibrationRule(tail=0.0, memory=m, slow=s, fewest=f)
    for m, s, f in product(MEMORY, SLOW, FEWEST)
)
TAILS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 1.0)
TOLERANCE = 0.03  # of the monitored share
# needed factor and monitored share of the fits of each robot
Judged = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class Streams:
    """Residuals of a fit that do not depend on the rule.

    Held-out parts, and free motion of the other half.
    """

    robot: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    limits: HeldOutLimits
    parts: tuple[ResidualStream, ...]
    halves: tuple[HalfStreams, ...]
    live: ResidualStream

    def judge(self, rule: CalibrationRule) -> tuple[float, float]:
        """Return the needed factor and the monitored share by a rule."""
        known = calibration_of(
            self.parts, self.halves, self.names, self.words, self.limits, GAIN, rule
        )
        limit = MonitoredThreshold(known, self.limits, GAIN, rule).along(self.live)
        limit[: THRESHOLDS.warm_up_samples] = np.inf
        return float(rule.factor * np.max(self.live.residual / limit)), float(
            np.mean(np.isfinite(limit))
        )


@dataclass(frozen=True)
class Row:
    """A fit: verdict, false alarms, factor, monitored share, detectable relative torque."""

    label: str
    verdict: str
    alarm: bool
    needed: float
    share: float
    detectable: float

    def __str__(self) -> str:
        if not self.share:
            return f"| {self.label} | {self.verdict} | not monitored | – | 0 % | – |"
        return (
            f"| {self.label} | {self.verdict} | {int(self.alarm)} | {self.needed:.2f} |"
            f" {self.share:.0%} | {self.detectable:.0%} |"
        )


def measure(name: str, case: Case) -> tuple[Row, Streams]:
    """Fit one case, observe its free motion, and return its residuals."""
    fit, label = case.fit, case.label
    words = joint_words(fit)
    log = case.free[0].reordered(fit.robot)
    seen = observe(fit, log)
    known = seen.observer.calibration
    assert known is not None
    share = float(seen.observer.monitored_share.mean())
    alarm = seen.observer.collision is not None
    sizes = (known.detectable / known.torque)[known.monitored.any(axis=1)]
    size = float(np.median(sizes)) if len(sizes) else np.inf
    row = Row(label, fit.verdict.word, alarm, float(seen.worst.max()) * RULE.factor, share, size)
    limits = held_out_limits(fit, GAIN, None, RULE.rest)
    torque = np.asarray(log.tau) * fit.pipeline.gains.values
    motion = HeldOutMotion(log.t, log.q, log.qd, torque, np.zeros((0, 0)))
    free = filtered(motion, GAIN, limits.differentiated)
    fits = half_fits(fit)
    parts = residual_streams(fit, GAIN, limits, fits)
    return row, Streams(
        robot=name.split("_")[0],
        names=fit.robot.joint_names,
        words=words,
        limits=limits,
        parts=parts,
        halves=half_streams(fit, parts, GAIN, limits, fits),
        live=part_residuals((predicting_terms(fit),), free, GAIN, limits),
    )


def needed(table: Judged, robots: list[str]) -> float:
    """Return the largest needed factor of some robots."""
    return max(factor for robot in robots for factor, _ in table[robot])


def share(table: Judged, robots: list[str]) -> float:
    """Return the mean monitored share of some robots."""
    return float(
        np.mean([np.mean([monitored for _, monitored in table[robot]]) for robot in robots])
    )


def judge_all(
    every: list[Streams], rules: tuple[CalibrationRule, ...]
) -> dict[CalibrationRule, Judged]:
    """Return needed factors and monitored shares of all fits by each rule."""
    tables: dict[CalibrationRule, Judged] = {rule: {} for rule in rules}
    for streams, rule in product(every, rules):
        tables[rule].setdefault(streams.robot, []).append(streams.judge(rule))
    return tables


def near_best(tables: dict[CalibrationRule, Judged], others: list[str]) -> list[CalibrationRule]:
    """Return the rules without a false alarm of other robots whose monitored share is nearly the
    best.
    """
    free = [rule for rule, table in tables.items() if needed(table, others) <= rule.factor]
    best = max(share(tables[rule], others) for rule in free)
    return [rule for rule in free if share(tables[rule], others) >= best - TOLERANCE]


def leave_one_out(every: list[Streams]) -> bool:
    """Print the constants that follow without each robot.

    Return whether one has a false alarm with them.
    """
    robots, alarm = sorted({streams.robot for streams in every}), False
    grid, tails = judge_all(every, GRID), dict[CalibrationRule, dict[CalibrationRule, Judged]]()
    print(
        "\n| left out | memory | slow | fewest | tail | its needed factor | its monitored share |"
    )
    print("|---|---|---|---|---|---|---|")
    for robot in robots:
        others = [other for other in robots if other != robot]
        first = max(
            near_best(grid, others), key=lambda rule: (rule.fewest, share(grid[rule], others))
        )
        if first not in tails:
            tails[first] = judge_all(every, tuple(replace(first, tail=tail) for tail in TAILS))
        table = tails[first]
        rule = min(near_best(table, others), key=lambda rule: rule.tail)
        result = f"{needed(table[rule], [robot]):.2f} | {share(table[rule], [robot]):.0%}"
        alarm |= needed(table[rule], [robot]) > rule.factor
        print(
            f"| {robot} | {rule.memory:g} | {rule.slow:g} | {rule.fewest} | {rule.tail:g} |"
            f" {result} |"
        )
    return alarm


def main(share: float = 0.5) -> int:
    """Print the tables of logs that are divided at a share."""
    alarms, every = 0, list[Streams]()
    print(
        "| log | verdict of the fit | false alarms | needed factor | monitored | detectable /"
        " largest torque |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        for name in ROBOTS:
            for case in cases(name, Path(folder), share):
                row, streams = measure(name, case)
                print(row, flush=True)
                alarms += row.alarm
                every.append(streams)
    return int(leave_one_out(every) or alarms > 0)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
