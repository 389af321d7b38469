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
        made = recording(cell, seed)
        return [Result(table, cell, seed, name, *measured(name, cell, made)) for name in names]


def measured(name: str, cell: Cell, made: Recording) -> tuple[float, float, str]:
    """Error, seconds of the processor and, where there is none, why."""
    given = (
        {"controller": made.controller} if hasattr(ESTIMATORS[name](False), "controller") else {}
    )
    start = process_time()
    try:
        fit = sy.identify(
            made.described, made.log, name, diagnose=False, **given, **FILTERS[cell.filter]
        )
    except SteelyardError as error:
        return float("inf"), process_time() - start, str(error)
    return made.error(fit), process_time() - start, ""
