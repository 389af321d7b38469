"""The evidence: a Gaussian integral that two other routes give too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import steelyard as sy
from steelyard.identification.estimators.evidence import agreement, coordinates, posterior
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
    """log p(tau) = log N(tau; Y pi0, 1 + Y prior^-1 Y^T): differences between weights agree with the density computed at once."""
    made = problem(hold)
    rows = np.concatenate([b.Y.reshape(-1, made.base.n_base) for b in made.blocks()])
    tau = np.concatenate([b.tau.reshape(-1) for b in made.blocks()])
    triangle = made.total.triangle()
    at = coordinates(made.model, body_prior(made.model))

    def direct(weights: list[float]) -> float:
        found = posterior(made.model, triangle, weights)
        A = rows @ made.base.matrix
        cov = np.eye(len(tau)) + (A @ at.matrix) @ np.linalg.inv(found.prior.T @ found.prior) @ (A @ at.matrix).T
        return float(multivariate_normal(A @ at.origin, cov).logpdf(tau))

    given = [1.0, 1.0], [100.0, 3.0], [0.01, 1e3]
    expected = [direct(weights) for weights in given]
    found = [posterior(made.model, triangle, weights).log_evidence for weights in given]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-5)


def test_held_parameters_stay() -> None:
    made = problem(("link2.m",))
    found = posterior(made.model, made.total.triangle(), [1.0, 1.0])
    index = made.model.names.index("link2.m")
    assert found.parameters[index] == pytest.approx(made.model.start[index], abs=1e-12)


def test_the_right_description_has_more_evidence_than_a_wrong_one() -> None:
    robot = sy.load("planar_2r")
    made = problem(N=400)
    wrong = Problem(
        build_model(robot.with_parameters(5 * robot.parameters), ModelOptions(friction=("viscous",), rotor=False)), made.samples
    )
    assert agreement(made, [25.0, 25.0]).log_evidence > agreement(wrong, [25.0, 25.0]).log_evidence + 10


def test_a_weak_prior_decides_nothing_and_a_strong_one_all() -> None:
    made = problem(N=400)
    triangle = made.total.triangle([10.0, 10.0])
    weak, strong = (posterior(made.model, triangle, [w, w]) for w in (1e-9, 1e14))
    seen = sum(weak.effective(i) for i in range(2))
    links = sum(name.startswith("link") for name in made.base.names)
    assert seen == pytest.approx(links, abs=0.1)
    assert sum(strong.effective(i) for i in range(2)) < 1e-3
    assert strong.distance(0) < 1e-9 < weak.distance(0)
