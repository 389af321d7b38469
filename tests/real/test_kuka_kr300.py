"""KUKA KR300: weak excitation, a heavy payload, a counterbalance that is known.

One run predicts the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.validate import validate_robot
from tests.real.measured import folder, kr300, kr300_counterbalance


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return kr300(tmp_path_factory.mktemp("kr300"))


def test_with_the_cad_prior_one_run_predicts_the_other(case):
    robot, A, B = case
    fit = sy.identify(robot, A, prior="cad", known=kr300_counterbalance, diagnose=False)
    assert fit.validate(B).total_relative_error <= 0.145  # plain least squares 40 to 175 %
    assert fit.validate(B).total_relative_error < fit.validate(B).before.total_relative_error
    back = sy.identify(robot, B, prior="cad", known=kr300_counterbalance, diagnose=False)
    assert back.validate(A).total_relative_error <= 0.155


def test_real_links_alone_save_it_too(case):
    robot, A, B = case
    assert (
        sy.identify(robot, A, known=kr300_counterbalance, diagnose=False)
        .validate(B)
        .total_relative_error
        <= 0.16
    )


def untraceable(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """The counterbalance as most would write it: an array of floats holds no expression."""
    tau = np.zeros(q.shape)
    tau[:, 1] = kr300_counterbalance(q, qd, qdd)[:, 1]
    return tau


def test_the_robot_of_a_fit_has_the_counterbalance_whether_it_is_traced_or_not(case):
    """fit.robot predicts run B as fit.predict does.

    Without the counterbalance it is off by twice as much.
    """
    robot, A, B = case
    fit, other = (
        sy.identify(robot, A, prior="cad", known=known, diagnose=False)
        for known in (untraceable, kr300_counterbalance)
    )
    assert fit.robot.known_function is not None
    assert other.robot.known_function is None
    states = B.q, B.qd if B.qd is not None else np.gradient(B.q, B.t, axis=0), np.zeros_like(B.q)
    torque = fit.robot.inverse_dynamics(*states)
    order = np.random.default_rng(0).permutation(len(torque))  # single states, not a motion
    predicted = fit.predict(*(x[order] for x in states)).torque
    np.testing.assert_allclose(torque[order], predicted, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(torque, other.robot.inverse_dynamics(*states), rtol=1e-4, atol=1e-2)
    by_robot = validate_robot(fit.robot, B).total_relative_error
    every_row = replace(fit.preparation, mask=None)  # rows of resting joints included
    by_fit = fit.validate(B, preparation=every_row).total_relative_error
    assert by_robot == pytest.approx(by_fit, abs=0.02)
    assert fit.validate(B).total_relative_error < 0.08
    assert by_robot < 0.16
    assert validate_robot(fit.robot.without_known_function(), B).total_relative_error > 2 * by_robot


def test_plain_least_squares_warns(case):
    robot, A, _ = case
    fit = sy.identify(robot, A, "ols", known=kr300_counterbalance, diagnose=False)
    assert any("not significantly different from zero" in sentence for sentence in fit.check())
    assert fit.condition > 300


def test_joints_two_and_three_are_as_stiff_in_both_runs(case):
    """By the link encoders of joints 1 to 3, which are 3 ms late.

    Two standard deviations of both runs overlap.
    """
    robot, *runs = case
    results = []
    for log, run in zip(runs, "AB", strict=True):
        # zeros where there is no encoder
        link = np.load(folder("kuka_kr300") / f"kr300_{run}.npz")["q_link"]
        usual = {
            "prior": "cad",
            "known": kr300_counterbalance,
            "diagnose": False,
            "friction": ("viscous", "coulomb", "offset"),
        }
        fit = sy.identify(robot, log.replace(link_position=link), elastic=True, **usual)
        assert any("joint4, joint5, joint6 is invisible" in sentence for sentence in fit.status)
        results.append(fit.elasticity)
    a, b = results
    assert a.joint_names == ("joint1", "joint2", "joint3")
    assert np.allclose([a.shift, b.shift], 0.003, atol=3e-4)
    assert np.all((a.stiffness[1:] > 2e6) & (a.stiffness[1:] < 1.2e7))
    assert np.all(
        np.abs(a.stiffness - b.stiffness)[1:] < 2 * np.hypot(a.stiffness_std, b.stiffness_std)[1:]
    )
