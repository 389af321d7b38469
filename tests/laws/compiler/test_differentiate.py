"""Derivatives on the graph.

Forward equals reverse, equals the complex step and 50 digits; exact on known functions and on a
robot.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp, mpf

from steelyard.algebra.scalar import atan2, where
from steelyard.compiler.ir.differentiate import derivative, gradient, graph_jacobian
from steelyard.compiler.ir.graph import Expr, Graph
from steelyard.compiler.ir.operations import OPERATIONS
from steelyard.compiler.ir.program import Operand, Program, program
from steelyard.dynamics.gravity import gravity_torque, potential_energy
from steelyard.dynamics.rnea import rnea
from tests.expressions import LEAVES, VALUES, Rounded, build, lift, trees
from tests.interpret import ON_NUMPY, run
from tests.random_robots import random_tree

ON_MPMATH = {
    **ON_NUMPY,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "abs": abs,
    "sign": mp.sign,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan2": mp.atan2,
    **{name: getattr(mp, name) for name in ("sin", "cos", "sqrt", "exp", "tanh")},
}
STEP = 1e-200


def programs(tree) -> tuple[Program, Program, Program]:
    """The value, its gradient by reverse sweep, its gradient by forward sweeps."""
    graph = Graph()
    x = graph.inputs(LEAVES)[0]
    value = build(tree, x)
    inputs, vector = [Operand("x", (LEAVES,))], [Operand("g", (LEAVES,))]
    plain = program("f", graph, inputs, [Operand("z", ())], [value])
    return (
        plain,
        program("r", graph, inputs, vector, [gradient(value, x)]),
        program("f", graph, inputs, vector, [graph_jacobian([value], x)[0]]),
    )


def complex_step(plain: Program, values) -> list[float]:
    """Lyness and Moler 1967: no subtraction, so no cancellation."""
    result = []
    for k in range(LEAVES):
        stepped = [np.complex128(complex(v, STEP if i == k else 0.0)) for i, v in enumerate(values)]
        result.append(float(np.imag(run(plain, [stepped], number=np.complex128)[0][0])) / STEP)
    return result


@given(tree=trees(), values=st.tuples(*[VALUES] * LEAVES))
def test_forward_is_reverse_is_the_complex_step(tree, values) -> None:
    plain, reverse, forward = programs(tree)
    assume(off_kinks(tree, values))
    by_reverse, by_forward = (
        run(p, [list(map(np.float64, values))])[0] for p in (reverse, forward)
    )
    size = scale(reverse, values) + scale(forward, values)
    assume(math.isfinite(size))
    np.testing.assert_allclose(by_reverse, by_forward, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(by_forward, complex_step(plain, values), rtol=0, atol=1e-11 * size)


@given(tree=trees(kinks=False), values=st.tuples(*[st.floats(-3, 3)] * LEAVES))
def test_fifty_digits(tree, values) -> None:
    """The derivative's own program, run with 50 digits, against a central difference of the value
    with 150.
    """
    plain, reverse, _ = programs(tree)
    with mp.workdps(50):
        exact = run(reverse, [[mpf(v) for v in values]], ON_MPMATH, mpf)[0]
    with mp.workdps(150):
        h = mpf(10) ** -40
        for k in range(LEAVES):
            ends = [
                run(
                    plain,
                    [[mpf(v) + side * h * (i == k) for i, v in enumerate(values)]],
                    ON_MPMATH,
                    mpf,
                )[0][0]
                for side in (1, -1)
            ]
            difference = (ends[0] - ends[1]) / (2 * h)
            # the rule sin(x + pi/2) = cos(x) takes the rounded constant for the exact one: 1e-16,
            # not 1e-50, is what rewrites promise
            assert abs(exact[k] - difference) <= 1e-12 * (1 + abs(difference)), (
                k,
                exact[k],
                difference,
            )


def off_kinks(tree, values) -> bool:
    bound = lift(build(tree, [Rounded(v, 1e-9) for v in values]))
    return math.isfinite(bound.error) and bound.error < 1.0


def scale(outcome: Program, values) -> float:
    """The largest number that appears on the way: what rounding is relative to."""
    seen = [1.0]

    def watched(function):
        def call(*args):
            result = function(*args)
            seen.append(abs(float(result)))
            return result

        return call

    with np.errstate(all="ignore"):
        run(
            outcome, [list(map(np.float64, values))], {op: watched(f) for op, f in ON_NUMPY.items()}
        )
    return max(seen) ** 2


KNOWN = {
    "x y": (lambda x, y: x * y, lambda x, y: (y, x)),
    "x / y": (lambda x, y: x / y, lambda x, y: (1 / y, -x / y**2)),
    "sqrt": (
        lambda x, y: (x * x + y).sqrt(),
        lambda x, y: (x / math.sqrt(x * x + y), 0.5 / math.sqrt(x * x + y)),
    ),
    "exp": (lambda x, y: (x * y).exp(), lambda x, y: (y * math.exp(x * y), x * math.exp(x * y))),
    "tanh": (
        lambda x, y: (x / y).tanh(),
        lambda x, y: ((1 - math.tanh(x / y) ** 2) / y, -(1 - math.tanh(x / y) ** 2) * x / y**2),
    ),
    "sin and cos": (lambda x, y: x.sin() + y.cos(), lambda x, y: (math.cos(x), -math.sin(y))),
    "asin": (
        lambda x, y: (x / 3.0).asin() * y,
        lambda x, y: (y / math.sqrt(9 - x * x), math.asin(x / 3)),
    ),
    "acos": (
        lambda x, y: (x / 3.0).acos() * y,
        lambda x, y: (-y / math.sqrt(9 - x * x), math.acos(x / 3)),
    ),
    "atan2": (lambda x, y: atan2(x, y), lambda x, y: (y / (x * x + y * y), -x / (x * x + y * y))),
    "atan2 of a number": (
        lambda x, y: atan2(1.0, x) + atan2(y, -2.0),
        lambda x, y: (-1 / (x * x + 1), -2 / (y * y + 4)),
    ),
    "neg": (lambda x, y: -(x.exp() * y), lambda x, y: (-math.exp(x) * y, -math.exp(x))),
    "where, or equal": (
        lambda x, y: where(x <= y, x, y * y),
        lambda x, y: (1.0, 0.0) if x <= y else (0.0, 2 * y),
    ),
    "abs": (
        lambda x, y: abs(x - y),
        lambda x, y: (math.copysign(1, x - y), -math.copysign(1, x - y)),
    ),
    "sign": (lambda x, y: x * y.sign(), lambda x, y: (math.copysign(1, y), 0.0)),
    "where": (
        lambda x, y: where(x < y, x * x, y * y * y),
        lambda x, y: (2 * x, 0.0) if x < y else (0.0, 3 * y * y),
    ),
    "a constant": (lambda x, y: 3.0, lambda x, y: (0.0, 0.0)),
    "an input": (lambda x, y: y, lambda x, y: (0.0, 1.0)),
    "the same twice": (
        lambda x, y: x.sin() * x.sin(),
        lambda x, y: (2 * math.sin(x) * math.cos(x), 0.0),
    ),
}


def test_every_operation_is_differentiated() -> None:
    graph = Graph()
    for function, _ in KNOWN.values():
        function(*graph.inputs(2)[0])
    assert {node.op for node in graph.nodes} - {"input", "const"} == set(OPERATIONS)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("at", [(0.7, 1.9), (2.5, 0.4)])
def test_known_derivatives(name: str, at: tuple[float, float]) -> None:
    function, exact = KNOWN[name]
    graph = Graph()
    x = graph.inputs(2)[0]
    value = function(*x)
    scaled = program(
        "d",
        graph,
        [Operand("x", (2,))],
        [Operand("r", (2,)), Operand("f", (2,))],
        [gradient(value, x), graph_jacobian([value], x)[0]],
    )
    for got in run(scaled, [at]):
        np.testing.assert_allclose(got, exact(*at), rtol=1e-14, atol=1e-15)


def test_the_way_not_taken_stays_out() -> None:
    """d/dx of where(x < 1, x, exp(x)) at a large x is finite on the left however large the right.

    Chosen, not multiplied by zero.
    """
    graph = Graph()
    (x,) = graph.inputs(1)[0]
    value = where(x < 1e3, x * 2.0, x.exp())
    for entry in (derivative([value], {x: 1.0})[0],):
        scaled = program("d", graph, [Operand("x", (1,))], [Operand("z", ())], [entry])
        with np.errstate(over="ignore"):
            assert run(scaled, [[np.float64(900.0)]])[0][0] == 2.0


def test_directions_add_up(rng: np.random.Generator) -> None:
    """A directional derivative is the Jacobian times the direction, and seeds may be nodes
    themselves.
    """
    tree = random_tree(rng, 4)
    graph = Graph()
    q, qd, qdd = graph.inputs(tree.n, tree.n, tree.n)
    tau = rnea(tree, q, qd, qdd)
    along = derivative(tau, dict(zip(q, qd, strict=True)))
    full = [
        sum((entry * v for entry, v in zip(row, qd, strict=True)), 0.0)
        for row in graph_jacobian(tau, q)
    ]
    operands = [Operand(name, (tree.n,)) for name in ("q", "qd", "qdd")]
    scaled = program(
        "d", graph, operands, [Operand("a", (tree.n,)), Operand("b", (tree.n,))], [along, full]
    )
    a, b = run(scaled, list(rng.normal(size=(3, tree.n))))
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.abs(a).max())


def test_gravity_is_the_gradient_of_potential_energy(rng: np.random.Generator) -> None:
    tree = random_tree(rng, 5, joint_terms=False)
    graph = Graph()
    q = graph.inputs(tree.n)[0]
    by_reverse = gradient(potential_energy(tree, q), q)
    operands = [Operand("q", (tree.n,))], [Operand("a", (tree.n,)), Operand("b", (tree.n,))]
    a, b = run(
        program("g", graph, *operands, [by_reverse, gravity_torque(tree, q)]),
        [rng.normal(size=tree.n)],
    )
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.abs(b).max())


def test_no_inputs_and_no_dependence() -> None:
    graph = Graph()
    x, y = graph.inputs(2)[0]
    assert graph_jacobian([x, 2.0], []) == [[], []]
    assert gradient(2.0, [x, y]) == [0.0, 0.0]
    assert gradient(x.sin(), [y]) == [0.0]
    assert isinstance(gradient(x.sin(), [x])[0], Expr)
