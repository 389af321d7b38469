"""The evidence: a Gaussian integral that two other routes give too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import steelyard as sy
from steelyard.identification.estimators.joint_prior import (
    choose_joint_precision,
    free_terms,
    vague_precision,
)
from steelyard.identification.estimators.least_squares import noise, weighted
from steelyard.identification.estimators.noise_levels import noise_of_joints
from steelyard.identification.estimators.posterior import (
    coordinates,
    posterior,
    posterior_of,
    projected,
)
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.prior import body_prior
from steelyard.identification.model.problem import Problem
from steelyard.identification.samples.samples import Samples


def problem(hold: tuple[str, ...] = (), N: int = 40) -> Problem:
    robot = sy.load("planar_2r")
    model = build_model(robot, ModelOptions(friction=("viscous",), rotor=False, hold=hold))
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, N, 2))
    tau = sy.perturbed(robot, 3, 0.03).inverse_dynamics(q, qd, qdd) + 0.1 * rng.normal(size=(N, 2))
    return Problem(model, (Samples(0.01 * np.arange(N), q, qd, qdd, tau),))


@pytest.mark.parametrize("hold", [(), ("link2.m",)])
def test_the_evidence_is_the_density_of_the_torques(hold: tuple[str, ...]) -> None:
    """log p(tau) = log N(tau.

    Y pi0, 1 + Y prior^-1 Y^T): differences between weights agree with the density computed at once.
    """
    trial_problem = problem(hold)
    rows = np.concatenate(
        [b.Y.reshape(-1, trial_problem.base.n_base) for b in trial_problem.blocks()]
    )
    tau = np.concatenate([b.tau.reshape(-1) for b in trial_problem.blocks()])
    triangle = trial_problem.total.triangle()
    point = coordinates(trial_problem.model, body_prior(trial_problem.model))

    def direct(weights: list[float]) -> float:
        results = posterior(trial_problem.model, triangle, weights)
        A = rows @ trial_problem.base.matrix
        cov = (
            np.eye(len(tau))
            + (A @ point.matrix)
            @ np.linalg.inv(results.prior.T @ results.prior)
            @ (A @ point.matrix).T
        )
        return float(multivariate_normal(A @ point.origin, cov).logpdf(tau))

    arguments = [1.0, 1.0], [100.0, 3.0], [0.01, 1e3]
    expected = [direct(weights) for weights in arguments]
    results = [
        posterior(trial_problem.model, triangle, weights).log_evidence for weights in arguments
    ]
    np.testing.assert_allclose(np.diff(results), np.diff(expected), rtol=1e-5)


def test_held_parameters_stay() -> None:
    trial_problem = problem(("link2.m",))
    result = posterior(trial_problem.model, trial_problem.total.triangle(), [1.0, 1.0])
    index = trial_problem.model.names.index("link2.m")
    assert result.parameters[index] == pytest.approx(trial_problem.model.start[index], abs=1e-12)


def test_the_right_description_has_more_evidence_than_a_wrong_one() -> None:
    robot = sy.load("planar_2r")
    trial_problem = problem(N=400)
    wrong = Problem(
        build_model(
            robot.with_parameters(5 * robot.parameters),
            ModelOptions(friction=("viscous",), rotor=False),
        ),
        trial_problem.samples,
    )
    right, other = (
        posterior(p.model, p.total.triangle([10.0, 10.0]), [25.0, 25.0]).log_evidence
        for p in (trial_problem, wrong)
    )
    assert right > other + 10


def test_a_weak_prior_decides_nothing_and_a_strong_one_all() -> None:
    trial_problem = problem(N=400)
    triangle = trial_problem.total.triangle([10.0, 10.0])
    weak, strong = (posterior(trial_problem.model, triangle, [w, w]) for w in (1e-9, 1e14))
    seen = sum(weak.effective(i) for i in range(2))
    links = sum(name.startswith("link") for name in trial_problem.base.names)
    assert seen == pytest.approx(links, abs=0.1)
    assert sum(strong.effective(i) for i in range(2)) < 1e-3
    assert strong.distance(0) < 1e-9 < weak.distance(0)


def test_the_noise_of_many_rows_is_that_of_weighted_least_squares() -> None:
    """Noise of 0.1 N m is found.

    Few rows, which least squares follows, do not seem to have less.
    """
    many, few = problem(N=2000), problem(N=4)
    free = noise(many.total, weighted(many.total, many.prior)[0])
    np.testing.assert_allclose(noise_of_joints(many)[0], free, rtol=0.02)
    np.testing.assert_allclose(noise_of_joints(many)[0], 0.1, rtol=0.1)
    assert np.all(noise_of_joints(few)[0] > 0.02)
    assert (
        noise(few.total, weighted(few.total, few.prior)[0]).min()
        < 0.5 * noise_of_joints(few)[0].min()
    )


def described(rotor: float, offset: float = 0.0) -> tuple[Problem, np.ndarray]:
    """A problem of a robot with rotors of 0.3 kg m2, described with others, whose drives have an
    offset [N m]; its precisions.
    """
    robot = sy.load("planar_2r")
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, 400, 2))
    tau = (
        robot.with_rotors([0.3, 0.3]).inverse_dynamics(q, qd, qdd)
        + offset
        + 0.1 * rng.normal(size=(400, 2))
    )
    model = build_model(robot.with_rotors([rotor, rotor]), ModelOptions(friction=("offset",)))
    result = Problem(model, (Samples(0.01 * np.arange(400), q, qd, qdd, tau),))
    vague = vague_precision(model, result.total, coordinates(model, body_prior(model)))
    return (
        result,
        choose_joint_precision(model, result.total.triangle([10.0, 10.0]), vague, 30.0, 0.1)
        / vague,
    )


def test_joint_terms_are_held_as_far_as_the_samples_bear_the_description_out() -> None:
    """Rotors that are right count for their description, wrong ones for nothing.

    So do offsets that the samples show.
    """
    result, right = described(0.3)
    rotors = np.array([name.endswith(".Ia") for _, name in free_terms(result.model)])
    assert right[rotors].min() > 10
    np.testing.assert_allclose(right[~rotors], 100.0)
    wrong, large = described(3.0)[1], described(0.3, 30.0)[1]
    assert wrong[rotors].max() < 0.1 * right[rotors].min()
    assert large[~rotors].max() < 100.0


def test_a_joint_that_hardly_moved_has_no_friction_of_its_noise() -> None:
    """The precision of viscous friction and rotors does not fall without end as the motion becomes
    slower.
    """
    robot = sy.load("planar_2r")
    model = build_model(robot, ModelOptions(friction=("viscous",)))
    rng = np.random.default_rng(2)
    results = []
    for size in (1.0, 1e-2, 1e-6):
        q, qd, qdd = rng.normal(size=(3, 200, 2)) * np.array([1.0, size, size])[:, None, None]
        total = Problem(
            model, (Samples(0.01 * np.arange(200), q, qd, qdd, np.ones((200, 2))),)
        ).total
        results.append(vague_precision(model, total, coordinates(model, body_prior(model))))
    assert results[0].min() > 10 * results[1].max()
    np.testing.assert_allclose(results[1], results[2], rtol=1e-6)


def test_joint_terms_are_all_but_free_in_any_unit() -> None:
    """Their precision is a small share of what the rows know of them, however little that is."""
    trial_problem = problem()
    index = coordinates(trial_problem.model, body_prior(trial_problem.model))
    A, z = projected(trial_problem.model, trial_problem.total.triangle(), index)
    small = A.copy()
    small[:, index.inner :] *= 1e-6
    usual, tiny = (posterior_of(index, each, z, [1.0, 1.0]).mean for each in (A, small))
    np.testing.assert_allclose(1e-6 * tiny[index.inner :], usual[index.inner :], rtol=1e-6)
    np.testing.assert_allclose(tiny[: index.inner], usual[: index.inner], rtol=1e-5, atol=1e-8)
