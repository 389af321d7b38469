"""Motions from rest to rest: their ends, their derivatives, their limits."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import Trajectory, point_to_point, spline
from steelyard.motion.trajectories.point_to_point import PROFILES

START, END = np.array([0.2, -1.0, 0.5]), np.array([1.0, 0.4, 0.5])


def holds_its_derivatives(motion: Trajectory, tolerance: float = 1e-5) -> None:
    """qd and qdd against central differences, away from jumps of the acceleration."""
    h, t = 1e-5, np.linspace(0.013, motion.duration - 0.011, 97)
    before, now, after = (motion.motion(s) for s in (t - h, t, t + h))
    np.testing.assert_allclose((after.q - before.q) / (2 * h), now.qd, atol=tolerance)
    smooth = np.all(np.abs(after.qdd - before.qdd) < 0.1, axis=1)
    assert smooth.mean() > 0.9
    np.testing.assert_allclose(
        ((after.qd - before.qd) / (2 * h))[smooth], now.qdd[smooth], atol=1e-3
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_go_from_rest_to_rest(profile: str) -> None:
    motion = point_to_point(START, END, 1.5, profile)
    np.testing.assert_allclose(motion.q[[0, -1]], [START, END], atol=1e-12)
    np.testing.assert_allclose(motion.qd[[0, -1]], 0.0, atol=1e-12)
    holds_its_derivatives(motion)
    assert np.all(np.diff(motion.q[:, :2], axis=0) >= -1e-15)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_shortest_motion_touches_a_limit_and_keeps_all(profile: str) -> None:
    for limits in (
        {"velocity": [1.0, 2.0, 1.0]},
        {"acceleration": 3.0},
        {"velocity": 1.0, "acceleration": [5.0, 2.0, 1.0]},
    ):
        motion = point_to_point(START, END, profile=profile, rate=20000.0, **limits)
        used = [
            np.abs(motion.qd) / limits.get("velocity", np.inf),
            np.abs(motion.qdd) / limits.get("acceleration", np.inf),
        ]
        assert max(float(x.max()) for x in used) == pytest.approx(1.0, rel=1e-3)
        assert max(float(x.max()) for x in used) <= 1.0 + 1e-9


def test_a_spline_goes_through_its_points() -> None:
    t, q = np.array([1.0, 1.4, 2.5, 3.0]), np.random.default_rng(0).normal(size=(4, 3))
    motion = spline(t, q)
    np.testing.assert_allclose(motion.motion(t - 1.0).q, q, atol=1e-12)
    np.testing.assert_allclose(motion.qd[[0, -1]], 0.0, atol=1e-9)
    holds_its_derivatives(motion, 1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: point_to_point([0.0], [1.0, 2.0], 1.0),
            "must be finite positions of the same joints",
        ),
        (lambda: point_to_point([0.0], [np.nan], 1.0), "must be finite"),
        (lambda: point_to_point([0.0], [1.0]), "give seconds, or limits"),
        (lambda: point_to_point([0.0], [1.0], -1.0), "expected a positive time"),
        (lambda: point_to_point([0.0], [1.0], 1.0, "cubic"), "profile 'cubic' is unknown"),
        (lambda: point_to_point([0.0], [1.0], velocity=0.0), "limits must be positive"),
        (lambda: point_to_point([0.0], [1.0], velocity=[1.0, 2.0]), "one for all joints"),
        (lambda: point_to_point("a", "b", 1.0), "start must be an array of numbers"),
        (lambda: point_to_point([0.0], [1.0], "x"), "seconds must be a number"),
        (lambda: point_to_point([0.0], [1.0], 1.0, rate="x"), "rate must be a number"),
        (lambda: point_to_point([0.0], [1.0], velocity="x"), "limits must be an array of numbers"),
        (lambda: spline("ab", [[1.0], [2.0]]), "t must be an array of numbers"),
        (lambda: spline([0.0, 0.0], [[1.0], [2.0]]), "times that increase"),
        (lambda: spline([0.0, 1.0], [[1.0]]), "one row for each time"),
        (lambda: spline([0.0, 1.0], [[1.0], [np.inf]]), "must be finite"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        call()
