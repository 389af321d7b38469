"""Several threads: the bits of one, NumPy's error state, the released GIL, valid counts."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.ir.program import Operand, trace
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.compiler.runtime.threads import cores, thread_count
from steelyard.errors import CallError


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel that takes any batch for a large one."""
    operands = [Operand("q", (2,)), Operand("s", ())], [Operand("z", (2,)), Operand("w", ())]
    result = Kernel(
        trace("shared", lambda q, s: ([q[0].sin() * s, q[1] / s], q[0] * q[1]), *operands)
    )
    monkeypatch.setattr(result, "_large", 0)
    return result


def results(kernel: Kernel, *args: np.ndarray, **out: object) -> tuple[np.ndarray, ...]:
    return tuple(np.array(x) for x in kernel(*args, **out))


def assert_identical(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> None:
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1000,), (1000,)),
        ((1, 300), (1, 300)),
        ((3, 50), (50,)),
        ((), (400,)),
        ((400,), ()),
        ((2,), (2,)),
        ((0,), (0,)),
    ],
)
def test_the_same_bits_as_one(
    kernel: Kernel,
    rng: np.random.Generator,
    count: int,
    left: tuple[int, ...],
    right: tuple[int, ...],
) -> None:
    q, s = (
        rng.normal(size=(*left, 2)) * 10.0 ** rng.uniform(0, 8, size=(*left, 1)),
        rng.normal(size=right),
    )
    with sy.threads(1):
        alone = results(kernel, q, s)
    with sy.threads(count):
        assert_identical(results(kernel, q, s), alone)
        out = tuple(np.empty_like(x) for x in alone)
        assert all(x is y for x, y in zip(kernel(q, s, out=out), out, strict=True))
        assert_identical(out, alone)


def test_strided_arguments(kernel: Kernel, rng: np.random.Generator) -> None:
    q, s = (
        np.asfortranarray(rng.normal(size=(999, 2)))[::-1],
        rng.normal(size=1998)[::2].astype(np.float32),
    )
    with sy.threads(1):
        alone = results(kernel, q, s)
    with sy.threads(3):
        assert_identical(results(kernel, q, s), alone)


@pytest.mark.parametrize("shift", [0, 1, 7])
def test_out_over_an_input(kernel: Kernel, rng: np.random.Generator, shift: int) -> None:
    """What one thread writes another may still have to read: such calls are not shared."""
    buffer, s = rng.normal(size=(500 + shift, 2)), rng.normal(size=500)
    with sy.threads(1):
        alone = results(kernel, buffer[:500].copy(), s)
    with sy.threads(4):
        kernel(buffer[:500], s, out=(buffer[shift:], w := np.empty(500)))
    assert_identical((buffer[shift:], w), alone)


def test_error_state_of_the_caller(kernel: Kernel, rng: np.random.Generator) -> None:
    q, s = rng.normal(size=(500, 2)), rng.normal(size=500)
    s[-1] = 0.0  # in the last thread's share
    with sy.threads(4):
        with np.errstate(all="ignore"):
            kernel(q, s)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            kernel(q, s)
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            kernel(q, s)


def test_counts_nest_and_return(kernel: Kernel) -> None:
    outside = thread_count()
    assert outside == cores()
    with sy.threads(3):
        assert thread_count() == 3
        with sy.threads(np.int64(1)):
            assert thread_count() == 1
        assert thread_count() == 3
    with pytest.raises(KeyError), sy.threads(2):
        raise KeyError
    assert thread_count() == outside


def test_a_count_is_of_its_thread() -> None:
    with sy.threads(5), ThreadPoolExecutor(1) as pool:
        assert pool.submit(thread_count).result() == cores()


@pytest.mark.parametrize("count", [0, -1, 2.0, "2", None, True, float("nan")])
def test_a_count_that_makes_no_sense(count: object) -> None:
    wrong: Any = count
    with pytest.raises(CallError, match="whole number of at least 1"), sy.threads(wrong):
        pass


def test_many_threads_call_one_kernel(kernel: Kernel, rng: np.random.Generator) -> None:
    inputs = [(rng.normal(size=(400, 2)), rng.normal(size=400)) for _ in range(16)]
    alone = [results(kernel, *x) for x in inputs]
    with ThreadPoolExecutor(8) as pool:
        for got, expected in zip(
            pool.map(lambda x: results(kernel, *x), inputs), alone, strict=True
        ):
            assert_identical(got, expected)


def test_the_gil_is_released() -> None:
    """While a kernel runs, this thread sees its first results and changes its last input."""
    slow = Kernel(
        trace(
            "slow",
            lambda x: sum((x * (k + 0.5)).tanh() for k in range(60)),
            [Operand("x", ())],
            [Operand("z", ())],
        )
    )
    for _ in range(5):  # the system may not run this thread in time: once is enough
        x, out = np.ones(100_000), np.full(100_000, np.nan)
        worker = Thread(target=slow.ufunc, args=(x,), kwargs={"out": out})
        worker.start()
        while np.isnan(out[0]) and worker.is_alive():
            pass
        x[-1] = 0.0
        worker.join()
        if out[-1] == 0.0:
            return
    pytest.fail("no other thread ran while the kernel did")


@pytest.mark.skipif(
    not hasattr(sys, "getdlopenflags") or sys.platform == "darwin",
    reason="processes do not fork here",
)
def test_a_forked_child_has_threads_of_its_own(root: Path) -> None:
    script = """
import os, numpy as np, steelyard as sy
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.compiler.ir.program import Operand, trace
kernel = Kernel(trace("double", lambda x: x * 2.0, [Operand("x", ())], [Operand("z", ())]))
x = np.arange(2_000_000.0)
with sy.threads(2):
    kernel(x)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(kernel(x), 2 * x) else 1)
    assert os.waitpid(child, 0)[1] == 0
"""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        env=environment,
        check=True,
        timeout=60,
    )
