"""Every operation through every backend.

Floats, NumPy arrays, NumPy source, LLVM of every width, C99, SymPy, the bridges' tables.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.render import array_expressions, c99, casadi_expressions, numpy_source
from steelyard.compiler.render import sympy_expressions as sympy_form
from steelyard.compiler.runtime.kernel import Kernel
from tests.every_operation import (
    CASADI_IN_NUMPY,
    SIZE,
    assert_same,
    every_operation,
    on_arrays,
    samples,
    traced,
)
from tests.renderings import hosts, ufunc_of

STRICT = [
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wconversion",
    "-O2",
    "-shared",
    "-fPIC",
]


@pytest.fixture
def states(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return samples(rng)


def test_floats(states) -> None:
    with np.errstate(all="ignore"):
        got = [
            [float(v) for v in every_operation(list(map(float, x)), list(map(float, y)))]
            for x, y in zip(*states, strict=True)
        ]
    assert_same(np.array(got), on_arrays(*states))


def test_numpy_source(states) -> None:
    with np.errstate(all="ignore"):
        assert_same(numpy_source.function(traced())(*states), on_arrays(*states))


def test_the_array_api(states) -> None:
    """The table of JAX and PyTorch over NumPy, which follows the same standard."""
    with np.errstate(all="ignore"):
        (got,) = array_expressions.call(traced(), np, states)
    assert_same(got, on_arrays(*states))


def test_the_array_api_broadcasts_batches(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=(3, 1, 2)), rng.normal(size=(4, 2))
    with np.errstate(all="ignore"):
        (got,) = array_expressions.call(traced(), np, [x, y])
        expected = on_arrays(*(z.reshape(-1, 2) for z in np.broadcast_arrays(x, y)))
    assert got.shape == (3, 4, SIZE)
    assert_same(got.reshape(-1, SIZE), expected)


def test_casadis_table(states, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of CasADi over NumPy scalars under CasADi's names."""
    monkeypatch.setattr(casadi_expressions, "casadi", lambda: CASADI_IN_NUMPY)
    with np.errstate(all="ignore"):
        got = [
            casadi_expressions.expressions(traced(), [x[:, None], y[:, None]])[0]
            for x, y in zip(*states, strict=True)
        ]
    assert got[0].shape == (SIZE, 1)
    assert_same(np.array(got)[:, :, 0], on_arrays(*states))


def test_casadis_matrices_are_rows_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(casadi_expressions, "casadi", lambda: CASADI_IN_NUMPY)
    shapes = [Operand("A", (2, 3)), Operand("s", ()), Operand("c", (2, 2, 3))]
    program = trace(
        "matrices",
        lambda x: ([[2.0 * a for a in row] for row in x], x[1][0], [x, x]),
        [Operand("x", (2, 3))],
        shapes,
    )
    x = np.arange(6.0).reshape(2, 3)
    A, s, c = casadi_expressions.expressions(program, [x])
    np.testing.assert_array_equal(A, 2.0 * x)
    np.testing.assert_array_equal(s, [[3.0]])
    np.testing.assert_array_equal(c, [x.ravel(), x.ravel()])


def test_a_kernel(states) -> None:
    with np.errstate(all="ignore"):
        assert_same(Kernel(traced())(*states), on_arrays(*states))


@pytest.mark.parametrize("budget", [12000, 7, 1])
@pytest.mark.parametrize("host", hosts().values(), ids=hosts().keys())
def test_llvm_of_every_width(host, budget: int, states) -> None:
    with np.errstate(all="ignore"):
        assert_same(ufunc_of(traced(), host, budget)(*states), on_arrays(*states))


def test_what_llvm_links_is_what_loads_by_itself(states) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            ufunc_of(traced(), by_llvm=True)(*states), ufunc_of(traced())(*states)
        )


def c_function(program: Program, folder: Path, real: str = "double"):
    """The program as a C function, compiled without a warning.

    The C of tests that find no compiler is not tested there, and says so.
    """
    if shutil.which("cc") is None:
        pytest.skip("this machine has no C compiler named cc")
    source, target = folder / "program.c", folder / "program.so"
    text = (
        f"#include <math.h>\n\n{c99.declaration(program, real)};\n\n{c99.comment(program)}\n"
        f"{c99.render(program, real)}"
    )
    source.write_text(text, encoding="ascii")
    subprocess.run(["cc", *STRICT, str(source), "-o", str(target), "-lm"], check=True)
    return getattr(ctypes.CDLL(str(target)), program.name)


def by_c(function, kind, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows = []
    for sample in zip(x, y, strict=True):
        out = (kind * SIZE)()
        function(*((kind * 2)(*side) for side in sample), out)
        rows.append(list(out))
    return np.array(rows)


def test_c99_in_double(states, tmp_path: Path) -> None:
    assert_same(by_c(c_function(traced(), tmp_path), ctypes.c_double, *states), on_arrays(*states))


def test_c99_in_float(tmp_path: Path, rng: np.random.Generator) -> None:
    x, y = rng.uniform(-9.0, 9.0, size=(2, 50, 2)).astype(np.float32)
    got = by_c(c_function(traced(), tmp_path, "float"), ctypes.c_float, x, y)
    expected = on_arrays(x.astype(float), y.astype(float))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_sympy(states) -> None:
    import sympy as sp

    names = sp.symbols("x0 x1 y0 y1", real=True)
    (expressions,) = sympy_form.expressions(traced(), [names[:2], names[2:]])
    function = sp.lambdify(names, expressions, "numpy")
    x, y = states
    finite = np.all(
        np.isfinite(x) & np.isfinite(y) & (y[:, :1] >= 0), axis=1
    )  # SymPy's functions know neither NaN nor infinity, sqrt is real
    x, y = x[finite], y[finite]
    with np.errstate(all="ignore"):
        columns = function(*x.T, *y.T)
    assert_same(
        np.stack([np.broadcast_to(c, len(x)) for c in columns], axis=1), on_arrays(x, y), 1e-13
    )


CONSTANTS = [float("nan"), float("inf"), -float("inf"), -0.0, 5e-324, 1e308, 0.1]


def with_constant(value: float) -> tuple[Program, list[float]]:
    program = trace(
        "constants", lambda x: [x + value, value], [Operand("x", ())], [Operand("z", (2,))]
    )
    return program, [1.0 + value, value]


@pytest.mark.parametrize("value", CONSTANTS)
def test_constants_of_every_kind(value: float) -> None:
    program, expected = with_constant(value)
    np.testing.assert_array_equal(Kernel(program)(1.0), expected)
    np.testing.assert_array_equal(numpy_source.function(program)(1.0), expected)
    (expressions,) = sympy_form.expressions(program, [[1.0]])
    np.testing.assert_allclose([float(e) for e in expressions], expected, rtol=1e-15)


@pytest.mark.parametrize("value", CONSTANTS)
def test_constants_of_every_kind_in_c(value: float, tmp_path: Path) -> None:
    program, expected = with_constant(value)
    out = (ctypes.c_double * 2)()
    c_function(program, tmp_path)((ctypes.c_double * 1)(1.0), out)
    np.testing.assert_array_equal(list(out), expected)


def test_division_by_zero_is_numpys() -> None:
    program = trace("quotient", lambda x: x[0] / x[1], [Operand("x", (2,))], [Operand("z", ())])
    x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [1.0, -0.0]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(Kernel(program)(x), x[:, 0] / x[:, 1])
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        Kernel(program)(x[0])
