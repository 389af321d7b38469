"""One suite that every estimator passes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.identification import ESTIMATORS
from steelyard.identification.estimators.least_squares import Estimate
from steelyard.identification.estimators.registry import make_estimator
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from steelyard.parameters.pseudo_inertia import is_consistent
from tests.motions import recorded, rubbing

EVERY = pytest.mark.parametrize("name", sorted(ESTIMATORS))
FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}


@pytest.fixture(scope="module", params=["spatial_3r", "elbow_6r"])
def case(request):
    true = rubbing(sy.load(request.param))
    described = true.with_parameters(true.parameters * 1.2)
    return true, described


@EVERY
def test_without_noise_the_base_parameters_come_back(case, name):
    true, described = case
    fit = sy.identify(described, recorded(true), name, **FIXED)
    expected = fit.base.values(true.parameters)
    assert np.linalg.norm(fit.base_values - expected) <= 1e-8 * np.linalg.norm(expected)
    assert fit.total_relative_error < 1e-8
    assert fit.rank == fit.base.n_base
    assert not fit.unseen


@EVERY
def test_with_nothing_said_about_friction_they_come_back_too(name):
    true = rubbing(sy.load("spatial_3r"))
    fit = sy.identify(
        true.with_parameters(true.parameters * 0.8), recorded(true, seconds=30, rate=60), name
    )
    expected = fit.base.values(true.parameters)
    assert np.linalg.norm(fit.base_values - expected) <= 1e-8 * np.linalg.norm(expected)


@EVERY
def test_noise_hurts_in_proportion(case, name):
    true, described = case
    fit = sy.identify(described, recorded(true, noise=0.2), name, **FIXED)
    assert fit.base_values.shape == (fit.base.n_base,)
    assert np.all(np.isfinite(fit.base_values))
    other = fit.validate(recorded(true, noise=0.0, seed=5))
    assert other.total_relative_error < 0.05
    assert other.total_relative_error < other.before.total_relative_error


@EVERY
def test_the_robot_of_a_fit_can_exist_and_predicts_as_the_fit_does(case, name):
    true, described = case
    fit = sy.identify(described, recorded(true, noise=0.2), name, **FIXED)
    count = 10 * len(fit.robot.tree.bodies)
    assert np.all(is_consistent(fit.parameters[:count].reshape(-1, 10)))
    assert np.allclose(fit.robot.parameters, fit.parameters, rtol=1e-9, atol=1e-12)
    q = np.random.default_rng(0).uniform(-3, 3, (200, fit.robot.n))
    assert np.all(np.linalg.eigvalsh(fit.robot.mass_matrix(q))[:, 0] > 0)
    log = recorded(true, seed=9)
    tau = fit.robot.inverse_dynamics(log.q, log.qd, log.qdd)
    gap = np.linalg.norm(tau - fit.torque(log.q, log.qd, log.qdd)) / np.linalg.norm(tau)
    assert gap < (1e-6 if name in ("sdp", "auto") else 0.02)


@EVERY
def test_an_estimator_is_a_plain_thing_that_changes_nothing(case, name):
    true, described = case
    estimator = make_estimator(name)
    assert dataclasses.is_dataclass(estimator)
    assert estimator == make_estimator(name)
    model = build_model(described)
    problem = Problem(model, (prepare(model.robot, recorded(true, noise=0.1), Preparation()),))
    before = [factor.copy() for factor in problem.total.factors]
    first, second = estimator.fit(problem), estimator.fit(problem)
    assert isinstance(first, Estimate)
    assert np.array_equal(first.base, second.base)
    assert all(np.array_equal(a, b) for a, b in zip(before, problem.total.factors, strict=True))
    assert first.weights.shape == (described.n,)
    assert np.all(first.weights > 0)
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in first.notes)


# a description has its own unit, which the prior keeps
@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"sdp", "auto"}))
def test_units_of_torque_do_not_matter(name):
    true = rubbing(sy.load("spatial_3r"))
    log = recorded(true, noise=0.1)
    one = sy.identify(true, log, name, **FIXED)
    many = sy.identify(true, log.replace(tau=1e3 * log.tau), name, **FIXED)
    assert np.allclose(
        many.base_values,
        1e3 * one.base_values,
        rtol=1e-5,
        atol=1e-5 * np.abs(many.base_values).max(),
    )


@EVERY
def test_a_joint_that_stands_still_is_reported(name):
    true = rubbing(sy.load("spatial_3r"))
    t, q = (recorded(true).t, recorded(true).q.copy())
    qd, qdd = recorded(true).qd.copy(), recorded(true).qdd.copy()
    q[:, 2], qd[:, 2], qdd[:, 2] = 0.3, 0.0, 0.0
    log = sy.Log(
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=true.inverse_dynamics(q, qd, qdd),
        joint_names=true.joint_names,
    )
    fit = sy.identify(true, log, name, **FIXED)
    assert fit.rank < fit.base.n_base
    assert "joint3.Fv" in fit.unseen
    assert np.all(np.isfinite(fit.base_values))
    assert any("joint3.Fv" in sentence for sentence in fit.check())


@pytest.mark.parametrize("wrong", ["lsq", "SDP", 3, object()])
def test_an_unknown_estimator_is_refused(wrong):
    true = sy.load("planar_2r")
    with pytest.raises(CallError, match="estimator"):
        sy.identify(true, recorded(true), wrong)


@EVERY
def test_too_short_a_log_is_refused(name):
    true = sy.load("planar_2r")
    with pytest.raises(LogError, match="2 samples"):
        sy.identify(true, recorded(true)[:2], name)
