"""Greedy search of friction terms."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from steelyard.identification.friction.term_search import FrictionTermSearch
from tests.statistics.test_autocorrelation import searches


def test_friction_that_no_joint_has_wins_nothing() -> None:
    _, search = searches(0.0)
    candidate = next(each for each in search.candidates if each.positive)
    for sign, worth in ((1.0, np.isfinite), (-1.0, lambda x: x == -np.inf)):
        x = search.solve(candidate)
        x[search.b :] = sign
        with patch.object(FrictionTermSearch, "solve", lambda *_, x=x: x):
            assert worth(search.information(candidate))
