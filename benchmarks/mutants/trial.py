"""A trial: a planted bug in a clone without measured logs, and the tests that run its line."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.mutants.mutations import Mutation

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    ".ci",
    "src",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "scripts",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
)
KEYS = "src/steelyard/compiler/"
"""A bug here may put wrong kernels into the cache: such a trial has its own cache."""


@dataclass(frozen=True)
class Outcome:
    """What became of a planted bug.

    `killed` by a test, `survived` all of them, `timeout`, or `uncovered` by any.
    """

    name: str
    word: str
    tests: int
    seconds: float
    by: str = ""


def plain_clone(folder: Path) -> Path:
    """A copy of what a clone has, without anything beside it."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(
                source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
            )
        elif source.is_file():
            shutil.copy2(source, folder / part)
    return folder


def environment(clone: Path, cache: Path) -> dict[str, str]:
    """The variables of a trial.

    Sources of the clone, one core, a cache of kernels that no other run shares.
    """
    changed = {
        "PYTHONPATH": f"{clone / 'src'}{os.pathsep}{clone}",
        "STEELYARD_TEST_CACHE": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return {**os.environ, **changed}


def tried(mutation: Mutation, clone: Path, cache: Path, tests: list[str], limit: float) -> Outcome:
    """Plant a bug into a clone, run tests on one core, and put the file right again."""
    if not tests:
        return Outcome(mutation.name, "uncovered", 0, 0.0)
    file, start = clone / mutation.path, perf_counter()
    source = file.read_text(encoding="utf-8")
    own = clone / "own-cache" if mutation.path.startswith(KEYS) else cache
    file.write_text(mutation.into(source), encoding="utf-8")
    try:
        word, message = run(tests, clone, environment(clone, own), limit)
    finally:
        file.write_text(source, encoding="utf-8")
        shutil.rmtree(clone / "own-cache", ignore_errors=True)
    return Outcome(mutation.name, word, len(tests), perf_counter() - start, message)


def run(tests: list[str], clone: Path, variables: dict[str, str], limit: float) -> tuple[str, str]:
    """Run tests until one fails: the outcome, and the test that failed.

    A bug that makes them run on and on is noticed too.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "--no-header",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    process = subprocess.Popen(
        command,
        cwd=clone,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "timeout", ""
    failed = next((line for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    return (
        ("survived", "")
        if process.returncode == 0
        else ("killed", failed[:160] or out[-160:].strip())
    )
