"""The jackknife over stretches of the motion.

Against estimating again, against known covariances, and where a motion repeats itself.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.result.jackknife import (
    first_visits,
    jackknife,
    motion_cells,
    moving_blocks,
    normalised,
    reach,
    student_factor,
)
from steelyard.identification.samples.preparation import Preparation
from tests.motions import coloured, recorded, rubbing

CELLS = 40


def split_rows(Y, e):
    """Information (c, b, b) and scores (c, b) of CELLS stretches of rows Y (N, b) with residuals e
    (N,).
    """
    parts = np.array_split(np.arange(len(Y)), CELLS)
    return np.array([Y[i].T @ Y[i] for i in parts]), np.array([Y[i].T @ e[i] for i in parts])


def regression(rng, noise, N=2000):
    """Rows of slow functions (N, 4), and residuals of least squares on noise (N,)."""
    t = np.linspace(0, 20, N)
    Y = np.column_stack([np.ones(N), np.sin(3 * t), np.sign(np.sin(5 * t)), np.cos(2 * t) ** 3])
    root = np.linalg.inv(np.linalg.qr(Y, mode="r"))
    return Y, noise - Y @ (root @ (root.T @ (Y.T @ noise))), root


def problem_of(*logs, robot=None):
    robot = rubbing(sy.load("planar_2r")) if robot is None else robot
    samples = tuple(prepare(robot, log, Preparation()) for log in logs)
    return Problem(build_model(robot, ModelOptions()), samples)


def test_it_is_what_estimating_anew_without_each_block_gives(rng):
    Y, e, root = regression(rng, rng.normal(size=2000))
    tau = Y @ [1.0, -2.0, 0.5, 3.0] + e
    parts = np.array_split(np.arange(len(Y)), CELLS)
    whole = np.linalg.lstsq(Y, tau, rcond=None)[0]
    changes, weights = [], []
    for cells, weight in moving_blocks((CELLS,)):
        out = np.concatenate(parts[cells])
        changes.append(
            whole - np.linalg.lstsq(np.delete(Y, out, 0), np.delete(tau, out), rcond=None)[0]
        )
        weights.append(weight)
    D, w = np.array(changes), np.array(weights)
    D = D - w @ D / w.sum()
    expected = (D.T * w) @ D * (1 - 1 / w.sum()) * student_factor(w.sum())
    result = root @ jackknife(*split_rows(Y, e), (CELLS,), root) @ root.T
    assert np.allclose(result, expected, rtol=1e-6)


def test_few_blocks_make_wider_intervals():
    """Student's quantile is 2.21 for eight overlapping blocks: 10.5 degrees of freedom."""
    np.testing.assert_allclose(student_factor(8.0), (2.2138 / 1.96) ** 2, rtol=1e-3)
    assert student_factor(2.0) > student_factor(8.0) > student_factor(24.0) > 1.0


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_on_average_it_is_the_covariance_of_white_and_of_coloured_noise(rng, memory):
    draws = [coloured((2000, 1), memory, rng)[:, 0] for _ in range(200)]
    outcome, result = [], []
    for noise in draws:
        Y, e, root = regression(rng, noise)
        variance = np.diag(jackknife(*split_rows(Y, e), (CELLS,), root))
        outcome.append(variance / student_factor(CELLS / 10))
        result.append(root.T @ (Y.T @ noise))
    ratio = np.mean(outcome, axis=0) / np.mean(np.square(result), axis=0)
    assert np.all((ratio > 0.75) & (ratio < 1.5)), ratio


def test_blocks_count_every_cell_once_and_stay_within_their_log():
    ends = (30, 33, 80)
    blocks = list(moving_blocks(ends))
    assert sum(weight * (cells.stop - cells.start) for cells, weight in blocks) == pytest.approx(80)
    assert all(
        any(a <= cells.start and cells.stop <= b for a, b in ((0, 30), (30, 33), (33, 80)))
        for cells, _ in blocks
    )
    # an eighth of the motion, or a whole log
    assert {cells.stop - cells.start for cells, _ in blocks} == {10, 3}


