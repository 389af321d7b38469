"""Reported uncertainty holds.

Two standard deviations cover the truth about as often as they should, at every decimation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.coverage.measure import USUAL, count, exact_rank, together
from benchmarks.coverage.scenarios import Scenario, one_joint
from steelyard.identification.estimators.least_squares import ExcitationSpectrum, excitation
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.result.uncertainty import involved
from steelyard.identification.samples.preparation import Preparation
from steelyard.identification.samples.smoothing import standing
from tests.motions import coloured, recorded, rubbing


def coverage(robot, described, rho, decimate, runs, estimator):
    log = recorded(robot, seconds=30, rate=100)
    hits = []
    for k in range(runs):
        noise = 0.5 * coloured(log.tau.shape, rho, np.random.default_rng(1000 + k))
        fit = sy.identify(
            described,
            log.replace(tau=log.tau + noise),
            estimator,
            decimate=decimate,
            delay=0,
            coulomb_width=0,
            friction=USUAL,
            diagnose=False,
        )
        error = np.abs(fit.base_values - fit.base.values(robot.parameters))
        hits.append(np.mean(error < 2 * fit.base_standard_deviation))
    return float(np.mean(hits))


@pytest.mark.parametrize(("rho", "decimate"), [(0.0, 1), (0.0, 5), (0.9, 5), (0.97, 1)])
def test_two_sigma_cover_the_truth(rho, decimate):
    robot = rubbing(sy.load("planar_2r"))
    assert (
        0.85
        <= coverage(robot, robot.with_parameters(1.2 * robot.parameters), rho, decimate, 20, "wls")
        <= 0.97
    )


def test_two_sigma_cover_the_truth_where_links_must_be_real():
    robot = rubbing(sy.load("spatial_3r"))
    described = robot.with_parameters(1.3 * robot.parameters)
    assert 0.85 <= coverage(robot, described, 0.95, 2, 15, "sdp") <= 0.97


def test_the_standard_deviation_does_not_depend_on_decimation():
    robot = rubbing(sy.load("planar_2r"))
    log = recorded(robot, seconds=60, rate=200)
    log = log.replace(tau=log.tau + 0.5 * coloured(log.tau.shape, 0.97, np.random.default_rng(3)))
    options = {"delay": 0, "coulomb_width": 0, "friction": USUAL, "diagnose": False}
    stds = [
        sy.identify(robot, log, "wls", decimate=k, **options).base_standard_deviation
        for k in (1, 2, 5, 10)
    ]
    for std in stds[1:]:
        assert np.all(np.abs(np.log(std / stds[0])) < 0.35)


CASES = [
    ("planar_2r", "3-5 % off", "white", "as modelled", 6),
    ("planar_2r", "placeholder", "coloured", "Stribeck", 6),
    ("elbow_4r", "25 % off", "coloured", "as modelled", 2),
    ("elbow_4r", "placeholder", "white", "Stribeck", 2),
    ("elbow_4r", "one link x 3", "white", "asymmetric", 2),
    ("elbow_4r, shared motor", "20 % too heavy", "coloured", "as modelled", 2),
]


@pytest.mark.parametrize(("robot", "description", "noise", "friction", "runs"), CASES)
def test_two_sigma_of_the_default_cover_the_truth_whatever_the_description(
    robot, description, noise, friction, runs
):
    scenario = Scenario(robot, description, noise, friction)
    result = together([count(scenario, 100 + seed, diagnose=False) for seed in range(runs)])
    assert 0.87 <= result.inside <= 1.0  # about a hundred parameters, many of them correlated
    assert 0.7 <= result.rms <= 1.35
    assert np.all(
        (result.bands >= 0.90) & (result.bands <= (1.0 if friction == "asymmetric" else 0.99))
    ), result.bands


@pytest.mark.parametrize(
    ("name", "estimator", "memory"),
    [("elbow_3r", "sdp", 0.0), ("elbow_3r", "wls", 0.8), ("elbow_4r", "wls", 0.0)],
)
def test_where_only_the_elbow_moves_the_rank_is_that_of_the_motion(name, estimator, memory):
    robot = arm(name)
    log, states = one_joint(robot, 2, 3, memory)
    fit = sy.identify(robot, log, estimator, diagnose=False)
    assert fit.rank == exact_rank(fit, *states) < 0.55 * fit.base.n_base
    shown = null_components(fit, *states) < 1e-6
    assert np.array_equal(np.isfinite(fit.base_std), shown)
    assert any("keep their described values" in reason for reason in fit.verdict.reasons)


def null_components(fit, q, qd, qdd):
    """How far each base parameter takes part in directions that the regressor of states without
    noise does not show, (b,).
    """
    Y = fit.model.rows(q, qd, qdd).reshape(-1, fit.base.n_base)
    size = np.linalg.norm(Y, axis=0)
    size[size <= 1e-12 * size.max()] = 1.0
    _, values, Vt = np.linalg.svd(Y / size, full_matrices=True)
    rank = int(np.sum(values > 1e-5 * values[0]))
    basis = np.linalg.qr(Vt[rank:].T)[0]
    return np.linalg.norm(basis, axis=1)


@pytest.mark.parametrize(("ratio", "rank"), [(3.0, 2), (5.5, 3)])
def test_a_direction_is_excited_from_four_times_the_information_of_noise_on(ratio, rank):
    R = np.diag([1.0, 1.0, 1.0, 0.5])  # the last column is the torque
    assert excitation(R, np.diag([1e-3, 1e-3, ratio**-0.5])).rank == rank


@pytest.mark.parametrize(("share", "finite"), [(0.007, False), (0.015, True)])
def test_a_standard_deviation_is_infinite_below_a_hundredth_of_the_information(share, finite):
    robot = rubbing(sy.load("planar_2r"))
    fit = sy.identify(robot, recorded(robot, noise=0.2), diagnose=False)
    less = fit.uncertainty.share.copy()
    less[2] = share
    fewer = fit.uncertainty.parameter_share.copy()
    fewer[0] = share
    changed = replace(fit, uncertainty=replace(fit.uncertainty, share=less, parameter_share=fewer))
    assert np.isfinite(fit.base_std).all()
    assert np.isfinite(changed.base_std[2]) == finite
    assert np.isfinite(changed.parameters_std[0]) == finite
    assert (changed.base.names[2] in changed.unseen) != finite


@pytest.mark.parametrize(("component", "hidden"), [(0.02, False), (0.045, True)])
def test_a_parameter_takes_part_in_a_direction_from_three_hundredths_on(component, hidden):
    direction = np.array([[component], [1.0], [0.0]])
    spectrum = ExcitationSpectrum(np.ones(3), np.eye(3)[:, :2], direction, np.ones(3))
    assert involved(spectrum).tolist() == [hidden, True, False]


@pytest.mark.parametrize(
    ("drift", "little", "still"),
    [(1.2, 1e-3, True), (2.0, 1e-3, False), (1.0, 0.007, True), (1.0, 0.015, False)],
)
def test_a_joint_stands_if_it_varies_by_its_noise_alone_and_little_beside_others(
    rng, drift, little, still
):
    t = np.linspace(0, 20, 4000)
    noise = rng.normal(size=4000)
    wander = np.sqrt(2 * (drift**2 - 1)) * np.sin(t)
    q = np.column_stack(
        [np.sin(2 * t) / np.std(np.sin(2 * t)), little * (noise + wander) / np.std(noise + wander)]
    )
    assert standing(q).tolist() == [False, still]


@pytest.mark.parametrize(("size", "still"), [(7e-5, True), (1.5e-4, False)])
def test_a_joint_that_hardly_varies_stands_whatever_its_noise_is_like(size, still):
    t = np.linspace(0, 20, 4000)
    q = np.column_stack([np.sin(2 * t), size * np.sin(3 * t)])
    assert standing(q).tolist() == [False, still]


def test_a_standing_joint_does_not_move_by_the_noise_of_its_encoder(rng):
    robot = rubbing(sy.load("planar_2r"))
    log = recorded(robot)
    q = np.column_stack([log.q[:, 0], 0.4 + 1e-4 * rng.normal(size=log.N)])
    result = prepare(
        robot, sy.Log(t=log.t, q=q, tau=log.tau, joint_names=robot.joint_names), Preparation()
    )
    assert np.all(result.q[:, 1] == result.q[0, 1])
    assert result.q[0, 1] == pytest.approx(0.4, abs=1e-5)
    assert not result.qd[:, 1].any()
    assert not result.qdd[:, 1].any()
    assert result.qd[:, 0].any()
