"""A given Gaussian prior and linear equalities against closed forms and statsmodels."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import statsmodels.api as sm

import steelyard as sy
from steelyard.errors import CallError, ProblemError
from steelyard.identification import SDP, WLS
from tests.motions import recorded, rubbing

FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False, "friction": ("viscous", "coulomb")}


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@cache
def log() -> sy.Log:
    return recorded(arm(), noise=1.0)


def equal_friction(value: float) -> tuple[dict[str, float], float]:
    return {"joint1.Fv": 1.0, "joint2.Fv": 1.0}, value


@pytest.mark.parametrize("estimator", ["ols", "wls"])
def test_equalities_are_those_of_statsmodels(estimator: str) -> None:
    free = sy.identify(arm(), log(), estimator, **FIXED)
    fit = sy.identify(arm(), log(), estimator, constraints=equal_friction(4.0), **FIXED)
    rows = fit.regressor()
    R = np.zeros((1, fit.base.n_base))
    index = [fit.base.names.index(f"joint{j}.Fv") for j in (1, 2)]
    R[0, index] = 1.0
    model = sm.GLM(rows.tau, rows.Y, var_weights=rows.weights**2)
    want = model.fit_constrained((R, np.array([4.0])))
    np.testing.assert_allclose(fit.base_values, want.params, rtol=1e-5, atol=1e-6)
    assert fit.base_values[index].sum() == pytest.approx(4.0, abs=1e-10)
    assert abs(free.base_values[index].sum() - 4.0) > 0.1
    spread = fit.covariance[np.ix_(index, index)].sum()
    assert abs(spread) < 1e-8 * free.covariance[np.ix_(index, index)].sum()


@pytest.mark.parametrize("form", ["names", "several", "matrix"])
def test_the_consistent_robot_meets_equalities(form: str) -> None:
    names = arm().parameter_names
    one, two = ({"link2.m": 1.0, "link3.m": 1.0}, 30.0), equal_friction(3.2)
    A = np.array([[each[0].get(name, 0.0) for name in names] for each in (one, two)])
    value = {"names": one, "several": [one, two], "matrix": (A, np.array([30.0, 3.2]))}[form]
    fit = sy.identify(arm(), log(), "sdp", constraints=value, **FIXED)
    sums = A @ [fit.parameters[fit.parameter_names.index(name)] for name in names]
    assert sums[0] == pytest.approx(30.0, rel=1e-6)
    if form != "names":
        assert sums[1] == pytest.approx(3.2, rel=1e-6)
    row = np.array([float(name in one[0]) for name in fit.parameter_names])
    assert row @ fit.uncertainty.parameters @ row < 1e-3


def test_a_precise_prior_is_an_equality_and_a_wide_one_nothing() -> None:
    plain = sy.identify(arm(), log(), SDP(prior_weight=1.0), **FIXED)
    index = plain.parameter_names.index("joint1.Fv")
    mean = plain.parameters[index] + 10 * plain.parameters_std[index]
    for std, want in ((1e-7, mean), (1e4, plain.parameters[index])):
        prior = {"joint1.Fv": (mean, std)}
        fit = sy.identify(arm(), log(), SDP(prior_weight=1.0), parameter_prior=prior, **FIXED)
        assert fit.parameters[index] == pytest.approx(want, rel=1e-4)


def test_a_prior_and_the_samples_are_combined_by_their_precisions() -> None:
    """For one parameter: mean and variance of the product of two Gaussians."""
    plain = sy.identify(arm(), log(), SDP(prior_weight=1.0), **FIXED)
    index = plain.parameter_names.index("joint2.Fc")
    post = plain.estimate.posterior
    M = post.coordinates.matrix[index]
    value, variance = plain.parameters[index], float(post.variance(M[None])[0])
    std = np.sqrt(variance)
    prior = {"joint2.Fc": (value + std, std)}
    fit = sy.identify(arm(), log(), SDP(prior_weight=1.0), parameter_prior=prior, **FIXED)
    assert fit.parameters[index] == pytest.approx(value + 0.5 * std, abs=0.05 * std)
    after = float(fit.estimate.posterior.variance(M[None])[0])
    assert after == pytest.approx(0.5 * variance, rel=0.05)
    p = len(arm().parameters)
    covariance = np.diag(np.full(p, 1e12))
    here = arm().parameter_names.index("joint2.Fc")
    covariance[here, here] = variance
    mean = np.zeros(p)
    mean[here] = value + std
    same = sy.identify(
        arm(), log(), SDP(prior_weight=1.0), parameter_prior=(mean, covariance), **FIXED
    )
    np.testing.assert_allclose(same.parameters, fit.parameters, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": ({"link9.m": 1.0}, 3.0)}, "no parameter is called 'link9.m'"),
        ({"constraints": ({"link3.m": "x"}, 3.0)}, "the factor of 'link3.m' must be a number"),
        ({"constraints": (np.eye(2), np.ones(2))}, "constraints must be"),
        ({"constraints": {"link3.m": 3.0}}, "constraints must be a list"),
        ({"parameter_prior": {"link9.m": (1, 1)}}, "no parameter is called 'link9.m'"),
        ({"parameter_prior": {"link3.m": 1.0}}, "parameter_prior must be"),
        ({"parameter_prior": {"link3.m": (1.0, 0.0)}}, "hold="),
        ({"parameter_prior": {"link3.m": (1.0, -1.0)}}, "standard deviation of 'link3.m' must be"),
        ({"parameter_prior": (np.zeros(3), np.eye(3))}, "parameter_prior must be"),
        ({"parameter_prior": {"link3.m": (1, 1)}, "estimator": "wls"}, "not used by"),
        ({"constraints": equal_friction(1.0), "estimator": "ridge"}, "not used by"),
    ],
)
def test_wrong_priors_and_constraints_are_named(options, message: str) -> None:
    with pytest.raises(CallError, match=message):
        sy.identify(arm(), log(), **{**FIXED, **options})


def test_a_covariance_that_is_not_positive_definite_is_refused() -> None:
    p = len(arm().parameters)
    with pytest.raises(CallError, match="not positive definite"):
        sy.identify(arm(), log(), parameter_prior=(np.zeros(p), -np.eye(p)), **FIXED)


def test_equalities_that_no_robot_meets_are_named() -> None:
    with pytest.raises(ProblemError, match="constraint 1"):
        sy.identify(arm(), log(), "sdp", constraints=({"link3.m": 1.0}, -3.0), **FIXED)


def test_a_link_with_a_large_prior_weight_stays_as_described() -> None:
    described = arm().with_parameters(1.3 * arm().parameters)
    free, tied = (
        sy.identify(described, log(), SDP(prior_weight=weight), **FIXED)
        for weight in (1e-3, {"link2": 1e12, "link1": 1e-3, "link3": 1e-3})
    )
    # the described inertia is not physically consistent: mass and first moments are
    of_link = [name.startswith("link2.m") for name in described.parameter_names]
    start = described.parameters[of_link]
    np.testing.assert_allclose(tied.parameters[of_link], start, rtol=1e-3, atol=1e-4)
    assert np.linalg.norm(free.parameters[of_link] - start) > 0.05 * np.linalg.norm(start)
    with pytest.raises(CallError, match="no moving link is called 'link9'"):
        sy.identify(arm(), log(), SDP(prior_weight={"link9": 1.0}), **FIXED)
    with pytest.raises(CallError, match="prior_weight of 'link2' must be"):
        SDP(prior_weight={"link2": -1.0})


def test_given_weights_are_those_of_statsmodels() -> None:
    weights = {"joint1": 1.0, "joint2": 10.0, "joint3": 0.1}
    fit = sy.identify(arm(), log(), WLS(weights=weights), **FIXED)
    rows = fit.regressor()
    np.testing.assert_array_equal(rows.weights, np.array([1.0, 10.0, 0.1])[rows.row])
    want = sm.WLS(rows.tau, rows.Y, weights=rows.weights**2).fit()
    np.testing.assert_allclose(fit.base_values, want.params, rtol=1e-6, atol=1e-7)
    same = sy.identify(arm(), log(), WLS(weights=[1.0, 10.0, 0.1]), **FIXED)
    np.testing.assert_array_equal(same.base_values, fit.base_values)
    for wrong, message in (
        ({"joint1": 1.0}, "no number for joint2, joint3"),
        ({"joint9": 1.0}, "no joint is called 'joint9'"),
        ([1.0, 2.0], "has 2 numbers"),
        (0.0, "all zero"),
    ):
        with pytest.raises(CallError, match=message):
            sy.identify(arm(), log(), WLS(weights=wrong), **FIXED)
