"""A cleaned log is not cleaned again, unless gaps of another length are to be filled."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.signals.clean.cleaning import clean


def test_another_longest_gap_cleans_again() -> None:
    t = np.delete(np.arange(100) / 100.0, slice(40, 44))
    q = np.sin(t)[:, None]
    log = sy.Log(t=t, q=q, tau=q)
    strict = clean(log, 2.0)
    assert clean(strict, 2.0) is strict
    assert strict.N == 96
    assert clean(strict, 10.0).N == clean(log, 10.0).N == 100
