"""What is done to a robot and its log together changes the estimate in a known way.

Mountings, turns, signs and torques.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Pose
from tests import zoo
from tests.motions import fourier, rubbing
from tests.random_robots import random_pose
from tests.statistics.metamorphic import (
    EVERY_ROBOT,
    FIXED,
    LINEAR,
    changed,
    close,
    fit,
    log,
    robot,
    same,
)

# the robot in space
# --------------------------------------------------------------------------------------------------


def turned(robot, pose):
    """The robot on a base whose frame is turned and moved.

    What was at X is now at pose X, and gravity turns with it.
    """
    m = robot.mechanism
    joints = tuple(
        replace(j, origin=pose.compose(j.origin)) if j.parent == m.root else j for j in m.joints
    )
    on_base = {
        j.name: replace(j.rotor, axis=tuple(np.array(pose.R) @ j.rotor.axis))
        for j in joints
        if j.rotor and j.rotor.mount == m.root
    }
    joints = tuple(replace(j, rotor=on_base[j.name]) if j.name in on_base else j for j in joints)
    gravity = tuple(float(x) for x in np.array(pose.R) @ np.array(m.gravity))
    return sy.Robot(replace(m, joints=joints, gravity=gravity))


@EVERY_ROBOT
def test_gravity_that_turns_with_the_base_is_not_felt(name, rng):
    other = turned(robot(name), random_pose(rng))
    recording = log(name)
    np.testing.assert_allclose(
        other.inverse_dynamics(recording.q, recording.qd, recording.qdd),
        robot(name).inverse_dynamics(recording.q, recording.qd, recording.qdd),
    )
    new_fit = sy.identify(other, recording, "wls", **FIXED)
    predicted, expected = new_fit.predicted, fit(name, "wls").predicted
    close(predicted, expected, 1e-5)
    assert new_fit.base.n_base == fit(name, "wls").base.n_base
    close(new_fit.rms, fit(name, "wls").rms, 1e-5)


@pytest.mark.parametrize("turns", [1, -1])
@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_whole_turns_of_a_joint_are_none(turns, estimator):
    recording = log("spatial_3r")
    q = recording.q + 2 * np.pi * np.array([turns, 0, turns])
    same(
        sy.identify(robot("spatial_3r"), changed(recording, q=q), estimator, **FIXED),
        fit("spatial_3r", estimator),
        1e-6,
        1e-3,
    )


def test_whole_turns_in_the_middle_of_a_log_are_none():
    """A continuous joint that goes on turning, and one whose encoder restarts at each turn, show
    the same.
    """
    true = rubbing(zoo_pendulum())
    t, q, qd, qdd = fourier(1, 10, 50)
    q, qd = q + 1.5 * t[:, None], qd + 1.5
    tau = true.inverse_dynamics(q, qd, qdd) + 0.1 * np.random.default_rng(1).normal(size=q.shape)
    on = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)
    anew = on.replace(q=(q + np.pi) % (2 * np.pi) - np.pi)
    one, other = (sy.identify(true, each, "wls", **FIXED) for each in (on, anew))
    close(other.base_values, one.base_values, 1e-6)


def zoo_pendulum():
    """A pendulum on an oblique continuous joint, without friction."""
    m = zoo.mechanism("pendulum")
    joints = tuple(
        replace(j, terms=type(j.terms).of({}), rotor=None) if j.name == "swing" else j
        for j in m.joints
    )
    return sy.Robot(replace(m, joints=joints))


SIGN = {"F0": -1.0}


@pytest.mark.parametrize("estimator", ["ols", "wls", "sdp"])
@pytest.mark.parametrize("joint", [0, 1, 2])
def test_a_joint_that_counts_the_other_way_has_the_same_link(joint, estimator):
    """Axis, position and torque change their sign.

    Links, viscous and Coulomb friction stay, the offset changes its sign.
    """
    plain, outcome = robot("spatial_3r"), log("spatial_3r")
    name = plain.joint_names[joint]
    back = plain.mechanism.joint(name)
    axis = tuple(-x for x in back.axis)
    terms = back.terms.changed({"offset": -back.terms["offset"]})
    joints = tuple(
        replace(j, axis=axis, terms=terms) if j.name == name else j for j in plain.mechanism.joints
    )
    other = sy.Robot(replace(plain.mechanism, joints=joints))
    sign = np.where(np.arange(3) == joint, -1.0, 1.0)
    turned_round = changed(
        outcome, **{signal: sign * getattr(outcome, signal) for signal in ("q", "qd", "qdd", "tau")}
    )
    result, expected = (
        sy.identify(other, turned_round, estimator, **FIXED),
        fit("spatial_3r", estimator),
    )
    signs = np.array([-1.0 if n == f"{name}.F0" else 1.0 for n in expected.base.names])
    assert result.base.names == expected.base.names
    close(result.base_values, signs * expected.base_values, 1e-6 if estimator != "sdp" else 1e-3)
    close(result.base_std, expected.base_std, 1e-4 if estimator != "sdp" else 1e-2)


@pytest.mark.parametrize("estimator", LINEAR)
def test_a_motion_backwards_in_time_has_the_friction_of_other_sign(estimator):
    """Torques of links and offsets are even in time, friction is odd."""
    recording = log("spatial_3r")
    film = sy.Log(
        t=recording.t,
        q=recording.q[::-1],
        qd=-recording.qd[::-1],
        qdd=recording.qdd[::-1],
        tau=recording.tau[::-1],
        joint_names=recording.joint_names,
    )
    result, expected = (
        sy.identify(robot("spatial_3r"), film, estimator, **FIXED),
        fit("spatial_3r", estimator),
    )
    signs = np.array([-1.0 if n.endswith((".Fv", ".Fc")) else 1.0 for n in expected.base.names])
    close(result.base_values, signs * expected.base_values)
    assert np.median(np.abs(np.log(result.base_std / expected.base_std))) < 0.1


# what is added to torques
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "estimator"), [("crane", "irls"), ("lift", "ols"), ("hand", "wls")]
)
def test_a_torque_that_the_model_can_have_is_found_in_its_parameters_alone(name, estimator, rng):
    """tau + Y delta changes the estimate by delta, whatever the noise.

    Residuals and deviations stay.
    """
    expected, result = fit(name, estimator), log(name)
    delta = rng.normal(size=expected.base.n_base) * np.abs(expected.base_values).mean()
    tau = result.tau + expected.model.rows(result.q, result.qd, result.qdd) @ delta
    new_fit = sy.identify(robot(name), changed(result, tau=tau), estimator, **FIXED)
    close(new_fit.base_values, expected.base_values + delta, 1e-5)
    close(new_fit.residuals, expected.residuals, 1e-4)
    close(new_fit.base_std, expected.base_std, 1e-3)


@EVERY_ROBOT
def test_constant_torques_are_offsets(name):
    expected, result = fit(name, "wls"), log(name)
    names = [f"{joint}.F0" for joint in result.joint_names]
    added = np.array(
        [5.0 * (j + 1) if name in expected.base.names else 0.0 for j, name in enumerate(names)]
    )
    assert np.count_nonzero(added) >= 3
    new_fit = sy.identify(robot(name), changed(result, tau=result.tau + added), "wls", **FIXED)
    shift = np.array([added[names.index(n)] if n in names else 0.0 for n in expected.base.names])
    close(new_fit.base_values, expected.base_values + shift, 1e-5)


def test_a_validation_scales_with_its_torques():
    heavy, result = (
        robot("spatial_3r").with_parameters(10.0 * robot("spatial_3r").parameters),
        log("spatial_3r"),
    )
    other = log("spatial_3r", 5)
    one = fit("spatial_3r", "wls").validate(other)
    ten = sy.identify(heavy, changed(result, tau=10 * result.tau), "wls", **FIXED).validate(
        changed(other, tau=10 * other.tau)
    )
    close(ten.rms, 10 * one.rms, 1e-5)
    close(ten.relative_error, one.relative_error, 1e-5)
    close(ten.r2, one.r2, 1e-5)
    close(ten.whiteness, one.whiteness, 1e-4)
    assert ten.total_relative_error == pytest.approx(one.total_relative_error, rel=1e-5)


def test_a_pose_of_the_identity_turns_nothing():
    assert turned(robot("crane"), Pose()).mechanism == robot("crane").mechanism
