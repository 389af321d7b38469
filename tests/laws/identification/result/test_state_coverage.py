"""States on the path of the samples of a fit are visited, states beside it are not, and bands are
narrower where the fit has been.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.result_thresholds import THRESHOLDS
from steelyard.identification.result.state_coverage import CoveredStates, state_coverage
from steelyard.identification.samples.samples import Samples
from tests.motions import coloured, fourier, recorded, rubbing


def samples_of(t, q, qd) -> Samples:
    return Samples(t, q, qd, np.zeros_like(q), np.zeros_like(q), None)


def path() -> tuple[CoveredStates, np.ndarray, np.ndarray]:
    t, q, qd, _ = fourier(3, 10.0, 50.0, 0)
    return state_coverage([samples_of(t, q, qd)]), q, qd


def test_states_of_the_samples_and_between_them_are_visited():
    result, q, qd = path()
    assert np.all(result.contains(q, qd))
    assert np.all(result.contains((q[1:] + q[:-1]) / 2, (qd[1:] + qd[:-1]) / 2))
    assert result.contains(q[7], qd[7]).shape == ()
    assert result.contains(q[:6].reshape(2, 3, 3), qd[:6].reshape(2, 3, 3)).shape == (2, 3)


@pytest.mark.parametrize(("times", "visited"), [(0.9, True), (1.1, False)])
def test_a_state_is_visited_up_to_a_distance_of_the_path(times, visited):
    result = CoveredStates(np.ones(2), np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([True, False]))
    away = times * THRESHOLDS.covered_distance * np.sqrt(2)
    for x, y in ((0.3, away), (0.5, -away), (-away, 0.0), (1.0 + away, 0.0)):
        assert result.contains(np.array([x]), np.array([y])) == visited


def test_the_line_across_a_gap_is_not_the_path():
    t, q, qd, _ = fourier(2, 10.0, 50.0, 0)
    rows = np.r_[0:200, 230 : len(t)]
    between = (q[199] + q[230]) / 2, (qd[199] + qd[230]) / 2
    assert not state_coverage([samples_of(t[rows], q[rows], qd[rows])]).contains(*between)
    assert state_coverage([samples_of(t[: len(rows)], q[rows], qd[rows])]).contains(*between)


def test_another_motion_is_hardly_visited_and_a_repeated_one_is():
    result, q, qd = path()
    _, other, rate, _ = fourier(3, 10.0, 50.0, 1)
    assert np.mean(result.contains(other, rate)) < 0.05
    noise = np.random.default_rng(0).normal(size=(2, *q.shape))
    assert np.mean(result.contains(q + 1e-3 * noise[0], qd + 1e-3 * noise[1])) > 0.99


def test_long_logs_are_thinned_and_still_visited():
    t, q, qd, _ = fourier(2, 200.0, 200.0, 0)
    result = state_coverage([samples_of(t, q, qd)])
    assert len(result.points) <= 20_000
    assert np.mean(result.contains(q, qd)) > 0.999


def test_bands_count_what_the_parameters_took_by_half_where_the_fit_has_been(monkeypatch):
    robot = rubbing(sy.load("planar_2r"))
    log = recorded(robot, 10, rate=50, seed=3)
    log = log.replace(tau=log.tau + coloured(log.tau.shape, 0.95, np.random.default_rng(0)))
    fit = sy.identify(robot, log, "wls", decimate=1, delay=0, coulomb_width=0, diagnose=False)
    noise = fit.uncertainty.noise
    point = log.q[40], log.qd[40], log.qdd[40]
    assert np.allclose(fit.predict(*point).std ** 2, noise.sigma[-1] ** 2 + 0.5 * noise.taken)
    aside = point[0] + 0.5, point[1], point[2]
    assert np.all(fit.predict(*aside).std ** 2 > noise.sigma[-1] ** 2 + noise.taken)
    shares = []
    for share in (0.25, 0.5, 1.0):
        monkeypatch.setitem(vars(THRESHOLDS), "covered_noise_share", share)
        prediction = fit.predict(log.q, log.qd, log.qdd)
        shares.append(float(np.mean((prediction.low <= log.tau) & (log.tau <= prediction.high))))
    assert shares == sorted(set(shares))
