"""The entropic prior: at its minimum no direction is downhill, and what it identifies are real
bodies.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import SDP
from steelyard.identification.estimators.cone import ConeProgram, symmetric_matrix
from steelyard.identification.estimators.prior_weight import PriorWeight
from steelyard.identification.estimators.sdp import entropic
from steelyard.identification.model.bounds import physical_limits
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.prior import body_prior
from steelyard.parameters.pseudo_inertia import is_consistent
from tests.motions import recorded


def problem(seed: int):
    """A small random least-squares problem over the parameters of an arm, some directions
    unseen.
    """
    rng = np.random.default_rng(seed)
    robot = sy.load("elbow_6r")
    model = build_model(robot)
    p = len(model.names)
    A = rng.normal(size=(p // 2, p))
    truth = model.start * rng.uniform(0.6, 1.6, p)
    return model, A, A @ truth


def objective(model, A, b, prior_weight, pi) -> float:
    path = body_prior(model)
    total = float(np.sum((A @ pi - b) ** 2))
    for T, s, i in zip(
        path.to_pi, PriorWeight(prior_weight).body_weights(path), range(path.bodies), strict=True
    ):
        S = symmetric_matrix(np.linalg.solve(T, pi[10 * i : 10 * i + 10]))
        sign, log_det = np.linalg.slogdet(S)
        total += np.inf if sign <= 0 else 2.0 * s * (np.trace(S) - log_det - 4.0)
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prior_weight", [0.1, 10.0])
def test_no_direction_is_downhill(seed, prior_weight):
    model, A, b = problem(seed)
    path = body_prior(model)
    program = ConeProgram(model, path, A, b, physical_limits(model.names, model.free), 1e-6)
    start = model.start.copy()
    pi, word = entropic(program, (A, b), PriorWeight(prior_weight).body_weights(path), start)
    assert word == "Solved"
    least = objective(model, A, b, prior_weight, pi)
    assert least <= objective(model, A, b, prior_weight, start)
    rng = np.random.default_rng(seed)
    inner = 10 * path.bodies
    for _ in range(60):
        d = np.zeros(len(pi))
        d[:inner] = rng.normal(size=inner) * np.linalg.norm(path.to_pi, axis=2).ravel()
        for h in (1e-4, -1e-4):
            assert objective(model, A, b, prior_weight, pi + h * d) >= least - 1e-9 * max(
                least, 1.0
            )


def test_an_identification_with_it():
    arm = sy.load("elbow_6r")
    log = recorded(arm)
    fit = sy.identify(
        arm.with_parameters(0.7 * arm.parameters),
        log,
        SDP(entropic=True),
        smoothing=None,
        delay=0.0,
        coulomb_width=0.0,
    )
    assert np.all(is_consistent(fit.parameters[:60].reshape(6, 10)))
    assert fit.total_relative_error < 0.02
