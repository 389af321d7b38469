"""A known torque that cannot be traced is in every torque of the robot, and what cannot have it is
refused.
"""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from steelyard.identification.validate import validate_robot
from steelyard.reporting.results import identified_robot, write_results
from steelyard.robot import Robot
from steelyard.robot.known_function import UNAFFECTED, RobotWithFunction, with_function
from steelyard.simulation import PD, ComputedTorque
from tests.motions import recorded, rubbing

STIFFNESS = 40.0  # N m/rad, at joint 2


def spring(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """A spring from a table, which cannot be traced, with a damper."""
    tau = np.zeros(q.shape)
    tau[:, 1] = (
        np.interp(q[:, 1], [-9.0, 9.0], [-9.0 * STIFFNESS, 9.0 * STIFFNESS]) + 0.5 * qd[:, 1]
    )
    return tau


@cache
def arm() -> Robot:
    return rubbing(sy.load("elbow_6r").freeze({"joint4": 0.0, "joint5": 0.0, "joint6": 0.0}))


@cache
def traced() -> Robot:
    """The same spring as an expression."""
    return arm().with_known_torque({"joint2": f"{STIFFNESS} * q['joint2'] + 0.5 * qd['joint2']"})


@cache
def log() -> sy.Log:
    recording = recorded(arm(), 12.0, noise=0.1)
    return recording.replace(tau=recording.tau + spring(recording.q, recording.qd, recording.qdd))


@cache
def fit() -> sy.Fit:
    return sy.identify(arm(), log(), known=spring, diagnose=False)


def states(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(3, *shape, arm().n))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,)])
def test_torques_and_accelerations_are_those_of_the_spring_as_an_expression(
    shape: tuple[int, ...],
) -> None:
    q, qd, qdd = states(*shape)
    robot = with_function(arm(), spring)
    tau = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, traced().inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(
        robot.bias_torque(q, qd), traced().bias_torque(q, qd), rtol=1e-10, atol=1e-9
    )
    np.testing.assert_allclose(
        robot.friction_torque(qd, q), traced().friction_torque(qd, q), rtol=1e-10, atol=1e-9
    )
    np.testing.assert_allclose(
        robot.friction_torque(qd), traced().friction_torque(qd), rtol=1e-10, atol=1e-9
    )
    np.testing.assert_allclose(
        robot.gravity_torque(q), traced().gravity_torque(q), rtol=1e-10, atol=1e-9
    )
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        robot.mass_matrix(q), traced().mass_matrix(q), rtol=1e-10, atol=1e-12
    )
    out = np.empty_like(tau)
    assert robot.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, tau)


def test_edits_and_pickles_keep_the_function() -> None:
    q, qd, qdd = states(4)
    robot = with_function(arm(), spring)
    for other, plain in (
        (robot.with_payload(1.0, (0, 0, 0.1)), arm().with_payload(1.0, (0, 0, 0.1))),
        (robot.without_friction(), arm().without_friction()),
        (robot.with_gravity((0, 0, 0)), arm().with_gravity((0, 0, 0))),
        (pickle.loads(pickle.dumps(robot)), arm()),
    ):
        np.testing.assert_allclose(
            other.inverse_dynamics(q, qd, qdd),
            plain.inverse_dynamics(q, qd, qdd) + spring(q, qd, qdd),
        )
    assert robot != arm()
    assert robot.without_known_function() == arm()
    assert robot.without_known_torque() == arm()


