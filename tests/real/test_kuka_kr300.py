"""KUKA KR300: weak excitation, a heavy payload, a counterbalance that is known; one run predicts the other."""

from __future__ import annotations

import pytest

import steelyard as sy
from tests.real.measured import kr300, kr300_counterbalance


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return kr300(tmp_path_factory.mktemp("kr300"))


def test_with_the_cad_prior_one_run_predicts_the_other(case):
    robot, A, B = case
    fit = sy.identify(robot, A, prior="cad", known=kr300_counterbalance, diagnose=False)
    assert fit.validate(B).total_relative_error <= 0.145  # plain least squares 40 to 175 %
    assert fit.validate(B).total_relative_error < fit.validate(B).before.total_relative_error
    back = sy.identify(robot, B, prior="cad", known=kr300_counterbalance, diagnose=False)
    assert back.validate(A).total_relative_error <= 0.155


def test_real_links_alone_save_it_too(case):
    robot, A, B = case
    assert sy.identify(robot, A, known=kr300_counterbalance, diagnose=False).validate(B).total_relative_error <= 0.16


def test_plain_least_squares_warns(case):
    robot, A, _ = case
    fit = sy.identify(robot, A, "ols", known=kr300_counterbalance, diagnose=False)
    assert any("cannot be told from zero" in sentence for sentence in fit.check())
    assert fit.condition > 300
