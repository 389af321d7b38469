"""Ways to a readable closed form, timed.

SymPy's simplifiers on the traced equations, and the normal form that steelyard uses.

    python -m benchmarks.closed_form [--limit SECONDS]

Each way simplifies M, C, g and tau of an arm. Printed are seconds, operations left, and the entries
of M qdd + C qd + g - tau that the way does not reduce to zero. A way that takes longer than the
limit is stopped. docs/design/010 has the table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable
from queue import Empty
from time import perf_counter
from typing import Any

import sympy as sp
from sympy.simplify.fu import TR8, fu

import steelyard as sy
from steelyard.closed_form.build import NAMES, trace_equations
from steelyard.closed_form.normal_form import normal_forms, rational, shortest_form
from steelyard.compiler.render.sympy_expressions import expressions

ARMS = ("planar_2r", "planar_rp", "spatial_3r", "puma560, joints 1-3")
QUANTITIES = ("M", "C", "g", "tau")
Simplifier = Callable[[list[Any]], list[Any]]


def one_by_one(simplify: Callable[[Any], Any]) -> Simplifier:
    return lambda values: [simplify(x) for x in values]


WAYS: dict[str, Simplifier] = {
    "normal form": lambda values: [shortest_form(terms) for terms in normal_forms(values)],
    "expand": one_by_one(sp.expand),
    "expand, TR8, collect": one_by_one(lambda x: by_waves(sp.expand(TR8(sp.expand(x))))),
    "trigsimp": one_by_one(sp.trigsimp),
    "fu": one_by_one(lambda x: fu(sp.expand(x))),
    "simplify": one_by_one(sp.simplify),
}


def by_waves(x: Any) -> Any:
    return sp.collect(x, sorted(x.atoms(sp.sin, sp.cos), key=str), func=sp.factor_terms)


def traced(arm: str) -> tuple[dict[str, list[Any]], list[list[Any]]]:
    """The equations of an arm as the algorithms leave them, and the symbols of q, qd, qdd."""
    robot = sy.load(arm.split(",")[0])
    robot = (
        robot
        if robot.n <= 3
        else robot.without_friction().freeze(dict.fromkeys(robot.joint_names[3:], 0.0))
    )
    result = trace_equations(robot.tree, "symbolic", "symbolic")
    motion = [
        [sp.Symbol(f"{letter}_{i + 1}", real=True) for i in range(robot.n)]
        for letter in ("q", "qdot", "qddot")
    ]
    names = [
        [sp.Symbol(x.name, real=True) for x in group]
        for group in (result.parameters, result.lengths)
    ]
    return (
        dict(zip(NAMES, expressions(result.program, [*motion, *names], rational), strict=True)),
        motion,
    )


def measure(arm: str, method: str, answers: Any) -> None:
    """Put (seconds, operations, entries not reduced to zero) into the queue."""
    values, (q, qd, qdd) = traced(arm)
    n = len(q)
    start = perf_counter()
    results = {name: WAYS[method](values[name]) for name in QUANTITIES}
    taken = perf_counter() - start
    operations = sum(sp.count_ops(x) for name in QUANTITIES for x in results[name])
    M, C = (sp.Matrix(n, n, results[name]) for name in ("M", "C"))
    rest = list(
        M * sp.Matrix(qdd) + C * sp.Matrix(qd) + sp.Matrix(results["g"]) - sp.Matrix(results["tau"])
    )
    answers.put((f"{taken:.2f}", str(operations), str(sum(x != 0 for x in WAYS[method](rest)))))


def row(arm: str, method: str, limit: float) -> str:
    """One measurement in its own process."""
    answers: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=measure, args=(arm, method, answers))
    process.start()
    try:
        cells = answers.get(timeout=limit)
    except Empty:
        cells = f"> {limit:.0f}", "", ""
    process.kill()
    process.join()
    return f"| {' | '.join([arm, method, *cells])} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.closed_form", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds after which a way is stopped"
    )
    options = parser.parse_args()
    print("| arm | way | seconds | operations | not zero |\n|---|---|---|---|---|")
    for arm in ARMS:
        for method in WAYS:
            print(row(arm, method, options.limit), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
