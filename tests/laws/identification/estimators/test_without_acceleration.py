"""Momentum and energy: equations of motion integrated over windows, in which no acceleration
appears.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, ProblemError
from steelyard.identification import EnergyEstimator, MomentumEstimator, Preparation
from steelyard.identification.estimators.without_acceleration.energy import energy_columns
from steelyard.identification.estimators.without_acceleration.momentum import momentum_columns
from steelyard.identification.estimators.without_acceleration.windows import (
    IntegrationWindow,
    summed,
)
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.result import jackknife as jackknife_module
from steelyard.identification.result.uncertainty import covariance_of_parts
from tests.motions import recorded, rubbing

BOTH = pytest.mark.parametrize(
    "estimator", [MomentumEstimator(), EnergyEstimator()], ids=lambda e: e.name
)


@pytest.fixture(scope="module")
def true():
    return rubbing(sy.load("spatial_3r"))


def problem_of(robot, log, options=None, decimate=2, **preparation):
    model = build_model(robot, options or ModelOptions())
    return Problem(model, (prepare(robot, log, Preparation(**preparation)),), decimate)


@pytest.mark.parametrize("sigma", [1.5, 3.0, 12.0])
def test_windows_integrate_by_parts(sigma):
    """The filtered derivative of a sine is damped as by a Gaussian low-pass.

    Omega exp(-(omega sigma)^2 / 2) cos(omega t).
    """
    k, omega, window = np.arange(600), 0.2, IntegrationWindow.of(sigma)
    count = len(k) - 2 * window.reach
    middle = k[window.reach : window.reach + count]
    low = np.exp(-0.5 * (omega * sigma) ** 2)
    assert np.allclose(
        summed(np.sin(omega * k), window.derivatives, 1, count),
        omega * low * np.cos(omega * middle),
        atol=1e-12,
    )
    assert np.allclose(
        summed(np.sin(omega * k), window.weights, 1, count),
        low * np.sin(omega * middle),
        atol=1e-12,
    )


def test_momentum_and_energy_are_those_of_the_equations_of_motion(true):
    """tau = d/dt(P pi) + Z pi and qd^T tau = d/dt(E pi) + D pi, the rates by central differences
    along a motion.
    """
    model, h = build_model(true), 1e-5
    log = recorded(true, 2.0, 50.0)
    columns = range(len(model.names))
    before, after = (
        (log.q + s * h * log.qd + 0.5 * h * h * log.qdd, log.qd + s * h * log.qdd) for s in (-1, 1)
    )
    same = np.all(np.sign(before[1]) == np.sign(after[1]), axis=1)

    def rates(function):
        return (
            (function(model, *after, columns)[0] - function(model, *before, columns)[0])
            @ model.start
            / (2 * h)
        )

    torque = (
        rates(momentum_columns) + momentum_columns(model, log.q, log.qd, columns)[1] @ model.start
    )
    power = rates(energy_columns) + energy_columns(model, log.q, log.qd, columns)[1] @ model.start
    assert np.allclose(torque[same], log.tau[same], atol=1e-6)
    assert np.allclose(power[same], np.sum(log.qd * log.tau, axis=1)[same], atol=1e-6)


@BOTH
def test_accelerations_are_not_read(true, estimator):
    problem = problem_of(true, recorded(true, noise=0.1))
    spoilt = replace(problem, samples=tuple(replace(s, qdd=s.qdd + 1e3) for s in problem.samples))
    if estimator.name == "energy":  # weighs by the noise of torques, which it takes from them
        assert not np.allclose(
            spoilt.total.residual_squares(problem.prior),
            problem.total.residual_squares(problem.prior),
        )
        return
    assert np.array_equal(estimator.fit(problem).base, estimator.fit(spoilt).base)


@BOTH
def test_what_is_held_known_or_masked_is_taken_into_account(true, estimator):
    hold = {"link3.m": float(true.parameters[20]), "joint2.Fv": None, "joint1.Ia": None}
    problem = problem_of(true, recorded(true), ModelOptions(hold=hold), mask=0.05)
    result, expected = estimator.fit(problem).base, problem.prior
    assert np.linalg.norm(result - expected) < 1e-7 * np.linalg.norm(expected)


@BOTH
def test_time_stamps_that_are_not_even_are_counted(true, estimator):
    """A pace that changes slowly.

    The windows are even over samples, and the equations hold in time.
    """
    from tests.motions import fourier

    t, q, qd, qdd = fourier(3, 20, 200)
    pace = 1.0 + 0.2 * np.sin(0.7 * t)
    late = t - 0.2 / 0.7 * (np.cos(0.7 * t) - 1.0)
    qd, qdd = (
        qd / pace[:, None],
        (qdd / pace[:, None] - qd * (0.14 * np.cos(0.7 * t) / pace**2)[:, None]) / pace[:, None],
    )
    log = sy.Log(
        t=late,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=true.inverse_dynamics(q, qd, qdd),
        joint_names=true.joint_names,
    )
    problem = problem_of(true, log)
    assert np.linalg.norm(estimator.fit(problem).base - problem.prior) < 2e-3 * np.linalg.norm(
        problem.prior
    )


@BOTH
def test_the_uncertainty_is_that_of_its_own_equations(estimator, monkeypatch):
    monkeypatch.setattr(jackknife_module, "student_factor", lambda blocks: 1.0)
    true = rubbing(sy.load("planar_2r"))
    problem = problem_of(true, recorded(true, 40, base=0.03, harmonics=10))
    results = []
    for k in range(30):
        noise = 0.2 * np.random.default_rng(k).normal(size=problem.samples[0].tau.shape)
        noisy = replace(
            problem, samples=tuple(replace(s, tau=s.tau + noise) for s in problem.samples)
        )
        results.append(estimator.fit(noisy))
    spread = np.std([each.base for each in results], axis=0)
    message = np.sqrt(np.mean([np.diag(covariance_of_parts(each)) for each in results], axis=0))
    assert 0.85 < np.exp(np.mean(np.log(message / spread))) < 1.3


@BOTH
def test_too_short_a_log_for_windows_is_refused(true, estimator):
    with pytest.raises(ProblemError, match="rows of windows of 25 samples"):
        estimator.fit(problem_of(true, recorded(true, 0.3)))


@BOTH
def test_a_base_that_moves_is_refused(true, estimator):
    problem = problem_of(true, recorded(true))
    with pytest.raises(CallError, match=f"{estimator.name}.* a base that moves"):
        estimator.fit(replace(problem, model=replace(problem.model, moving=True)))
