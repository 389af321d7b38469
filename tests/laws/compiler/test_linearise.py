"""Linearised programs: the tangent is the complex step, the pullback is its transpose, and both can
be linearised again.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.compiler.ir.linearise import pullback, tangent
from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.kernels import program
from tests import zoo
from tests.interpret import run

STEP = 1e-200


def flat(results) -> np.ndarray:
    return np.array([x for result in results for x in result])


def values(result: Program, rng: np.random.Generator) -> list[np.ndarray]:
    return [
        rng.uniform(0.3, 1.2, operand.size) * rng.choice([-1.0, 1.0], operand.size)
        for operand in result.inputs
    ]


@pytest.mark.parametrize("parameters", [False, True])
@pytest.mark.parametrize("name", zoo.ZOO)
def test_a_tangent_is_the_complex_step_and_a_pullback_its_transpose(
    name: str, parameters: bool, rng: np.random.Generator
) -> None:
    scaled = program(zoo.robot(name).tree, "inverse_dynamics", parameters=parameters)
    x = values(scaled, rng)
    wrt = (0, 1, 2, 3) if parameters else (0, 2)
    rates = [rng.normal(size=len(x[k])) for k in wrt]
    stepped = [np.array(v, complex) for v in x]
    for k, rate in zip(wrt, rates, strict=True):
        stepped[k] = x[k] + 1j * STEP * rate
    expected = np.imag(flat(run(scaled, stepped, number=np.complex128))) / STEP
    forward = flat(run(tangent(scaled, wrt), [*x, *rates]))
    np.testing.assert_allclose(forward, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    adjoint = rng.normal(size=len(expected))
    back = run(pullback(scaled, wrt), [*x, adjoint])
    assert sum(np.dot(a, b) for a, b in zip(back, rates, strict=True)) == pytest.approx(
        adjoint @ expected, rel=1e-11
    )


def test_second_derivatives_do_not_depend_on_the_order_of_the_sweeps(
    rng: np.random.Generator,
) -> None:
    """u^T H v by a tangent of the pullback, by a pullback of the tangent, and by two tangents."""
    scaled = program(zoo.robot("torso").tree, "kinetic_energy")
    x, u, v = values(scaled, rng), rng.normal(size=6), rng.normal(size=6)
    forward_over_reverse = flat(run(tangent(pullback(scaled, (0,)), (0,)), [*x, [1.0], v])) @ u
    reverse_over_forward = flat(run(pullback(tangent(scaled, (0,)), (0,)), [*x, v, [1.0]])) @ u
    twice_forward = flat(run(tangent(tangent(scaled, (0,)), (0,)), [*x, v, u]))[0]
    assert forward_over_reverse == pytest.approx(reverse_over_forward, rel=1e-11)
    assert forward_over_reverse == pytest.approx(twice_forward, rel=1e-11)


def test_several_outputs_and_constant_ones() -> None:
    result = trace(
        "two",
        lambda x, y: ([x[0] * y, 3.0], x[1]),
        [Operand("x", (2,)), Operand("y", ())],
        [Operand("a", (2,)), Operand("b", ())],
    )
    forward = tangent(result, (0, 1))
    assert [o.name for o in forward.inputs] == ["x", "y", "x_dot", "y_dot"]
    assert [o.name for o in forward.outputs] == ["a_dot", "b_dot"]
    assert run(forward, [[2.0, 5.0], [7.0], [1.0, 10.0], [100.0]]) == [[207.0, 0.0], [10.0]]
    back = pullback(result, (0,))
    assert [o.name for o in back.inputs] == ["x", "y", "a_bar", "b_bar"]
    assert [o.name for o in back.outputs] == ["x_bar"]
    assert run(back, [[2.0, 5.0], [7.0], [1.0, 10.0], [100.0]]) == [[7.0, 100.0]]


def test_what_is_constant_has_no_rate() -> None:
    result = trace("fixed", lambda x: [4.0, 5.0], [Operand("x", (3,))], [Operand("y", (2,))])
    assert run(tangent(result, (0,)), [[1.0] * 3, [1.0] * 3]) == [[0.0, 0.0]]
    assert run(pullback(result, (0,)), [[1.0] * 3, [1.0] * 2]) == [[0.0, 0.0, 0.0]]
