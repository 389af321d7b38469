"""Every estimator in a cell of the comparison."""

from __future__ import annotations

import warnings
from time import process_time

import steelyard as sy
from benchmarks.estimators.cells import FILTERS, Cell, Recording, recording
from benchmarks.estimators.page import Result
from steelyard.errors import SteelyardError
from steelyard.identification import ESTIMATORS

Job = tuple[str, Cell, int, tuple[str, ...]]
"""Table, cell, seed and the names of the estimators."""


def measure(job: Job) -> list[Result]:
    """All estimators in a cell."""
    table, cell, seed, names = job
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        result = recording(cell, seed)
        return [Result(table, cell, seed, name, *measured(name, cell, result)) for name in names]


def measured(name: str, cell: Cell, result: Recording) -> tuple[float, float, str]:
    """Error, seconds of the processor and, where there is none, why."""
    argument = (
        {"controller": result.controller} if hasattr(ESTIMATORS[name](False), "controller") else {}
    )
    start = process_time()
    try:
        fit = sy.identify(
            result.described, result.log, name, diagnose=False, **argument, **FILTERS[cell.filter]
        )
    except SteelyardError as error:
        return float("inf"), process_time() - start, str(error)
    return result.error(fit), process_time() - start, ""
