"""`point_to_point` against ruckig: never longer, and within the limits at every instant."""

from __future__ import annotations

import math

import numpy as np
import pytest
import ruckig

import steelyard as sy
from steelyard.motion import Trajectory, point_to_point
from steelyard.motion.trajectories.double_s import (
    DoubleSState,
    ProfileLimits,
    fastest_motion,
    keeps_limits,
)
from steelyard.motion.trajectories.point_to_point import PROFILES, SynchronisedMotion

ROUNDING = 1e-9  # of a limit


def random_case(rng: np.random.Generator, n: int, jerk: bool, moving: bool) -> dict:
    """Limits over 2.5 decades, distances over 4, and starts from which the limits can be kept."""
    velocity, acceleration, most = 10 ** rng.uniform(-1.0, 1.5, (3, n))
    most = most if jerk else np.full(n, np.inf)
    qd0, qdd0 = np.zeros(n), np.zeros(n)
    for i in range(n if moving else 0):
        limits = ProfileLimits(velocity[i], acceleration[i], most[i])
        while True:
            state = DoubleSState(
                rng.uniform(-1, 1) * velocity[i],
                rng.uniform(-1, 1) * acceleration[i] if jerk else 0.0,
            )
            if keeps_limits(state, limits):
                break
        qd0[i], qdd0[i] = state
    start = rng.uniform(-3, 3, n)
    end = start + rng.choice([-1, 1], n) * 10 ** rng.uniform(-3.0, 1.2, n) * (rng.random(n) > 0.1)
    return {
        "start": start,
        "end": end,
        "velocity": velocity,
        "acceleration": acceleration,
        "jerk": most,
        "qd0": qd0,
        "qdd0": qdd0,
    }


def call(case: dict, seconds: float | None = None) -> Trajectory:
    more = {
        name: value
        for name, value in case.items()
        if name not in ("start", "end") and np.isfinite(value).all()
    }
    return point_to_point(case["start"], case["end"], seconds, **more)


def by_ruckig(case: dict) -> float:
    """The duration of ruckig's motion [s]."""
    n = len(case["start"])
    argument = ruckig.InputParameter(n)
    argument.current_position, argument.current_velocity, argument.current_acceleration = (
        case["start"],
        case["qd0"],
        case["qdd0"],
    )
    argument.target_position = case["end"]
    argument.max_velocity, argument.max_acceleration, argument.max_jerk = (
        case["velocity"],
        case["acceleration"],
        case["jerk"],
    )
    result = ruckig.Trajectory(n)
    assert ruckig.Ruckig(n).calculate(argument, result) == ruckig.Result.Working
    return float(result.duration)


def assert_within(case: dict, result: Trajectory) -> None:
    """Limits on a dense grid, by the extrema of the pieces, and both ends."""
    motion = result.motion
    assert isinstance(motion, SynchronisedMotion)
    bounds = motion.bounds()
    assert (bounds.velocity <= case["velocity"] * (1 + ROUNDING)).all()
    assert (bounds.acceleration <= case["acceleration"] * (1 + ROUNDING)).all()
    if np.isfinite(case["jerk"]).all():
        assert (bounds.jerk <= case["jerk"] * (1 + ROUNDING)).all()
    q, qd, qdd = motion(np.linspace(0.0, motion.period, 2001))
    assert (np.abs(qd) <= bounds.velocity + 1e-12).all()
    assert (np.abs(qdd) <= bounds.acceleration + 1e-9).all()
    assert ((q >= bounds.lower - 1e-9) & (q <= bounds.upper + 1e-9)).all()
    np.testing.assert_allclose(q[[0, -1]], [case["start"], case["end"]], atol=1e-9)
    np.testing.assert_allclose(qd[0], case["qd0"], atol=1e-12)
    np.testing.assert_allclose(qd[-1], 0.0, atol=1e-9)
    if np.isfinite(case["jerk"]).all():
        np.testing.assert_allclose(qdd[0], case["qdd0"], atol=1e-9)
        np.testing.assert_allclose(qdd[-1], 0.0, atol=1e-8)


def assert_consistent(result: Trajectory) -> None:
    """Positions integrate velocities, and velocities accelerations, over the exact pieces."""
    for joint in result.motion.joints:
        h = np.diff(joint.t)[:-1]
        after_p, after_v, _ = joint(joint.t[1:-1] - 1e-14)
        np.testing.assert_allclose(after_p, joint.p[1:], atol=1e-9)
        np.testing.assert_allclose(after_v, joint.v[1:], atol=1e-9)
        assert (h > 0).all()


@pytest.mark.parametrize("moving", [False, True], ids=["rest", "moving"])
@pytest.mark.parametrize("jerk", [False, True], ids=["trapezoidal", "double-s"])
def test_one_joint_is_as_fast_as_ruckig(jerk: bool, moving: bool, rng: np.random.Generator) -> None:
    for _ in range(400):
        case = random_case(rng, 1, jerk, moving)
        peer = by_ruckig(case)
        state = DoubleSState(*(float(case[name][0]) for name in ("qd0", "qdd0")))
        limits = ProfileLimits(
            *(float(case[name][0]) for name in ("velocity", "acceleration", "jerk"))
        )
        assert (
            fastest_motion(float((case["end"] - case["start"])[0]), state, limits)[2]
            <= peer * (1 + 1e-9) + 1e-12
        )


