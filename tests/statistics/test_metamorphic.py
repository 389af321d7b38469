"""What is done to a robot and its log together changes the estimate in a known way: names, order, clocks, units, mountings, signs.

Robots of the zoo have what matters: tree, sliding joints, mimic joints, rotors, couplings, links without mass, tilted gravity.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Pose
from steelyard.identification import ESTIMATORS
from tests import zoo
from tests.motions import fourier, recorded, rubbing
from tests.random_robots import random_pose
from tests.statistics.problems import TERMS

FIXED = {"delay": 0, "decimate": 1, "friction": TERMS, "coulomb_width": 0.3, "diagnose": False}
ROBOTS = ("crane", "hand", "lift")
LINEAR = ("ols", "wls", "irls")
FREE = (*LINEAR, "sequential", "ridge")  # no description has a part in them
EVERY_ROBOT = pytest.mark.parametrize("name", ROBOTS)


KEYS = ("armature", "viscous", "coulomb", "offset")  # in which torques are linear, so that nothing is searched for


@cache
def robot(name):
    """A robot of the zoo with plain friction, or a built-in one with friction and rotors."""
    if name not in zoo.ZOO:
        return rubbing(sy.load(name))
    m = zoo.mechanism(name)
    joints = (replace(j, terms=type(j.terms).of({key: j.terms[key] for key in KEYS if key in j.terms})) for j in m.joints)
    return sy.Robot(replace(m, joints=tuple(joints)))


@cache
def log(name, seed=0):
    return recorded(robot(name), seconds=6, rate=40, noise=0.3, seed=seed, size=0.5)


@cache
def fit(name, estimator):
    return sy.identify(robot(name), log(name), estimator, **FIXED)


def close(found, expected, rtol=1e-6):
    """Equal up to a part of the value or of the largest one; infinite in the same places."""
    found, expected = np.asarray(found), np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected[np.isfinite(expected)]).max())


def same(one, other, rtol=1e-6, std=1e-4):
    """Estimates, errors, deviations and the verdict are the same."""
    close(one.base_values, other.base_values, rtol)
    close(one.rms, other.rms, 1e-5)
    close(one.base_std, other.base_std, std)
    assert one.rank == other.rank
    assert one.verdict.word == other.verdict.word


def changed(log, **signals):
    return log.replace(**signals)


# units and sizes --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "estimator"), [*((name, "wls") for name in ROBOTS), ("spatial_3r", "sdp"), ("planar_2r", "sdp")])
def test_torques_and_parameters_scale_together(name, estimator):
    """A robot ten times as heavy, with ten times the friction, under ten times the torque: everything is ten times as large.

    Of the semidefinite program only if each link is described: one without mass is taken to have a kilogram.
    """
    heavy = robot(name).with_parameters(10.0 * robot(name).parameters)
    found = sy.identify(heavy, changed(log(name), tau=10.0 * log(name).tau), estimator, **FIXED)
    expected = fit(name, estimator)
    rtol = 1e-6 if estimator == "wls" else 1e-5
    close(found.base_values, 10.0 * expected.base_values, rtol)
    close(found.base_std, 10.0 * expected.base_std, 100 * rtol)
    close(found.rms, 10.0 * expected.rms, rtol)
    close(found.relative_error, expected.relative_error, rtol)
    assert found.rank == expected.rank


@pytest.mark.parametrize("estimator", FREE)
def test_a_unit_of_torque_is_a_unit_of_parameters(estimator):
    found = sy.identify(robot("crane"), changed(log("crane"), tau=100.0 * log("crane").tau), estimator, **FIXED)
    close(found.base_values, 100.0 * fit("crane", estimator).base_values, 1e-5)
    close(found.base_std, 100.0 * fit("crane", estimator).base_std, 1e-3)


@pytest.mark.parametrize("estimator", ["ols", "wls", "sdp"])
def test_slow_motion_is_that_of_another_world(estimator):
    """Twice as slow, under a quarter of gravity and torque, with friction whose speeds are halved: the same links."""
    fast = robot("spatial_3r")
    slow = fast.with_gravity(tuple(fast.gravity / 4.0))
    made = log("spatial_3r")
    late = sy.Log(
        t=2 * made.t, q=made.q, qd=made.qd / 2, qdd=made.qdd / 4, tau=made.tau / 4, joint_names=made.joint_names
    )  # [N m] in units of a time twice as long
    found = sy.identify(slow, late, estimator, **{**FIXED, "coulomb_width": 0.15})
    expected = fit("spatial_3r", estimator)
    factors = np.array([{"Fv": 0.5, "Fc": 0.25, "F0": 0.25}.get(n.split(".")[-1], 1.0) for n in found.base.names])
    rtol = 1e-6 if estimator != "sdp" else 2e-2  # friction that is described in other units is another description
    close(found.base_values, factors * expected.base_values, rtol)


# order ------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "estimator"), [("crane", "wls"), ("lift", "sdp"), ("hand", "irls"), ("hand", "sdp")])
def test_a_log_in_several_files_is_one_log(name, estimator):
    """Exactly so with measured velocities and accelerations; deviations differ by where blocks of the motion begin and end."""
    whole = log(name)
    parts = [whole[:37], whole[37:200], whole[200:]]
    rtol = 1e-6 if estimator != "sdp" else 1e-2  # which counts the correlation of neighbours, of which cuts take some
    found = sy.identify(robot(name), parts, estimator, **FIXED)
    close(found.base_values, fit(name, estimator).base_values, rtol)
    close(found.residuals, fit(name, estimator).residuals, rtol)
    shown = np.isfinite(fit(name, estimator).base_std)
    assert np.median(np.abs(np.log(found.base_std[shown] / fit(name, estimator).base_std[shown]))) < 0.3


@pytest.mark.parametrize("estimator", ["ols", "wls", "irls", "sdp"])
def test_logs_in_any_order(estimator):
    logs = [log("crane"), log("crane", 3)[:150], log("crane", 4)[:90]]
    one, other = (sy.identify(robot("crane"), each, estimator, **FIXED) for each in (logs, logs[::-1]))
    rtol = 1e-6 if estimator != "sdp" else 1e-3
    close(one.base_values, other.base_values, rtol)
    close(np.sort(one.residuals, axis=0), np.sort(other.residuals, axis=0), rtol)
    close(one.base_std, other.base_std, 1e-3 if estimator != "sdp" else 1e-2)


@pytest.mark.parametrize("estimator", LINEAR)
def test_samples_in_any_order(estimator, rng):
    """Least squares does not know which sample came first, if velocities and accelerations are measured."""
    made = log("hand")
    order = rng.permutation(made.N)
    mixed = changed(made, **{signal: getattr(made, signal)[order] for signal in ("q", "qd", "qdd", "tau")})
    found = sy.identify(robot("hand"), mixed, estimator, **FIXED)
    close(found.base_values, fit("hand", estimator).base_values)
    close(found.residuals, fit("hand", estimator).residuals[order])


@pytest.mark.parametrize(("name", "estimator"), [("crane", "ols"), ("lift", "irls"), ("hand", "wls")])
def test_a_log_that_is_given_twice_says_nothing_new(name, estimator):
    """The estimate stays and so does its deviation, as of every motion that repeats itself; the information of white noise doubles."""
    made = log(name)
    found = sy.identify(robot(name), [made, made], estimator, **FIXED)
    expected = fit(name, estimator)
    close(found.base_values, expected.base_values, 1e-5 if estimator == "irls" else 3e-3 if estimator == "wls" else 1e-6)
    close(found.base_std, expected.base_std, 0.1)
    if estimator == "ols":
        R, half = found.information, expected.information
        close(R.T @ R, 2.0 * half.T @ half)


# names, columns and clocks ----------------------------------------------------------------------------------------------------------------


def renamed(robot):
    """The robot with other names of joints and links."""
    m = robot.mechanism

    def other(name):
        return f"x_{name}"

    links = tuple(replace(link, name=other(link.name)) for link in m.links)
    joints = tuple(
        replace(
            j,
            name=other(j.name),
            parent=other(j.parent),
            child=other(j.child),
            mimic=None if j.mimic is None else replace(j.mimic, joint=other(j.mimic.joint)),
            rotor=None if j.rotor is None else replace(j.rotor, mount=other(j.rotor.mount)),
        )
        for j in m.joints
    )
    couplings = tuple(replace(c, joint_a=other(c.joint_a), joint_b=other(c.joint_b)) for c in m.couplings)
    return sy.Robot(replace(m, links=links, joints=joints, couplings=couplings))


@pytest.mark.parametrize(("name", "estimator"), [("crane", "wls"), ("lift", "wls"), ("hand", "sdp")])
def test_names_mean_nothing(name, estimator):
    other, made = renamed(robot(name)), log(name)
    found = sy.identify(other, changed(made, joint_names=other.joint_names), estimator, **FIXED)
    same(found, fit(name, estimator), 1e-9, 1e-9)
    assert found.base.names == tuple(f"x_{n}" for n in fit(name, estimator).base.names)


@pytest.mark.parametrize("estimator", sorted(set(ESTIMATORS) - {"iv", "didim", "cloe", "auto", "lasso", "elastic_net"}))
def test_columns_in_any_order_and_a_clock_that_starts_at_any_time(estimator):
    made = log("planar_2r")
    other = changed(made, t=made.t + 86_400.0).select(tuple(reversed(made.joint_names)))
    options = {key: value for key, value in FIXED.items() if key != "decimate"}
    one, two = (sy.identify(robot("planar_2r"), each, estimator, **options) for each in (made, other))
    same(two, one, 1e-5 if estimator != "sdp" else 1e-3, 1e-2)


def test_a_clock_that_starts_at_any_time_without_velocities():
    """Also where positions are smoothed, delays found and the motion decimated."""
    made = recorded(robot("planar_2r"), seconds=9, rate=100, noise=0.2)
    bare = sy.Log(t=made.t, q=made.q, tau=made.tau, joint_names=made.joint_names)
    one, other = (sy.identify(robot("planar_2r"), each, "wls", diagnose=False) for each in (bare, changed(bare, t=bare.t + 5000.0)))
    close(other.base_values, one.base_values, 1e-4)
    close(other.base_std, one.base_std, 1e-2)
    close(other.t - 5000.0, one.t)


# the robot in space -----------------------------------------------------------------------------------------------------------------------


def turned(robot, pose):
    """The robot on a base whose frame is turned and moved: what was at X is now at pose X, and gravity turns with it."""
    m = robot.mechanism
    joints = tuple(replace(j, origin=pose.compose(j.origin)) if j.parent == m.root else j for j in m.joints)
    on_base = {j.name: replace(j.rotor, axis=tuple(np.array(pose.R) @ j.rotor.axis)) for j in joints if j.rotor and j.rotor.mount == m.root}
    joints = tuple(replace(j, rotor=on_base[j.name]) if j.name in on_base else j for j in joints)
    gravity = tuple(float(x) for x in np.array(pose.R) @ np.array(m.gravity))
    return sy.Robot(replace(m, joints=joints, gravity=gravity))


@EVERY_ROBOT
def test_gravity_that_turns_with_the_base_is_not_felt(name, rng):
    other = turned(robot(name), random_pose(rng))
    made = log(name)
    np.testing.assert_allclose(other.inverse_dynamics(made.q, made.qd, made.qdd), robot(name).inverse_dynamics(made.q, made.qd, made.qdd))
    found = sy.identify(other, made, "wls", **FIXED)
    predicted, expected = found.predicted, fit(name, "wls").predicted
    close(predicted, expected, 1e-5)
    assert found.base.n_base == fit(name, "wls").base.n_base
    close(found.rms, fit(name, "wls").rms, 1e-5)


@pytest.mark.parametrize("turns", [1, -1])
@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_whole_turns_of_a_joint_are_none(turns, estimator):
    made = log("spatial_3r")
    q = made.q + 2 * np.pi * np.array([turns, 0, turns])
    same(sy.identify(robot("spatial_3r"), changed(made, q=q), estimator, **FIXED), fit("spatial_3r", estimator), 1e-6, 1e-3)


def test_whole_turns_in_the_middle_of_a_log_are_none():
    """A continuous joint that goes on turning, and one whose encoder starts anew at each turn, show the same."""
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
    joints = tuple(replace(j, terms=type(j.terms).of({}), rotor=None) if j.name == "swing" else j for j in m.joints)
    return sy.Robot(replace(m, joints=joints))


SIGN = {"F0": -1.0}


@pytest.mark.parametrize("estimator", ["ols", "wls", "sdp"])
@pytest.mark.parametrize("joint", [0, 1, 2])
def test_a_joint_that_counts_the_other_way_has_the_same_link(joint, estimator):
    """Axis, position and torque change their sign: links, viscous and Coulomb friction stay, the offset changes its sign."""
    plain, made = robot("spatial_3r"), log("spatial_3r")
    name = plain.joint_names[joint]
    back = plain.mechanism.joint(name)
    axis = tuple(-x for x in back.axis)
    terms = back.terms.changed({"offset": -back.terms["offset"]})
    joints = tuple(replace(j, axis=axis, terms=terms) if j.name == name else j for j in plain.mechanism.joints)
    other = sy.Robot(replace(plain.mechanism, joints=joints))
    sign = np.where(np.arange(3) == joint, -1.0, 1.0)
    turned_round = changed(made, **{signal: sign * getattr(made, signal) for signal in ("q", "qd", "qdd", "tau")})
    found, expected = sy.identify(other, turned_round, estimator, **FIXED), fit("spatial_3r", estimator)
    signs = np.array([-1.0 if n == f"{name}.F0" else 1.0 for n in expected.base.names])
    assert found.base.names == expected.base.names
    close(found.base_values, signs * expected.base_values, 1e-6 if estimator != "sdp" else 1e-3)
    close(found.base_std, expected.base_std, 1e-4 if estimator != "sdp" else 1e-2)


@pytest.mark.parametrize("estimator", LINEAR)
def test_a_motion_backwards_in_time_has_the_friction_of_other_sign(estimator):
    """Torques of links and offsets are even in time, friction is odd."""
    made = log("spatial_3r")
    film = sy.Log(t=made.t, q=made.q[::-1], qd=-made.qd[::-1], qdd=made.qdd[::-1], tau=made.tau[::-1], joint_names=made.joint_names)
    found, expected = sy.identify(robot("spatial_3r"), film, estimator, **FIXED), fit("spatial_3r", estimator)
    signs = np.array([-1.0 if n.endswith((".Fv", ".Fc")) else 1.0 for n in expected.base.names])
    close(found.base_values, signs * expected.base_values)
    assert np.median(np.abs(np.log(found.base_std / expected.base_std))) < 0.1


# what is added to torques -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "estimator"), [("crane", "irls"), ("lift", "ols"), ("hand", "wls")])
def test_a_torque_that_the_model_can_have_is_found_in_its_parameters_alone(name, estimator, rng):
    """tau + Y delta changes the estimate by delta, whatever the noise; residuals and deviations stay."""
    expected, made = fit(name, estimator), log(name)
    delta = rng.normal(size=expected.base.n_base) * np.abs(expected.base_values).mean()
    tau = made.tau + expected.model.rows(made.q, made.qd, made.qdd) @ delta
    found = sy.identify(robot(name), changed(made, tau=tau), estimator, **FIXED)
    close(found.base_values, expected.base_values + delta, 1e-5)
    close(found.residuals, expected.residuals, 1e-4)
    close(found.base_std, expected.base_std, 1e-3)


@EVERY_ROBOT
def test_constant_torques_are_offsets(name):
    expected, made = fit(name, "wls"), log(name)
    names = [f"{joint}.F0" for joint in made.joint_names]
    added = np.array([5.0 * (j + 1) if name in expected.base.names else 0.0 for j, name in enumerate(names)])
    assert np.count_nonzero(added) >= 3
    found = sy.identify(robot(name), changed(made, tau=made.tau + added), "wls", **FIXED)
    shift = np.array([added[names.index(n)] if n in names else 0.0 for n in expected.base.names])
    close(found.base_values, expected.base_values + shift, 1e-5)


def test_a_validation_scales_with_its_torques():
    heavy, made = robot("spatial_3r").with_parameters(10.0 * robot("spatial_3r").parameters), log("spatial_3r")
    other = log("spatial_3r", 5)
    one = fit("spatial_3r", "wls").validate(other)
    ten = sy.identify(heavy, changed(made, tau=10 * made.tau), "wls", **FIXED).validate(changed(other, tau=10 * other.tau))
    close(ten.rms, 10 * one.rms, 1e-5)
    close(ten.relative_error, one.relative_error, 1e-5)
    close(ten.r2, one.r2, 1e-5)
    close(ten.whiteness, one.whiteness, 1e-4)
    assert ten.total_relative_error == pytest.approx(one.total_relative_error, rel=1e-5)


def test_a_pose_of_the_identity_turns_nothing():
    assert turned(robot("crane"), Pose()).mechanism == robot("crane").mechanism
