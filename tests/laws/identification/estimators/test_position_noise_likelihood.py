"""Maximum likelihood with noise of positions: the variance of the torque."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from steelyard.identification.estimators.errors_in_variables import maximum_likelihood


def test_the_torque_has_the_most_likely_noise_beside_that_of_the_positions() -> None:
    """sum (e^2 - v) / v^2 = 0 with v = sigma^2 + what positions bring to each row."""
    rng = np.random.default_rng(5)
    result = np.exp(rng.normal(size=(4000, 1)))
    tau = np.sqrt(0.5 + result) * rng.normal(size=(4000, 1))
    block = SimpleNamespace(tau=tau, rows=np.zeros((4000, 1, 1)), keep=None, log=0)
    model = SimpleNamespace(covariance=lambda *_: result[:, :, None])
    with (
        patch.object(maximum_likelihood, "blocks_with_states", lambda _: [(block, None)]),
        patch.object(maximum_likelihood, "noise", lambda *_: np.sqrt(np.mean(tau**2, axis=0))),
    ):
        sigma2, share = maximum_likelihood.torque_variance(
            SimpleNamespace(total=None), model, np.zeros(1), [None]
        )  # type: ignore[arg-type,list-item]
    v = sigma2 + result
    assert abs(np.sum((tau**2 - v) / v**2)) < 1e-3 * np.sum(1 / v)
    assert share == pytest.approx(sigma2 / np.mean(tau**2))
