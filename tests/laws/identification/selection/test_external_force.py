"""External forces: samples in which something pushes the robot are left out, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.identification.samples.samples import Samples
from tests.laws.identification.selection.test_held_out_choices import ROBOT, error, log, motion

Array = NDArray[np.float64]
TRUTH = sy.perturbed(ROBOT, seed=3)
PUSHES = ((6.0, 6.5), (13.0, 13.5))


def pushed(pushes: tuple[tuple[float, float], ...] = PUSHES, size: float = 1.0) -> sy.Log:
    """A log whose joints are pushed by `size` [rad] there and back; the drives do not know."""
    clean = log()
    t = clean.t
    bump = np.zeros_like(t)
    for first, last in pushes:
        u = np.clip((t - first) / (last - first), 0.0, 1.0)
        bump += size * np.sin(np.pi * u) ** 4
    return clean.replace(q=clean.q + bump[:, None])


def note(fit: sy.Fit) -> str:
    return " ".join(each for each in fit.status if "external force" in each)


def samples_of(fit: sy.Fit) -> tuple[Samples, ...]:
    assert fit.pipeline.problem is not None
    return fit.pipeline.problem.samples


def test_pushes_are_named_with_their_times_and_left_out() -> None:
    fit = sy.identify(ROBOT, pushed(), diagnose=False)
    with_pushes = sy.identify(ROBOT, pushed(), diagnose=False, smoothing="kalman")
    assert "times the largest measured torque" in note(fit)
    (samples,) = samples_of(fit)
    assert samples.disturbed is not None
    assert samples.keep is not None
    for first, last in PUSHES:
        inside = (samples.t > first + 0.1) & (samples.t < last - 0.1)
        assert samples.disturbed[inside].all()
    assert np.mean(samples.disturbed) < 0.1
    assert not samples.keep[samples.disturbed].any()
    assert error(fit) < 0.01 < 0.1 < error(with_pushes)


def test_only_the_log_that_is_pushed_loses_samples() -> None:
    fit = sy.identify(ROBOT, [log(seed=1), pushed(PUSHES[:1])], diagnose=False)
    first, second = samples_of(fit)
    assert first.disturbed is None
    assert second.disturbed is not None
    assert "of log 2" in note(fit)
    assert error(fit) < 0.01


@pytest.mark.parametrize("seed", range(4))
def test_a_robot_that_nobody_pushes_keeps_every_sample(seed: int) -> None:
    robot = sy.perturbed(ROBOT, seed=seed)
    for vibration in (0.0, 2e-3):
        fit = sy.identify(robot, log(seed=seed, vibration=vibration), diagnose=False)
        assert not note(fit)
        assert samples_of(fit)[0].disturbed is None


def test_a_robot_that_is_pushed_most_of_the_time_keeps_every_sample() -> None:
    often = tuple((start, start + 0.5) for start in np.arange(1.0, 19.0, 1.0).tolist())
    fit = sy.identify(ROBOT, pushed(often), diagnose=False)
    assert not note(fit)
    assert fit.verdict.word in ("doubtful", "refused")


def test_rows_at_rest_come_back_but_not_those_of_an_external_force() -> None:
    t = np.arange(10) / 100.0
    x = np.ones((10, 2))
    samples = Samples(t, x, x, x, x, np.ones((10, 2), bool) & (t[:, None] > 0.02))
    disturbed = samples.without_rows(t > 0.065)
    assert disturbed.keep is not None
    np.testing.assert_array_equal(disturbed.keep[:, 0], (t > 0.02) & (t < 0.065))
    every = disturbed.with_every_row().keep
    assert every is not None
    np.testing.assert_array_equal(every[:, 1], t < 0.065)
    assert samples.with_every_row().keep is None
    part = disturbed.part(slice(4, None))
    assert part.disturbed is not None
    np.testing.assert_array_equal(part.disturbed, t[4:] > 0.065)


def test_a_log_that_is_too_short_for_every_parameter_is_not_searched() -> None:
    t = np.arange(0.0, 2.2, 0.02)
    q, qd, qdd = motion(t)
    short = sy.Log(t=t, q=q, tau=TRUTH.inverse_dynamics(q, qd, qdd), joint_names=ROBOT.joint_names)
    assert not note(sy.identify(ROBOT, short, diagnose=False))