METHODS = sorted(
    name for name in dir(Robot) if not name.startswith("_") and callable(getattr(Robot, name))
)
INCLUDED = {"inverse_dynamics", "bias_torque", "forward_dynamics", "friction_torque"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_the_torque_or_does_not_depend_on_it_or_is_refused(name: str) -> None:
    if name in INCLUDED | UNAFFECTED | {"without_known_function", "without_known_torque"}:
        return
    with pytest.raises(
        CallError,
        match=rf"{name} cannot use the known torque .* robot\.without_known_function\(\)",
    ):
        getattr(with_function(arm(), spring), name)()


@pytest.mark.parametrize(
    "name",
    [
        "to_urdf",
        "to_toml",
        "to_c",
        "symbolic",
        "to_casadi",
        "to_jax",
        "to_torch",
        "kernel",
        "tick",
        "regressor",
    ],
)
def test_exports_are_among_those_that_are_refused(name: str) -> None:
    assert name in METHODS
    assert name not in INCLUDED | UNAFFECTED


@pytest.mark.parametrize("name", sorted(UNAFFECTED & set(METHODS)))
def test_methods_that_pass_do_not_depend_on_a_known_torque(name: str) -> None:
    """By the expression: a method that changes with it has no place in the table."""
    if (
        name.startswith(("with", "picture", "plot", "near_zero", "wrench_torque"))
        or "regressor" in name
    ):
        return
    q, qd, _ = states(3)
    arguments = (
        (q, qd)
        if name
        in (
            "coriolis_matrix",
            "coriolis_transpose",
            "momentum",
            "kinetic_energy",
            "jacobian_rate",
        )
        else (q,)
    )
    np.testing.assert_allclose(
        getattr(traced(), name)(*arguments), getattr(arm(), name)(*arguments), rtol=1e-9, atol=1e-9
    )


def test_functions_that_compile_a_robot_refuse_it(tmp_path: Path) -> None:
    robot = with_function(arm(), spring)
    for call in (
        lambda: sy.excite(robot, seconds=2),
        lambda: sy.check(robot),
        lambda: sy.record(robot, None),
        lambda: sy.OnlineIdentifier(robot),
        lambda: sy.CollisionObserver(robot, noise=1.0),
        lambda: sy.perturbed(robot),
        lambda: sy.identify_fleet(robot, tmp_path),
        lambda: sy.simulate(robot, PD(100.0, 10.0, np.zeros(3))),
        lambda: sy.simulate(robot, saturate=True),
        lambda: sy.simulate(arm(), ComputedTorque(100.0, 10.0, np.zeros(3), model=robot)),
        lambda: arm().thaw(robot),
    ):
        with pytest.raises(CallError, match="cannot use the known torque"):
            call()


@pytest.mark.parametrize(("method", "near"), [("rk4", 3e-4), ("adaptive", 1e-9)])
@pytest.mark.parametrize("law", ["none", "torques", "function"])
def test_a_simulation_has_the_spring(method: str, near: float, law: str) -> None:
    controller = {
        "none": None,
        "torques": np.array([1.0, 30.0, 2.0]),
        "function": lambda t, q, qd: -5.0 * qd - 20.0 * q,
    }[law]
    runs = [
        sy.simulate(robot, controller, q0=[0.1, 0.2, 0.3], seconds=0.3, method=method)
        for robot in (traced(), with_function(arm(), spring), arm())
    ]
    expected, result, without = runs
    assert np.abs(result.q - expected.q).max() < near
    assert np.abs(without.q - expected.q).max() > 10 * near
    assert np.abs(result.tau - expected.tau).max() < max(near, 3e-2 * (law == "function"))
    assert np.abs(result.heat - expected.heat).max() < 0.05 * np.abs(expected.heat).max()
    assert result.drift < 1e-6


def test_a_function_of_accelerations_has_no_forward_dynamics() -> None:
    robot = with_function(arm(), lambda q, qd, qdd: 0.1 * qdd)
    q, qd, qdd = states(4)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd), arm().inverse_dynamics(q, qd, qdd) + 0.1 * qdd
    )
    with pytest.raises(CallError, match="depends on the acceleration"):
        robot.forward_dynamics(q, qd, qdd)


def test_the_robot_of_a_fit_predicts_as_the_fit_does() -> None:
    q, qd, qdd = states(6)
    robot = fit().robot
    assert isinstance(robot, RobotWithFunction)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd), fit().predict(q, qd, qdd).torque, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd), fit().torque(q, qd, qdd), rtol=1e-12
    )
    assert validate_robot(robot, log()).total_relative_error == pytest.approx(
        fit().validate(log()).total_relative_error, rel=0.05
    )
    assert (
        validate_robot(robot.without_known_function(), log()).total_relative_error
        > 2 * fit().total_relative_error
    )


def test_identification_and_doctor_of_such_a_robot_have_the_torque() -> None:
    again = sy.identify(fit().robot, log(), diagnose=False)
    assert again.robot.known_function is not None
    assert again.total_relative_error == pytest.approx(fit().total_relative_error, rel=0.05)
    assert sy.doctor(fit().robot, log()).usable
    twice = sy.identify(fit().robot, log(), known=spring, diagnose=False)
    assert twice.total_relative_error == pytest.approx(fit().total_relative_error, rel=0.05), (
        "the same function counts once"
    )


def test_a_payload_and_an_observer_have_the_torque() -> None:
    loaded = recorded(arm().with_payload(2.0, (0, 0, 0.1)), 12.0, noise=0.1, seed=4)
    loaded = loaded.replace(tau=loaded.tau + spring(loaded.q, loaded.qd, loaded.qdd))
    p = sy.payload(fit(), loaded)
    assert p.mass == pytest.approx(2.0, rel=0.03)
    q, qd, qdd = states(3)
    gap = p.robot.inverse_dynamics(q, qd, qdd) - p.robot.without_known_function().inverse_dynamics(
        q, qd, qdd
    )
    np.testing.assert_allclose(gap, spring(q, qd, qdd), atol=1e-6)
    sy.CollisionObserver(fit(), rate=100.0)


def test_the_folder_of_results_does_not_hold_an_incomplete_robot_as_identified(
    tmp_path: Path,
) -> None:
    write_results(tmp_path / "results", fit(), page=False)
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"incomplete.toml", "fit.json"}
    assert "cannot be traced" in (tmp_path / "results" / "fit.json").read_text()
    with pytest.raises(sy.SteelyardError, match="expected the identified robot beside it"):
        identified_robot(str(tmp_path / "results"))
