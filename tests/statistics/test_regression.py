"""The rows, the likelihood and the bootstrap of a fit against statsmodels."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import statsmodels.api as sm

import steelyard as sy
from steelyard.errors import CallError
from tests.motions import coloured, recorded, rubbing

FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False, "friction": ("viscous", "coulomb")}


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


def noisy(seed: int = 0, rho: float = 0.0, seconds: float = 20.0) -> sy.Log:
    log = recorded(arm(), seed=seed, seconds=seconds)
    noise = coloured(log.tau.shape, rho, np.random.default_rng(seed))
    return log.replace(tau=log.tau + np.array([2.0, 1.0, 0.3]) * noise)


@cache
def fitted(estimator: str) -> sy.Fit:
    return sy.identify(arm(), noisy(), estimator, mask=0.05, **FIXED)


@pytest.mark.parametrize("estimator", ["ols", "wls"])
def test_least_squares_on_the_rows_gives_the_base_values(estimator: str) -> None:
    fit = fitted(estimator)
    rows = fit.regressor()
    assert rows.Y.shape == (int(fit.validation.keep.sum()), fit.base.n_base)
    assert rows.names == fit.base.names
    want = sm.WLS(rows.tau, rows.Y, weights=rows.weights**2).fit()
    np.testing.assert_allclose(fit.base_values, want.params, rtol=1e-6, atol=1e-7)
    residuals = fit.residuals[fit.validation.keep]
    np.testing.assert_allclose(rows.tau - rows.Y @ fit.base_values, residuals, atol=1e-8)
    np.testing.assert_allclose(rows.t, np.repeat(fit.t, 3)[fit.validation.keep.reshape(-1)])


def test_likelihood_and_criteria_are_those_of_statsmodels() -> None:
    fit, rows = fitted("wls"), fitted("wls").regressor()
    variance = np.array(
        [np.mean(fit.residuals[fit.validation.keep[:, j], j] ** 2) for j in range(3)]
    )
    want = sm.WLS(rows.tau, rows.Y, weights=1.0 / variance[rows.row]).fit()
    assert fit.log_likelihood == pytest.approx(want.llf, rel=1e-6)
    assert fit.rank == fit.base.n_base
    assert fit.aic == pytest.approx(2 * fit.rank - 2 * fit.log_likelihood)
    assert fit.aic == pytest.approx(want.aic + 2 * (fit.rank - want.df_model), abs=2.01)
    assert fit.bic == pytest.approx(np.log(len(rows.tau)) * fit.rank - 2 * fit.log_likelihood)
    without = {f"joint{j}.Fc": 0.0 for j in (1, 2, 3)}
    smaller = sy.identify(arm(), noisy(), "wls", mask=0.05, hold=without, **FIXED)
    assert smaller.rank == fit.rank - 3
    assert smaller.bic > fit.bic, "the arm has Coulomb friction"


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_the_bootstrap_agrees_with_the_covariance(estimator: str) -> None:
    fit = sy.identify(arm(), noisy(rho=0.9, seconds=40.0), estimator, decimate=1, **FIXED)
    draws = fit.bootstrap(draws=300)
    ratio = draws.std / np.sqrt(np.diag(fit.covariance))
    assert 0.6 < np.median(ratio) < 1.3
    white = np.linalg.inv(fit.information[:-1, :-1].T @ fit.information[:-1, :-1])
    if estimator == "wls":
        assert np.median(draws.std / np.sqrt(np.diag(white))) > 2.0, "noise is correlated"
    assert np.all(np.abs(draws.mean - fit.base_values) < draws.std)
    low, high = draws.interval(0.9)
    assert np.mean((draws.values > low) & (draws.values < high)) == pytest.approx(0.9, abs=0.01)
    np.testing.assert_array_equal(draws.values, fit.bootstrap(draws=300, seed=0).values)


def test_latex_has_a_row_for_each_parameter() -> None:
    fit = fitted("wls")
    for which, count in (("base", fit.base.n_base), ("all", len(fit.parameters)), ("links", 3)):
        text = fit.to_latex(which)
        body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
        assert body.count(r"\\") == count
    line = next(x for x in fit.to_latex("all").splitlines() if x.startswith("joint1.Fv"))
    assert line.removesuffix(r" \\").endswith("N m s/rad")


def test_wrong_arguments_are_named() -> None:
    fit = fitted("wls")
    with pytest.raises(CallError, match="which"):
        fit.to_latex("bases")
    for wrong in (1, 2.5, "many"):
        with pytest.raises(CallError, match="bootstrap: draws must be a whole number"):
            fit.bootstrap(draws=wrong)
    with pytest.raises(CallError, match="level must be a number"):
        fit.bootstrap(draws=3).interval(2.0)
