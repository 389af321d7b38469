"""Halves of a measured log against each other.

Their differences are as large as their standard deviations say, and bands hold.
"""

from __future__ import annotations

import numpy as np

import steelyard as sy
from benchmarks.arms import measured
from benchmarks.coverage.measure import bands, between
from tests.real.measured import folder


def test_halves_of_the_tx40_log_differ_as_their_standard_deviations_say():
    folder("staubli_tx40")
    robot, log = measured("tx40 log")
    halves = log[: log.N // 2], log[log.N // 2 :]
    fits = [sy.identify(robot, half, diagnose=False) for half in halves]
    usual = ("viscous", "coulomb", "offset")  # each half has other terms and rows of its own choice
    alike = [sy.identify(robot, half, diagnose=False, friction=usual, mask=0) for half in halves]
    for z in between(*alike):
        assert len(z) > 20
        assert 0.8 <= np.sqrt(np.mean(z**2)) <= 1.3
    for each, least in ((alike, 0.92), (fits, 0.91)):  # chosen terms shrink residuals of their half
        for fit, own, other in zip(each, halves, halves[::-1], strict=True):
            for fixed in (bands(fit, own), bands(fit, other, region=True)):
                assert np.all((fixed >= least) & (fixed <= 0.98)), fixed
