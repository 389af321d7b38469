"""Share of a residual that a regression explains."""

from __future__ import annotations

import numpy as np

from steelyard.identification.friction.residual_split import predicted_share


def test_a_residual_that_is_zero_now_and_then_is_explained_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    e = X @ [1.0, 2.0, 3.0]
    e[[0, 100]] = 0.0
    assert predicted_share(X, e) > 0.9
    assert predicted_share(X, np.zeros(400)) == 0.0
