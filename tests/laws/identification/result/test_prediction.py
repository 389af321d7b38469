"""Predicted bands hold what is measured, in and out of sample, and a state that the log did not
cover is outside.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import Fit, Region
from steelyard.signals.filters import lowpass
from tests.motions import coloured, fourier, recorded, rubbing

NOISE = 0.3  # [N m|N]


def held(fit: Fit, log: sy.Log) -> np.ndarray:
    """The share of measured torques within the band, (n,)."""
    prediction = fit.predict(log.q, log.qd, log.qdd)
    return np.mean((prediction.low <= log.tau) & (log.tau <= prediction.high), axis=0)


@cache
def case() -> tuple[sy.Robot, sy.Log, Fit]:
    """An arm, a log at a rate at which it is decimated, and its fit by default."""
    robot = rubbing(sy.load("spatial_3r"))
    log = recorded(robot, noise=NOISE, rate=400, seconds=20)
    return robot, log, sy.identify(robot.with_parameters(1.1 * robot.parameters), log)


@pytest.mark.parametrize(
    ("estimator", "decimate", "rate"),
    [("wls", 1, 50), ("wls", 8, 400), ("sdp", None, 400), ("ols", None, 400), ("irls", 3, 200)],
)
def test_bands_hold_95_percent_of_measurements(estimator, decimate, rate):
    robot = rubbing(sy.load("spatial_3r"))
    log = recorded(robot, noise=NOISE, rate=rate)
    fit = sy.identify(robot, log, estimator, decimate=decimate, delay=0, coulomb_width=0)
    for each in (log, recorded(robot, noise=NOISE, rate=rate, seed=20)):
        share = held(fit, each)
        assert np.all((share >= 0.92) & (share <= 0.98)), share


@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_bands_hold_95_percent_of_smoothed_measurements(memory):
    robot = rubbing(sy.load("spatial_3r"))
    logs = [recorded(robot, 40, seed=seed) for seed in (3, 20)]
    logs = [
        log.replace(tau=log.tau + coloured(log.tau.shape, memory, np.random.default_rng(k)))
        for k, log in enumerate(logs)
    ]
    fit = sy.identify(
        robot.with_parameters(1.1 * robot.parameters),
        logs[0],
        delay=0,
        coulomb_width=0,
        diagnose=False,
    )
    for log in logs:
        assert 0.92 <= np.mean(held(fit, log)) <= 0.98
        for cutoff in (3.0, 10.0):
            result, tau = (
                fit.predict(log.q, log.qd, log.qdd, cutoff, log.t),
                lowpass(log.tau, log.t, cutoff),
            )
            assert 0.92 <= np.mean((result.low <= tau) & (tau <= result.high)) <= 0.98


def test_a_smoothed_prediction_has_the_torque_filtered_and_less_noise():
    _, log, fit = case()
    raw, smooth, single = (
        fit.predict(log.q, log.qd, log.qdd, *more) for more in ((), (8.0, log.t), (8.0,))
    )
    assert np.allclose(smooth.torque, lowpass(raw.torque, log.t, 8.0))
    assert np.array_equal(single.torque, raw.torque)
    assert np.array_equal(smooth.std, single.std)
    assert np.all(smooth.std < 0.35 * raw.std)  # white noise: sqrt(8 / 200)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"t": np.arange(9)}, r"t must be the rising times \(N,\)"),
        ({"t": np.arange(9), "cutoff": 0.1}, r"t must be the rising times \(N,\)"),
        ({"t": -np.arange(10), "cutoff": 0.1}, r"t must be the rising times \(N,\)"),
        ({"t": np.arange(10), "cutoff": 3.0}, "half the sampling rate"),
        ({"cutoff": "high"}, r"cutoff \[Hz\] must be"),
    ],
)
def test_times_and_cutoffs_that_do_not_fit_are_refused(more, match):
    with pytest.raises(sy.CallError, match=match):
        case()[2].predict(*np.zeros((3, 10, 3)), **more)


def test_bands_hold_with_few_samples_where_the_parameters_are_uncertain():
    robot = rubbing(sy.load("planar_2r"))
    shares = []
    for seed in range(20):
        fit = sy.identify(
            robot,
            recorded(robot, 8, 10, 2.0, 3 * seed),
            "wls",
            decimate=1,
            delay=0,
            coulomb_width=0,
        )
        shares.append(held(fit, recorded(robot, 20, 10, 2.0, 3 * seed + 1)))
    assert 0.92 <= np.mean(shares) <= 0.98


def test_bands_hold_by_default_from_a_wrong_description():
    robot, log, fit = case()
    for each in (log, recorded(robot, noise=NOISE, rate=400, seed=20)):
        assert np.all((held(fit, each) >= 0.92) & (held(fit, each) <= 0.98))


def test_the_band_is_that_of_the_standard_deviation():
    _, log, fit = case()
    prediction = fit.predict(log.q, log.qd, log.qdd)
    assert np.allclose(prediction.high - prediction.torque, 1.96 * prediction.std)
    assert np.allclose(prediction.torque - prediction.low, 1.96 * prediction.std)
    assert np.all(prediction.std >= 0.95 * NOISE)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_shapes_are_those_of_the_states(shape):
    _, _, fit = case()
    prediction = fit.predict(*np.zeros((3, *shape, 3)))
    assert (
        prediction.torque.shape
        == prediction.std.shape
        == prediction.low.shape
        == prediction.high.shape
        == (*shape, 3)
    )
    assert prediction.inside.shape == shape
    assert fit.torque(*np.zeros((3, *shape, 3))).shape == (*shape, 3)


def test_states_of_a_wrong_shape_are_refused():
    with pytest.raises(sy.CallError, match=r"must all be \(..., 3\)"):
        case()[2].predict(np.zeros(2), np.zeros(2), np.zeros(2))


def test_the_region_holds_most_of_the_log():
    _, log, fit = case()
    assert 0.9 <= fit.region.share < 1
    assert np.mean(fit.predict(log.q, log.qd, log.qdd).inside) == pytest.approx(
        fit.region.share, abs=0.01
    )


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("joint", range(3))
def test_a_state_far_from_the_log_is_outside(which, joint):
    _, log, fit = case()
    state = np.array([np.median(log.q, axis=0), np.zeros(3), np.zeros(3)])
    assert fit.predict(*state).inside
    for sign in (-1, 1):
        far = state.copy()
        far[which, joint] = sign * 1.5 * np.abs([log.q, log.qd, log.qdd][which]).max()
        assert not fit.predict(*far).inside


def test_a_region_says_its_numbers():
    region = Region(
        ("a", "b"),
        ("rad", "m"),
        *(np.array(x) for x in ([-1.0, 0.0], [1.5, 0.25], [2.0, 0.5], [10.0, 3.0])),
    )
    assert str(region).splitlines() == [
        "a: q from -1 to 1.5 rad, |qd| to 2 rad/s, |qdd| to 10 rad/s^2",
        "b: q from 0 to 0.25 m, |qd| to 0.5 m/s, |qdd| to 3 m/s^2",
    ]
    assert region.contains([[0, 0.1], [2, 0.1]], np.zeros((2, 2)), np.zeros((2, 2))).tolist() == [
        True,
        False,
    ]


def test_a_joint_that_stands_is_in_the_region_where_it_stood_and_nowhere_else():
    robot = rubbing(sy.load("spatial_3r"))
    log = recorded(robot, noise=0.05)
    q, qd, qdd = (x.copy() for x in (log.q, log.qd, log.qdd))
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.4, 0.0, 0.0
    fit = sy.identify(
        robot,
        sy.Log(
            t=log.t,
            q=q,
            qd=qd,
            qdd=qdd,
            tau=robot.inverse_dynamics(q, qd, qdd),
            joint_names=robot.joint_names,
        ),
    )
    middle = np.median(q, axis=0)
    assert fit.region.contains(middle, np.zeros(3), np.zeros(3))
    assert not fit.region.contains(middle + [0, 0.1, 0], np.zeros(3), np.zeros(3))


def test_a_joint_that_stood_has_no_band_where_it_moves():
    robot = sy.load("spatial_3r")
    true = rubbing(robot)
    t, q, qd, qdd = fourier(3, 20.0, 100.0, 1)
    still = [x.copy() for x in (q, qd, qdd)]
    for x, value in zip(still, (0.3, 0.0, 0.0), strict=True):
        x[:, 1] = value
    tau = true.inverse_dynamics(*still) + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    fit = sy.identify(
        robot,
        sy.Log(t=t, q=still[0], tau=tau, joint_names=robot.joint_names),
        diagnose=False,
        friction=("viscous", "coulomb"),
    )
    assert np.isinf(fit.predict(q, qd, qdd).std[:, 1]).mean() > 0.9
    assert np.isfinite(fit.predict(q, qd, qdd).std[:, [0, 2]]).all()
    assert np.isfinite(fit.predict(*still).std).all()
