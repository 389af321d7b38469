"""Shapes of friction and delays are estimated with the parameters: so is their uncertainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.estimators.least_squares import WLS
from steelyard.identification.result.nuisance_information import (
    NuisanceInformation,
    information_of_nuisance,
    nuisance_columns,
    time_derivative,
)
from steelyard.identification.result.residuals import residuals
from steelyard.signals.log import Log
from tests.laws.identification.result.test_jackknife import problem_of
from tests.motions import fourier, rubbing

WIDTH = 0.08  # [rad/s]


def smooth_robot():
    """A robot whose Coulomb friction rises over a speed."""
    robot = rubbing(sy.load("planar_2r"))
    return robot.with_friction(width=[WIDTH, 2 * WIDTH])


def smooth_log(seed=0, noise=0.05, late=0.0, seconds=20.0):
    robot = smooth_robot()
    t, q, qd, qdd = fourier(2, seconds, 100.0, seed)
    tau = robot.inverse_dynamics(q, qd, qdd)
    tau = np.column_stack([np.interp(t - late, t, column) for column in tau.T])
    tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=robot.joint_names)


@pytest.fixture(scope="module")
def fitted():
    problem = problem_of(smooth_log(), robot=smooth_robot())
    estimate = WLS().fit(problem)
    return problem, estimate, residuals(problem, estimate.base, estimate.weights)


def test_roots_invert_the_information_of_all(rng):
    b, k = 5, 3
    X = rng.normal(size=(200, b + k))
    X[:, b:] += X[:, :k]
    A, precision = X.T @ X, np.array([1.0, 4.0, 0.5])
    nuisance = NuisanceInformation(
        scores=np.zeros((1, k)), cross=A[None, :b, b:], square=A[None, b:, b:], precision=precision
    )
    whole, head = nuisance.roots(np.linalg.inv(np.linalg.cholesky(A[:b, :b])).T)
    every = A + np.diag(np.append(np.zeros(b), precision))
    np.testing.assert_allclose(whole @ whole.T, np.linalg.inv(every), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        whole[:b], np.linalg.inv(np.linalg.cholesky(A[:b, :b])).T @ head, rtol=1e-12
    )


def test_derivatives_by_widths_are_differences_of_torques(fitted):
    problem, _, errors = fitted
    robot = smooth_robot()
    columns = nuisance_columns(problem, robot, errors, widths=True, delays=None)
    assert columns.count == 2
    h = 1e-4
    for j in range(2):
        ((number, derivative),) = columns.of_joints[j]
        assert number == j
        torques = []
        for factor in (1 + h, 1 - h):
            widths = [WIDTH, 2 * WIDTH]
            widths[j] *= factor
            torques.append(robot.with_friction(width=widths).friction_torque(problem.samples[0].qd))
        expected = (torques[0] - torques[1])[:, j] / (2 * h)
        np.testing.assert_allclose(derivative, expected, atol=2e-3 * np.abs(expected).max())


def test_information_is_summed_over_all_rows(fitted):
    problem, estimate, errors = fitted
    nuisance = information_of_nuisance(
        problem, smooth_robot(), errors, estimate.weights, widths=True, delays=np.zeros(2)
    )
    columns = nuisance_columns(problem, smooth_robot(), errors, widths=True, delays=np.zeros(2))
    D = np.zeros((problem.N, 2, columns.count))
    for j, of_joint in enumerate(columns.of_joints):
        for number, column in of_joint:
            D[:, j, number] = column
    Y = np.concatenate([block.Y for block in problem.blocks()])
    W = np.square(estimate.weights)
    expected = np.einsum("tjb,j,tjk->bk", Y, W, D)
    np.testing.assert_allclose(nuisance.cross.sum(0), expected, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(nuisance.square.sum(0), np.einsum("tjk,j,tjl->kl", D, W, D))
    np.testing.assert_allclose(
        nuisance.scores.sum(0), np.einsum("tjk,j,tj->k", D, W, errors.values), atol=1e-8
    )


def test_derivatives_by_time_stop_at_gaps(fitted):
    _, _, errors = fitted
    t = np.concatenate([np.arange(100) * 0.01, 5 + np.arange(100) * 0.01])
    predicted = np.column_stack([3.0 * t, np.where(t > 3, -2.0 * t, 4.0 * t)])
    rate = time_derivative(replace(errors, t=t, predicted=predicted))
    np.testing.assert_allclose(rate[:, 0], 3.0)
    np.testing.assert_allclose(rate[:, 1], np.where(t > 3, -2.0, 4.0))


def test_what_is_given_adds_no_uncertainty(fitted):
    problem, estimate, errors = fitted
    sharp = rubbing(sy.load("planar_2r"))
    of_nothing = information_of_nuisance(
        problem, sharp, errors, estimate.weights, widths=True, delays=None
    )
    of_widths = information_of_nuisance(
        problem, smooth_robot(), errors, estimate.weights, widths=False, delays=None
    )
    assert of_nothing is None
    assert of_widths is None


def test_estimated_widths_and_delays_widen_the_intervals():
    log, robot = smooth_log(), smooth_robot()
    free = sy.identify(robot, log, "wls", friction=("viscous", "coulomb", "offset"), decimate=1)
    fixed = sy.identify(
        robot,
        log,
        "wls",
        friction=("viscous", "coulomb", "offset"),
        decimate=1,
        delay=0.0,
        coulomb_width=[WIDTH, 2 * WIDTH],
    )
    names = list(free.base.names)
    for name in ("joint1.Fv", "joint1.Fc", "joint2.Fc"):
        k = names.index(name)
        assert free.base_std[k] > 1.1 * fixed.base_std[k], name


def test_intervals_hold_friction_whose_width_is_estimated():
    robot, z = smooth_robot(), []
    for seed in range(12):
        fit = sy.identify(
            robot,
            smooth_log(seed, noise=0.3),
            "wls",
            friction=("viscous", "coulomb", "offset"),
            decimate=1,
        )
        truth = fit.base.values(np.array([true_values()[name] for name in fit.parameter_names]))
        z.append((fit.base_values - truth) / fit.base_std)
    assert np.mean(np.abs(z) < 2) > 0.9
    assert np.mean(np.abs(z) < 1) < 0.9


def true_values():
    robot = smooth_robot()
    return dict(zip(robot.parameter_names, robot.parameters, strict=True))
