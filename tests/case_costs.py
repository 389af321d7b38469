"""Which cases of costly tests the test command runs.

A test function whose cases together take more processor time than BUDGET runs as many of them as
fit into it, at least one. They are drawn by a hash of their names, so that every law keeps robots
of all kinds and every robot keeps laws of all kinds. A run that names files or tests runs all of
their cases, and so does `pytest --thorough`. `pytest --thorough --measure-costs` measures the
times; a case without a measured time always runs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COSTS = Path(__file__).parent / "case_costs.json"
BUDGET = 0.5  # [s] of processor time, of one test function
CHOSEN = "STEELYARD_TEST_CASES"  # set where only some cases run; the workers inherit it
MEASURED = "STEELYARD_TEST_COSTS"  # folder to which the workers write times


def configure(config: pytest.Config) -> None:
    """Decide, before workers start, whether all cases run, and whether times are measured."""
    if hasattr(config, "workerinput"):
        return
    os.environ.pop(CHOSEN, None)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if whole and not config.getoption("--thorough"):
        os.environ[CHOSEN] = "some"
    os.environ.pop(MEASURED, None)
    if config.getoption("--measure-costs"):
        folder = config.rootpath / "build" / "case_costs"
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.jsonl"):
            path.unlink()
        os.environ[MEASURED] = str(folder)


def function_of(name: str) -> str:
    """Return the test function of a case: its name without the parameters."""
    return name.partition("[")[0]


def drawn(cases: dict[str, float], budget: float = BUDGET) -> set[str]:
    """Return the cases to run: in the order of their hashes, until the budget is spent.

    Parameters
    ----------
    cases : processor time [s] by name
    budget : processor time [s] of all of them
    """
    order = sorted(cases, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    chosen: set[str] = set()
    spent = 0.0
    for name in order:
        if not chosen or spent + cases[name] <= budget:
            chosen.add(name)
            spent += cases[name]
    return chosen


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the cases of costly tests beyond the budget, where only some run."""
    if CHOSEN not in os.environ or not COSTS.is_file():
        return
    costs: dict[str, dict[str, float]] = json.loads(COSTS.read_text(encoding="utf-8"))
    chosen = {function: drawn(cases) for function, cases in costs.items()}
    selected, deselected = [], []
    for item in items:
        function = function_of(item.nodeid)
        known = item.nodeid in costs.get(function, {})
        runs = not known or item.nodeid in chosen[function]
        (selected if runs else deselected).append(item)
    items[:] = selected
    config.hook.pytest_deselected(items=deselected)


def processor_time() -> float:
    """Return the processor time of this process and of those it waited for [s]."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def measured(item: pytest.Item) -> Iterator[None]:
    """Write the processor time of a test to the folder of the run, if it is measured."""
    began = processor_time()
    yield
    if MEASURED in os.environ:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        with open(Path(os.environ[MEASURED]) / f"{worker}.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, processor_time() - began]) + "\n")


def write(config: pytest.Config) -> None:
    """Write the times of functions over the budget, at the end of a run that measured them."""
    if hasattr(config, "workerinput") or MEASURED not in os.environ:
        return
    folder = Path(os.environ[MEASURED])
    rows = [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    write_costs({name: float(seconds) for name, seconds in rows})


def write_costs(seconds: dict[str, float]) -> None:
    """Write the times of all functions of several cases that take more than the budget."""
    functions: dict[str, dict[str, float]] = defaultdict(dict)
    for name in sorted(seconds):
        functions[function_of(name)][name] = round(seconds[name], 2)
    costly = {
        function: cases
        for function, cases in functions.items()
        if len(cases) > 1 and sum(cases.values()) > BUDGET
    }
    COSTS.write_text(json.dumps(costly, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
