"""What is done to a robot and its log together changes the estimate in a known way.

Units, order, names and clocks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import ESTIMATORS
from tests.motions import recorded
from tests.statistics.metamorphic import (
    FIXED,
    FREE,
    LINEAR,
    ROBOTS,
    changed,
    close,
    fit,
    log,
    robot,
    same,
)

# units and sizes
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "estimator"),
    [*((name, "wls") for name in ROBOTS), ("spatial_3r", "sdp"), ("planar_2r", "sdp")],
)
def test_torques_and_parameters_scale_together(name, estimator):
    """A robot ten times as heavy, with ten times the friction, under ten times the torque.

    Everything is ten times as large.

    Of the semidefinite program only if each link is described: one without mass is taken to have a
    kilogram.
    """
    heavy = robot(name).with_parameters(10.0 * robot(name).parameters)
    new_fit = sy.identify(heavy, changed(log(name), tau=10.0 * log(name).tau), estimator, **FIXED)
    expected = fit(name, estimator)
    rtol = 1e-6 if estimator == "wls" else 1e-5
    close(new_fit.base_values, 10.0 * expected.base_values, rtol)
    close(new_fit.base_std, 10.0 * expected.base_std, 100 * rtol)
    close(new_fit.rms, 10.0 * expected.rms, rtol)
    close(new_fit.relative_error, expected.relative_error, rtol)
    assert new_fit.rank == expected.rank


@pytest.mark.parametrize("estimator", FREE)
def test_a_unit_of_torque_is_a_unit_of_parameters(estimator):
    new_fit = sy.identify(
        robot("crane"), changed(log("crane"), tau=100.0 * log("crane").tau), estimator, **FIXED
    )
    close(new_fit.base_values, 100.0 * fit("crane", estimator).base_values, 1e-5)
    close(new_fit.base_std, 100.0 * fit("crane", estimator).base_std, 1e-3)


@pytest.mark.parametrize("estimator", ["ols", "wls", "sdp"])
def test_slow_motion_is_that_of_another_world(estimator):
    """Twice as slow, under a quarter of gravity and torque, with friction whose speeds are halved.

    The same links.
    """
    fast = robot("spatial_3r")
    slow = fast.with_gravity(tuple(fast.gravity / 4.0))
    recording = log("spatial_3r")
    late = sy.Log(
        t=2 * recording.t,
        q=recording.q,
        qd=recording.qd / 2,
        qdd=recording.qdd / 4,
        tau=recording.tau / 4,
        joint_names=recording.joint_names,
    )  # [N m] in units of a time twice as long
    new_fit = sy.identify(slow, late, estimator, **{**FIXED, "coulomb_width": 0.15})
    expected = fit("spatial_3r", estimator)
    factors = np.array(
        [{"Fv": 0.5, "Fc": 0.25, "F0": 0.25}.get(n.split(".")[-1], 1.0) for n in new_fit.base.names]
    )
    # friction that is described in other units is another description
    rtol = 1e-6 if estimator != "sdp" else 2e-2
    close(new_fit.base_values, factors * expected.base_values, rtol)


# order
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "estimator"), [("crane", "wls"), ("lift", "sdp"), ("hand", "irls"), ("hand", "sdp")]
)
def test_a_log_in_several_files_is_one_log(name, estimator):
    """Exactly so with measured velocities and accelerations.

    Deviations differ by where blocks of the motion begin and end.
    """
    whole = log(name)
    parts = [whole[:37], whole[37:200], whole[200:]]
    # which counts the correlation of neighbours, of which cuts take some
    rtol = 1e-6 if estimator != "sdp" else 1e-2
    new_fit = sy.identify(robot(name), parts, estimator, **FIXED)
    close(new_fit.base_values, fit(name, estimator).base_values, rtol)
    close(new_fit.residuals, fit(name, estimator).residuals, rtol)
    shown = np.isfinite(fit(name, estimator).base_std)
    assert (
        np.median(np.abs(np.log(new_fit.base_std[shown] / fit(name, estimator).base_std[shown])))
        < 0.3
    )


@pytest.mark.parametrize("estimator", ["ols", "wls", "irls", "sdp"])
def test_logs_in_any_order(estimator):
    logs = [log("crane"), log("crane", 3)[:150], log("crane", 4)[:90]]
    one, other = (
        sy.identify(robot("crane"), each, estimator, **FIXED) for each in (logs, logs[::-1])
    )
    rtol = 1e-6 if estimator != "sdp" else 1e-3
    close(one.base_values, other.base_values, rtol)
    close(np.sort(one.residuals, axis=0), np.sort(other.residuals, axis=0), rtol)
    close(one.base_std, other.base_std, 1e-3 if estimator != "sdp" else 1e-2)


@pytest.mark.parametrize("estimator", LINEAR)
def test_samples_in_any_order(estimator, rng):
    """Least squares does not know which sample came first, if velocities and accelerations are
    measured.
    """
    recording = log("hand")
    order = rng.permutation(recording.N)
    mixed = changed(
        recording,
        **{signal: getattr(recording, signal)[order] for signal in ("q", "qd", "qdd", "tau")},
    )
    new_fit = sy.identify(robot("hand"), mixed, estimator, **FIXED)
    close(new_fit.base_values, fit("hand", estimator).base_values)
    close(new_fit.residuals, fit("hand", estimator).residuals[order])


@pytest.mark.parametrize(
    ("name", "estimator"), [("crane", "ols"), ("lift", "irls"), ("hand", "wls")]
)
def test_a_log_that_is_given_twice_says_nothing_new(name, estimator):
    """The estimate stays and so does its deviation, as of every motion that repeats itself.

    The information of white noise doubles.
    """
    recording = log(name)
    new_fit = sy.identify(robot(name), [recording, recording], estimator, **FIXED)
    expected = fit(name, estimator)
    close(
        new_fit.base_values,
        expected.base_values,
        1e-5 if estimator == "irls" else 3e-3 if estimator == "wls" else 1e-6,
    )
    close(new_fit.base_std, expected.base_std, 0.1)
    if estimator == "ols":
        R, half = new_fit.information, expected.information
        close(R.T @ R, 2.0 * half.T @ half)


# names, columns and clocks
# --------------------------------------------------------------------------------------------------


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
    couplings = tuple(
        replace(c, joint_a=other(c.joint_a), joint_b=other(c.joint_b)) for c in m.couplings
    )
    return sy.Robot(replace(m, links=links, joints=joints, couplings=couplings))


@pytest.mark.parametrize(
    ("name", "estimator"), [("crane", "wls"), ("lift", "wls"), ("hand", "sdp")]
)
def test_names_mean_nothing(name, estimator):
    other, result = renamed(robot(name)), log(name)
    new_fit = sy.identify(other, changed(result, joint_names=other.joint_names), estimator, **FIXED)
    same(new_fit, fit(name, estimator), 1e-9, 1e-9)
    assert new_fit.base.names == tuple(f"x_{n}" for n in fit(name, estimator).base.names)


@pytest.mark.parametrize(
    "estimator", sorted(set(ESTIMATORS) - {"iv", "didim", "cloe", "auto", "lasso", "elastic_net"})
)
def test_columns_in_any_order_and_a_clock_that_starts_at_any_time(estimator):
    recording = log("planar_2r")
    other = changed(recording, t=recording.t + 86_400.0).select(
        tuple(reversed(recording.joint_names))
    )
    options = {key: value for key, value in FIXED.items() if key != "decimate"}
    one, two = (
        sy.identify(robot("planar_2r"), each, estimator, **options) for each in (recording, other)
    )
    same(two, one, 1e-5 if estimator != "sdp" else 1e-3, 1e-2)


def test_a_clock_that_starts_at_any_time_without_velocities():
    """Also where positions are smoothed, delays found and the motion decimated."""
    recording = recorded(robot("planar_2r"), seconds=9, rate=100, noise=0.2)
    bare = sy.Log(
        t=recording.t, q=recording.q, tau=recording.tau, joint_names=recording.joint_names
    )
    one, other = (
        sy.identify(robot("planar_2r"), each, "wls", diagnose=False)
        for each in (bare, changed(bare, t=bare.t + 5000.0))
    )
    close(other.base_values, one.base_values, 1e-4)
    close(other.base_std, one.base_std, 1e-2)
    close(other.t - 5000.0, one.t)