@pytest.mark.parametrize("moving", [False, True], ids=["rest", "moving"])
@pytest.mark.parametrize("jerk", [False, True], ids=["trapezoidal", "double-s"])
def test_arms_are_as_fast_as_ruckig_and_within_limits(
    jerk: bool, moving: bool, rng: np.random.Generator
) -> None:
    for _ in range(60):
        case = random_case(rng, int(rng.integers(1, 8)), jerk, moving)
        result = call(case)
        peer = by_ruckig(case)
        assert result.motion.period <= peer * (1 + 1e-6) + 2e-9
        assert result.duration == pytest.approx(result.motion.period, rel=1e-12)
        assert_within(case, result)
        assert_consistent(result)


def test_every_longer_duration_is_possible(rng: np.random.Generator) -> None:
    for stretch in (1.0, 1.0 + 1e-7, 1.001, 1.1, 2.0, 7.0):
        for _ in range(15):
            case = random_case(rng, 3, True, True)
            least = call(case).motion.period
            result = call(case, least * stretch)
            assert result.motion.period == pytest.approx(least * stretch, rel=1e-12)
            assert_within(case, result)
    with pytest.raises(sy.CallError, match="the shortest motion takes"):
        call(case, 0.99 * least)


def test_limits_may_be_missing_in_part() -> None:
    """Closed forms from rest over a distance of 2: bang-bang in acceleration and in jerk."""
    assert point_to_point([0.0], [2.0], acceleration=0.5).duration == pytest.approx(
        2 * math.sqrt(2.0 / 0.5), rel=1e-12
    )
    assert point_to_point([0.0], [2.0], jerk=4.0).duration == pytest.approx(
        (32 * 2.0 / 4.0) ** (1 / 3), rel=1e-12
    )
    assert point_to_point([0.0], [12.0], velocity=1.0, acceleration=4.0).duration == pytest.approx(
        12.25, rel=1e-12
    )
    assert point_to_point(
        [0.0], [12.0], velocity=1.0, acceleration=4.0, profile="trapezoidal"
    ).duration == pytest.approx(12.25, rel=1e-12)
    assert point_to_point(
        [0.0], [12.0], velocity=1.0, acceleration=4.0, jerk=32.0
    ).duration == pytest.approx(12.375, rel=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_straight_profiles_keep_all_limits_and_touch_one(
    profile: str, rng: np.random.Generator
) -> None:
    for _ in range(40):
        case = random_case(rng, 3, True, False)
        limits = {
            name: case[name]
            for name in ("velocity", "acceleration", "jerk")
            if profile != "trapezoidal" or name != "jerk"
        }
        trajectory = point_to_point(case["start"], case["end"], profile=profile, **limits)
        q, qd, qdd = trajectory.motion(np.linspace(0.0, trajectory.duration, 40001))
        rates = {
            "velocity": qd,
            "acceleration": qdd,
            "jerk": np.diff(qdd, axis=0) / (trajectory.duration / 40000),
        }
        used = {name: float((np.abs(rates[name]) / limit).max()) for name, limit in limits.items()}
        assert max(used.values()) == pytest.approx(1.0, abs=2e-3)
        assert max(used[name] for name in used if name != "jerk") <= 1.0 + 1e-9
        along = (case["end"] - case["start"]) / np.linalg.norm(case["end"] - case["start"])
        across = (q - q[0]) - np.outer((q - q[0]) @ along, along)
        assert np.abs(across).max() < 1e-12 * (1 + np.abs(q).max())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"velocity": 1.0, "acceleration": 1.0, "qd0": 2.0},
            "from which no motion keeps the limits",
        ),
        (
            {"velocity": 1.0, "acceleration": 2.0, "jerk": 1.0, "qd0": 0.9, "qdd0": 1.0},
            "from which no motion keeps the limits",
        ),
        ({"velocity": 1.0, "acceleration": 1.0, "qdd0": 0.5}, "needs a limit of jerk"),
        ({"velocity": 1.0, "qd0": 0.5}, "no limit of acceleration or jerk"),
        ({"velocity": 1.0, "profile": "quintic", "qd0": 0.5}, "starts at rest"),
        (
            {"velocity": 1.0, "acceleration": 1.0, "jerk": 1.0, "profile": "trapezoidal"},
            "jumps of acceleration",
        ),
        ({"velocity": 1.0, "acceleration": 1.0, "qd0": [0.1, 0.2]}, "qd0 has shape"),
        ({"velocity": 1.0, "acceleration": 1.0, "qd0": np.nan}, "qd0 has shape"),
        ({"velocity": 1.0, "profile": "quintic", "seconds": 0.1}, "too short for the limits"),
    ],
)
def test_bad_limits_and_starts_are_named(more: dict, message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        point_to_point([0.0], [1.0], **more)
