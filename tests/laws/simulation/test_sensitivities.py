"""Derivatives of runs: against differences of runs, forward against backward, and the state that an
undriven pendulum comes back to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.simulation import PD, Elastic, SlotineLi, run_gradient, sensitivities
from tests.laws.dynamics.law import close
from tests.laws.simulation.test_simulation import block, pendulums

Q0, QD0 = np.array([0.7, -0.4]), np.array([0.3, -0.5])
SHORT = {"seconds": 0.1, "step": 2e-3, "every": 20}


@cache
def damped() -> sy.Robot:
    return pendulums().with_friction(viscous=[0.1, 0.2])


@cache
def rough() -> sy.Robot:
    return damped().with_friction(coulomb=0.3)


def final(
    robot: sy.Robot, law: object, q0: np.ndarray, qd0: np.ndarray, **options: object
) -> np.ndarray:
    run = sy.simulate(robot, law, q0, qd0, **SHORT, **options)
    return np.concatenate([run.q, run.qd], axis=-1)


BELIEF = PD([0.2, 0.1], 30.0, 3.0, model=pendulums())
CASES = {
    "undriven": (damped, None, {"method": "rk4"}, ("second.mcz",)),
    "held torques": (rough, np.array([1.0, -0.5]), {"method": "euler"}, ("upper.Fc", "second.m")),
    "a controller": (damped, BELIEF, {"method": "euler"}, ("lower.Fv", "first.Iyy")),
    "elastic": (
        damped,
        BELIEF,
        {"method": "euler", "drive": Elastic(200.0, 1.0, 0.05)},
        ("second.m",),
    ),
}


@pytest.mark.parametrize(("made", "law", "options", "names"), CASES.values(), ids=CASES)
def test_they_are_those_of_the_run(
    made: Callable[[], sy.Robot], law: object, options: dict, names: tuple[str, ...]
) -> None:
    robot, e = made(), 1e-5
    derivatives = sensitivities(robot, law, Q0, QD0, **SHORT, **options)
    by_start = [
        (
            final(robot, law, Q0 + a, QD0 + b, **options)
            - final(robot, law, Q0 - a, QD0 - b, **options)
        )
        / (2 * e)
        for a, b in [*((e * x, 0.0) for x in np.eye(2)), *((0.0, e * x) for x in np.eye(2))]
    ]
    close(derivatives.state, np.stack(by_start, axis=-1), 1e-7)
    pi = robot.parameters
    for name in names:
        k = derivatives.parameter_names.index(name)
        ends = [
            final(
                robot.with_parameters(pi + method * e * (np.arange(len(pi)) == k)),
                law,
                Q0,
                QD0,
                **options,
            )
            for method in (-1, 1)
        ]
        close(derivatives.parameters[..., k], (ends[1] - ends[0]) / (2 * e), 1e-7, name)
    weights = np.random.default_rng(0).normal(size=(*derivatives.run.q.shape[:-1], 4))
    back = run_gradient(robot, weights, law, Q0, QD0, **SHORT, **options)
    close(
        np.concatenate([back.q0, back.qd0]),
        np.einsum("ti,tij->j", weights, derivatives.state),
        1e-11,
    )
    close(back.parameters, np.einsum("ti,tij->j", weights, derivatives.parameters), 1e-11)


def test_batches_are_their_runs() -> None:
    q0 = Q0 + np.array([[0.0], [0.3]])
    both, each = (
        sensitivities(damped(), None, q0, QD0, **SHORT),
        [sensitivities(damped(), None, q, QD0, **SHORT) for q in q0],
    )
    np.testing.assert_allclose(
        both.state, np.stack([one.state for one in each]), rtol=1e-13, atol=1e-15
    )
    squares = [
        run_gradient(
            damped(), lambda run: np.concatenate([run.q, run.qd], axis=-1), None, q, QD0, **SHORT
        )
        for q in (q0, q0[1])
    ]
    np.testing.assert_allclose(squares[0].q0[1], squares[1].q0, rtol=1e-12, atol=1e-14)


def test_volumes_of_states_stay() -> None:
    """Liouville: the flow of momenta keeps volumes, so that det d(q, qd)/d(q0, qd0) = det M(q0) /
    det M(q).
    """
    robot = pendulums()
    derivatives = sensitivities(robot, None, Q0, QD0, seconds=0.5, step=1e-3, every=500)
    masses = np.linalg.det(robot.mass_matrix(derivatives.run.q[[0, -1]]))
    close(np.linalg.det(derivatives.state[-1]), masses[0] / masses[1], 1e-9)


def test_bad_input() -> None:
    robot = damped()
    for call, message in (
        (
            lambda: sensitivities(robot, lambda t, q, qd: 0 * q, Q0),
            "a Python function cannot be differentiated",
        ),
        (
            lambda: sensitivities(robot, method="adaptive"),
            "adaptive method cannot be differentiated",
        ),
        (
            lambda: run_gradient(robot, np.ones((3, 4)), **SHORT),
            r"weights have shape \(3, 4\); expected finite numbers \(4, 4\)",
        ),
        (lambda: run_gradient(robot, np.full((4, 4), np.nan), **SHORT), "weights have shape"),
        (lambda: run_gradient(robot, "all", **SHORT), "weights must be an array of numbers"),
        (lambda: sensitivities(robot, q0=[1.0]), "q0 has shape"),
    ):
        with pytest.raises(sy.CallError, match=message):
            call()


def test_what_a_controller_learns_counts() -> None:
    """The memory of an adaptive controller is part of the state."""
    robot, law = block({"viscous": 0.3}), SlotineLi([0.1], 5.0, 2.0, 0.5)
    result, e = sensitivities(robot, law, [0.3], [0.0], **SHORT), 1e-5
    ends = [sy.simulate(robot, law, [0.3 + method * e], [0.0], **SHORT).q for method in (-1, 1)]
    close(result.state[:, 0, 0], (ends[1] - ends[0])[:, 0] / (2 * e), 1e-7)


def test_with_parameters_as_an_input_they_are_those_of_the_robot_with_them() -> None:
    """One kernel for all numbers.

    Torques change with the parameters as differences of runs do, a controller without a model with
    them.
    """
    robot, e = rough(), 1e-5
    pi = robot.parameters * 1.3
    for law in (BELIEF, PD([0.2, 0.1], 30.0, 3.0)):
        there, here = (
            sy.simulate(robot, law, Q0, QD0, **SHORT, parameters=pi),
            sy.simulate(robot.with_parameters(pi), law, Q0, QD0, **SHORT),
        )
        for name in ("q", "qd", "tau", "energy"):
            close(getattr(there, name), getattr(here, name), 1e-12, name)
        derivatives = sensitivities(robot, law, Q0, QD0, **SHORT, parameters=pi)
        k = derivatives.parameter_names.index("second.m")
        ends = [
            sy.simulate(
                robot, law, Q0, QD0, **SHORT, parameters=pi + method * e * (np.arange(len(pi)) == k)
            )
            for method in (-1, 1)
        ]
        close(derivatives.torque[..., k], (ends[1].tau - ends[0].tau) / (2 * e), 1e-6)
        close(derivatives.parameters[..., :2, k], (ends[1].q - ends[0].q) / (2 * e), 1e-6)
    close(
        sensitivities(robot, BELIEF, Q0, QD0, **SHORT, parameters=robot.parameters).torque,
        sensitivities(robot, BELIEF, Q0, QD0, **SHORT).torque,
        1e-11,
    )


def test_parameters_that_do_not_fit() -> None:
    robot = damped()
    for options, message in (
        ({"parameters": np.ones(3)}, r"parameters have shape \(3,\); expected 22 finite numbers"),
        ({"parameters": np.full(22, np.nan)}, "finite numbers"),
        (
            {"parameters": robot.parameters, "method": "adaptive"},
            "parameters= cannot be combined with the adaptive method",
        ),
        (
            {"parameters": robot.parameters, "drive": Elastic(200.0, 1.0, 0.05)},
            "parameters= cannot be combined with a drive model",
        ),
    ):
        with pytest.raises(sy.CallError, match=message):
            sy.simulate(robot, None, Q0, QD0, **SHORT, **options)
