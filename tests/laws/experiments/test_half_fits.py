"""Fits of the halves of a log: every choice is made again, without the other half."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.online.calibration.half_fits import half_fits, half_logs
from steelyard.experiments.online.held_out_residuals import (
    half_streams,
    held_out_limits,
    residual_streams,
)
from tests.lugre_arm import described, simulate

GAIN = 100.0  # [1/s]


def two_motions(seed: int, other: int) -> sy.Fit:
    """A fit of 12 s of one motion and 12 s of another."""
    robot = described()
    logs = [simulate(12.0, each) for each in (seed, other)]
    return sy.identify(
        robot,
        [sy.Log(t=t, q=q, qd=qd, tau=tau, joint_names=robot.joint_names) for t, q, qd, tau in logs],
        diagnose=False,
    )


def test_the_fit_of_a_half_does_not_depend_on_the_other_half() -> None:
    first, second = two_motions(1, 2), two_motions(1, 3)
    one, two = half_fits(first)[0], half_fits(second)[0]
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.prediction_base, two.prediction_base)
    assert one.model.robot.parameter_names == two.model.robot.parameter_names


def test_each_part_is_predicted_by_the_fit_of_the_other_half_too() -> None:
    fit = two_motions(1, 2)
    limits, fits = held_out_limits(fit, GAIN, None, 0.002), half_fits(fit)
    simple = residual_streams(fit, GAIN, limits)
    streams = residual_streams(fit, GAIN, limits, fits)
    halves = half_streams(fit, streams, GAIN, limits, fits)
    for part, before in zip(streams, simple, strict=True):
        assert len(part.by_model) == len(before.by_model) + 1
        np.testing.assert_array_equal(part.by_model[:-1], before.by_model)
        assert np.all(part.residual >= before.residual)
        assert np.all(part.torque <= before.torque)
    for half in (0, 1):
        checked = np.concatenate([part.residual for part in halves[half].others])
        direct = [part.by_model[-1] for part in streams if part.half != half]
        np.testing.assert_allclose(checked, np.concatenate(direct), atol=1e-9)


def test_a_log_is_joined_from_its_parts() -> None:
    fit = two_motions(1, 2)
    first, second = (
        half_logs([part for part in fit.pipeline.held_out if part.half == half], fit)
        for half in (0, 1)
    )
    assert len(first) == len(second) == 1
    for (log,), seed in ((first, 1), (second, 2)):
        t, q, qd, tau = simulate(12.0, seed)
        start = int(np.searchsorted(t, log.t[0]))
        index = slice(start, start + log.N)
        assert log.N > 0.98 * len(t)
        for name, signal in (("t", t), ("q", q), ("qd", qd), ("tau", tau)):
            np.testing.assert_array_equal(getattr(log, name), signal[index])


def test_a_fit_whose_options_are_not_known_has_no_fits_of_halves() -> None:
    fit = two_motions(1, 2)
    unknown = replace(fit, pipeline=replace(fit.pipeline, requested=None))
    assert half_fits(unknown) == (None, None)
    known = sy.CollisionObserver(unknown).calibration
    assert known is not None
    assert known.monitored.any()


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_fits_of_halves_use_the_options_of_the_fit(estimator: str) -> None:
    robot = described()
    t, q, qd, tau = simulate(12.0, 1)
    log = sy.Log(t=t, q=q, qd=qd, tau=tau, joint_names=robot.joint_names)
    fit = sy.identify(robot, log, estimator, diagnose=False, friction=("viscous", "coulomb"))
    for half in half_fits(fit):
        assert half is not None
        assert half.options.estimator.name == fit.options.estimator.name
        assert half.options.model == fit.options.model
