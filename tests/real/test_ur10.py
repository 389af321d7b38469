"""UR10: held-out halves against the published model and plain least squares."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.parameters.pseudo_inertia import is_consistent
from tests.real.measured import ur10


@pytest.fixture(scope="module")
def case():
    return ur10()


def test_with_no_further_word_it_beats_plain_least_squares_on_halves(case):
    robot, log = case
    half = log.N // 2
    first, second = log[:half], log[half:]
    forth, back = (
        sy.identify(robot, first, diagnose=False),
        sy.identify(robot, second, diagnose=False),
    )
    # plain least squares 6.78 %, the published model 7.08 %
    assert forth.validate(second).total_relative_error <= 0.060
    assert back.validate(first).total_relative_error <= 0.062  # 7.20 %, 10.07 %


def test_in_sample(case):
    robot, log = case
    fit = sy.identify(robot, log)
    assert fit.base.n_base == fit.rank == 58 + len(fit.friction_terms)
    assert fit.total_relative_error <= 0.045  # plain least squares 5.45 to 6.60 %
    assert (
        fit.total_relative_error
        - sy.identify(robot, log, "wls", diagnose=False).total_relative_error
        <= 0.002
    )
    assert np.all(is_consistent(fit.parameters[:60].reshape(6, 10)))
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (10_000, 6))
    assert np.all(np.linalg.eigvalsh(fit.robot.mass_matrix(q))[:, 0] > 0)
    assert fit.before.total_relative_error > 0.3
    assert fit.verdict.trusted
