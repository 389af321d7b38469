"""Measured, never a timed test.

How soon the page paints, and how many frames a second it draws while a log plays.

`python -m benchmarks.page` prints a table; it needs a Chromium (`apt-get install chromium`) and
draws with WebGL in software.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import steelyard as sy
from steelyard.signals.write import to_csv
from tests.page.browser import ABSENT, CHROMIUM, LOOKS, Hand, Look, browser
from tests.page.served import Served, served

ROBOTS = ("planar_2r", "puma560", "elbow_6r")
ROUNDS, SECONDS = 5, 4.0
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def first_paint(chromium: Any, page: Served, look: Look) -> tuple[float, float]:
    """Return when a new window first paints, and when its robot is drawn [s]."""
    began = time.perf_counter()
    hand = Hand.at(chromium, page.url, look)
    hand.wait(".view[data-built]")
    drawn = time.perf_counter() - began
    paint = hand.page.evaluate(PAINT) / 1000
    hand.page.context.close()
    return paint, drawn


def frames_per_second(chromium: Any, page: Served, look: Look) -> float:
    """Return how many frames are drawn in a second while the log plays, its channels beside it."""
    hand = Hand.at(chromium, page.url, look)
    hand.wait(".view[data-built]")
    hand.tab("log")
    hand.wait(".timed .js-plotly-plot .trace")
    counted = "[...steelyard.stages.values()][0].view.renderer.info.render.frame"
    hand.page.evaluate("steelyard.play()")
    time.sleep(0.5)
    before, began = hand.page.evaluate(counted), time.perf_counter()
    time.sleep(SECONDS)
    result = (hand.page.evaluate(counted) - before) / (time.perf_counter() - began)
    hand.page.context.close()
    return float(result)


def main() -> None:
    """Print first paint, time until the robot is drawn, and frame rate, at both widths."""
    if CHROMIUM is None:
        print(ABSENT)
        return
    print(
        "| robot | window | first paint [s] | robot drawn [s] | frames a second while a log plays"
        " |\n|---|---|---|---|---|"
    )
    for name in ROBOTS:
        with tempfile.TemporaryDirectory() as path, browser() as chromium:
            robot = sy.load(name)
            to_csv(
                sy.record(robot, sy.excite(robot, seconds=10, starts=1), 200.0, 1),
                Path(path) / "log.csv",
            )
            with served(name, "log.csv", folder=Path(path)) as page:
                for look in (LOOKS[0], LOOKS[3]):
                    times = [first_paint(chromium, page, look) for _ in range(ROUNDS)]
                    paint, drawn = (
                        statistics.median(column) for column in zip(*times, strict=True)
                    )
                    print(
                        f"| {name} | {look.name} | {paint:.2f} | {drawn:.2f} |"
                        f" {frames_per_second(chromium, page, look):.0f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
