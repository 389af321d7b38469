"""Reported uncertainty holds: two standard deviations cover the truth about as often as they should, whatever the decimation."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.uncertainty import long_run
from tests.motions import coloured, recorded, rubbing


def coverage(robot, described, rho, decimate, runs, estimator):
    log = recorded(robot, seconds=30, rate=100)
    hits = []
    for k in range(runs):
        noise = 0.5 * coloured(log.tau.shape, rho, np.random.default_rng(1000 + k))
        fit = sy.identify(described, log.replace(tau=log.tau + noise), estimator, decimate=decimate, delay=0, coulomb_width=0)
        error = np.abs(fit.base_values - fit.base.values(robot.parameters))
        hits.append(np.mean(error < 2 * fit.base_standard_deviation))
    return float(np.mean(hits))


@pytest.mark.parametrize("rho", [0.0, 0.9, 0.97])
@pytest.mark.parametrize("decimate", [1, 5])
def test_two_sigma_cover_the_truth(rho, decimate):
    robot = rubbing(sy.load("planar_2r"))
    assert 0.85 <= coverage(robot, robot.with_parameters(1.2 * robot.parameters), rho, decimate, 40, "wls") <= 0.97


def test_two_sigma_cover_the_truth_where_links_must_be_real():
    robot = rubbing(sy.load("spatial_3r"))
    described = robot.with_parameters(1.3 * robot.parameters)
    assert 0.85 <= coverage(robot, described, 0.95, 2, 25, "sdp") <= 0.97


def test_the_standard_deviation_does_not_depend_on_decimation():
    robot = rubbing(sy.load("planar_2r"))
    log = recorded(robot, seconds=60, rate=200)
    log = log.replace(tau=log.tau + 0.5 * coloured(log.tau.shape, 0.97, np.random.default_rng(3)))
    stds = [sy.identify(robot, log, "wls", decimate=k, delay=0, coulomb_width=0).base_standard_deviation for k in (1, 2, 5, 10)]
    for std in stds[1:]:
        assert np.all(np.abs(np.log(std / stds[0])) < 0.35)


def test_the_long_run_covariance_of_white_scores_is_their_covariance(rng):
    S = rng.normal(size=(4000, 3)) * [1.0, 2.0, 3.0]
    assert np.allclose(np.diag(long_run(S)), 4000 * np.array([1, 4, 9]), rtol=0.15)


def test_the_long_run_covariance_of_coloured_scores_counts_the_memory(rng):
    S = coloured((20000, 2), 0.9, rng)
    assert np.allclose(np.diag(long_run(S)), 20000 * 1.9 / 0.1, rtol=0.25)
