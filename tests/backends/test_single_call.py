"""The straight path of single calls.

The same numbers, the same errors, and nothing between a method and its gufunc.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.errors import CallError
from steelyard.kernels import ALGORITHMS
from steelyard.robot import SINGLE_CALLS, Robot, _General

FRAMED = tuple(name for name, algorithm in ALGORITHMS.items() if algorithm.needs_frame)


@pytest.fixture(scope="module")
def robot() -> Robot:
    """One with friction, and with a base that could move."""
    mechanism = sy.load("spatial_3r").with_friction(1.0, 2.0, 0.1).mechanism
    links = [
        replace(link, inertia=mechanism.links[-1].inertia) if link.name == mechanism.root else link
        for link in mechanism.links
    ]
    return Robot(replace(mechanism, links=tuple(links)))


def arguments(robot: Robot, method: str, rng: np.random.Generator) -> list[np.ndarray]:
    frame = robot.end_effector if method in FRAMED else None
    return [
        rng.normal(size=operand.shape)
        for operand in robot._kernel(SINGLE_CALLS[method], frame=frame).inputs
    ]


def as_tuple(x: Any) -> tuple[np.ndarray, ...]:
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("method", SINGLE_CALLS)
def test_the_same_numbers_without_a_kernel_call(
    method: str, robot: Robot, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = arguments(robot, method, rng)
    expected = as_tuple(getattr(_General, method)(robot, *arrays))
    call = getattr(robot, method)
    call(*arrays)  # the first call prepares the path
    with monkeypatch.context() as patch:
        patch.setattr(
            Kernel, "__call__", lambda *args, **options: pytest.fail("not the straight path")
        )
        results = as_tuple(call(*arrays))
        out = tuple(np.empty_like(x) for x in expected)
        if expected[0].ndim:
            call(*arrays, out=out if len(out) > 1 else out[0])
    for got, written, reference in zip(results, out, expected, strict=True):
        np.testing.assert_array_equal(got, reference)
        np.testing.assert_array_equal(written if reference.ndim else got, reference)


@pytest.mark.parametrize("method", SINGLE_CALLS)
def test_signature_and_documentation_stay(method: str) -> None:
    straight, general = getattr(Robot, method), getattr(_General, method)
    assert inspect.signature(straight) == inspect.signature(general)
    assert straight.__doc__ == general.__doc__


@pytest.mark.parametrize("method", SINGLE_CALLS)
def test_what_does_not_fit_is_explained(
    method: str, robot: Robot, rng: np.random.Generator
) -> None:
    arrays = arguments(robot, method, rng)
    for wrong in (np.zeros(7), np.zeros(3, dtype=complex), np.array(["a", "b", "c"])):
        with pytest.raises(CallError, match=r"expected|real numbers"):
            getattr(robot, method)(wrong, *arrays[1:])


@pytest.mark.parametrize("method", SINGLE_CALLS)
def test_what_is_given_by_position_against_the_rules_is_refused(
    method: str, robot: Robot, rng: np.random.Generator
) -> None:
    arrays = arguments(robot, method, rng)
    positions = [
        x
        for x in inspect.signature(getattr(_General, method)).parameters.values()
        if x.kind is x.POSITIONAL_OR_KEYWORD
    ]
    optional = [None] * (len(positions) - 1 - len(arrays))
    for _ in range(2):
        getattr(robot, method)(*arrays, *optional)
        for too_many in ([np.zeros(3)], [np.zeros(3), np.zeros(3)], [np.zeros(3)] * 3):
            with pytest.raises(TypeError):
                getattr(robot, method)(*arrays, *optional, *too_many)


def test_lists_and_batches_take_the_general_path(robot: Robot, rng: np.random.Generator) -> None:
    q = rng.normal(size=(200, 3))
    M = robot.mass_matrix(q)
    np.testing.assert_array_equal(robot.mass_matrix(q[2]), M[2])
    np.testing.assert_array_equal(robot.mass_matrix(q[:20]), M[:20])
    np.testing.assert_array_equal(robot.mass_matrix(q[2].tolist()), M[2])


def test_every_frame_has_its_own_path(robot: Robot, rng: np.random.Generator) -> None:
    q = rng.normal(size=3)
    for _ in range(2):
        for frame in robot.frame_names:
            np.testing.assert_array_equal(
                robot.jacobian(q, frame), _General.jacobian(robot, q, frame)
            )
            np.testing.assert_array_equal(
                robot.jacobian(q, frame=frame), robot.jacobian(q[None], frame)[0]
            )
        np.testing.assert_array_equal(robot.jacobian(q), robot.jacobian(q, robot.end_effector))
        with pytest.raises(CallError, match="nowhere"):
            robot.jacobian(q, "nowhere")


def test_options_are_not_mistaken_for_results(robot: Robot, rng: np.random.Generator) -> None:
    """A gufunc takes further arrays for its `out`: a wrench must never get there."""
    q, wrench = rng.normal(size=3), rng.normal(size=(3, 6))
    selected = wrench.copy()
    plain = robot.inverse_dynamics(q, q, q)
    assert not np.allclose(robot.inverse_dynamics(q, q, q, wrench), plain)
    np.testing.assert_array_equal(wrench, selected)
    doubled = robot.mass_matrix(q, parameters=2.0 * robot.parameters)
    np.testing.assert_allclose(doubled, 2.0 * robot.mass_matrix(q), rtol=1e-12)
