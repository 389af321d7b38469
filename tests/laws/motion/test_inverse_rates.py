"""Inverse kinematics of velocities and accelerations.

The frame gets what was asked, and no joint runs away at a singularity.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from benchmarks.kinematic_arms import arm, frame_of


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]


def test_the_frame_moves_as_asked(rng: np.random.Generator) -> None:
    robot = arm("iiwa14")
    q, twist = rng.uniform(0.3, 1.2, (40, 7)), rng.normal(size=(40, 6))
    qd = sy.joint_velocity(robot, q, twist)
    J = robot.jacobian(q)
    np.testing.assert_allclose(times(J, qd), twist, atol=1e-10)
    np.testing.assert_allclose(qd, times(np.linalg.pinv(J), twist), atol=1e-8)


def test_what_is_free_follows_the_preferred_velocity(rng: np.random.Generator) -> None:
    robot = arm("iiwa14")
    q, twist, preferred = rng.uniform(0.3, 1.2, 7), rng.normal(size=6), rng.normal(size=7)
    qd = sy.joint_velocity(robot, q, twist, preferred=preferred)
    J = robot.jacobian(q)
    np.testing.assert_allclose(J @ qd, twist, atol=1e-10)
    expected = np.linalg.pinv(J) @ twist + (np.eye(7) - np.linalg.pinv(J) @ J) @ preferred
    np.testing.assert_allclose(qd, expected, atol=1e-9)


def test_accelerations_are_those_of_a_path(rng: np.random.Generator) -> None:
    """Along q(t) the frame accelerates by d(J qd)/dt, and the accelerations of the joints come
    back.
    """
    robot = arm("ur10e")
    q, qd, qdd = rng.uniform(0.4, 1.0, 6), rng.normal(size=6), rng.normal(size=6)
    acceleration = robot.jacobian(q) @ qdd + robot.jacobian_rate(q, qd) @ qd
    np.testing.assert_allclose(sy.joint_acceleration(robot, q, qd, acceleration), qdd, atol=1e-8)
    h = 1e-6
    ends = [robot.jacobian(q + s * qd + 0.5 * s * s * qdd) @ (qd + s * qdd) for s in (-h, h)]
    np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), acceleration, atol=1e-6)


@pytest.mark.parametrize("bend", [0.0, 1e-9, 1e-3])
def test_no_joint_runs_away_at_a_singularity(bend: float) -> None:
    """With a stretched elbow or an aligned wrist the impossible part of a twist is left out, the
    possible part stays.
    """
    robot = arm("lecture_6r")
    q = np.array([0.3, 0.4, bend, 0.7, bend, -0.4])
    qd = sy.joint_velocity(robot, q, np.ones(6))
    assert np.abs(qd).max() < 0.5 / 0.05 * np.sqrt(6)
    exact = sy.joint_velocity(robot, np.array([0.3, 0.4, 0.8, 0.7, 0.9, -0.4]), np.ones(6))
    np.testing.assert_allclose(
        robot.jacobian([0.3, 0.4, 0.8, 0.7, 0.9, -0.4]) @ exact, np.ones(6), atol=1e-10
    )


def test_the_lectures_equations_for_velocities_and_accelerations(rng: np.random.Generator) -> None:
    """Of the lecture's arm: positions, then velocities by J qd = v, then accelerations by J qdd = a
    - Jd qd.
    """
    robot = arm("lecture_6r")
    q, qd, qdd = np.array([0.3, 0.4, 0.7, -0.5, 0.9, 1.1]), rng.normal(size=6), rng.normal(size=6)
    back = sy.inverse_kinematics(robot, robot.forward_kinematics(q), q0=q).best
    np.testing.assert_allclose(back, q, atol=1e-12)
    velocity = sy.joint_velocity(robot, back, robot.jacobian(q) @ qd)
    np.testing.assert_allclose(velocity, qd, atol=1e-10)
    acceleration = robot.jacobian(q) @ qdd + robot.jacobian_rate(q, qd) @ qd
    np.testing.assert_allclose(
        sy.joint_acceleration(robot, back, velocity, acceleration), qdd, atol=1e-9
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda r: sy.joint_velocity(r, np.zeros(6), np.zeros(3)),
            "twist has shape (3,); expected (..., 6)",
        ),
        (lambda r: sy.joint_velocity(r, np.zeros(6), np.full(6, np.nan)), "twist contains NaN"),
        (
            lambda r: sy.joint_velocity(r, np.zeros(6), np.zeros(6), preferred=np.zeros(2)),
            "preferred has shape (2,)",
        ),
        (
            lambda r: sy.joint_velocity(r, np.zeros(6), np.zeros(6), "hand"),
            "no frame is called 'hand'",
        ),
        (
            lambda r: sy.joint_acceleration(r, np.zeros(6), np.zeros(6), "x"),
            "acceleration must be an array of numbers",
        ),
        (
            lambda r: sy.joint_acceleration("ur5", np.zeros(6), np.zeros(6), np.zeros(6)),
            "takes a robot, not its name",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message: str) -> None:
    robot = arm("lecture_6r")
    assert frame_of(robot) == "tool"
    with pytest.raises(sy.CallError) as error:
        call(robot)
    assert message in str(error.value)
