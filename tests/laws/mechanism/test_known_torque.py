"""Known torques: a robot with one is a robot like any other, and its files hold it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import steelyard as sy
from steelyard.mechanism.known_torque import evaluate_expression, joints_in, traced
from tests.motions import rubbing

SPRINGS = {
    "joint1": "5.0 * q['joint1'] - 2.0",
    "joint2": "3.0 * sin(q['joint1'] + q['joint2']) * exp(-qd['joint3'] * qd['joint3'])",
    "joint3": "where(q['joint3'] < 0.1, 2.0 * abs(q['joint3']), tanh(q['joint3']) / 4.0)",
}


def formula(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    third = np.where(q[:, 2] < 0.1, 2.0 * np.abs(q[:, 2]), np.tanh(q[:, 2]) / 4.0)
    return np.stack(
        [5.0 * q[:, 0] - 2.0, 3.0 * np.sin(q[:, 0] + q[:, 1]) * np.exp(-(qd[:, 2] ** 2)), third],
        axis=1,
    )


@pytest.fixture(scope="module")
def bare() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@pytest.fixture(scope="module")
def robot(bare) -> sy.Robot:
    return bare.with_known_torque(SPRINGS)


@pytest.fixture
def states(rng):
    return rng.normal(size=(3, 50, 3))


def test_it_is_added_to_the_torque(bare, robot, states):
    q, qd, qdd = states
    assert np.allclose(
        robot.inverse_dynamics(*states) - bare.inverse_dynamics(*states), formula(q, qd), atol=1e-12
    )
    assert np.allclose(robot.forward_dynamics(q, qd, robot.inverse_dynamics(*states)), qdd)
    assert np.allclose(robot.friction_torque(qd), bare.friction_torque(qd))


def test_its_factor_is_a_parameter(robot, states):
    assert robot.parameter_names[-3:] == ("joint1.Fk", "joint2.Fk", "joint3.Fk")
    assert np.allclose(robot.regressor(*states) @ robot.parameters, robot.inverse_dynamics(*states))
    pi = robot.parameters * 1.3
    scaled = robot.with_parameters(pi)
    assert np.allclose(scaled.parameters, pi)
    assert np.allclose(
        scaled.inverse_dynamics(*states), robot.inverse_dynamics(*states, parameters=pi)
    )


def test_derivatives_follow(robot, states):
    by_q, by_qd, _ = robot.inverse_dynamics_derivatives(*states)
    q, qd, qdd = states
    h = 1e-6
    for result, derivative in (
        (by_q, lambda d: robot.inverse_dynamics(q + d, qd, qdd)),
        (by_qd, lambda d: robot.inverse_dynamics(q, qd + d, qdd)),
    ):
        expected = np.stack(
            [(derivative(h * e) - derivative(-h * e)) / (2 * h) for e in np.eye(3)], axis=-1
        )
        assert np.allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize("file", ["robot.toml", "robot.urdf"])
@pytest.mark.filterwarnings(
    "ignore:.*no real body", "ignore:URDF has no element for .*known_scale of all joints"
)
def test_files_hold_it(robot, states, file, tmp_path):
    scaled = robot.with_parameters(np.append(robot.parameters[:-3], [1.0, 0.5, 2.0]))
    write = scaled.to_toml if file.endswith("toml") else scaled.to_urdf
    write(tmp_path / file)
    again = sy.load(tmp_path / file)
    assert again.mechanism.known == scaled.mechanism.known
    assert np.allclose(
        again.inverse_dynamics(*states), scaled.inverse_dynamics(*states), rtol=1e-12
    )
    changed = again.with_parameters(np.append(again.parameters[:-1], 3.0))
    (changed.to_toml if file.endswith("toml") else changed.to_urdf)(tmp_path / f"changed_{file}")
    assert sy.load(tmp_path / f"changed_{file}").mechanism.known[-1].scale == 3.0


def test_a_held_joint_becomes_a_number(robot, states):
    q, qd, qdd = (x.copy() for x in states)
    q[:, 0], qd[:, 0], qdd[:, 0] = 0.4, 0.0, 0.0
    frozen = robot.freeze({"joint1": 0.4})
    assert np.allclose(
        frozen.inverse_dynamics(q[:, 1:], qd[:, 1:], qdd[:, 1:]),
        robot.inverse_dynamics(q, qd, qdd)[:, 1:],
    )


def test_it_is_kept_and_taken_away(robot, bare):
    assert pickle.loads(pickle.dumps(robot)) == robot != bare
    assert robot.without_known_torque() == bare
    assert robot.without_friction().mechanism.known == robot.mechanism.known
    assert sy.check(robot).ok


def test_a_function_is_traced_if_it_can_be(bare):
    program = traced(lambda q, qd, qdd: 5.0 * q + np.sqrt(np.abs(qd)), bare.joint_names)
    assert [each.joint for each in program] == list(bare.joint_names)
    assert joints_in(program[1].expression) == ("joint2",)
    state = type("State", (), {"q": 2.0, "qd": -4.0})
    assert evaluate_expression(program[1].expression, {"joint2": state}) == pytest.approx(12.0)
    for cannot in (
        lambda q, qd, qdd: qdd,
        lambda q, qd, qdd: np.interp(q, [0, 1], [0, 1]),
        lambda q, qd, qdd: q if q[0, 0] > 0 else -q,
    ):
        assert traced(cannot, bare.joint_names) is None
        with pytest.raises(sy.CallError, match="cannot be traced"):
            bare.with_known_torque(cannot)


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        ("import os", "not an expression"),
        ("open('x')", "cannot contain"),
        ("q.x", "cannot contain"),
        ("q[0]", "cannot contain"),
        ("__import__('os')", "cannot contain"),
        ("(lambda: 1)()", "cannot contain"),
        ("1.0 / 0.0", "has no value at any of 8 states"),
        ("sqrt(-1.0)", "has no value"),
        ("exp(1000.0)", "has no value"),
        ("1e400", "cannot contain"),
        ("True", "cannot contain 'True'"),
        ("", "not an expression"),
        ("sin()", r"cannot contain 'sin\(\)'; expected sin\(x\), here are 0 arguments"),
        ("abs(1, 2)", r"expected abs\(x\), here are 2 arguments"),
        ("where(q['joint1'] < 0)", r"expected where\(condition, yes, no\), here are 1 arguments"),
        (
            "q['joint1'] < 0",
            r"uses the comparison .* as a number; use it in where\(condition, yes, no\)",
        ),
        ("1.0 + (q['joint1'] < 0)", "uses the comparison"),
        ("where(q['joint1'] < 0, 1, qd['joint2'] > 0)", "uses the comparison"),
        ("sin(-(qd['joint1'] >= 0))", "uses the comparison"),
        ("-" * 201 + "1", "nests more than 200 operations"),
        ("-" * 5000 + "1", "nests too many operations"),
        ("+" * 30_000 + "1", "30001 characters; expected at most 20000"),
        ("q['joint9']", "joint9"),
    ],
)
def test_an_expression_that_makes_no_sense_is_refused(bare, expression, match):
    with pytest.raises(sy.SteelyardError, match=match):
        bare.with_known_torque({"joint1": expression})


def test_an_expression_with_a_pole_or_many_operations_is_taken(bare):
    q, still = np.full(3, 0.25), np.zeros(3)
    chain = "-" * 200 + "1.0"
    sprung = bare.with_known_torque(
        {
            "joint1": "1 / (q['joint1'] - 0.5)",
            "joint2": chain,
            "joint3": " where(q['joint3'] < 1, 3, 4) ",
        }
    )
    np.testing.assert_allclose(
        sprung.inverse_dynamics(q, still, still) - bare.inverse_dynamics(q, still, still),
        [-4.0, 1.0, 3.0],
    )


def test_a_joint_that_there_is_not_is_named(bare):
    with pytest.raises(sy.CallError, match="did you mean 'joint1'"):
        bare.with_known_torque({"jiont1": "1.0"})


@pytest.mark.parametrize(
    "function",
    [
        lambda q, qd, qdd: np.where(q == 0, 1.0, np.sin(q)),
        lambda q, qd, qdd: 5.0 * (q != 0),
        lambda q, qd, qdd: q - q.mean(axis=0),
        lambda q, qd, qdd: np.cumsum(q, axis=0),
    ],
)
def test_a_function_whose_trace_gives_other_torques_is_refused(function) -> None:
    with pytest.raises(sy.CallError, match="cannot be traced"):
        sy.load("spatial_3r").with_known_torque(function)


def test_a_spring_stays_when_friction_goes() -> None:
    sprung = (
        sy.load("spatial_3r")
        .with_friction(viscous=1.0)
        .with_known_torque({"joint2": "5 * sin(q['joint2'])"})
    )
    q, still = np.array([0.1, 0.5, 0.2]), np.zeros(3)
    np.testing.assert_allclose(
        sprung.without_friction().inverse_dynamics(q, still, still),
        sprung.inverse_dynamics(q, still, still),
    )
