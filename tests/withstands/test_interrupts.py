"""Ctrl-C: a long batch call ends between two blocks, on all threads, and what is not computed is
not touched any more.
"""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.ir.program import Operand, trace
from steelyard.compiler.runtime import threads as runtime
from steelyard.compiler.runtime.kernel import Kernel
from tests.interrupting import interrupted_after

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")


def long_kernel() -> Kernel:
    def chain(x: Any) -> Any:
        for _ in range(150):
            x = x.sin()
        return x

    return Kernel(trace("long", chain, [Operand("x", ())], [Operand("y", ())]))


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_ends_a_batch_call_before_it_is_done(count: int) -> None:
    kernel, x = long_kernel(), np.ones(4_000_000)
    out = np.full_like(x, np.nan)
    kernel(x[:10])

    def compute_on() -> None:
        while True:  # on a machine that does it all before the interrupt comes
            out[:] = np.nan
            kernel(x, out=out)

    with sy.threads(count), pytest.raises(KeyboardInterrupt), interrupted_after(0.05):
        compute_on()
    assert np.isnan(out).any()
    rest = out.copy()
    time.sleep(0.1)
    np.testing.assert_array_equal(out, rest)  # no thread goes on


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("shape", [(5000,), (3, 700), (700, 3), (2, 2, 900)])
def test_blocks_give_the_bits_of_one_call(
    count: int, shape: tuple[int, ...], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, x = long_kernel(), rng.normal(size=shape)
    for name in ("_large", "_long"):
        monkeypatch.setattr(kernel, name, 1)
    for block, short, long in ((1, 1e9, 2e9), (64, 0.0, 0.0), (10**9, 1e9, 2e9)):
        monkeypatch.setattr(kernel, "_block", block)
        monkeypatch.setattr(runtime, "SHORT", short)
        monkeypatch.setattr(runtime, "LONG", long)
        with sy.threads(count):
            np.testing.assert_array_equal(kernel(x), kernel.ufunc(x))
            out = np.empty(shape)
            assert kernel(x, out=out) is out
            np.testing.assert_array_equal(out, kernel.ufunc(x))


def test_a_simulation_of_many_runs_goes_in_short_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.simulation.simulation_thresholds import THRESHOLDS

    robot, start = sy.load("planar_2r"), np.zeros((8, 2))
    whole = sy.simulate(robot, q0=start, seconds=0.05, every=50)
    monkeypatch.setitem(vars(THRESHOLDS), "work_per_call", 1)
    np.testing.assert_array_equal(sy.simulate(robot, q0=start, seconds=0.05, every=50).q, whole.q)
