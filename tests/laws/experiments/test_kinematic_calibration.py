"""Kinematic calibration.

Corrections that were planted come back, against SciPy's least squares, and what cannot be shown is
said.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import steelyard as sy
from steelyard.algebra.spatial import Pose

NOISE = 5e-5  # [m], [rad]


def pose(vector):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec(vector[3:]).as_matrix(), vector[:3]
    return X


def as_pose(X):
    return Pose(tuple(map(tuple, X[:3, :3].tolist())), tuple(X[:3, 3].tolist()))


def displaced(robot, rng, size=1e-3):
    """The robot with every moving joint's origin displaced and turned by about `size` [m, rad]."""

    def moved(joint):
        return (
            joint
            if joint.kind == "fixed"
            else replace(
                joint, origin=as_pose(pose(size * rng.normal(size=6))).compose(joint.origin)
            )
        )

    return sy.Robot(
        replace(robot.mechanism, joints=tuple(moved(joint) for joint in robot.mechanism.joints))
    )


def measure(robot, q, base, tool, rng, noise=NOISE):
    X = base @ robot.forward_kinematics(q) @ tool
    return np.array([x @ pose(noise * rng.normal(size=6)) for x in X])


@pytest.mark.parametrize("name", ["spatial_3r", "puma560", "planar_2r"])
def test_a_displaced_arm_is_predicted_to_the_noise(name, rng):
    robot = sy.load(name)
    true = displaced(robot, rng)
    base, tool = pose([1.0, 0.2, -0.3, 0.3, -0.2, 1.0]), pose([0.02, 0.0, 0.1, 0.1, 0.2, 0.3])
    q = rng.uniform(-2.0, 2.0, (120, robot.n))
    calibration = sy.calibrate(robot, q, measure(true, q, base, tool, rng))
    other = rng.uniform(-2.0, 2.0, (200, robot.n))
    predicted = calibration.base @ calibration.robot.forward_kinematics(other) @ calibration.tool
    expected = base @ true.forward_kinematics(other) @ tool
    assert np.sqrt(np.mean(np.sum((predicted - expected)[:, :3, 3] ** 2, axis=1))) < 1.2 * NOISE
    assert calibration.converged
    assert calibration.before[0] > 5 * calibration.after[0]
    assert calibration.after[0] == pytest.approx(np.sqrt(3) * NOISE, rel=0.2)
    assert "corrections are identified" in calibration.status


def test_corrections_are_within_their_standard_deviations(rng):
    robot = sy.load("puma560")
    z = []
    for _ in range(6):
        truth = np.concatenate([1e-3 * rng.normal(size=6) for _ in range(robot.n)])
        steps = iter(truth.reshape(-1, 6))
        joints = tuple(
            (
                j
                if j.kind == "fixed"
                else replace(j, origin=as_pose(pose(next(steps))).compose(j.origin))
            )
            for j in robot.mechanism.joints
        )
        true = sy.Robot(replace(robot.mechanism, joints=joints))
        q = rng.uniform(-2.5, 2.5, (60, robot.n))
        calibration = sy.calibrate(
            robot, q, measure(true, q, np.eye(4), np.eye(4), rng), base=False, tool=False
        )
        shown = np.isfinite(calibration.std)
        z.append((calibration.corrections - truth)[shown] / calibration.std[shown])
    z = np.concatenate(z)
    assert 0.85 < np.sqrt(np.mean(z**2)) < 1.15


