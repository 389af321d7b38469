"""False collisions in free motion of measured robots, and what the constants of the calibration rest on.

python -m benchmarks.collision_calibration     a table; exit code 1 if a robot has a false alarm

Each robot: fit of one half, free motion of the other half, both ways. The needed factor is the largest held-out
residual of the other half over that of the calibration. "From the others" is the rule that follows without
this robot: the smallest factor of 1.1, 1.2, ... 1.5 with which none of the other robots has a false alarm.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.experiments.online.collision_calibration import RULE
from tests.real.free_motion import ROBOTS, cases, observe

FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5)


@dataclass(frozen=True)
class Row:
    """A robot: fits, false alarms in seconds of free motion, needed factor, detectable share of the largest torque."""

    robot: str
    fits: int
    alarms: int
    seconds: float
    needed: tuple[float, ...]
    detectable: float


def measure(name: str, folder: Path) -> Row:
    """Fit and observe every case of a robot."""
    needed, alarms, seconds, shares, every = list[float](), 0, 0.0, list[float](), cases(name, folder)
    for case in every:
        fit = case.fit
        for log in case.free:
            seen = observe(fit, log)
            known = seen.observer.calibration
            assert known is not None
            needed.append(float(seen.worst.max() * RULE.factor))
            alarms += seen.observer.collision is not None
            seconds += seen.seconds
            shares.append(float(np.median(known.detectable / known.torque)))
    return Row(name, len(every), alarms, seconds, tuple(needed), float(np.median(shares)))


def chosen(rows: list[Row]) -> float:
    """The smallest factor with which none of these robots has a false alarm; the largest allowed, 1.5, if none is enough."""
    most = max(max(row.needed) for row in rows)
    return next((factor for factor in FACTORS if factor >= most), FACTORS[-1])


def main() -> int:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ROBOTS:
            rows.append(measure(name, Path(folder)))
            print(rows[-1], flush=True)
    print("| robot | fits | false alarms | free motion [s] | needed factor | from the others | detectable |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        others = chosen([other for other in rows if other is not row])
        share = f"{row.detectable:.0%} of the largest torque"
        print(f"| {row.robot} | {row.fits} | {row.alarms} | {row.seconds:.0f} | {max(row.needed):.2f} | {others} | {share} |")
    return int(any(row.alarms for row in rows))


if __name__ == "__main__":
    sys.exit(main())
