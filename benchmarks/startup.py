"""How long the first answer takes.

Import, load, compile, and the same again from the disk cache, each in a fresh process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import ProblemError

SCRIPT = """
import json, sys
from time import perf_counter as now
start = now()
import steelyard as sy
sy.Robot  # brings everything that a robot needs
imported = now()
import numpy as np
robot = sy.load(sys.argv[1]).without_friction()
states = [np.zeros(robot.n)] * 3
loaded = now()
getattr(robot, sys.argv[2])(*states)
called = now()
print(json.dumps([imported - start, loaded - imported, called - loaded]))
"""


@dataclass(frozen=True, slots=True)
class Startup:
    """Return times [s]: import, loading the robot, first compiled call, first cached call."""

    robot: str
    quantity: str
    importing: float
    loading: float
    compiling: float
    cached: float


def measure_startup(robot: str, quantity: str = "inverse_dynamics", rounds: int = 2) -> Startup:
    """Best of some fresh processes.

    `robot` is a path or a built-in name; `quantity` a method of q, qd, qdd.
    """
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as cache:
            cold.append(_run(robot, quantity, cache))
            warm.append(_run(robot, quantity, cache))
    importing, loading, _ = (min(run[i] for run in cold + warm) for i in range(3))
    return Startup(
        Path(robot).stem,
        quantity,
        importing,
        loading,
        min(run[2] for run in cold),
        min(run[2] for run in warm),
    )


def _run(robot: str, quantity: str, cache: str) -> list[float]:
    environment = {
        **os.environ,
        "STEELYARD_CACHE": cache,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, robot, quantity],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        reason = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise ProblemError(f"the start-up of {robot} could not be measured: {reason}")
    seconds: list[float] = json.loads(run.stdout.splitlines()[-1])
    return seconds
