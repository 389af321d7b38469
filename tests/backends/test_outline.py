"""Long programs with their iterations outlined give the numbers of the whole, at every width.

Each shape is compiled once.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import steelyard as sy
from benchmarks.chains import chain
from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.render.llvm import module
from steelyard.compiler.render.llvm.outline import Outline, PlacedIteration, Writes, outline
from steelyard.compiler.render.llvm.split import RECOMPUTED, Part
from steelyard.compiler.render.llvm.transpose import pair_columns
from steelyard.kernels import program
from tests.interpret import run
from tests.renderings import hosts, ufunc_of
from tests.zoo import robot


def outlined(result: Program) -> Outline:
    return outline(
        result,
        module.PART,
        [(k, c) for k, o in enumerate(result.outputs) for c in pair_columns(o.size)],
    )


def states(result: Program, rng: np.random.Generator, count: int = 13) -> list[np.ndarray]:
    return [rng.normal(size=(count, *operand.shape)) for operand in result.inputs]


def expected(result: Program, state: list[np.ndarray]) -> list[np.ndarray]:
    """Every output, by running the program node by node on flat rows."""
    rows = [run(result, [x[i].ravel() for x in state]) for i in range(len(state[0]))]
    return [
        np.array([row[k] for row in rows], dtype=float).reshape(-1, *o.shape)
        for k, o in enumerate(result.outputs)
    ]


ALGORITHMS = [
    "christoffel",
    "regressor",
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
]


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("tree", ["puma560", "twins", "chain"])
def test_an_outline_is_the_whole(
    tree: str, name: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUDGET", 100)
    monkeypatch.setattr(module, "LONG", 100)
    scaled = program(
        ({"puma560": sy.load, "chain": lambda _: chain(7)}.get(tree, robot))(tree).tree, name
    )
    state = states(scaled, rng)
    result = ufunc_of(scaled, budget=None)(*state)
    for a, b in zip(
        result if isinstance(result, tuple) else [result], expected(scaled, state), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_every_width(host, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons across iterations, constants that differ, outputs of one column or a number."""
    monkeypatch.setattr(module, "BUDGET", 1)
    monkeypatch.setattr(module, "LONG", 1)

    def function(x, y):
        below = [a < b for a, b in zip(x, y, strict=True)]
        total, rows = 0.0, []
        for i, condition in enumerate(below):
            x[0].iteration()
            selected = x[0].where(condition, (0.5 + i) * x[i], y[i].sin())
            total = total + selected * selected
            rows.append([selected, selected * (1.5 + i) + total, 2.5])
        return rows, total

    result = trace(
        "choices",
        function,
        [Operand("x", (5,)), Operand("y", (5,))],
        [Operand("rows", (5, 3)), Operand("total", ())],
    )
    state = states(result, rng)
    for a, b in zip(ufunc_of(result, host, None)(*state), expected(result, state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_iterations_of_one_shape_are_one_function() -> None:
    scaled = program(chain(12).tree, "regressor")
    parts = outlined(scaled).parts
    shapes = Counter(part.iteration.key for part in parts if isinstance(part, PlacedIteration))
    assert min(shapes.values()) >= 2
    assert sum(
        len(part.iteration.steps) for part in parts if isinstance(part, PlacedIteration)
    ) > 4 * sum(len(key) for key in shapes)


def test_parts_hand_on_what_is_needed() -> None:
    """Every value is computed once with its arguments in place, every result written once."""
    scaled = program(sy.load("puma560").tree, "forward_dynamics_derivatives")
    plan = outlined(scaled)
    memory: dict[int, int] = {}
    computed, written = set(), []
    for part in plan.parts:
        if isinstance(part, Writes):
            for c, slots in zip(part.columns, part.slots, strict=True):
                written.append((part.k, c))
                for slot, result in zip(slots, scaled.results[part.k][c : c + 2], strict=True):
                    assert (
                        slot in plan.numbers.values()
                        if isinstance(result, float)
                        else memory[slot] == result.id
                    )
            continue
        iteration = part.iteration if isinstance(part, PlacedIteration) else None
        steps = iteration.steps if iteration else part.steps
        loaded = (
            dict(zip((a.id for a in iteration.outer), part.loads, strict=True))
            if iteration
            else part.loads
        )
        stores = (
            dict(zip((s.id for s in iteration.stored), part.stores, strict=True))
            if iteration
            else part.stores
        )
        known = {leaf.id for leaf in part.leaves} if isinstance(part, Part) else set()
        assert all(memory[slot] == value for value, slot in loaded.items())
        known |= set(loaded)
        for s in steps:
            assert s.id not in computed
            assert all(a.op in RECOMPUTED or a.id in known for a in s.args)
            known.add(s.id)
            computed.add(s.id)
        memory |= {slot: value for value, slot in stores.items()}
        assert not set(stores.values()) & set(loaded.values())
    assert computed == {s.id for s in scaled.steps if s.op not in (*RECOMPUTED, "input")}
    assert sorted(written) == [
        (k, c) for k, o in enumerate(scaled.outputs) for c in pair_columns(o.size)
    ]
