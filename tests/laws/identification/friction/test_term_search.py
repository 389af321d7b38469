"""Greedy search of friction terms."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from steelyard.identification.friction.candidates import joint_candidates
from steelyard.identification.friction.choice import with_last_terms
from steelyard.identification.friction.term_search import FrictionTermSearch, Gain
from tests.statistics.test_autocorrelation import searches


def test_friction_that_no_joint_has_wins_nothing() -> None:
    _, search = searches(0.0)
    candidate = next(each for each in search.candidates if each.positive)
    for sign, worth in ((1.0, np.isfinite), (-1.0, lambda x: x == -np.inf)):
        x = search.solve(candidate)
        x[search.b :] = sign
        with patch.object(FrictionTermSearch, "solve", lambda *_, x=x: x):
            assert worth(search.information(candidate))


def test_a_term_that_replaces_another_has_the_gains_of_both() -> None:
    load, losses = (
        next(c for c in joint_candidates(1, False, None) if c.word == word)
        for word in ("load", "losses")
    )
    gains = [Gain(c, 0.3, 1.0, 9.0, (0.1,)) for c in (load, losses)]
    assert [g.candidate.word for g in with_last_terms(gains)] == ["losses", "losses"]
    assert [g.candidate.word for g in with_last_terms(gains[::-1])] == ["losses", "load"]
