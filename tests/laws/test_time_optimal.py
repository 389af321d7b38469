"""The fastest motion along a path: closed forms of one joint, a limit that is always reached, no motion that is faster, and bad input."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import steelyard as sy
from steelyard.motion import Trajectory, line, point_to_point, time_optimal
from tests.laws.test_simulation import block

M, F, L = 2.0, 4.0, 0.5  # block: kg, N, m
TORQUE = np.array([100.0, 300.0, 60.0])
WAY = np.array([[0.0, 0.3, 0.2], [0.5, 0.0, -0.5], [0.9, 0.4, -0.8], [1.2, 0.2, 0.1]])


@cache
def arm() -> sy.Robot:
    return sy.load("spatial_3r").without_friction()


def used(robot: sy.Robot, made: Trajectory, velocity: float = np.inf) -> np.ndarray:
    """The largest share of a limit at every sample."""
    tau = robot.inverse_dynamics(made.q, made.qd, made.qdd)
    return np.maximum(np.abs(tau) / TORQUE, np.abs(made.qd) / velocity).max(axis=1)


def test_one_joint_has_its_closed_form() -> None:
    """Full force forward, then backward; Coulomb friction helps to brake; viscous friction by the point of switching."""
    close = {"rtol": 1e-4}
    np.testing.assert_allclose(time_optimal(block({}), [[0.0], [L]], F).duration, 2 * np.sqrt(M * L / F), **close)
    up, down = (F - 1) / M, (F + 1) / M
    v = np.sqrt(2 * L * up * down / (up + down))
    np.testing.assert_allclose(time_optimal(block({"coulomb": 1.0}), [[0.0], [L]], F).duration, v / up + v / down, **close)

    def way(t: float, b: float = 3.0) -> tuple[float, float]:
        """Distance and time of the motion that brakes after t [s]: M v' = +-F - b v."""
        v = F / b * (1 - np.exp(-b * t / M))
        brake = M / b * np.log1p(b * v / F)
        there = F / b * t - M / b * v
        return there + M / b * (v - F / M * brake), t + brake

    switch = brentq(lambda t: way(t)[0] - L, 0.01, 5.0)
    np.testing.assert_allclose(time_optimal(block({"viscous": 3.0}), [[0.0], [L]], F, points=2000).duration, way(switch)[1], rtol=1e-3)


def test_speed_and_acceleration_are_limits_too() -> None:
    """A trapezoid: a = 2, v = 0.5."""
    made = time_optimal(block({}), [[0.0], [L]], 100.0, 0.5, 2.0)
    np.testing.assert_allclose(made.duration, L / 0.5 + 0.5 / 2.0, rtol=1e-3)
    assert np.abs(made.qd).max() < 0.5 * (1 + 1e-9)


def test_some_limit_is_reached_at_every_instant_and_none_is_passed() -> None:
    made = time_optimal(arm(), WAY, TORQUE, 2.0)
    share = used(arm(), made, 2.0)
    assert share.max() < 1.005
    assert np.quantile(share, 0.05) > 0.95
    np.testing.assert_allclose(made.q[[0, -1]], WAY[[0, -1]], atol=1e-9)
    assert np.abs(made.qd[[0, -1]]).max() < 1e-6
    h, t = 1e-6, np.linspace(0.01, made.duration - 0.01, 50)
    slope = (made.motion(t + h).q - made.motion(t - h).q) / (2 * h)
    np.testing.assert_allclose(made.motion(t).qd, slope, atol=1e-4)


def test_it_is_faster_than_any_quintic_of_the_same_torque() -> None:
    ends = WAY[[0, -1]]
    made = time_optimal(arm(), ends, TORQUE)
    assert used(arm(), point_to_point(*ends, made.duration)).max() > 1.2
    half = time_optimal(arm(), ends, TORQUE, points=250)
    np.testing.assert_allclose(half.duration, made.duration, rtol=3e-3)


def test_lines_in_space_and_trajectories_are_paths() -> None:
    puma, q0 = sy.load("puma560").without_friction(), np.array([0.3, 0.8, 0.2, 0.5, 0.8, 0.2])
    start = puma.forward_kinematics(q0)
    end = start.copy()
    end[:3, 3] += [0.05, -0.1, -0.1]
    made = time_optimal(puma, line(start, end, 1.0), 50.0, 2.0, q0=q0, points=200, rate=200.0)
    p = puma.forward_kinematics(made.q)[:, :3, 3] - start[:3, 3]
    along = (end - start)[:3, 3]
    assert np.linalg.norm(np.cross(p, along), axis=1).max() / np.linalg.norm(along) < 1e-5
    assert made.duration < 1.0


def test_bad_input() -> None:
    for call, message in (
        (lambda: time_optimal(arm(), WAY), "no joint has a limit"),
        (lambda: time_optimal(arm(), WAY[:, :2], 10.0), r"path has shape \(4, 2\)"),
        (lambda: time_optimal(arm(), WAY[:1], 10.0), "no length"),
        (lambda: time_optimal(arm(), WAY[[0, 0]], 10.0), "no length"),
        (lambda: time_optimal(arm(), WAY * np.nan, 10.0), "expected finite positions"),
        (lambda: time_optimal(arm(), WAY, [1.0, 2.0]), "torque has 2 numbers"),
        (lambda: time_optimal(arm(), WAY, 0.0), "torque of 'joint1' must be above zero"),
        (lambda: time_optimal(arm(), WAY, 10.0, points=1), "points must be"),
        (lambda: time_optimal("arm", WAY, 10.0), "load it first"),
    ):
        with pytest.raises(sy.CallError, match=message):
            call()
    with pytest.raises(sy.ProblemError, match="no speed keeps the limits"):
        time_optimal(arm(), WAY, 1.0)
