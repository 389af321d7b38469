"""PyTorch: values and derivatives of every function on the zoo are those of the kernels.

What PyTorch does with functions works on ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import steelyard as sy
from steelyard.bridges import torch_functions
from tests.bridged_calls import ROBOTS, assert_close, change, of_arrays, to_differentiate

# of PyTorch's own forward mode
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
by_robot = pytest.mark.parametrize(
    ("name", "asked", "robot"), ROBOTS, ids=[row[0] for row in ROBOTS]
)


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Values and derivatives by the robot's kernels, or by PyTorch as on other devices."""
    if request.param == "operations":
        monkeypatch.setattr(torch_functions, "_readable", lambda torch, x: False)
    return str(request.param)


def numbers(result: Any) -> tuple[np.ndarray, ...]:
    return tuple(x.detach().numpy() for x in (result if isinstance(result, tuple) else (result,)))


@pytest.mark.parametrize("way", ["operations"], indirect=True)
@by_robot
def test_values_are_the_kernels(name: str, asked: Any, robot: Any, way: str) -> None:
    here = robot(name).to_torch()
    for call in asked(name):
        assert_close(
            call.label,
            numbers(getattr(here, call.name)(*call.arrays, **call.options)),
            call.results,
            call.tolerance,
        )


@pytest.mark.parametrize("way", ["kernels"], indirect=True)
@pytest.mark.parametrize("name", ["pendulum", "crusher", "four_bar"])
def test_values_by_kernels_are_the_robots_own(name: str, way: str) -> None:
    _, asked, robot = next(row for row in ROBOTS if row[0] == name)
    here = robot(name).to_torch()
    for call in asked(name):
        assert_close(
            call.label,
            numbers(getattr(here, call.name)(*call.arrays, **call.options)),
            call.results,
            call.tolerance,
        )


@pytest.mark.parametrize("way", ["operations"], indirect=True)
@by_robot
def test_derivatives_are_exact(name: str, asked: Any, robot: Any, way: str) -> None:
    """Rates are those of the complex step, and adjoints their transpose."""
    here = robot(name).to_torch()
    for call in to_differentiate(asked(name)):
        assert_exact(robot(name), here, call)


@pytest.mark.parametrize("way", ["kernels"], indirect=True)
@pytest.mark.parametrize("name", ["pendulum", "crusher", "four_bar"])
def test_derivatives_by_kernels_are_exact(name: str, way: str) -> None:
    _, asked, robot = next(row for row in ROBOTS if row[0] == name)
    for call in to_differentiate(asked(name)):
        assert_exact(robot(name), robot(name).to_torch(), call)


def assert_exact(robot: sy.Robot, here: Any, call: Any) -> None:
    outcome = change(robot, call)
    function = of_arrays(here, outcome.call)
    arrays = tuple(torch.as_tensor(x) for x in outcome.arrays)
    result, rates = torch.func.jvp(
        function, arrays, tuple(torch.as_tensor(v) for v in outcome.directions)
    )
    assert_close(call.label, numbers(rates), tuple(outcome.rates), call.tolerance)
    weights = tuple(
        torch.cos(torch.arange(y.numel(), dtype=y.dtype)).reshape(y.shape) for y in result
    )
    _, back = torch.func.vjp(function, *arrays)
    pulled = sum(
        float((a * torch.as_tensor(v)).sum())
        for a, v in zip(back(weights), outcome.directions, strict=True)
    )
    forward = sum(float((w * r).sum()) for w, r in zip(weights, rates, strict=True))
    scale = max(1.0, *(float(np.abs(rate).max(initial=0.0)) for rate in outcome.rates))
    assert pulled == pytest.approx(forward, rel=1e-9, abs=1e-9 * scale), call.label


@pytest.fixture(scope="module")
def puma() -> tuple[sy.Robot, np.ndarray, np.ndarray, np.ndarray]:
    return (sy.load("puma560"), *np.random.default_rng(0).normal(size=(3, 4, 6)))


