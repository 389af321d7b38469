"""The fastest motion along a path.

Closed forms of one joint, a limit that is always reached, no motion that is faster, and bad input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import steelyard as sy
from steelyard.motion import Trajectory, line, point_to_point, time_optimal
from steelyard.motion.trajectories.reachability import Constraints, fastest
from steelyard.motion.trajectories.time_optimal import (
    LimitUsage,
    PathLimits,
    joint_path,
    within_limits,
)
from steelyard.motion.trajectories.timed_path import TimedPath
from tests.laws.simulation.test_simulation import block

M, F, L = 2.0, 4.0, 0.5  # block: kg, N, m
TORQUE = np.array([100.0, 300.0, 60.0])
WAY = np.array([[0.0, 0.3, 0.2], [0.5, 0.0, -0.5], [0.9, 0.4, -0.8], [1.2, 0.2, 0.1]])


@cache
def arm() -> sy.Robot:
    return sy.load("spatial_3r").without_friction()


def used(robot: sy.Robot, result: Trajectory, velocity: float = np.inf) -> np.ndarray:
    """The largest share of a limit at every sample."""
    tau = robot.inverse_dynamics(result.q, result.qd, result.qdd)
    return np.maximum(np.abs(tau) / TORQUE, np.abs(result.qd) / velocity).max(axis=1)


def test_one_joint_has_its_closed_form() -> None:
    """Full force forward, then backward.

    Coulomb friction helps to brake; viscous friction by the point of switching.
    """
    close = {"rtol": 1e-4}
    np.testing.assert_allclose(
        time_optimal(block({}), [[0.0], [L]], F).duration, 2 * np.sqrt(M * L / F), **close
    )
    up, down = (F - 1) / M, (F + 1) / M
    v = np.sqrt(2 * L * up * down / (up + down))
    np.testing.assert_allclose(
        time_optimal(block({"coulomb": 1.0}), [[0.0], [L]], F).duration, v / up + v / down, **close
    )

    def way(t: float, b: float = 3.0) -> tuple[float, float]:
        """Distance and time of the motion that brakes after t [s]: M v' = +-F - b v."""
        v = F / b * (1 - np.exp(-b * t / M))
        brake = M / b * np.log1p(b * v / F)
        there = F / b * t - M / b * v
        return there + M / b * (v - F / M * brake), t + brake

    switch = brentq(lambda t: way(t)[0] - L, 0.01, 5.0)
    np.testing.assert_allclose(
        time_optimal(block({"viscous": 3.0}), [[0.0], [L]], F, points=2000).duration,
        way(switch)[1],
        rtol=1e-3,
    )


def test_speed_and_acceleration_are_limits_too() -> None:
    """A trapezoid: a = 2, v = 0.5."""
    trajectory = time_optimal(block({}), [[0.0], [L]], 100.0, 0.5, 2.0)
    np.testing.assert_allclose(trajectory.duration, L / 0.5 + 0.5 / 2.0, rtol=1e-3)
    assert np.abs(trajectory.qd).max() < 0.5 * (1 + 1e-9)


def test_some_limit_is_reached_at_every_instant_and_none_is_passed() -> None:
    trajectory = time_optimal(arm(), WAY, TORQUE, 2.0)
    share = used(arm(), trajectory, 2.0)
    assert share.max() < 1.005
    assert np.quantile(share, 0.05) > 0.95
    np.testing.assert_allclose(trajectory.q[[0, -1]], WAY[[0, -1]], atol=1e-9)
    assert np.abs(trajectory.qd[[0, -1]]).max() < 1e-6
    h, t = 1e-6, np.linspace(0.01, trajectory.duration - 0.01, 50)
    derivative = (trajectory.motion(t + h).q - trajectory.motion(t - h).q) / (2 * h)
    np.testing.assert_allclose(trajectory.motion(t).qd, derivative, atol=1e-4)


def test_it_is_faster_than_any_quintic_of_the_same_torque() -> None:
    ends = WAY[[0, -1]]
    trajectory = time_optimal(arm(), ends, TORQUE)
    assert used(arm(), point_to_point(*ends, trajectory.duration)).max() > 1.2
    half = time_optimal(arm(), ends, TORQUE, points=250)
    np.testing.assert_allclose(half.duration, trajectory.duration, rtol=3e-3)


def test_lines_in_space_and_trajectories_are_paths() -> None:
    puma, q0 = sy.load("puma560").without_friction(), np.array([0.3, 0.8, 0.2, 0.5, 0.8, 0.2])
    start = puma.forward_kinematics(q0)
    end = start.copy()
    end[:3, 3] += [0.05, -0.1, -0.1]
    trajectory = time_optimal(puma, line(start, end, 1.0), 50.0, 2.0, q0=q0, points=200, rate=200.0)
    p = puma.forward_kinematics(trajectory.q)[:, :3, 3] - start[:3, 3]
    along = (end - start)[:3, 3]
    assert np.linalg.norm(np.cross(p, along), axis=1).max() / np.linalg.norm(along) < 1e-5
    assert trajectory.duration < 1.0


@pytest.mark.parametrize("seed", range(20))
def test_speeds_from_a_former_profile_equal_those_computed_anew(seed: int) -> None:
    """Limits of some intervals are lowered, several times: the profile is the same to the bit."""
    rng, count = np.random.default_rng(seed), 60
    s = np.cumsum(np.r_[0.0, rng.uniform(0.01, 0.03, count)])
    wave = np.sin(np.outer(3 * s, rng.uniform(0.5, 3.0, 4)) + rng.uniform(0, 6, 4))
    limits = Constraints(
        wave,
        0.7 * np.roll(wave, 1, axis=1),
        np.zeros_like(wave),
        np.full_like(wave, 2.0),
        np.full(count + 1, 3.0),
        np.ones((count, 4)),
    )
    profile = fastest(limits, s)
    for _ in range(4):
        few, some = rng.random((count, 4)) < 0.05, rng.random(count + 1) < 0.05
        limits = replace(
            limits,
            scale=np.where(few, 1.3 * limits.scale, limits.scale),
            most=np.where(some, 0.8 * np.minimum(limits.most, profile.x + 0.1), limits.most),
        )
        anew, profile = fastest(limits, s), fastest(limits, s, profile)
        pairs = (profile.x, anew.x), (profile.low, anew.low), (profile.high, anew.high)
        for one, other in (*pairs, *zip(profile.lines, anew.lines, strict=True)):
            np.testing.assert_array_equal(one, other)


def test_torque_bounds_of_intervals_that_did_not_change_are_not_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, counts = TimedPath.torque_bounds, []

    def counted(
        motion: TimedPath, tree: object, limits: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        counts.append(len(rows))
        return whole(motion, tree, limits, rows)  # type: ignore[arg-type]

    monkeypatch.setattr(TimedPath, "torque_bounds", counted)
    path, limits = (
        joint_path(arm(), WAY, None, None),
        PathLimits(10 * TORQUE, np.full(3, 2.0), np.full(3, 6.0)),
    )
    motion = within_limits(arm(), path, path.grid(200), limits)
    assert len(counts) > 1, "limits are lowered at least once"
    assert counts[-1] < counts[0] == 200
    usage = LimitUsage(arm(), limits)
    slower = TimedPath(
        path, motion.s, np.where(np.arange(len(motion.x)) == 90, 0.98, 1.0) * motion.x
    )
    usage.of(motion)
    for one, other in zip(usage.of(slower), LimitUsage(arm(), limits).of(slower), strict=True):
        np.testing.assert_array_equal(one, other)


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
