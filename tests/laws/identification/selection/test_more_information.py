"""More information does not make predictions worse: logs of a plant that shares no code with us.

The plant has LuGre friction, play or elastic joints, as `benchmarks.unseen` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.identification.samples.late_states import late_velocity, without_late_states
from steelyard.identification.samples.samples import Samples
from tests.paired_errors import loss, new_faults

pytest.importorskip("pinocchio")

from benchmarks.unseen import draw as drawing
from benchmarks.unseen.faults import causal_low_pass
from benchmarks.unseen.judge import BAND
from benchmarks.unseen.plant import Run

Array = NDArray[np.float64]
ROBOT = sy.load("planar_2r")
SEEDS = (21, 3, 5)  # three joints with dwells, play, one joint with ripple
FILTER = 60.0  # [Hz] of a driver's velocities


@dataclass(frozen=True, eq=False)
class Draw:
    """A robot, its training log without velocities, the run of it, and two held-out halves."""

    description: sy.Robot
    log: sy.Log
    velocity: Array
    acceleration: Array
    second: sy.Log
    judged: sy.Log


@contextmanager
def recorded_runs(runs: list[Run]) -> Iterator[None]:
    """Keep the simulated runs of a draw, and log no velocities."""
    measured = drawing.measured

    def record(run: Run, sensors: Any, *rest: Any) -> sy.Log:
        runs.append(run)
        return measured(run, replace(sensors, velocity=None), *rest)

    with patch.object(drawing, "measured", record):
        yield


@cache
def draw(seed: int) -> Draw:
    runs: list[Run] = []
    with recorded_runs(runs):
        each = drawing.draw(seed)
    run, log = runs[0], each.training
    rate = 1 / (run.t[1] - run.t[0])
    late = causal_low_pass(run.qd, rate, FILTER)
    times = log.t + run.t[0]
    half = each.held_out.N // 2
    return Draw(
        description=each.description,
        log=log,
        velocity=drawing.sampled(times, run.t, late),
        acceleration=drawing.sampled(times, run.t, np.gradient(late, run.t, axis=0)),
        second=each.held_out[:half],
        judged=each.held_out[half:],
    )


def logs(of: Draw, information: str) -> list[sy.Log]:
    """The logs that have some information."""
    with_velocity = of.log.replace(qd=of.velocity)
    return {
        "half": [of.log[: of.log.N // 2]],
        "positions": [of.log],
        "velocities": [with_velocity],
        "accelerations": [with_velocity.replace(qdd=of.acceleration)],
        "another motion": [of.log, of.second],
    }[information]


@cache
def fit(seed: int, information: str) -> sy.Fit:
    of = draw(seed)
    source = logs(of, information)
    return sy.identify(of.description, source if len(source) > 1 else source[0])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("positions", "velocities"),
        ("velocities", "accelerations"),
        ("half", "positions"),
        ("positions", "another motion"),
    ],
)
def test_more_information_is_never_worse(seed: int, less: str, more: str) -> None:
    before, after = fit(seed, less), fit(seed, more)
    first, second, worse = loss(before, after, [draw(seed).judged], BAND)
    assert not worse, f"{second:.2%} with {more}, {first:.2%} with {less}"
    assert not new_faults(before, after)


def test_late_accelerations_are_replaced_by_derivatives_of_the_positions() -> None:
    late = fit(21, "accelerations")
    (samples,) = samples_of(late)
    assert any("ms late against the positions" in remark for remark in samples.remarks)
    np.testing.assert_allclose(
        late.parameters, fit(21, "positions").parameters, rtol=1e-9, atol=1e-12
    )


def samples_of(fit: sy.Fit) -> tuple[Samples, ...]:
    assert fit.pipeline.problem is not None
    return fit.pipeline.problem.samples


def test_the_delay_of_a_causal_filter_is_found() -> None:
    of = draw(21)
    lag = 1.0 / (2.0 * np.pi * FILTER)  # of a filter of first order
    assert late_velocity(of.log.t, of.log.q, of.velocity) == pytest.approx(lag, rel=0.05)


def with_states(delay: float = 0.0, rate: float = 200.0, noise: float = 1e-4) -> sy.Log:
    """A log of two sines whose velocities and accelerations come late by `delay` [s]."""
    t = np.arange(0.0, 10.0, 1.0 / rate)
    w = np.array([1.3, 2.1])

    def angle(times: Array) -> Array:
        return times[:, None] * w

    q = np.sin(angle(t)) + noise * np.random.default_rng(0).normal(size=(len(t), 2))
    qd, qdd = w * np.cos(angle(t - delay)), -(w**2) * np.sin(angle(t - delay))
    tau = ROBOT.inverse_dynamics(np.sin(angle(t)), w * np.cos(angle(t)), -(w**2) * np.sin(angle(t)))
    return sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=ROBOT.joint_names)


@pytest.mark.parametrize("rate", [50.0, 200.0, 2000.0])
@pytest.mark.parametrize("delay", [0.0, 1e-3, 3e-3, 0.02])
def test_only_late_states_are_left_out(delay: float, rate: float) -> None:
    log = with_states(delay, rate)
    used = without_late_states(log)
    assert late_velocity(log.t, log.q, log.qd) == pytest.approx(delay, rel=0.01, abs=5e-5)
    assert (used.qd is None) == (delay > 0.0)
    assert (used.qdd is None) == (delay > 0.0)


def test_states_that_cannot_be_compared_stay() -> None:
    log = with_states(3e-3)
    assert log.qd is not None
    short = log[:30]
    missing = log.replace(qd=np.where(np.arange(log.N)[:, None] == 500, np.nan, log.qd))
    resting = log.replace(qd=np.zeros_like(log.qd))
    back = log.replace(t=np.where(np.arange(log.N) == 500, log.t[499], log.t))
    without = log.replace(qd=None, qdd=None)
    for each in (short, missing, resting, back, without):
        assert without_late_states(each) is each


def test_a_log_with_late_states_validates_as_one_without() -> None:
    fit = sy.identify(ROBOT, with_states(), diagnose=False)
    positions = with_states().replace(qd=None, qdd=None)
    late, derived = fit.validate(with_states(0.02)), fit.validate(positions)
    assert late.total_relative_error == pytest.approx(derived.total_relative_error)
