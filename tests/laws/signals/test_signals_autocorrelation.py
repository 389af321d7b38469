"""Laws of the autocorrelation.

Its definition, by sums and by FFT; what is known of white noise and of autoregressions.
"""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.signals.autocorrelation import autocorrelation, lagged_products, variance_inflation
from steelyard.signals.signal_thresholds import THRESHOLDS


@pytest.mark.parametrize(
    "lags", [1, THRESHOLDS.summed_lags, THRESHOLDS.summed_lags + 1, 150, 10_000]
)
@pytest.mark.parametrize("shape", [(300,), (300, 3)])
def test_it_is_the_sum_of_its_definition(
    lags: int, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    x = rng.normal(size=shape) + 2.0
    expected = np.array(
        [np.sum(x[k:] * x[: len(x) - k], axis=0) for k in range(min(lags, 299) + 1)]
    )
    np.testing.assert_allclose(
        lagged_products(x, lags), expected, rtol=1e-9, atol=1e-9 * expected.max()
    )
    np.testing.assert_allclose(autocorrelation(x, lags), expected / expected[0], atol=1e-9)
    unbiased = autocorrelation(x, lags, unbiased=True).T * (300 - np.arange(len(expected))) / 300
    np.testing.assert_allclose(unbiased.T, expected / expected[0], atol=1e-9)


def test_a_constant_is_nothing_without_its_mean_and_all_with_it() -> None:
    assert np.all(autocorrelation(np.full(50, 3.0), 5, center=True) == 0)
    np.testing.assert_allclose(autocorrelation(np.full(50, 3.0), 5, unbiased=True), 1.0)


def test_an_autoregression_decays_and_its_mean_varies_as_much_more(
    rng: np.random.Generator,
) -> None:
    rho, noise = 0.8, rng.normal(size=(2000, 400))
    x = np.zeros_like(noise)
    for i in range(1, len(x)):
        x[i] = rho * x[i - 1] + noise[i]
    np.testing.assert_allclose(autocorrelation(x, 20).mean(axis=1), rho ** np.arange(21), atol=0.01)
    inflation = np.var(x.mean(axis=0)) / (np.var(x) / len(x))
    assert inflation == pytest.approx(float(variance_inflation(rho)), rel=0.15)


def test_the_inflation_is_bounded() -> None:
    np.testing.assert_allclose(variance_inflation([-0.5, 0.0, 0.5, 1.0]), [1.0, 1.0, 3.0, 300.0])