def test_it_is_the_least_of_scipys_least_squares(rng):
    robot = sy.load("spatial_3r")
    q = rng.uniform(-2.0, 2.0, (40, robot.n))
    # as noisy as the prior is wide
    measured = measure(displaced(robot, rng), q, np.eye(4), np.eye(4), rng, 2e-3)[:, :3, 3]
    calibration = sy.calibrate(robot, q, measured, base=False, tool=False)

    def predicted(x):
        X, steps = (
            np.broadcast_to(np.eye(4), (len(q), 4, 4)),
            dict(zip(robot.joint_names, x.reshape(-1, 6), strict=True)),
        )
        for j in robot.mechanism.joints:
            origin = np.eye(4)
            origin[:3, :3], origin[:3, 3] = j.origin.R, j.origin.p
            X = X @ pose(steps.get(j.name, np.zeros(6))) @ origin
            if j.name in steps:
                turn = np.tile(np.eye(4), (len(q), 1, 1))
                turn[:, :3, :3] = Rotation.from_rotvec(
                    q[:, [robot.joint_names.index(j.name)]] * np.array(j.axis)
                ).as_matrix()
                X = X @ turn
        return X[:, :3, 3]

    np.testing.assert_allclose(
        predicted(calibration.corrections),
        calibration.robot.forward_kinematics(q)[:, :3, 3],
        atol=1e-5,
    )
    remaining = (measured - calibration.robot.forward_kinematics(q)[:, :3, 3]).ravel()
    sigma = np.sqrt(np.mean(remaining**2) / (1 - 6 * robot.n / remaining.size))
    free = least_squares(
        lambda x: np.concatenate([(measured - predicted(x)).ravel() / sigma, x / 1e-3]),
        np.zeros(6 * robot.n),
    )
    np.testing.assert_allclose(calibration.corrections, free.x, atol=3e-6)


def test_what_no_measurement_shows_is_infinitely_uncertain(rng):
    robot = sy.load("planar_2r")
    q = rng.uniform(-2.0, 2.0, (80, 2))
    calibration = sy.calibrate(
        robot, q, measure(displaced(robot, rng), q, np.eye(4), np.eye(4), rng)
    )
    std = dict(zip(calibration.names, calibration.std, strict=True))
    first, second = robot.joint_names
    # the base takes them all
    assert all(np.isinf(std[f"{first}.{axis}"]) for axis in ("x", "y", "z", "rx", "ry", "rz"))
    assert np.isfinite(std[f"{second}.x"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros((5, 2))}, "q has shape"),
        ({"measured": np.zeros((5, 2))}, "measured has shape"),
        ({"measured": np.zeros((5, 4, 4))}, "is not a valid pose"),
        ({"measured": np.full((5, 3), np.nan)}, "finite"),
        ({"frame": "nowhere"}, "nowhere"),
        ({"position": -1.0}, "position"),
        ({"base": 1}, "base"),
    ],
)
def test_bad_input_is_named(change, words):
    argument = {"q": np.arange(15.0).reshape(5, 3), "measured": np.zeros((5, 3))} | change
    with pytest.raises(sy.CallError, match=words):
        sy.calibrate(sy.load("spatial_3r"), **argument)


def test_too_few_measurements_are_refused():
    with pytest.raises(sy.ProblemError, match="at least 4"):
        sy.calibrate(sy.load("spatial_3r"), np.zeros((2, 3)), np.zeros((2, 3)))


def test_one_pose_measured_again_and_again_is_refused():
    robot = sy.load("spatial_3r")
    with pytest.raises(sy.ProblemError, match="10 measurements at 1 different positions"):
        sy.calibrate(robot, np.zeros((10, 3)), robot.forward_kinematics(np.zeros((10, 3))))


def test_an_outlier_is_named(rng):
    robot = sy.load("spatial_3r")
    q = rng.uniform(-2.0, 2.0, (60, 3))
    measured = measure(displaced(robot, rng), q, np.eye(4), np.eye(4), rng)
    assert sy.calibrate(robot, q, measured).outliers == ()
    measured[17, 0, 3] += 0.1
    calibration = sy.calibrate(robot, q, measured)
    assert calibration.outliers == (17,)
    assert "outliers (17)" in calibration.status


def test_millimetres_are_noticed(rng):
    robot = sy.load("spatial_3r")
    q = rng.uniform(-2.0, 2.0, (60, 3))
    measured = measure(robot, q, np.eye(4), np.eye(4), rng)
    measured[:, :3, 3] *= 1000.0
    assert "check units" in sy.calibrate(robot, q, measured).status


def test_robots_with_loops_are_refused():
    with pytest.raises(sy.SteelyardError, match="loops"):
        sy.calibrate(sy.load("four_bar"), np.zeros((5, 3)), np.zeros((5, 3)))
