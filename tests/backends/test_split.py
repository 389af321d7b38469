"""Programs cut into parts give the numbers of the whole, however small the parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.ir.program import Program
from steelyard.compiler.render.llvm.module import render
from steelyard.compiler.render.llvm.split import RECOMPUTED, Part, slot_count, split_program
from steelyard.compiler.render.llvm.transpose import pair_columns
from steelyard.kernels import program
from tests.interpret import run
from tests.renderings import hosts, ufunc_of

ALGORITHMS = [
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "regressor",
    "kinetic_energy",
]


def inputs(result: Program, rng: np.random.Generator, count: int = 21) -> list[np.ndarray]:
    return [rng.normal(size=(count, *operand.shape)) for operand in result.inputs]


def parts(result: Program, budget: int) -> list[Part]:
    return split_program(
        result, budget, [(k, c) for k, o in enumerate(result.outputs) for c in pair_columns(o.size)]
    )


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("robot", ["puma560", "planar_rp"])
def test_parts_are_the_whole(robot: str, name: str, rng: np.random.Generator) -> None:
    scaled = program(sy.load(robot).tree, name)
    state = inputs(scaled, rng)
    whole = ufunc_of(scaled)(*state)
    for budget in (20, 150):
        assert len(parts(scaled, budget)) == -(
            -len([s for s in scaled.steps if s.op not in (*RECOMPUTED, "input")]) // budget
        )
        np.testing.assert_allclose(
            ufunc_of(scaled, budget=budget)(*state),
            whole,
            rtol=1e-11,
            atol=1e-12 * np.abs(whole).max(),
        )


@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_every_width(host, rng: np.random.Generator) -> None:
    scaled = program(sy.load("spatial_3r").tree, "forward_dynamics")
    state = inputs(scaled, rng)
    expected = [run(scaled, [x[i] for x in state])[0] for i in range(len(state[0]))]
    for budget in (12000, 20):
        np.testing.assert_allclose(ufunc_of(scaled, host, budget)(*state), expected, rtol=1e-10)


def test_parameters_and_wrenches_as_inputs(rng: np.random.Generator) -> None:
    scaled = program(sy.load("spatial_3r").tree, "inverse_dynamics", wrench=(), parameters=True)
    state = inputs(scaled, rng)
    np.testing.assert_allclose(
        ufunc_of(scaled, budget=25)(*state), ufunc_of(scaled)(*state), rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize("budget", [1, 7, 40])
def test_parts_hand_on_what_is_needed(budget: int) -> None:
    """Every value is computed once with its arguments loaded, and no slot is reused too early."""
    scaled = program(sy.load("spatial_3r").tree, "forward_dynamics")
    memory: dict[int, int] = {}
    computed: set[int] = set()
    for part in parts(scaled, budget):
        known = {leaf.id for leaf in part.leaves}
        for value, slot in part.loads.items():
            assert memory[slot] == value, "a slot holds the value that is expected there"
            known.add(value)
        for s in part.steps:
            assert s.id not in computed
            assert all(a.op in RECOMPUTED or a.id in known for a in s.args)
            known.add(s.id)
            computed.add(s.id)
        for value, slot in part.stores.items():
            assert value in known
            memory[slot] = value
    assert computed == {s.id for s in scaled.steps if s.op not in (*RECOMPUTED, "input")}


def test_inputs_are_read_before_anything_is_written() -> None:
    scaled = program(sy.load("puma560").tree, "inverse_dynamics")
    first, *others = parts(scaled, 20)
    assert {leaf.id for leaf in first.leaves} == {s.id for s in scaled.steps if s.op == "input"}
    assert not any(part.leaves for part in others)


def test_slots_are_used_again() -> None:
    scaled = program(sy.load("puma560").tree, "forward_dynamics")
    cuts = parts(scaled, 20)
    handed_on = sum(len(part.stores) for part in cuts)
    assert slot_count(cuts) < handed_on / 2


def test_every_result_is_written_once() -> None:
    scaled = program(sy.load("puma560").tree, "regressor")
    written = [write for part in parts(scaled, 50) for write in part.writes]
    assert sorted(written) == [(0, c) for c in pair_columns(scaled.outputs[0].size)]


def test_a_humanoid_is_split(example_robots: Path, rng: np.random.Generator) -> None:
    robot = sy.load(example_robots / "talos_data" / "robots" / "talos_reduced.urdf")
    scaled = program(robot.tree, "inverse_dynamics")
    assert robot.n == 32
    q, qd, qdd = state = inputs(scaled, rng, 9)
    expected = [run(scaled, [x[i] for x in state])[0] for i in range(9)]
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), expected, rtol=1e-9, atol=1e-9)
    in_parts = ufunc_of(scaled, budget=1000)
    np.testing.assert_allclose(in_parts(q, qd, qdd), expected, rtol=1e-9, atol=1e-9)
    in_place = qdd.copy()
    in_parts(q, qd, in_place, out=in_place)
    np.testing.assert_array_equal(in_place, in_parts(q, qd, qdd))


def test_what_is_too_long_for_one_function_is_split() -> None:
    scaled = program(sy.load("puma560").tree, "forward_dynamics")
    assert render(scaled, 8, True).count("define internal void @part") == 1
    assert (
        render(scaled, 8, True, budget=100).count("define internal void @part")
        == len(parts(scaled, 100))
        > 4
    )
