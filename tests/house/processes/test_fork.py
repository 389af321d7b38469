"""Forked children identify, compile and compute for any threads and locks of their parent."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import modules, parse

forks = pytest.mark.skipif(
    not hasattr(os, "fork") or sys.platform == "darwin", reason="processes do not fork here"
)


def run(root: Path, folder: Path, script: str) -> None:
    """Run a script in its own process, with an empty kernel cache.

    Fail where it fails or hangs.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "STEELYARD_CACHE": str(folder),
        "OPENBLAS_NUM_THREADS": "1",
    }
    subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, str(folder)],
        env=environment,
        check=True,
        timeout=120,
    )


IDENTIFY = """
import multiprocessing
import numpy as np
import steelyard as sy

robot = sy.load("spatial_3r")
t = np.arange(400) / 100.0
angle = np.outer(t, [1.0, 1.7, 2.3])
q, qd = np.sin(angle), np.cos(angle) * [1.0, 1.7, 2.3]
qdd = -np.sin(angle) * np.square([1.0, 1.7, 2.3])
tau = robot.inverse_dynamics(q, qd, qdd)
log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot.joint_names)

def base_values(_):
    return sy.identify(robot, log, "ols", smoothing=None, delay=0.0, decimate=1).parameters

here = base_values(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    for there in pool.map_async(base_values, range(2)).get(timeout=60):
        np.testing.assert_allclose(there, here)
"""

COMPILE = """
import os, signal, threading, time
import numpy as np
import steelyard as sy

robot = sy.load("spatial_3r")
x = np.arange(3.0)
started = threading.Event()

def compile_without_end():
    for mass in range(1, 10_000):
        robot.with_payload(float(mass)).forward_dynamics_derivatives(x, x, x)
        started.set()

threading.Thread(target=compile_without_end, daemon=True).start()
started.wait()
for attempt in range(10):
    time.sleep(0.013 * attempt)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that hangs
        other = robot.with_gravity((0.0, 0.0, -1.0 - attempt))
        os._exit(0 if np.isfinite(other.inverse_dynamics(x, x, x)).all() else 1)
    assert os.waitpid(child, 0)[1] == 0, "a child hangs or fails"
os._exit(0)
"""

LOGS = """
import os, signal, sys
import numpy as np
import steelyard as sy
from steelyard.fork import threads_lost
from steelyard.signals import to_csv, to_parquet

q = np.random.default_rng(0).normal(size=(2000, 2))
log = sy.Log(t=np.arange(2000) / 100.0, q=q, tau=q)
table = to_csv(log, f"{sys.argv[1]}/log.csv")
to_parquet(log, f"{sys.argv[1]}/first.parquet")  # starts the threads of polars
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a child that hangs
    paths = (table, to_parquet(log, f"{sys.argv[1]}/log.parquet"))
    read = [sy.read_log(path, effort="torque") for path in paths]
    os._exit(0 if threads_lost("polars") and all(np.array_equal(each.q, q) for each in read) else 1)
assert os.waitpid(child, 0)[1] == 0, "a child hangs or fails"
assert not threads_lost("polars")
"""


@forks
def test_a_forked_child_identifies(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path, IDENTIFY)


@forks
def test_a_fork_while_another_thread_compiles(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path, COMPILE)


@forks
def test_a_forked_child_reads_and_writes_logs(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path, LOGS)


def test_no_property_is_cached_under_a_lock() -> None:
    """Before Python 3.12, functools.cached_property has a lock that a fork may inherit."""
    for name, path in modules().items():
        imports = [
            node
            for node in ast.walk(parse(path))
            if isinstance(node, ast.ImportFrom) and node.module == "functools"
        ]
        assert not any(
            alias.name == "cached_property" for node in imports for alias in node.names
        ), name
