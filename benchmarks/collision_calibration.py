"""False collisions in free motion of measured robots, and the choice of the constants of the calibration.

python -m benchmarks.collision_calibration     two tables; exit code 1 if a robot has a false alarm

Each log: fit of one half, free motion of the other half, both ways; of the KUKA also run A against run B. The needed
factor is the largest residual of monitored samples over the largest held-out residual of its joint and state.

Leave one robot out: of the settings GRID with which no other robot has a false alarm, those whose monitored share is
within TOLERANCE of the best; of these the most visits, then the largest share. Residuals are computed once;
`factor` is the bound 1.5, and `rest` is a dead band of the velocity in the residual itself.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from steelyard.experiments.online.collision_calibration import (
    RULE,
    TRUSTED,
    CalibrationRule,
    MonitoredThreshold,
    calibration_of,
    joint_words,
)
from steelyard.experiments.online.collision_observer import WARM
from steelyard.experiments.online.held_out_residuals import (
    MotionLimits,
    ResidualStream,
    filtered,
    motion_limits,
    part_residuals,
    residual_streams,
)
from steelyard.identification.result.held_out_motion import HeldOutMotion
from tests.real.free_motion import ROBOTS, Case, cases, observe

GAIN = 100.0  # [1/s]
MEMORY, SLOW, FEWEST = (3.0, 5.0, 10.0), (0.05, 0.1, 0.2), (2, 3, 4, 5, 6)
GRID = tuple(CalibrationRule(memory=m, slow=s, fewest=f) for m, s, f in product(MEMORY, SLOW, FEWEST))
TOLERANCE = 0.03  # of the monitored share


@dataclass(frozen=True, eq=False)
class Streams:
    """Residuals of a fit that do not depend on the rule: held-out parts, and free motion of the other half."""

    robot: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    limits: MotionLimits
    parts: tuple[ResidualStream, ...]
    live: ResidualStream

    def judge(self, rule: CalibrationRule) -> tuple[float, float]:
        """Return the needed factor and the monitored share by a rule."""
        known = calibration_of(self.parts, self.names, self.words, self.limits, GAIN, rule)
        live = self.live
        limit = MonitoredThreshold(known, self.limits, GAIN, rule).update(live.q, live.qd, live.torque, live.spread, live.dt)
        limit[:WARM] = np.inf
        return float(rule.factor * np.max(live.residual / limit)), float(np.mean(np.isfinite(limit)))


@dataclass(frozen=True)
class Row:
    """A fit: verdict, false alarms, needed factor, monitored share, detectable over largest torque (median of joints)."""

    label: str
    verdict: str
    alarm: bool
    needed: float
    share: float
    detectable: float

    def __str__(self) -> str:
        if not self.share:
            return f"| {self.label} | {self.verdict} | not monitored | – | 0 % | – |"
        return f"| {self.label} | {self.verdict} | {int(self.alarm)} | {self.needed:.2f} | {self.share:.0%} | {self.detectable:.0%} |"


def measure(name: str, case: Case) -> tuple[Row, Streams | None]:
    """Fit one case, observe its free motion, and return its residuals if it is monitored."""
    fit, label = case.fit, case.label
    words = joint_words(fit)
    if not any(word in TRUSTED for word in words):
        return Row(label, fit.verdict.word, False, 0.0, 0.0, np.inf), None
    log = case.free[0].reordered(fit.robot)
    seen = observe(fit, log)
    known = seen.observer.calibration
    assert known is not None
    share = float(seen.observer.monitored_share.mean())
    alarm = seen.observer.collision is not None
    size = float(np.median(known.detectable / known.torque))
    row = Row(label, fit.verdict.word, alarm, float(seen.worst.max()) * RULE.factor, share, size)
    limits = motion_limits(fit, GAIN, None, RULE.rest)
    torque = np.asarray(log.tau) * fit.pipeline.gains.values
    motion = HeldOutMotion(log.t, log.q, log.qd, torque, np.zeros((0, 0)))
    live = part_residuals(fit, (None,), filtered(motion, GAIN, limits.differentiated), GAIN, limits)
    robot = name.split("_")[0]
    return row, Streams(robot, fit.robot.joint_names, words, limits, residual_streams(fit, GAIN, limits), live)


def needed(table: dict[str, list[tuple[float, float]]], robots: list[str]) -> float:
    """Return the largest needed factor of some robots."""
    return max(factor for robot in robots for factor, _ in table[robot])


def share(table: dict[str, list[tuple[float, float]]], robots: list[str]) -> float:
    """Return the mean monitored share of some robots."""
    return float(np.mean([np.mean([monitored for _, monitored in table[robot]]) for robot in robots]))


def leave_one_out(every: list[Streams]) -> None:
    """Print the constants that follow without each robot, and what they give for it."""
    robots = sorted({streams.robot for streams in every})
    tables = []
    for rule in GRID:
        table: dict[str, list[tuple[float, float]]] = {robot: [] for robot in robots}
        for streams in every:
            table[streams.robot].append(streams.judge(rule))
        tables.append((rule, table))
    print("\n| left out | memory | slow | fewest | its needed factor | its monitored share |\n|---|---|---|---|---|---|")
    for robot in robots:
        others = [other for other in robots if other != robot]
        free = [(rule, table) for rule, table in tables if needed(table, others) <= rule.factor]
        best = max(share(table, others) for _, table in free)
        near = [(rule, table) for rule, table in free if share(table, others) >= best - TOLERANCE]
        rule, table = max(near, key=lambda row: (row[0].fewest, share(row[1], others)))
        result = f"{needed(table, [robot]):.2f} | {share(table, [robot]):.0%}"
        print(f"| {robot} | {rule.memory:g} | {rule.slow:g} | {rule.fewest} | {result} |")


def main() -> int:
    """Print the tables."""
    alarms, every = 0, list[Streams]()
    print("| log | verdict of the fit | false alarms | needed factor | monitored | detectable / largest torque |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in ROBOTS:
            for case in cases(name, Path(folder)):
                row, streams = measure(name, case)
                print(row, flush=True)
                alarms += row.alarm
                every += [streams] if streams is not None else []
    leave_one_out(every)
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
