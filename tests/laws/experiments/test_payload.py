"""What a robot carries comes back from its torques, with the uncertainty that it has, and what
cannot be a load is refused.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError, ProblemError
from steelyard.experiments.payload_identification import load_fit, load_verdict
from steelyard.experiments.payload_identification.load_fit import (
    nearest_body,
    solid_ball,
)
from steelyard.experiments.payload_identification.payload_thresholds import THRESHOLDS
from steelyard.parameters.pseudo_inertia import pseudo_inertia
from steelyard.signals.log import Log
from tests.motions import fourier, recorded, rubbing

MASS, COM = 2.8, (0.05, -0.03, 0.08)
INERTIA = np.array([[0.02, 0.004, 0.0], [0.004, 0.03, 0.002], [0.0, 0.002, 0.025]])
PLAIN = {
    "friction": ("viscous", "coulomb", "offset"),
    "delay": 0,
    "coulomb_width": 0,
    "diagnose": False,
}
SHORT = {"seconds": 10.0, "rate": 50.0}


@cache
def arm() -> sy.Robot:
    """A wrist of four joints that shows every number of a load."""
    bare = sy.load("elbow_6r").freeze({"joint5": 0.4, "joint6": 0.2})
    return rubbing(bare)


@cache
def log(load: float = 0.0, noise: float = 0.0, seed: int = 0, motion: int = 0) -> Log:
    """A log of the arm that carries `load` times the payload.

    Torques are linear in the parameters, so that one kernel serves all.
    """
    added = arm().with_payload(MASS, COM, INERTIA).parameters - arm().parameters
    t, q, qd, qdd = fourier(arm().n, 10.0, 50.0, motion)
    tau = arm().inverse_dynamics(q, qd, qdd, parameters=arm().parameters + load * added)
    tau = tau + noise * np.random.default_rng(seed + 100).normal(size=tau.shape)
    return Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=arm().joint_names)


@cache
def identified(noise: float = 0.2) -> sy.Fit:
    return sy.identify(arm(), log(0.0, noise, 2), **PLAIN)


@cache
def weighed(noise: float = 0.2) -> sy.PayloadEstimate:
    return sy.payload(identified(noise), log(1.0, noise, 1))


def rests(
    load: float, poses: np.ndarray, friction: float = 0.0, per_pose: int = 40, seed: int = 0
) -> Log:
    """A log at 50 Hz of rests at poses, each from both sides, with friction at rest against the way
    that was left.
    """
    added = arm().with_payload(MASS, COM, INERTIA).parameters - arm().parameters
    q, tau = [], []
    still = np.zeros(arm().n)
    for pose in poses:
        hold = arm().inverse_dynamics(
            pose, still, still, parameters=arm().parameters + load * added
        )
        for side in (-1.0, 1.0):
            method = pose - side * 0.05 * np.linspace(1.0, 0.0, 20)[:, None]
            q += [method, np.tile(pose, (per_pose, 1))]
            tau += [np.tile(hold + side * friction, (20 + per_pose, 1))]
    result, torque = np.concatenate(q), np.concatenate(tau)
    torque = torque + 0.02 * np.random.default_rng(seed).normal(size=torque.shape)
    return Log(t=np.arange(len(result)) / 50.0, q=result, tau=torque, joint_names=arm().joint_names)


def test_with_hardly_any_noise_the_load_comes_back_by_every_way() -> None:
    """Two runs of different motions, one run with the arm's identification, one run with the arm
    itself.
    """
    loaded = log(1.0, 1e-3)
    two = sy.payload(
        arm().with_parameters(1.1 * arm().parameters), loaded, log(0.0, 1e-3, 1, motion=3), **PLAIN
    )
    assert two.arm.fit is not None
    ways = [two, sy.payload(two.arm.fit, loaded), sy.payload(arm(), loaded)]
    for result in ways:
        assert result.mass == pytest.approx(MASS, rel=1e-4)
        assert np.allclose(result.com, COM, atol=1e-4)
        assert np.allclose(result.inertia, INERTIA, atol=3e-4)
        assert result.verdict.trusted, result.summary()
    assert [result.verdict.word for result in ways] == ["trusted", "trusted", "trusted within"]


def test_with_noise_the_truth_is_within_the_interval_and_the_robot_has_the_load() -> None:
    result = weighed()
    low, high = result.interval(0.9999)
    assert low.mass < MASS < high.mass
    assert np.all((low.com < COM) & (high.com > COM))
    assert np.all((low.inertia < INERTIA) & (high.inertia > INERTIA))
    assert 0 < result.std.mass < 0.02 * MASS
    assert result.verdict.word == "trusted"
    assert "all ten numbers" in " ".join(result.verdict.reasons)
    other = log(1.0, 0.0, 0, 5)
    error = result.robot.inverse_dynamics(other.q, other.qd, other.qdd) - other.tau
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(other.tau)


def test_the_standard_deviation_is_that_of_repeated_runs() -> None:
    results = [sy.payload(arm(), log(1.0, 0.1, 10 + k)) for k in range(12)]
    z = np.array(
        [
            (p.fit.numbers - [MASS, *COM, *INERTIA[np.triu_indices(3)]])
            / np.sqrt(np.diag(p.fit.covariance))
            for p in results
        ]
    )
    assert 0.7 < np.sqrt(np.mean(z**2)) < 1.3


def test_errors_of_the_model_that_repeat_cancel_between_two_runs() -> None:
    ripple = 1.0 * np.sin(9.0 * log().q)
    runs = [each.replace(tau=each.tau + ripple) for each in (log(1.0), log())]
    assert sy.payload(arm(), *runs, **PLAIN).mass == pytest.approx(MASS, rel=1e-3)
    assert abs(sy.payload(arm(), runs[0]).mass - MASS) > 5e-3 * MASS


def test_friction_may_change_under_the_load() -> None:
    loaded = log(1.0)
    estimate = sy.payload(identified(), loaded.replace(tau=loaded.tau + 0.8 * np.sign(loaded.qd)))
    assert abs(estimate.mass - MASS) < 3 * estimate.std.mass


@pytest.mark.parametrize("friction", [0.0, 2.0])
def test_static_poses_show_mass_and_centre_whatever_rests_in_the_gears(friction: float) -> None:
    poses = sy.static_poses(arm(), 8).q
    estimate = sy.payload(
        arm().with_parameters(1.1 * arm().parameters),
        rests(1.0, poses, friction),
        rests(0.0, poses, friction),
        static=True,
    )
    assert estimate.mass == pytest.approx(MASS, rel=5e-3)
    assert np.allclose(estimate.com, COM, atol=5e-3)
    assert estimate.verdict.word == "trusted within"
    assert estimate.verdict.unseen == ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    assert np.all(np.isinf(estimate.std.inertia))
    assert np.all(np.linalg.eigvalsh(pseudo_inertia(estimate.fit.parameters)) > 0)
    assert "Friction at rest was taken out" in " ".join(estimate.verdict.reasons)


def test_poses_alone_one_sample_each_are_static_by_themselves() -> None:
    poses = sy.static_poses(arm(), 12).q
    hold = arm().with_payload(MASS, COM, INERTIA).inverse_dynamics(poses, 0 * poses, 0 * poses)
    estimate = sy.payload(
        arm(), Log(t=2.0 * np.arange(12), q=poses, tau=hold, joint_names=arm().joint_names)
    )
    assert estimate.mass == pytest.approx(MASS, rel=1e-6)
    assert "friction at rest counts as noise" in " ".join(estimate.verdict.reasons)
    with pytest.raises(LogError, match="NaN or infinity in 1 of 12 poses"):
        sy.payload(
            arm(),
            Log(
                t=2.0 * np.arange(12),
                q=poses,
                tau=np.where(hold == hold[0, 1], np.nan, hold),
                joint_names=arm().joint_names,
            ),
        )


def test_chosen_poses_are_better_than_random_ones_and_within_the_limits() -> None:
    chosen = sy.static_poses(arm(), 6, sigma=2.0)
    assert np.all(chosen.std[:1] < 2.0 / (9.81 * 0.5)), "a single lever of half a metre"
    for j, limit in enumerate(arm().tree.limits or ()):
        assert limit is None or np.all(
            (chosen.waypoints[..., j] >= limit.lower) & (chosen.waypoints[..., j] <= limit.upper)
        )
    assert chosen.waypoints.shape == (12, 2, arm().n)
    lines = chosen.csv().splitlines()
    assert lines[0] == f"# {chosen.safety.line}"
    assert [line.split(",")[0] for line in lines[1:]].count("0") == 1 + len(chosen.detours)
    assert len(lines) == 2 + 12 + 1 + len(chosen.detours)
    with pytest.raises(ProblemError, match="cannot be identified from static poses of this robot"):
        sy.static_poses(sy.load("planar_2r"))


def test_the_nearest_possible_load_is_a_body() -> None:
    """Of loads that no body has.

    The solver's answer fits better than raising eigenvalues, and is positive.
    """
    rng = np.random.default_rng(0)
    for _ in range(20):
        R, free = rng.normal(size=(10, 10)), rng.normal(size=10)
        result = nearest_body(R, free, np.repeat([1.0, 0.1, 0.01], [1, 3, 6]))
        assert np.linalg.eigvalsh(pseudo_inertia(result))[0] > 0
    ball = solid_ball(np.array([2.0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0]))
    assert np.array_equal(nearest_body(np.eye(10), ball, np.ones(10)), ball)


def test_a_load_in_the_words_of_controllers() -> None:
    result = weighed()
    mass, com, inertia = result.in_frame(arm().end_effector)
    franka, ur, kuka = (result.controller(name).values for name in ("franka", "ur", "kuka"))
    assert franka["load_mass"] == ur["m"] == kuka["M"] == mass
    assert franka["F_x_Cload"] == ur["cog"] == com.tolist()
    assert np.allclose(np.reshape(franka["load_inertia"], (3, 3), order="F"), inertia)
    assert ur["inertia"] == [inertia[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    assert [kuka["CM"][axis] for axis in "XYZ"] == pytest.approx(1e3 * com)
    turn = turned(*(np.radians(kuka["CM"][angle]) for angle in "ABC"))
    assert np.allclose(turn @ np.diag([kuka["J"][axis] for axis in "XYZ"]) @ turn.T, inertia)
    assert result.controller("ur").text.startswith("set_target_payload(2.")
    with pytest.raises(CallError, match="franka"):
        result.controller("fanuc")


def turned(a: float, b: float, c: float) -> np.ndarray:
    """About z, then the new y, then the new x."""
    about = [np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]) for x in (a, b, c)]
    Z, Y, X = (np.eye(3) for _ in range(3))
    Z[:2, :2], X[1:, 1:] = about[0], about[2]
    Y[np.ix_([0, 2], [0, 2])] = about[1].T
    return Z @ Y @ X


def test_another_frame_of_the_link_and_the_urdf_tell_the_same_load() -> None:
    result = weighed()
    bodies = {name: each.body for name, each in arm().tree.frames.items()}
    other = next(
        name
        for name, body in bodies.items()
        if body == result.attachment.body and name != result.frame
    )
    mass, com, inertia = result.in_frame(other)
    again = result.arm.robot.with_payload(mass, com.tolist(), inertia.tolist(), other)
    assert np.allclose(again.parameters, result.robot.parameters)
    text = result.to_urdf()
    assert f'<parent link="{result.frame}"/>' in text
    assert f'<mass value="{result.mass:.9g}"/>' in text


def test_a_robot_that_is_lighter_with_its_load_is_refused() -> None:
    estimate = sy.payload(identified(), log(-1.0, 0.2, 1))
    assert estimate.verdict.word == "refused"
    assert re.search(
        r"lighter with the load than without, by \d+ standard deviations",
        estimate.verdict.reasons[0],
    )
    assert estimate.mass == 0, "a negative mass is none"
    assert not np.any(estimate.fit.parameters)
    assert np.all(np.isinf(estimate.std.com))


def test_no_load_and_a_load_that_swings_are_doubtful() -> None:
    none = sy.payload(identified(), log(0.0, 0.2, 1))
    assert none.verdict.word == "doubtful"
    assert "there may be no load" in none.verdict.reasons[0]
    swinging = log(1.0, 0.2, 1)
    swinging = swinging.replace(
        tau=swinging.tau + 6.0 * np.sin(3.1 * swinging.t[:, None] + np.arange(arm().n))
    )
    estimate = sy.payload(identified(), swinging)
    assert estimate.verdict.word == "doubtful"
    assert "slip or swing" in " ".join(estimate.verdict.reasons)


def test_a_load_that_no_torque_feels_is_not_seen() -> None:
    """The first joint of an arm turns about the vertical.

    A link behind it alone shows neither mass nor height.
    """
    lazy = sy.load("planar_2r")
    recording = recorded(lazy.with_payload(1.0, (0.1, 0.0, 0.0), 0.01), **SHORT)
    estimate = sy.payload(lazy, recording)
    assert "com z" in estimate.verdict.unseen
    assert np.isinf(estimate.std.com[2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link": "link9"}, "link 'link9' does not exist; .*link"),
        ({"frame": "tol"}, "frame 'tol' does not exist"),
        ({"link": "base"}, "'base' does not move"),
        ({"static": "yes"}, "static"),
        ({"progress": 3}, "progress must be a function"),
        ({"windage": 1}, "no option called 'windage'"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, object], message: str) -> None:
    base = arm().mechanism.root
    change = {key: base if value == "base" else value for key, value in change.items()}
    with pytest.raises(CallError, match=message.replace("base", base)):
        sy.payload(arm(), log(1.0), **change)


def test_wrong_logs_are_named() -> None:
    still = Log(
        t=np.arange(50) / 50,
        q=np.ones((50, arm().n)),
        tau=np.ones((50, arm().n)),
        joint_names=arm().joint_names,
    )
    with pytest.raises(LogError, match="never moved"):
        sy.payload(arm(), log(1.0), still)
    with pytest.raises(LogError, match="rests 1 times"):
        sy.payload(arm(), still, static=True)
    with pytest.raises(LogError, match="expected a Log, not str"):
        sy.payload(arm(), "run.csv")
    with pytest.raises(LogError, match="joint"):
        sy.payload(arm(), log(1.0).replace(joint_names=("a", "b", "c", "d")))
    with pytest.raises(CallError, match="not clear which of them to believe"):
        sy.payload(identified(), log(1.0), log())
    with pytest.raises(CallError, match=r"sy\.load"):
        sy.payload("ur10.urdf", log(1.0))
    gaps = log(1.0).replace(tau=np.where(np.arange(500)[:, None] == 7, np.nan, log(1.0).tau))
    assert sy.payload(arm(), gaps).mass == pytest.approx(MASS, rel=1e-3)


@pytest.mark.parametrize(
    "name",
    [
        "lighter_deviations",
        "load_deviations",
        "refused_error",
        "doubtful_error_ratio",
        "doubtful_mass_deviation",
    ],
)
def test_every_threshold_of_the_verdict_decides_where_it_stands(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def words(size: float) -> str:
        expected = weighed().arm.fit.verdict.error
        remaining = load_fit.ArmDifference(
            {"refused_error": 0.5, "doubtful_error_ratio": 2.0 * expected}.get(name, 0.0) * size,
            0.0,
        )
        mass = {
            "lighter_deviations": -3.0 * size,
            "load_deviations": 2.0 * size,
            "doubtful_mass_deviation": 10.0 / size,
        }.get(name, 100.0)
        numbers, seen = np.array([abs(mass), *np.zeros(9)]), np.ones(10, bool)
        ten = np.array([mass, *np.zeros(9)])
        result = load_fit.LoadFit(
            ten, ten, np.ones(10), numbers, np.eye(10), seen, np.ones(4), remaining
        )
        return (
            load_verdict.judge_load(weighed().arm, result).word
            + load_verdict.judge_load(weighed().arm, result).reasons[0][:9]
        )

    decided = words(0.9), words(1.1)
    assert decided[0] != decided[1]
    for factor in (0.5, 2.0):
        with monkeypatch.context() as moved:
            moved.setitem(vars(THRESHOLDS), name, factor * getattr(THRESHOLDS, name))
            assert (words(0.9), words(1.1)) != decided


def test_an_arm_without_an_unknown_carries_too() -> None:
    """The Puma's description has a number for every friction, so that the load alone is to be
    found.
    """
    puma = sy.load("puma560")
    estimate = sy.payload(puma, recorded(puma.with_payload(2.0, com=(0.0, 0.01, 0.1)), 4.0))
    np.testing.assert_allclose([estimate.mass, *estimate.com], [2.0, 0.0, 0.01, 0.1], atol=1e-3)