def test_a_motion_that_is_repeated_has_no_more_cells():
    robot = rubbing(sy.load("planar_2r"))
    once, thrice = (motion_cells(problem_of(recorded(robot, seconds))) for seconds in (10.0, 30.0))
    assert 60 <= once.count <= 100
    assert thrice.count == pytest.approx(once.count, abs=8)
    numbers = thrice.numbers[0]
    period = len(numbers) // 3
    assert np.mean(np.abs(numbers[period : 2 * period] - numbers[:period]) <= 1) > 0.95


def test_of_a_short_log_no_cell_is_empty():
    """Fewer states than cells are asked for: each is one by itself."""
    cells = motion_cells(problem_of(recorded(sy.load("planar_2r"), 0.6)))
    numbers = np.concatenate(cells.numbers)
    assert len(numbers) < 80
    assert set(numbers.tolist()) == set(range(cells.count))


def test_errors_of_the_model_do_not_average_out_over_repetitions():
    true = rubbing(sy.load("planar_2r"))

    def std(seconds, base):
        log = recorded(true, seconds, base=base)
        log = log.replace(
            tau=log.tau
            + 0.5 * np.sin(3 * log.q)
            + 0.02 * np.random.default_rng(2).normal(size=log.q.shape)
        )
        return sy.identify(true, log, "wls", delay=0, coulomb_width=0, diagnose=False).base_std

    once, repeated = std(10.0, 0.1), std(40.0, 0.1)
    assert 0.8 < np.median(repeated / once) < 1.25  # white noise would have halved it


def curve(start, N):
    """Points (N, 2) of a straight path with steps of 0.05 (root mean square over the
    coordinates).
    """
    return np.column_stack([start + 0.05 * np.arange(N), np.full(N, 0.0)]) * np.sqrt(2)


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.5])
def test_a_path_that_is_followed_again_is_found_wherever_its_samples_are(shift):
    x = np.concatenate([curve(0, 100), curve(0.05 * shift, 99)])
    near = np.concatenate([reach(curve(0, 100)), reach(curve(0, 99))])
    first = first_visits(x, near)
    assert np.array_equal(first[:100], np.arange(100))  # no sample is taken for the one before it
    assert np.all(first[100:] < 100)


@pytest.mark.parametrize(
    ("step", "distance", "same"),
    [(1e-6, 0.015, True), (1e-6, 0.03, False), (10.0, 0.07, True), (10.0, 0.15, False)],
)
def test_states_are_the_same_within_a_fiftieth_to_a_tenth_of_their_variation(step, distance, same):
    path = np.array([[0.0], [step]])
    near = np.append(reach(path)[:1], reach(path)[:1])
    result = first_visits(np.array([[0.0], [distance]]), near)
    assert (result[1] == 0) == same


def test_a_joint_that_hardly_moves_is_measured_by_one_that_does():
    robot = rubbing(sy.load("planar_2r"))
    log = recorded(robot)
    for share, expected in ((0.035, 0.7), (0.065, 1.0)):
        q = np.column_stack([log.q[:, 0], share * log.q[:, 0]])
        qd = np.column_stack([log.qd[:, 0], share * log.qd[:, 0]])
        qdd = np.column_stack([log.qdd[:, 0], share * log.qdd[:, 0]])
        x = normalised(
            problem_of(
                sy.Log(t=log.t, q=q, qd=qd, qdd=qdd, tau=log.tau, joint_names=robot.joint_names)
            )
        )[0]
        assert np.allclose(x.std(axis=0), [1.0, expected, 1.0, expected], rtol=1e-3)


@pytest.mark.parametrize("leverage", [1.0, 1.0 - 2.0**-52])
def test_a_direction_that_one_block_shows_alone_stays_as_small_as_its_score(leverage):
    information = np.zeros((20, 2, 2))
    information[:, 0, 0] = 1 / 20
    information[3, 1, 1] = leverage
    scores = np.zeros((20, 2))
    scores[3] = [0.1, 1e-12]
    assert jackknife(information, scores, (20,), np.eye(2))[1, 1] < 1e-4
