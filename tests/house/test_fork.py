"""Forked children: they identify, compile and compute whatever threads and locks their parent had."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import modules, parse

forks = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="processes do not fork here")


def run(root: Path, folder: Path, script: str) -> None:
    """Run a script in a process of its own, with an empty kernel cache; fail where it fails or hangs."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "STEELYARD_CACHE": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], env=environment, check=True, timeout=120)


IDENTIFY = """
import multiprocessing
import numpy as np
import steelyard as sy

robot = sy.load("spatial_3r")
t = np.arange(400) / 100.0
angle = np.outer(t, [1.0, 1.7, 2.3])
q, qd, qdd = np.sin(angle), np.cos(angle) * [1.0, 1.7, 2.3], -np.sin(angle) * np.square([1.0, 1.7, 2.3])
log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=robot.inverse_dynamics(q, qd, qdd), joint_names=robot.joint_names)

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


@forks
def test_a_forked_child_identifies(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path, IDENTIFY)


@forks
def test_a_fork_while_another_thread_compiles(root: Path, tmp_path: Path) -> None:
    run(root, tmp_path, COMPILE)


def test_no_property_is_cached_under_a_lock() -> None:
    """Before Python 3.12 the cached property of functools computes under a lock that a forked child would find held."""
    for name, path in modules().items():
        imports = [node for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom) and node.module == "functools"]
        assert not any(alias.name == "cached_property" for node in imports for alias in node.names), name


# what holds a lock or threads for as long as the process lives ---------------------------------------------------------------------------

HOLDERS = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier", "Event", "Thread", "Timer", "SimpleQueue", "Queue"}
HOLDERS |= {"ThreadPoolExecutor", "ProcessPoolExecutor", "ThreadPool", "Pool"}
REGISTERED = {"once_per_process", "fork_waits_for"}


def called(node: ast.expr) -> str:
    """The last name of what is called: 'RLock' of threading.RLock()."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def unregistered(node: ast.AST, local: bool = False) -> Iterator[int]:
    """Lines that make a lock or a pool which lives on: at module level, in a class, or in a function that keeps its value.

    In a function's `with` statement they end with it.
    """
    if isinstance(node, ast.Call) and called(node.func) in REGISTERED:
        return
    if isinstance(node, ast.FunctionDef) and any(called(d) in REGISTERED for d in node.decorator_list):
        return
    if isinstance(node, ast.With) and local:
        for part in node.body:
            yield from unregistered(part, local)
        return
    if isinstance(node, ast.Call) and called(node.func) in HOLDERS:
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from unregistered(child, local or isinstance(node, ast.FunctionDef))


def test_every_lock_and_pool_is_registered() -> None:
    found = {f"{name}:{line}" for name, path in modules().items() for line in unregistered(parse(path))}
    assert not found, f"make these by once_per_process or fork_waits_for of fork.py: {sorted(found)}"


PLANTED = {
    "lock = RLock()": 1,
    "pool = ThreadPoolExecutor(2)": 1,
    "class A:\n    def __init__(self):\n        self.lock = threading.Lock()": 3,
    "@cache\ndef pool():\n    return ThreadPoolExecutor(2)": 3,
    "@once_per_process\ndef pool():\n    return ThreadPoolExecutor(2)": None,
    "lock = once_per_process(RLock)": None,
    "lock = fork_waits_for(RLock())": None,
    "def run():\n    with ThreadPoolExecutor(2) as pool:\n        return pool.map(f, x)": None,
    "with RLock() as lock:\n    pass": 1,
}


@pytest.mark.parametrize("text", PLANTED)
def test_the_search_finds_them(text: str) -> None:
    assert next(unregistered(ast.parse(text)), None) == PLANTED[text]
