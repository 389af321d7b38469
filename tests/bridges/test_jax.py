"""JAX: values and derivatives of every function on the zoo are those of the kernels.

What JAX does with functions works on ours.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import steelyard as sy
from tests.bridged_calls import ROBOTS, assert_close, change, of_arrays, to_differentiate

by_robot = pytest.mark.parametrize(
    ("name", "asked", "robot"), ROBOTS, ids=[row[0] for row in ROBOTS]
)


def tupled(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@by_robot
def test_values_are_the_kernels(name: str, asked: Any, robot: Any) -> None:
    here = robot(name).to_jax()
    for call in asked(name):
        assert_close(
            call.label,
            tupled(getattr(here, call.name)(*call.arrays, **call.options)),
            call.results,
            call.tolerance,
        )


@by_robot
def test_derivatives_are_exact(name: str, asked: Any, robot: Any) -> None:
    """Rates are those of the complex step, and adjoints their transpose."""
    here = robot(name).to_jax()
    for call in to_differentiate(asked(name)):
        outcome = change(robot(name), call)
        function = of_arrays(here, outcome.call)
        result, rates = jax.jvp(function, outcome.arrays, outcome.directions)
        scale = [max(1.0, float(np.abs(rate).max(initial=0.0))) for rate in outcome.rates]
        assert_close(call.label, rates, tuple(outcome.rates), call.tolerance)
        weights = [np.cos(np.arange(y.size)).reshape(y.shape) for y in result]
        _, back = jax.vjp(function, *outcome.arrays)
        pulled = sum(
            float(np.vdot(a, v))
            for a, v in zip(back(tuple(map(jnp.asarray, weights))), outcome.directions, strict=True)
        )
        forward = sum(float(np.vdot(w, r)) for w, r in zip(weights, rates, strict=True))
        assert pulled == pytest.approx(forward, rel=1e-9, abs=1e-9 * max(scale)), call.label


@pytest.fixture(scope="module")
def puma() -> tuple[sy.Robot, Any, np.ndarray, np.ndarray, np.ndarray]:
    robot = sy.load("puma560")
    return (robot, robot.to_jax(), *np.random.default_rng(0).normal(size=(3, 4, 6)))


def test_the_derivatives_of_the_dynamics_are_those_of_composite_bodies(puma) -> None:
    robot, here, q, qd, qdd = puma
    tau = robot.inverse_dynamics(q, qd, qdd)
    for function, last, expected in (
        (here.inverse_dynamics, qdd, robot.inverse_dynamics_derivatives(q, qd, qdd)),
        (here.forward_dynamics, tau, robot.forward_dynamics_derivatives(q, qd, tau)),
    ):
        for mode in (jax.jacfwd, jax.jacrev):
            assert_close(
                function.__name__,
                jax.vmap(mode(function, argnums=(0, 1, 2)))(q, qd, last),
                expected,
                1e-12,
            )


def test_torques_by_parameters_are_the_regressor(puma) -> None:
    robot, here, q, qd, qdd = puma
    result = jax.jacrev(lambda pi: here.inverse_dynamics(q, qd, qdd, parameters=pi))(
        robot.parameters
    )
    assert_close("regressor", (result,), (robot.regressor(q, qd, qdd),))


def test_second_derivatives(puma) -> None:
    """d2 tau / dq dqdd = dM/dq, whose symmetric parts are the Christoffel symbols.

    D2 U / dq2 = dg/dq is symmetric.
    """
    robot, here, q, qd, qdd = puma
    # i, j, k: dM_ij / dq_k
    derivatives = jax.jacfwd(jax.jacrev(here.inverse_dynamics, 2), 0)(q[0], qd[0], qdd[0])
    symbols = (derivatives + derivatives.transpose(0, 2, 1) - derivatives.transpose(2, 0, 1)) / 2
    assert_close("christoffel", (symbols,), (robot.christoffel(q[0]),))
    assert_close(
        "hessian",
        (jax.hessian(here.potential_energy)(q[0]),),
        (np.asarray(jax.jacfwd(here.gravity_torque)(q[0])),),
    )


def test_jit_and_vmap_change_nothing(puma) -> None:
    robot, here, q, qd, qdd = puma
    expected = (robot.inverse_dynamics(q, qd, qdd),)
    assert_close("jit", (jax.jit(here.inverse_dynamics)(q, qd, qdd),), expected)
    assert_close("vmap", (jax.vmap(here.inverse_dynamics)(q, qd, qdd),), expected)
    assert_close(
        "both",
        (jax.jit(jax.vmap(here.inverse_dynamics, in_axes=(0, 0, None)))(q, qd, qdd[0]),),
        (robot.inverse_dynamics(q, qd, qdd[0]),),
    )
    gradient = jax.jit(jax.grad(lambda x: here.kinetic_energy(x, qd[0])))(q[0])
    assert_close("grad", (gradient,), (robot.coriolis_transpose(q[0], qd[0]),))


def test_batches_broadcast_and_may_be_empty(puma) -> None:
    robot, here, q, qd, qdd = puma
    assert_close(
        "batch",
        (here.inverse_dynamics(q[:, None], qd, qdd[0]),),
        (robot.inverse_dynamics(q[:, None], qd, qdd[0]),),
    )
    assert here.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, 6)


def test_types_are_told(puma) -> None:
    robot, here, q, qd, qdd = puma
    assert here.mass_matrix([0, 0, 0, 0, 0, 0]).dtype == jnp.float64
    assert here.mass_matrix(jnp.zeros(6, jnp.float32)).dtype == jnp.float32
    single = robot.to_jax(dtype="float32").inverse_dynamics(q, qd, qdd)
    assert single.dtype == jnp.float32
    assert_close("float32", (single,), (robot.inverse_dynamics(q, qd, qdd),), 1e-5)
    with pytest.raises(sy.CallError, match="dtype='half'; expected 'float64', 'float32', or None"):
        robot.to_jax(dtype="half")


def test_float32_is_said(puma) -> None:
    robot = puma[0]
    with jax.enable_x64(False):
        with pytest.raises(sy.CallError, match="JAX computes in float32 here; turn float64 on by"):
            robot.to_jax(dtype="float64")
        with pytest.warns(sy.SteelyardWarning, match="JAX computes in float32 here"):
            robot.to_jax()
        assert robot.to_jax(dtype="float32").gravity_torque(np.zeros(6)).dtype == jnp.float32
