"""What a robot's functions cost in CasADi, JAX and PyTorch, beside the kernels.

    python -m benchmarks.bridges [robot]

The best of several rounds, one thread, float64 [us]: of one state, and of one of a batch of 1000;
`gradient` is the gradient of the sum of squares of the result by all arrays. A remark, no claim.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from timeit import Timer
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.targets import ROBOTS, urdf
from steelyard.apps.inputs import load_robot
from steelyard.apps.show.terminal import console

BATCH, ROUNDS = 1000, 7
FUNCTIONS = ("inverse_dynamics", "forward_dynamics")
Arrays = tuple[Any, ...]
Row = tuple[str, str, float, float | None]


def best(function: Callable[[Arrays], Any], arrays: Arrays) -> float:
    """The time of one call [us], after one that may compile."""
    function(arrays)
    timer = Timer(lambda: function(arrays))
    count = max(1, int(0.05 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(ROUNDS, count)) / count * 1e6


def timed(
    function: Callable[[Arrays], Any], robot: sy.Robot, convert: Callable[[Any], Any] = np.asarray
) -> tuple[float, float]:
    """The times of one state, and of one of a batch [us]. The arrays are q, qd and qdd or tau."""
    one, many = (
        np.random.default_rng(0).normal(size=(3, *batch, robot.n)) for batch in ((), (BATCH,))
    )
    return (
        best(function, tuple(map(convert, one))),
        best(function, tuple(map(convert, many))) / BATCH,
    )


def of_kernels(robot: sy.Robot, name: str) -> Iterator[Row]:
    """The robot's own methods."""
    yield "kernel", "value", *timed(lambda x: getattr(robot, name)(*x), robot)
    yield (
        "kernel",
        "derivatives",
        *timed(lambda x: getattr(robot, f"{name}_derivatives")(*x), robot),
    )


def of_casadi(robot: sy.Robot, name: str) -> Iterator[Row]:
    """CasADi's virtual machine, which has no batches.

    And the Jacobian that CasADi makes by itself.
    """
    import casadi

    function = getattr(robot.to_casadi(), name)
    plain = casadi.Function(name, function.sx_in(), [function(*function.sx_in())])
    x = tuple(casadi.DM(each) for each in np.random.default_rng(0).normal(size=(3, robot.n)))
    for label, what, made, argument in (
        ("CasADi", "value", function, x),
        ("CasADi", "derivatives", function.jacobian(), (*x, 0)),
        ("CasADi's own Jacobian", "derivatives", plain.jacobian(), (*x, 0)),
    ):
        yield (
            f"{label}, {made.n_instructions()} instructions",
            what,
            best(lambda x, made=made: made(*x), argument),  # type: ignore[misc]
            None,
        )


def of_jax(robot: sy.Robot, name: str) -> Iterator[Row]:
    """Compiled by XLA."""
    import jax

    jax.config.update("jax_enable_x64", True)
    function = getattr(robot.to_jax(), name)
    value, gradient = (
        jax.jit(function),
        jax.jit(jax.grad(lambda *x: (function(*x) ** 2).sum(), argnums=(0, 1, 2))),
    )
    yield (
        "JAX, jit",
        "value",
        *timed(lambda x: jax.block_until_ready(value(*x)), robot, jax.numpy.asarray),
    )
    yield (
        "JAX, jit",
        "gradient",
        *timed(lambda x: jax.block_until_ready(gradient(*x)), robot, jax.numpy.asarray),
    )


def of_torch(robot: sy.Robot, name: str) -> Iterator[Row]:
    """By kernels, and by PyTorch's operations as on other devices."""
    import torch

    torch.set_num_threads(1)
    function = getattr(robot.to_torch(), name)
    for label, kind in (
        ("PyTorch, kernels", torch.float64),
        ("PyTorch, operations in float32", torch.float32),
    ):
        value = partial(torch.tensor, dtype=kind)
        yield label, "value", *timed(lambda x: function(*x), robot, value)
        tracked = timed(
            lambda x: torch.autograd.grad((function(*x) ** 2).sum(), x),
            robot,
            partial(torch.tensor, dtype=kind, requires_grad=True),
        )
        yield label, "gradient", *tracked


def main() -> int:
    """Print a row for each function, library and quantity."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bridges", description=__doc__.splitlines()[0]
    )
    parser.add_argument("robot", nargs="?", default="ur5", choices=list(ROBOTS))
    chosen = parser.parse_args().robot
    robot = load_robot(urdf(chosen), quiet=True)
    out = console()
    with sy.threads(1):
        for name in FUNCTIONS:
            out.print(f"{name + ' of ' + chosen:56}{'one':>10}{'of 1000':>10}", highlight=False)
            for measure in (of_kernels, of_casadi, of_jax, of_torch):
                for label, what, one, many in measure(robot, name):
                    cells = "".join(f"{'' if x is None else f'{x:.2f}':>10}" for x in (one, many))
                    out.print(f"  {what:12}{label:42}{cells}", highlight=False)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks.bridges: {error}")
