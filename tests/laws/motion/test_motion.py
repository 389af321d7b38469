"""Fourier motions and excitation.

Exact derivatives, a band that ends, limits that hold between samples, a choice that is better.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps.motion_csv import read_motion
from steelyard.experiments import excite
from steelyard.experiments.excitation.information import FisherInformation
from steelyard.motion import Fourier, Trajectory, point_to_point, spline
from steelyard.motion.trajectories.fourier import at_rest, motion_bounds
from steelyard.motion.trajectories.limits import motion_limits
from steelyard.parameters.base import base_parameters

ROBOTS = ("planar_2r", "planar_rp", "spatial_3r", "puma560", "elbow_6r")
FEW = 20


def some_motion(rng: np.random.Generator, n: int = 3, harmonics: int = 5) -> Fourier:
    return Fourier(rng.normal(size=n), *at_rest(*rng.normal(size=(2, n, harmonics))), 0.2)


def test_velocity_and_acceleration_are_derivatives_of_the_position(
    rng: np.random.Generator,
) -> None:
    motion, t, h = some_motion(rng), rng.uniform(0, 20, 50), 1e-3
    for order in (0, 1):
        f = [motion(t + k * h)[order] for k in (-2, -1, 1, 2)]
        rate = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
        np.testing.assert_allclose(rate, motion(t)[order + 1], atol=1e-8)


def test_nothing_lies_above_the_last_harmonic(rng: np.random.Generator) -> None:
    motion = some_motion(rng)
    for x in motion(np.arange(64) * motion.period / 64):
        spectrum = np.abs(np.fft.rfft(x, axis=0))
        assert spectrum[6:].max() < 1e-12 * spectrum.max()
        assert spectrum[5].min() > 1e-6 * spectrum.max()


def test_it_stands_still_at_every_whole_period(rng: np.random.Generator) -> None:
    motion = some_motion(rng)
    q, qd, qdd = motion(np.array([0.0, motion.period, 3 * motion.period]))
    np.testing.assert_allclose(qd, 0, atol=1e-12)
    np.testing.assert_allclose(qdd, 0, atol=1e-12)
    np.testing.assert_allclose(q[1:], q[[0]].repeat(2, 0), atol=1e-12)


def test_bounds_hold_between_samples_and_are_tight(rng: np.random.Generator) -> None:
    for _ in range(20):
        motion = some_motion(rng, harmonics=int(rng.integers(2, 12)))
        b = motion_bounds(motion)
        q, qd, qdd = motion(np.linspace(0, motion.period, 200_001))
        for true, bound in (
            (q.max(0), b.upper),
            (-q.min(0), -b.lower),
            (np.abs(qd).max(0), b.velocity),
            (np.abs(qdd).max(0), b.acceleration),
        ):
            assert np.all(true <= bound)
        assert np.all(b.velocity <= 1.005 * np.abs(qd).max(0))
        assert np.all(b.upper - b.lower <= 1.005 * np.ptp(q, axis=0))


@pytest.mark.parametrize("name", ROBOTS)
def test_an_excitation_stays_within_the_limits_and_ends_at_rest(name: str) -> None:
    robot = sy.load(name)
    trajectory = excite(robot, seconds=10, seed=3, candidates=FEW, acceleration=6.0, margin=0.8)
    q, qd, qdd = trajectory.motion(np.linspace(0, 10, 50_001))
    space = motion_limits(robot, 0.8, acceleration=6.0)
    assert np.all(q >= space.lower - 1e-12)
    assert np.all(q <= space.upper + 1e-12)
    assert np.all(np.abs(qd) <= space.velocity * (1 + 1e-12))
    assert np.all(np.abs(qdd) <= 0.8 * 6.0 * (1 + 1e-12))
    assert trajectory.t[0] == 0
    assert trajectory.t[-1] == 10
    for x in (trajectory.qd[[0, -1]], trajectory.qdd[[0, -1]]):
        np.testing.assert_allclose(x, 0, atol=1e-9)
    assert np.all(np.ptp(trajectory.q, axis=0) > 0.05), "every joint moves"


def test_torque_limits_are_kept() -> None:
    robot = sy.load("elbow_6r")
    effort = [900.0, 600.0, 200.0, 50.0, 30.0, 15.0]
    trajectory = excite(robot, seconds=10, candidates=FEW, effort=effort, margin=1.0)
    tau = robot.with_joint_terms(("armature", "viscous", "coulomb", "offset")).inverse_dynamics(
        *trajectory.motion(np.linspace(0, 10, 5001))
    )
    assert np.all(np.abs(tau).max(0) <= 1.01 * np.array(effort))
    free = excite(robot, seconds=10, candidates=FEW, effort=1e6)
    assert np.any(np.abs(robot.inverse_dynamics(free.q, free.qd, free.qdd)).max(0) > effort), (
        "the limit was in the way"
    )


def test_a_torque_that_cannot_even_hold_the_robot_is_said() -> None:
    with pytest.raises(sy.ProblemError, match=r"joint 'joint2'.*raise `effort`"):
        excite(sy.load("elbow_6r"), candidates=3, effort={"joint2": 1.0})


def test_the_score_is_that_of_the_base_regressor() -> None:
    robot = sy.load("puma560")
    # 120 samples of one period, as the search sees it
    trajectory = excite(robot, seconds=10, candidates=FEW, rate=12.0)
    assert trajectory.excitation is not None
    whole = robot.with_joint_terms(("armature", "viscous", "coulomb", "offset"))
    columns = list(base_parameters(whole).columns)
    Y = (
        whole.regressor(trajectory.q[:-1], trajectory.qd[:-1], trajectory.qdd[:-1])[..., columns]
        / FisherInformation.of(robot).torque[:, None]
    )
    Y = Y.reshape(-1, len(columns))
    assert trajectory.excitation.base_parameters == len(columns)
    assert trajectory.excitation.log_det == pytest.approx(
        np.sum(2 * np.log(np.linalg.svd(Y, compute_uv=False))), abs=1e-6
    )
    assert trajectory.excitation.condition == pytest.approx(
        np.linalg.cond(Y / np.linalg.norm(Y, axis=0)), rel=1e-6
    )


def test_more_candidates_tell_more_and_variations_help() -> None:
    robot = sy.load("spatial_3r")
    scores = [excite(robot, candidates=k, seed=1).excitation for k in (1, 30, 200)]
    log_dets = [score.log_det for score in scores if score]
    assert log_dets[0] < log_dets[1] < log_dets[2]


def test_the_seed_decides_and_progress_is_told() -> None:
    robot, message = sy.load("planar_2r"), []
    first = excite(
        robot,
        seed=5,
        candidates=FEW,
        progress=lambda sentence, part: message.append((part, sentence)),
    )
    again, other = excite(robot, seed=5, candidates=FEW), excite(robot, seed=6, candidates=FEW)
    np.testing.assert_array_equal(first.q, again.q)
    assert np.abs(first.q - other.q).max() > 0.01
    parts = [part for part, _ in message]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert f"{FEW} of {FEW}" in message[-1][1]


def test_sampling_again_is_exact() -> None:
    trajectory = excite(sy.load("planar_2r"), candidates=1, rate=50)
    fine = trajectory.sample(200)
    assert isinstance(fine, Trajectory)
    assert len(fine.t) == 4 * (len(trajectory.t) - 1) + 1
    np.testing.assert_allclose(fine.qdd[::4], trajectory.qdd, atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        fine.q[0, 0] = 1.0


def test_a_trajectory_is_a_function_of_time(rng: np.random.Generator) -> None:
    periodic = excite(sy.load("planar_2r"), 4.0, 3, starts=1, seed=2)
    straight = point_to_point([0.1, 0.2], [1.0, -0.5], 3.0)
    through = spline([0.0, 1.0, 2.5], rng.normal(size=(3, 2)))
    for motion in (periodic, straight, through):
        states = motion(motion.t)
        for name in ("q", "qd", "qdd"):
            np.testing.assert_array_equal(getattr(states, name), getattr(motion, name))
        middle = motion.duration / 3
        assert motion(middle).q.shape == (2,)
        assert motion([[middle, 0.0], [0.0, middle]]).qdd.shape == (2, 2, 2)
        h = 1e-6
        derivative = (motion(middle + h).q - motion(middle - h).q) / (2 * h)
        np.testing.assert_allclose(motion(middle).qd, derivative, atol=1e-7)
        with pytest.raises(sy.CallError, match="t must be finite times"):
            motion([0.0, np.nan])
        with pytest.raises(sy.CallError, match="t must be an array of numbers, not 'soon'"):
            motion("soon")
    np.testing.assert_allclose(periodic(5.0).q, periodic(1.0).q, atol=1e-12)
    np.testing.assert_array_equal(straight([-1.0, 9.0]).q, straight.q[[0, -1]])


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    robot = sy.load("planar_rp")
    trajectory = excite(robot, candidates=1, rate=10)
    trajectory.to_csv(tmp_path / "motion.csv")
    back = read_motion(tmp_path / "motion.csv", robot.joint_names)
    for name in ("t", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(back, name), getattr(trajectory, name))
    with pytest.raises(sy.CallError, match="exists already"):
        trajectory.to_csv(tmp_path / "motion.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 10, "base_frequency": 0.13}, r"whole number of periods.*base_frequency=0\.1"),
        ({"seconds": -1}, "seconds = -1"),
        ({"seconds": float("nan")}, "seconds = nan"),
        ({"harmonics": 1}, "at least 2"),
        ({"candidates": 0}, "at least 1"),
        ({"margin": 1.5}, "margin = 1.5"),
        ({"rate": 0}, "rate = 0"),
        ({"velocity": [1.0]}, "velocity.*one for each of"),
        ({"velocity": -2.0}, "positive"),
        ({"effort": {"elbo": 3.0}}, "no joint is called 'elbo'"),
    ],
)
def test_bad_calls_are_told_what_was_expected(options: dict[str, object], message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        excite(sy.load("planar_2r"), **{"candidates": 2, **options})  # type: ignore[arg-type]


def test_coefficients_must_fit_each_other() -> None:
    with pytest.raises(sy.CallError, match=r"centre \(n,\), a and b \(n, H\)"):
        Fourier(np.zeros(2), np.zeros((3, 4)), np.zeros((3, 4)), 0.1)
    with pytest.raises(sy.CallError, match="base_frequency"):
        Fourier(np.zeros(2), np.zeros((2, 4)), np.zeros((2, 4)), 0.0)
    with pytest.raises(sy.CallError, match="at least 2"):
        at_rest(np.ones((2, 1)), np.ones((2, 1)))
