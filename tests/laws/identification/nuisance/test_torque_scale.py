"""An uncertain torque scale widens masses and loads, and no predicted torque."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from tests.motions import recorded, rubbing

FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}
S = 0.02


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_the_covariance_has_a_rank_one_term(estimator: str) -> None:
    log = recorded(arm(), noise=0.3)
    exact, scaled = (
        sy.identify(arm(), log, estimator, torque_scale_std=s, **FIXED) for s in (0.0, S)
    )
    extra = scaled.covariance - exact.covariance
    np.testing.assert_allclose(
        extra, S**2 * np.outer(exact.base_values, exact.base_values), rtol=1e-6, atol=1e-12
    )
    if estimator == "sdp":
        shown = np.isfinite(exact.parameters_std)
        want = np.sqrt(exact.parameters_std**2 + (S * exact.parameters) ** 2)
        np.testing.assert_allclose(scaled.parameters_std[shown], want[shown], rtol=1e-9)
    np.testing.assert_allclose(scaled.links.com_std, exact.links.com_std, rtol=1e-6)
    states = log.q[::50], log.qd[::50], log.qdd[::50]
    np.testing.assert_array_equal(scaled.predict(*states).std, exact.predict(*states).std)
    assert scaled.verdict.error == exact.verdict.error
    assert scaled.torque_scale_std == S
    assert any("torque scale is known to ± 4 %" in reason for reason in scaled.verdict.reasons)


@pytest.mark.parametrize("source", ["robot", "fit", "empty log"])
def test_a_load_changes_with_the_scale_as_the_standard_deviation_says(source: str) -> None:
    """The derivative by the scale is the difference to torques that are 0.2 % larger."""
    loaded = recorded(arm().with_payload(4.0, (0.05, 0.02, 0.1), 0.05), seed=1, noise=0.2)
    empty = recorded(arm(), seed=2, noise=0.2)

    def load(scale: float, s: float | None) -> sy.PayloadEstimate:
        one, other = (log.replace(tau=scale * log.tau) for log in (loaded, empty))
        if source == "robot":
            return sy.payload(arm(), one, torque_scale_std=s)
        if source == "fit":
            fit = sy.identify(arm(), other, "wls", torque_scale_std=s or 0.0, **FIXED)
            return sy.payload(fit, one)
        return sy.payload(arm(), one, other, torque_scale_std=s, estimator="wls", **FIXED)

    plain, moved, wide = load(1.0, None), load(1.0 + S / 10, None), load(1.0, S)
    change = np.sqrt(np.maximum(np.diag(wide.fit.covariance - plain.fit.covariance), 0.0))
    want = 10 * np.abs(moved.fit.numbers - plain.fit.numbers)
    np.testing.assert_allclose(change, want, rtol=0.03, atol=2e-5)
    assert wide.std.mass > 0.8 * S * wide.mass
    assert any("torque scale is known to ± 4 %" in reason for reason in wide.verdict.reasons)


def test_uncertain_gains_widen_every_parameter() -> None:
    """Also parameters that the description decides in part; a payload of unknown centre too."""
    loaded = recorded(arm().with_payload(5.0, (0.1, 0.02, 0.05), 0.01), seed=1, noise=2.0)
    logs = [recorded(arm(), noise=2.0), loaded.replace(payload=sy.Payload(5.0))]
    sure, unsure = (
        sy.identify(arm(), logs, "sdp", drive_gains=gains, **FIXED) for gains in ((), "all")
    )
    mass = [name.endswith(".m") for name in sure.parameter_names]
    shown = np.isfinite(sure.parameters_std) & np.isfinite(unsure.parameters_std) & mass
    assert shown.any()
    assert np.all(unsure.parameters_std[shown] > 1.02 * sure.parameters_std[shown])
    assert unsure.torque_scale_std > 0


@pytest.mark.parametrize("wrong", [-0.01, 1.5, float("nan"), "2 %", None])
def test_a_scale_that_is_no_fraction_is_refused(wrong) -> None:
    log = recorded(arm(), seconds=4.0)
    with pytest.raises(CallError, match="torque_scale_std must be a number"):
        sy.identify(arm(), log, torque_scale_std=wrong)
    if wrong is not None:
        with pytest.raises(CallError, match="torque_scale_std must be a number"):
            sy.payload(arm(), log, torque_scale_std=wrong)
