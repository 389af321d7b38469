"""Options and logs of an identification.

What is refused is named, and the forms in which options come mean the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.identification import SDP, WLS, ModelOptions, Preparation
from tests.laws.identification.test_identify import FIXED
from tests.motions import recorded, rubbing


@pytest.fixture(scope="module")
def arm():
    return rubbing(sy.load("spatial_3r"))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"tau": None}, "no torque"),
        ({"tau": np.zeros((2000, 3))}, "zero throughout"),
        ({"q": np.full((2000, 3), 0.3)}, "never moved"),
        ({"joint_names": ("joint1", "joint2", "jiont3")}, "joint3"),
    ],
)
def test_a_log_that_says_nothing_is_refused(arm, change, match):
    with pytest.raises(LogError, match=match):
        sy.identify(arm, recorded(arm).replace(**change))


def test_degrees_are_refused(arm):
    log = recorded(arm)
    with pytest.raises(LogError, match="degrees"):
        sy.identify(arm, log.replace(q=np.rad2deg(log.q) * 3, qd=None, qdd=None))


def test_a_nan_in_the_middle_is_filled_and_said(arm):
    log = recorded(arm)
    tau = log.tau.copy()
    tau[777, 1] = np.nan
    fit = sy.identify(arm, log.replace(tau=tau), "wls", **FIXED)
    assert np.all(np.isfinite(fit.base_values))
    assert any("NaN" in sentence for sentence in fit.status)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"friction": ("viscos",)}, "did you mean 'viscous'"),
        ({"smoothing": "kalmann"}, "did you mean 'kalman'"),
        ({"smoothing": "butterworth"}, "cutoff"),
        ({"cutoff": -1.0, "smoothing": "butterworth"}, "positive"),
        ({"decimate": -2}, "decimate"),
        ({"mask": {"joint9": 0.1}}, "joint9"),
        ({"mask": {"joint1": -0.1}}, "from 0 on"),
        ({"delay": "guess"}, "delay"),
        ({"coulomb_width": "guess"}, "coulomb_width"),
        ({"hold": ["joint1.Fx"]}, "joint1.Fx"),
        (
            {"hold": ["link1", "link2", "link3", "joint1", "joint2", "joint3"]},
            "nothing to identify",
        ),
        ({"prior": "cat"}, "prior"),
        ({"bounds": {"link1.m": 3}}, "lowest, highest"),
        ({"bounds": {"link1.m": (3, 2)}}, "empty"),
        ({"bounds": {"link9.com": ((0, 0, 0), (1, 1, 1))}}, "link9"),
        ({"coupling": sy.Coupling("joint1", "joint1")}, "twice"),
    ],
)
def test_a_wrong_option_is_named(arm, options, match):
    with pytest.raises(CallError, match=match):
        sy.identify(arm, recorded(arm), **options)


def test_options_come_as_objects_or_as_single_words(arm):
    log = recorded(arm, noise=0.1)
    short = sy.identify(arm, log, "wls", decimate=2, rotor=False, hold=["link3.m"], **FIXED)
    preparation, model = (
        Preparation(decimate=2, delay=0),
        ModelOptions(rotor=False, hold=["link3.m"], coulomb_width=0),
    )
    long = sy.identify(arm, log, WLS(), preparation=preparation, model=model)
    mixed = sy.identify(
        arm, log, "wls", preparation=preparation, model=replace(model, rotor=True), rotor=False
    )
    assert np.array_equal(short.base_values, long.base_values)
    assert np.array_equal(short.base_values, mixed.base_values)
    assert long.options.preparation is not None
    assert long.options.model == model


def test_an_unknown_option_lists_the_known_ones(arm):
    with pytest.raises(
        CallError, match=r"'cutof'; did you mean 'cutoff'\? Known: estimator, .*bounds.*smoothing"
    ):
        sy.identify(arm, recorded(arm), cutof=3.0)


def test_the_old_name_of_the_prior_weight_warns():
    with pytest.warns(DeprecationWarning, match="prior_weight"):
        old = SDP(pull=10.0)
    assert old == SDP(prior_weight=10.0)
    assert replace(old, margin=1e-3).prior_weight == 10.0


def test_no_log_is_no_log(arm):
    with pytest.raises(LogError, match="no log"):
        sy.identify(arm, [])
    with pytest.raises(LogError, match="expected a Log"):
        sy.identify(arm, np.zeros((5, 3)))
