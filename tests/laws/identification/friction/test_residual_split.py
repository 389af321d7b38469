"""The error that is left is split by cause.

Each planted cause has the largest share, and the shares add to one.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.friction.residual_split import (
    CAUSES,
    noise_share,
    normalise_shares,
    predicted_share,
)
from steelyard.reporting import cause_table
from tests.motions import coloured, recorded, rubbing

USUAL = ("viscous", "coulomb", "offset")


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r")).with_friction(width=0.03)


def white(size: float, shape: tuple[int, int]) -> np.ndarray:
    return size * np.random.default_rng(0).normal(size=shape)


@cache
def fitted(cause: str, mask: float | None = None) -> sy.Fit:
    log, options = recorded(arm(), seconds=40, rate=200), {}
    tau = log.tau + white(0.1, log.tau.shape)
    if cause == "sensor noise":
        tau = log.tau + white(0.5, log.tau.shape)
    elif cause == "friction":
        tau = recorded(
            arm().with_friction(stiction=[6.0, 5.0, 4.0], stribeck=0.15),
            seconds=40,
            rate=200,
            noise=0.1,
        ).tau
    elif cause == "rigid bodies":
        options = {"hold": {"link3.mcx": 5.0, "link2.Izz": 9.0}}
    elif cause == "unexplained":
        tau = log.tau + 2.0 * coloured(log.tau.shape, 0.998, np.random.default_rng(0))
    return sy.identify(arm(), log.replace(tau=tau), "wls", friction=USUAL, mask=mask, **options)


@pytest.mark.parametrize("mask", [None, 0.02])
@pytest.mark.parametrize("cause", CAUSES)
def test_a_planted_cause_has_the_largest_share(cause, mask):
    shares = fitted(cause, mask).residual_split.shares
    assert shares.shape == (3, 4)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.all(shares >= 0)
    assert np.all(shares[:, CAUSES.index(cause)] > 0.5), shares


def test_two_causes_share_the_error_by_their_size():
    log = recorded(
        arm().with_friction(stiction=[6.0, 5.0, 4.0], stribeck=0.15), seconds=40, rate=200
    )
    rub = np.mean(sy.identify(arm(), log, "wls", friction=USUAL).residuals ** 2, axis=0)
    noise = np.sqrt(rub)  # as strong as the rest of the friction, at the rate of the log
    tau = log.tau + noise * np.random.default_rng(1).normal(size=log.tau.shape)
    fit = sy.identify(arm(), log.replace(tau=tau), "wls", friction=USUAL, decimate=1)
    assert fit.residual_split.shares[:, 0] == pytest.approx([0.5] * 3, abs=0.12)
    assert fit.residual_split.shares[:, 1] == pytest.approx([0.4] * 3, abs=0.15)


def test_the_split_is_in_the_report_and_in_the_file():
    fit = fitted("friction")
    text = cause_table(fit).to_text()
    assert all(word in text for word in (*CAUSES, *fit.robot.joint_names))
    assert str(fit.residual_split) == text
    row = fit.to_dict()["residual_split"][1]
    assert row["name"] == "joint2"
    assert row["friction"] == pytest.approx(fit.residual_split.shares[1, 1])


def test_prediction_of_noise_explains_nothing():
    rng = np.random.default_rng(2)
    X, e = rng.normal(size=(800, 30)), rng.normal(size=800)
    assert predicted_share(X, e) == 0.0
    assert predicted_share(X, X @ rng.normal(size=30)) == pytest.approx(1.0, abs=1e-4)
    signal = X @ rng.normal(size=30)
    assert predicted_share(X, signal + np.std(signal) * e) == pytest.approx(0.5, abs=0.07)
    assert predicted_share(X[:5], e[:5]) == 0.0, "too few samples say nothing"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_noise_is_what_remains_at_high_frequency(share):
    t = np.arange(4000)[:, None] / 100.0
    slow = np.sqrt(2.0 * (1 - share)) * np.sin(2 * np.pi * 0.7 * t)
    noise = np.sqrt(share) * np.random.default_rng(3).normal(size=(4000, 1))
    assert noise_share([slow[:2000] + noise[:2000], slow[2000:] + noise[2000:]])[
        0
    ] == pytest.approx(share, abs=0.06)


def test_shares_that_overlap_are_scaled_to_what_noise_leaves():
    assert normalise_shares(0.4, 0.5, 0.3) == pytest.approx((0.4, 0.375, 0.225, 0.0))
    assert normalise_shares(0.2, 0.3, -0.1) == pytest.approx((0.2, 0.3, 0.0, 0.5))
