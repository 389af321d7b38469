"""Least squares of a joint's springs.

The solution of statsmodels, for one column too, and what follows from no column.
"""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from steelyard.identification.elastic.regression import regress_with_jackknife


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_it_is_ordinary_least_squares(columns: int, rng: np.random.Generator) -> None:
    X = rng.normal(size=(400, columns)) * 10.0 ** np.arange(columns)
    y = X @ np.ones(columns) + rng.normal(size=400)
    result, covariance = regress_with_jackknife(X, y)
    there = sm.OLS(y, X).fit()
    np.testing.assert_allclose(result, there.params, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), there.bse, rtol=0.8)


def test_columns_that_say_the_same_share_it(rng: np.random.Generator) -> None:
    x = rng.normal(size=400)
    result, _ = regress_with_jackknife(np.column_stack([x, x]), 4.0 * x)
    np.testing.assert_allclose(result, [2.0, 2.0], rtol=1e-9)


def test_every_sample_counts_in_the_uncertainty(rng: np.random.Generator) -> None:
    """Backwards in time the parts are the same.

    A wrong sample at the beginning makes as uncertain as one at the end.
    """
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    y[0] = 40.0
    forward, backward = (regress_with_jackknife(*each)[1] for each in ((X, y), (X[::-1], y[::-1])))
    np.testing.assert_allclose(backward, forward, rtol=1e-9)