def tensors(*arrays: np.ndarray) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(x) for x in arrays)


@pytest.mark.parametrize("way", ["kernels", "operations"], indirect=True)
def test_the_derivatives_of_the_dynamics_are_those_of_composite_bodies(puma, way: str) -> None:
    robot, q, qd, qdd = puma
    here, tau = robot.to_torch(), robot.inverse_dynamics(q, qd, qdd)
    for function, last, expected in (
        (here.inverse_dynamics, qdd, robot.inverse_dynamics_derivatives(q, qd, qdd)),
        (here.forward_dynamics, tau, robot.forward_dynamics_derivatives(q, qd, tau)),
    ):
        for mode in (torch.func.jacfwd, torch.func.jacrev):
            result = torch.func.vmap(mode(function, argnums=(0, 1, 2)))(*tensors(q, qd, last))
            assert_close(function.__name__, numbers(result), expected)


@pytest.mark.parametrize("way", ["kernels", "operations"], indirect=True)
def test_autograd_of_a_batch_with_parameters_for_all(puma, way: str) -> None:
    """The gradient of parameters that a whole batch shares is the sum over the batch.

    That of broadcast arrays likewise.
    """
    robot, q, qd, qdd = puma
    pi = torch.tensor(robot.parameters, requires_grad=True)
    one = torch.tensor(qdd[:1], requires_grad=True)
    tau = robot.to_torch().inverse_dynamics(q, qd, one, parameters=pi)
    weights = np.random.default_rng(1).normal(size=tau.shape)
    (tau * torch.tensor(weights)).sum().backward()
    Y = robot.regressor(q, qd, qdd[:1])
    assert_close("parameters", (pi.grad.numpy(),), (np.einsum("bi,bip->p", weights, Y),))
    M = robot.mass_matrix(q)
    assert_close("one for all", (one.grad.numpy(),), (np.einsum("bi,bij->j", weights, M)[None],))


@pytest.mark.parametrize("way", ["kernels", "operations"], indirect=True)
def test_second_derivatives(puma, way: str) -> None:
    robot, q, qd, qdd = puma
    here = robot.to_torch()
    hessian = torch.func.hessian(here.potential_energy)(torch.tensor(q[0]))
    assert_close(
        "hessian",
        numbers(hessian),
        numbers(torch.func.jacrev(here.gravity_torque)(torch.tensor(q[0]))),
    )
    states = tuple(x.requires_grad_() for x in tensors(q[:2], qd[:2], qdd[:2]))
    assert torch.autograd.gradcheck(here.forward_dynamics, states, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(here.inverse_dynamics, states, atol=1e-4)


def test_modules_train_through_it(puma) -> None:
    """A parameter of a module is a tensor like any other."""
    robot, q, qd, qdd = puma
    pi = torch.nn.Parameter(torch.tensor(robot.parameters))
    robot.to_torch().inverse_dynamics(q, qd, qdd, parameters=pi).square().sum().backward()
    assert pi.grad is not None
    assert torch.isfinite(pi.grad).all()


def test_types_are_kept(puma) -> None:
    robot, q, qd, qdd = puma
    here = robot.to_torch()
    assert here.mass_matrix([0, 0, 0, 0, 0, 0]).dtype == torch.float64
    single = here.inverse_dynamics(*(x.to(torch.float32) for x in tensors(q, qd, qdd)))
    assert single.dtype == torch.float32
    assert_close("float32", numbers(single), (robot.inverse_dynamics(q, qd, qdd),), 1e-5)
    assert (
        here.inverse_dynamics(torch.zeros(6, dtype=torch.float32), qd, qdd).dtype == torch.float64
    )
    assert here.mass_matrix(torch.zeros(6, dtype=torch.int64)).dtype == torch.float64


def test_the_result_is_no_view_of_an_argument(puma) -> None:
    robot, q, *_ = puma
    argument = torch.tensor(q)
    robot.to_torch().gravity_torque(argument).zero_()
    np.testing.assert_array_equal(argument.numpy(), q)
