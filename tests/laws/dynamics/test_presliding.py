"""Friction with memory: presliding states, their torque, and the sliding value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import steelyard as sy
from tests.laws.dynamics.law import close, law
from tests.zoo import case


def distances(name: str) -> np.ndarray:
    """The presliding distance of each coordinate of a robot, infinite without memory."""
    each = case(name).robot.tree.memory_distances
    return np.array([np.inf if d is None else d for d in each])


@law("presliding_state")
def test_a_state_follows_its_differential_equation(name: str) -> None:
    """dz/dq = (1 - z sign(dq)) / d, integrated numerically over a displacement."""
    x, d = case(name), distances(name)
    z, dq = np.tanh(x.qdd[0]), 0.03 * x.q[0]
    result = x.robot.presliding_state(z, dq)
    for j in range(x.robot.n):
        if np.isinf(d[j]):
            assert result[j] == 0.0
            continue
        side = np.sign(dq[j])
        path = solve_ivp(
            lambda s, y, side=side, d=d[j]: side * (1.0 - y * side) / d,
            (0.0, abs(dq[j])),
            [z[j]],
            rtol=1e-10,
            atol=1e-12,
        )
        assert result[j] == pytest.approx(path.y[0, -1], abs=1e-8)


@law("presliding_state")
def test_two_displacements_in_one_direction_are_one(name: str) -> None:
    x = case(name)
    z, dq = np.tanh(x.qdd), 0.03 * x.q
    step = x.robot.presliding_state
    close(step(step(z, 0.3 * dq), 0.7 * dq), step(z, dq))
    memory = np.isfinite(distances(name))
    close(step(z, 0.0 * dq), np.where(memory, z, 0.0))


@law("presliding_torque", "inverse_dynamics", "regressor")
def test_a_joint_that_has_slid_far_has_its_sliding_friction(name: str) -> None:
    x = case(name)
    far = x.robot.presliding_state(np.zeros_like(x.qd), 1e3 * np.sign(x.qd))
    close(x.robot.presliding_torque(x.qd, far), np.zeros_like(x.qd))


@law("presliding_torque", "friction_torque_at")
def test_memory_moves_friction_by_its_own_parameters(name: str) -> None:
    """friction + memory = (friction without the terms) + (Fp + Fs exp(-(qd / vs)^2)) z."""
    x = case(name)
    z = np.tanh(x.qdd)
    value = np.zeros_like(x.qd)
    for j, terms in enumerate(x.robot.tree.terms):
        if "distance" in terms:
            value[:, j] = terms.get("presliding", 0.0)
            if "stribeck" in terms:
                fading = np.exp(-((x.qd[:, j] / terms["stribeck"]) ** 2))
                value[:, j] += terms.get("stiction", 0.0) * fading
    sliding = x.robot.friction_torque(x.qd, x.q) - value * np.sign(x.qd)
    close(
        x.robot.friction_torque(x.qd, x.q) + x.robot.presliding_torque(x.qd, z), sliding + value * z
    )


def arm() -> sy.Robot:
    return sy.load("planar_2r").with_friction(presliding=[2.0, 1.0], distance=[0.003, 0.01])


def test_a_whole_motion_is_its_steps() -> None:
    rng = np.random.default_rng(0)
    q = np.cumsum(0.003 * rng.normal(size=(400, 2)), axis=0)
    q[100:140] = q[100]  # at rest
    robot, start = arm(), np.array([0.4, -0.9])
    z = [start]
    for k in range(len(q) - 1):
        z.append(robot.presliding_state(z[-1], q[k + 1] - q[k]))
    np.testing.assert_allclose(robot.presliding_along(q, start), z, atol=1e-12)


@pytest.mark.parametrize(
    ("q", "start", "offender"),
    [
        (np.zeros((5, 3)), None, r"q has shape \(5, 3\); expected \(N, 2\)"),
        (np.zeros(2), None, r"q has shape \(2,\)"),
        (np.zeros((5, 2)), [0.0, 2.0], "start must be 2 numbers from -1 to 1"),
        (np.zeros((5, 2)), [0.0], "start must be 2 numbers"),
        (np.zeros((5, 2)), [0.0, np.nan], "start must be 2 numbers"),
    ],
)
def test_motions_that_do_not_fit_are_named(q, start, offender) -> None:
    with pytest.raises(sy.CallError, match=offender):
        arm().presliding_along(q, start)


def test_a_motion_without_samples_or_memory_has_no_states() -> None:
    assert arm().presliding_along(np.zeros((0, 2))).shape == (0, 2)
    plain = sy.load("planar_2r").with_friction(coulomb=1.0)
    assert not plain.presliding_along(np.random.default_rng(1).normal(size=(9, 2))).any()
