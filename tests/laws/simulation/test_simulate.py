"""Made-up measurements: true robots that could be built, sensors whose every effect can be told
apart.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments import excite
from steelyard.motion import Trajectory
from steelyard.parameters.pseudo_inertia import is_consistent, pseudo_inertia
from steelyard.simulation import Sensors, perturbed, record
from steelyard.simulation.measurement.sensors import first_order_low_pass, quantised, ripple

PERFECT = Sensors.perfect()


@pytest.fixture(scope="module")
def motion() -> Trajectory:
    return excite(sy.load("spatial_3r"), seconds=5, candidates=3)


def noisy(**only: object) -> Sensors:
    from dataclasses import replace

    return replace(PERFECT, **only)  # type: ignore[arg-type]


def rms(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(x**2, axis=0))


def test_perfect_sensors_tell_the_truth(motion: Trajectory) -> None:
    robot = sy.load("spatial_3r")
    log = record(robot, motion, rate=200, sensors=PERFECT)
    q, qd, qdd = motion.motion(log.t)
    np.testing.assert_array_equal(log.q, q)
    np.testing.assert_allclose(log.tau, robot.inverse_dynamics(q, qd, qdd), rtol=1e-12, atol=1e-12)
    assert log.joint_names == robot.joint_names
    assert log.effort == "torque"
    assert log.rate == pytest.approx(200)


def test_a_joint_at_rest_does_not_rub(motion: Trajectory) -> None:
    """The velocity at rest is zero but for rounding, whose sign is no direction."""
    robot = sy.load("spatial_3r").with_friction(coulomb=10.0)
    tau = record(robot, motion, rate=100, sensors=PERFECT).tau
    assert tau is not None
    np.testing.assert_allclose(tau[[0, -1]], robot.gravity_torque(motion.q[[0, -1]]), atol=1e-6)


def test_the_torque_is_late_by_the_delay(motion: Trajectory) -> None:
    robot = sy.load("spatial_3r")
    true = record(robot, motion, rate=100, sensors=PERFECT).tau
    late = record(robot, motion, rate=100, sensors=noisy(delay=[0.0, 0.03, 0.05])).tau
    assert true is not None
    assert late is not None
    for joint, samples in enumerate((0, 3, 5)):
        np.testing.assert_allclose(
            late[samples:, joint], true[: len(true) - samples, joint], atol=1e-10
        )


def test_encoders_count_whole_steps(motion: Trajectory) -> None:
    robot, step = sy.load("spatial_3r"), 1e-3
    log = record(robot, motion, sensors=noisy(encoder=step))
    np.testing.assert_allclose(log.q / step, np.rint(log.q / step), atol=1e-9)
    assert 0.45 * step < np.abs(log.q - motion.motion(log.t)[0]).max() <= 0.5 * step * (1 + 1e-9)
    np.testing.assert_array_equal(quantised([0.26, -0.26], 0.0), [0.26, -0.26])


def test_noise_has_the_size_that_was_asked_for(motion: Trajectory) -> None:
    robot = sy.load("spatial_3r")
    true = record(robot, motion, sensors=PERFECT)
    log = record(robot, motion, sensors=noisy(torque_noise=[0.01, 0.02, 0.05], encoder_noise=1e-4))
    np.testing.assert_allclose(
        rms(log.tau - true.tau) / rms(true.tau), [0.01, 0.02, 0.05], rtol=0.1
    )
    np.testing.assert_allclose(rms(log.q - true.q), 1e-4, rtol=0.1)


def test_ripple_repeats_with_the_motor_and_has_rms_one(rng: np.random.Generator) -> None:
    q, gear, phases = (
        rng.uniform(-3, 3, (20_000, 2)),
        np.array([50.0, 100.0]),
        rng.uniform(0, 6, (3, 2)),
    )
    wave = ripple(q, gear, (1, 2, 6), phases)
    np.testing.assert_allclose(
        wave, ripple(q + 2 * np.pi / gear, gear, (1, 2, 6), phases), atol=1e-9
    )
    np.testing.assert_allclose(rms(wave), 1, rtol=0.03)
    assert not ripple(q, gear, (), np.zeros((0, 2))).any()


def test_the_low_pass_is_exact_for_a_ramp() -> None:
    rate, f = 100.0, 3.0
    t, T = np.arange(200) / rate, 1 / (2 * np.pi * f)
    ramp = np.column_stack([t, t])
    out = first_order_low_pass(ramp, rate, np.array([f, 0.0]))
    np.testing.assert_allclose(out[:, 0], t - T + T * np.exp(-t / T), atol=1e-12)
    np.testing.assert_array_equal(out[:, 1], t)


def test_the_seed_decides(motion: Trajectory) -> None:
    robot = sy.load("spatial_3r")
    one, same, other = (record(robot, motion, seed=seed).tau for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "spatial_3r", "puma560", "elbow_6r"])
def test_a_perturbed_robot_could_be_built_where_the_described_one_could(name: str) -> None:
    robot = sy.load(name)
    bodies = 10 * len(robot.tree.bodies)
    shown = is_consistent(robot.parameters[:bodies].reshape(-1, 10))
    for seed in range(20):
        true = perturbed(robot, seed, spread=0.5)
        assert np.all(is_consistent(true.parameters[:bodies].reshape(-1, 10)) | ~shown), seed
        assert true.parameter_names == robot.parameter_names
        signs = [
            np.sign(x.parameters[k])
            for x in (true, robot)
            for k, p in enumerate(x.parameter_names)
            if p.endswith((".Ia", ".Fv", ".Fc"))
        ]
        assert signs[: len(signs) // 2] == signs[len(signs) // 2 :]


def test_a_perturbed_robot_is_another_one_by_about_the_spread() -> None:
    robot = sy.load("elbow_6r")
    masses = [
        [perturbed(robot, seed, 0.15).parameters[k] / robot.parameters[k] for k in range(0, 60, 10)]
        for seed in range(40)
    ]
    assert np.std(np.log(masses)) == pytest.approx(0.15, rel=0.25)
    assert perturbed(robot, 1) == perturbed(robot, 1)
    assert perturbed(robot, 1) != perturbed(robot, 2)
    np.testing.assert_allclose(
        perturbed(robot, 1, spread=0.0).parameters, robot.parameters, rtol=1e-12, atol=1e-12
    )


def test_a_plate_stays_as_flat_as_it_was() -> None:
    """A body on the boundary of what can exist stays on it: its pseudo-inertia keeps its rank."""
    robot = sy.load("planar_2r")
    ranks = [
        [np.linalg.matrix_rank(pseudo_inertia(x.parameters[k : k + 10]), tol=1e-9) for k in (0, 10)]
        for x in (robot, perturbed(robot, 4))
    ]
    assert ranks[0] == ranks[1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"torque_noise": -1.0}, "torque_noise"),
        ({"delay": float("nan")}, "delay"),
        ({"encoder": [[1.0]]}, "encoder"),
    ],
)
def test_bad_sensors_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        Sensors(**wrong)  # type: ignore[arg-type]


def test_bad_calls_are_told_what_was_expected(motion: Trajectory) -> None:
    with pytest.raises(sy.CallError, match="moves 3 joints, the robot has 2"):
        record(sy.load("planar_2r"), motion)
    with pytest.raises(sy.CallError, match=r"expected one, or one for each of 3 joints"):
        record(sy.load("spatial_3r"), motion, sensors=Sensors(delay=[0.0, 0.1]))
    with pytest.raises(sy.CallError, match="at least two samples"):
        record(sy.load("spatial_3r"), motion, rate=0.0)
    with pytest.raises(sy.CallError, match="spread"):
        perturbed(sy.load("planar_2r"), spread=-1)
