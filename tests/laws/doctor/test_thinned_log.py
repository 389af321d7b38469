"""Thinned log: details of `thinned_log`."""

from __future__ import annotations

import numpy as np

from steelyard.identification.doctor.fault_search.thinned_log import thin_log
from steelyard.identification.samples.samples import Samples


def test_a_view_has_fifty_rows_in_a_period_of_the_motion() -> None:
    t = np.arange(20_000) / 1000.0
    wave = np.sin(2 * np.pi * t)[:, None] * np.ones(2)
    samples = Samples(t, wave, wave, wave, wave)
    step = np.median(np.diff(thin_log([samples], most=100).t))
    assert 1 / 55 < step < 1 / 45
