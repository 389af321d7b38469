"""Friction with memory in simulation: its state, energy, and the loop of hysteresis."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy

LEVEL, DISTANCE, VISCOUS = np.array([5.0, 2.0]), np.array([0.002, 0.004]), 0.5


def arm() -> sy.Robot:
    return sy.load("planar_2r").with_friction(viscous=VISCOUS, presliding=LEVEL, distance=DISTANCE)


def push(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Torques that move both joints to and fro."""
    return np.array([20 * np.sin(3 * t), 6 * np.cos(2 * t)]) + arm().gravity_torque(q)


def integrated(seconds: float, h: float) -> np.ndarray:
    """q, qd and z at the end, by Runge-Kutta steps of dz/dt = qd / d (1 - z sign(qd))."""
    plain, gravity = sy.load("planar_2r"), sy.load("planar_2r").gravity_torque

    def rate(tau: np.ndarray, y: np.ndarray) -> np.ndarray:
        q, qd, z = y[:2], y[2:4], y[4:]
        qdd = plain.forward_dynamics(q, qd, tau - VISCOUS * qd - LEVEL * z)
        return np.concatenate([qd, qdd, qd / DISTANCE * (1.0 - z * np.sign(qd))])

    y = np.array([0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    for k in range(round(seconds / h)):
        t = k * h
        tau = np.array([20 * np.sin(3 * t), 6 * np.cos(2 * t)]) + gravity(y[:2])
        a = rate(tau, y)
        b = rate(tau, y + h / 2 * a)
        c = rate(tau, y + h / 2 * b)
        d = rate(tau, y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y


def test_a_run_is_the_integral_of_its_state_equation() -> None:
    h, seconds = 5e-4, 1.2
    run = sy.simulate(arm(), push, q0=[0.2, 0.1], seconds=seconds, step=h)
    values = np.concatenate([run.q[-1], run.qd[-1], run.presliding[-1]])
    np.testing.assert_allclose(values, integrated(seconds, h), atol=2e-3)
    assert np.abs(run.presliding).max() <= 1.0 + 1e-12
    assert run.presliding.min() < -0.99  # both joints reverse
    assert run.drift < 1e-9


def test_recorded_states_follow_from_the_motion() -> None:
    """The states of a run are those of its positions, and its torque is that of its motion."""
    run = sy.simulate(arm(), push, q0=[0.2, 0.1], seconds=0.5, step=5e-4)
    np.testing.assert_allclose(run.presliding, arm().presliding_along(run.q), atol=1e-9)


def test_small_forces_move_a_joint_elastically() -> None:
    """Within presliding, friction is a spring of stiffness Fp / d: a load does not slide."""
    robot = arm()
    start = np.array([0.2, 0.1])
    tau = robot.gravity_torque(start) + [0.25, 0.0]
    run = sy.simulate(robot, tau, q0=start, seconds=0.4, step=2e-4)
    assert 0 < run.q[:, 0].max() - start[0] < 2.5 * 0.25 * DISTANCE[0] / LEVEL[0]


@pytest.mark.parametrize("method", ["rk4", "rk8", "euler"])
def test_batches_and_methods_have_the_states(method: str) -> None:
    q0 = np.zeros((3, 2))
    run = sy.simulate(arm(), q0=q0, seconds=0.02, method=method)
    assert run.presliding.shape == (3, 21, 2)
    assert run[1].presliding.shape == (21, 2)
    np.testing.assert_allclose(run.presliding[0], run.presliding[2])


def test_a_joint_locks_by_its_sharp_friction_alone() -> None:
    robot = arm().with_friction(coulomb=3.0)
    start = np.array([0.2, 0.1])
    run = sy.simulate(robot, robot.gravity_torque(start) + 2.0, q0=start, seconds=0.05)
    assert not np.any(run.qd)
    assert not np.any(run.presliding)


def test_a_run_without_memory_has_no_states() -> None:
    assert sy.simulate(sy.load("planar_2r"), q0=[0.1, 0.0], seconds=0.01).presliding is None


def test_the_adaptive_method_refuses_memory() -> None:
    with pytest.raises(sy.CallError, match="does not support friction with memory"):
        sy.simulate(arm(), q0=[0.1, 0.0], method="adaptive")


def test_records_have_the_memory() -> None:
    """Torques of a record differ from the sliding ones by the memory of its motion."""
    robot = arm()
    motion = sy.excite(robot, seconds=4, starts=1)
    quiet = sy.simulation.Sensors(
        encoder=0.0,
        encoder_noise=0.0,
        torque_noise=0.0,
        torque_ripple=0.0,
        torque_step=0.0,
        bandwidth=0.0,
        delay=0.0,
    )
    log = sy.record(robot, motion, rate=500, sensors=quiet)
    m = motion.motion(log.t)
    memory = robot.presliding_torque(m.qd, robot.presliding_along(m.q))
    tau = robot.inverse_dynamics(*m) + memory
    moving = np.abs(m.qd) > 1e-6
    np.testing.assert_allclose(log.tau[moving], tau[moving], rtol=1e-6, atol=1e-6)
    assert np.abs(memory).max() > 1.0
