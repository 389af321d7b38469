"""Elastic joints: the springs of a simulation come back from positions on both sides of the gears,
or from torque sensors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.identification.elastic.regression import regress_with_jackknife
from steelyard.simulation import Elastic, FeedForward

STIFFNESS, DAMPING = np.array([3e4, 2e4, 8e3]), np.array([60.0, 40.0, 10.0])
FIXED = {"delay": 0, "diagnose": False, "friction": ("viscous", "coulomb", "offset")}


@cache
def robot():
    rubbing = sy.load("spatial_3r").with_friction(viscous=[2.0, 1.0, 0.5], coulomb=[1.0, 1.0, 0.5])
    return rubbing.with_rotors([0.3, 0.2, 0.1])


@cache
def run():
    motion = sy.excite(
        robot(), 8.0, 5, 0.125, starts=1, speed=1.0, acceleration=np.inf, ground=None
    )
    return sy.simulate(
        robot(),
        FeedForward(motion, 100.0, 5.0),
        seconds=8.0,
        step=4e-4,
        every=10,
        drive=Elastic(STIFFNESS, DAMPING),
    )


def measured(noise=1e-5, **changes):
    """The log of the run from 1.5 s on, when what the start stirred has faded."""
    rng, result = np.random.default_rng(0), run()
    q, theta, tau = result.q, result.drive_state[:, :3], result.tau
    q, theta, tau = (
        x + s * rng.normal(size=x.shape)
        for x, s in zip((q, theta, tau), (noise, noise, 5e3 * noise), strict=True)
    )
    log = sy.Log(t=result.t, q=q, motor_position=theta, tau=tau, joint_names=robot().joint_names)
    return log.replace(**changes)[result.t > 1.5]


@cache
def both_sides():
    return sy.identify(robot(), measured(), elastic=True, **FIXED)


def test_stiffness_and_damping_come_back():
    """The links of joints 2 and 3 are distinguishable from their rotors.

    Joint 1 is as right as its rotor in the description, and its friction,
    a two-hundredth of what bends its spring, is found within a half of itself.
    """
    elasticity = both_sides().elasticity
    assert elasticity.joint_names == robot().joint_names
    assert np.all(
        np.abs(elasticity.stiffness - STIFFNESS)[1:]
        < 3 * elasticity.stiffness_std[1:] + 2e-4 * STIFFNESS[1:]
    )
    assert np.all(
        np.abs(elasticity.damping - DAMPING) < 3 * elasticity.damping_std + 0.05 * DAMPING
    )
    assert np.allclose(elasticity.stiffness, STIFFNESS, rtol=0.02)
    assert np.all(elasticity.stiffness_std < 0.02 * STIFFNESS)
    lost = elasticity.lost_motion * STIFFNESS  # friction is behind the springs here
    assert np.allclose(lost[1:], [1.0, 0.5], rtol=0.05)
    assert np.isclose(lost[0], 1.0, rtol=0.5)


def test_a_shift_between_the_encoders_is_no_elasticity():
    """Link positions 2 ms late.

    The deflection follows the velocity too, and the stiffness stays.
    """
    log, plain = measured(), both_sides().elasticity
    late = np.stack([np.interp(log.t - 0.002, log.t, q) for q in log.q.T], axis=1)
    elasticity = sy.identify(
        robot(), log.replace(link_position=late), elastic=["joint2"], **FIXED
    ).elasticity
    assert elasticity.joint_names == ("joint2",)
    assert abs(elasticity.shift[0] - plain.shift[1] - 0.002) < 1e-4
    assert abs(elasticity.stiffness[0] / plain.stiffness[1] - 1) < 0.01


def test_a_joint_without_a_second_encoder_is_said_to_be_invisible():
    log = measured()
    second = np.where([True, False, True], log.motor_position, np.nan)
    fit = sy.identify(robot(), log.replace(motor_position=second), elastic=True, **FIXED)
    assert fit.elasticity.joint_names == ("joint1", "joint3")
    assert any("joint2 is invisible" in sentence for sentence in fit.status)


def test_torque_sensors_show_the_stiffness_too():
    finished_run = run()
    theta, rates = finished_run.drive_state[:, :3], finished_run.drive_state[:, 3:]
    sensed = STIFFNESS * (theta - finished_run.q) + DAMPING * (rates - finished_run.qd)
    rng = np.random.default_rng(1)
    noisy = {
        "q": theta + 1e-5 * rng.normal(size=theta.shape),
        "tau": sensed + 0.02 * rng.normal(size=theta.shape),
    }
    log = measured(motor_position=None, current=finished_run.tau, effort="torque", **noisy)
    elasticity = sy.identify(robot(), log, elastic=True, **FIXED).elasticity
    assert np.all(np.abs(elasticity.stiffness - STIFFNESS) < 3 * elasticity.stiffness_std)
    assert np.all(elasticity.stiffness_std < 0.35 * STIFFNESS)
    assert np.all(np.isnan(elasticity.damping))


def test_results_carry_it(tmp_path):
    fit = both_sides()
    assert "Elastic joints" in fit.summary()
    assert any(sentence.startswith("Stiffness of the joints") for sentence in fit.status)
    rows = fit.to_dict()["elasticity"]
    assert [row["joint"] for row in rows] == list(robot().joint_names)
    assert rows[1]["stiffness"] == pytest.approx(2e4, rel=0.01)
    assert sy.identify(robot(), measured(), **FIXED).elasticity is None


def test_the_regression_is_least_squares_with_its_covariance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) * [1.0, 1e4, 1e-4]
    y = X @ [1.0, 2e-4, 3e4] + 0.1 * rng.normal(size=2000)
    x, covariance = regress_with_jackknife(X, y)
    assert np.allclose(
        x, np.linalg.lstsq(X / [1.0, 1e4, 1e-4], y, rcond=None)[0] / [1.0, 1e4, 1e-4]
    )
    ratio = np.sqrt(np.diag(covariance)) / (0.1 * np.sqrt(np.diag(np.linalg.inv(X.T @ X))))
    assert np.all((ratio > 0.5) & (ratio < 2.0)), ratio  # few parts: Student's t widens


@pytest.mark.parametrize(
    ("changes", "asked", "sentence"),
    [
        (
            {"motor_position": None},
            True,
            (
                "the stiffness of joint1, joint2, joint3 is invisible: there is one position of"
                " each joint"
            ),
        ),
        (
            {"motor_position": "q"},
            ["joint2"],
            "the stiffness of joint2 is invisible: both positions are the same",
        ),
        (
            {"motor_position": "geared"},
            True,
            "the motor of joint1 moves 100 times as far as its link",
        ),
    ],
)
def test_a_log_that_cannot_show_it_says_what_it_lacks(changes, asked, sentence):
    log = measured()
    known = {"q": log.q, "geared": 100 * log.q}
    log = log.replace(
        **{
            name: known.get(value) if isinstance(value, str) else value
            for name, value in changes.items()
        }
    )
    with pytest.raises(LogError, match=sentence):
        sy.identify(robot(), log, elastic=asked, **FIXED)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [(["elbow"], "elastic: no joint is called 'elbow'"), (3, "elastic"), ([1], "elastic")],
)
def test_wrong_options_are_refused(asked, sentence):
    with pytest.raises(CallError, match=sentence):
        sy.identify(robot(), measured(), elastic=asked, **FIXED)


def test_a_robot_with_loops_has_no_use_of_it():
    arm = sy.load("four_bar")
    with pytest.raises(CallError, match="elastic= is not used for a robot with loops"):
        sy.identify(
            arm,
            sy.Log(t=np.arange(20.0), q=np.zeros((20, arm.n)), tau=np.zeros((20, arm.n))),
            elastic=True,
        )
