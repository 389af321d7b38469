"""Fault hypothesis: details of `fault_hypothesis`."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.identification.doctor.fault_search.fault_hypothesis import (
    fit_torque_ratio,
    unknowns_without_joint,
)
from tests.thresholds.mechanics import first_trial


@pytest.mark.parametrize("factor", [1.0, 1.7, -0.4])
def test_the_ratio_of_a_torque_to_the_torque_of_the_bodies(factor: float) -> None:
    regression = first_trial()[1].regression
    u = np.random.default_rng(2).uniform(0.5, 1.5, regression.K)
    for joint in range(2):
        E, A = regression.to_u[joint], regression.columns[joint]
        bodies = regression.known[:, joint] + A @ (
            regression.zero[joint] + E[:, : regression.inner] @ u[: regression.inner]
        )
        rubs = A @ E[:, regression.inner :] @ np.arange(1.0, regression.K - regression.inner + 1)
        tau = np.zeros((regression.N, 2))
        tau[:, joint] = factor * bodies + rubs
        assert fit_torque_ratio(regression, tau, u, joint) == pytest.approx(factor, rel=1e-6)


def test_evidence_of_the_other_joints_does_not_depend_on_the_joint_in_question() -> None:
    trial = first_trial()[1]
    regression, tau = trial.regression, trial.torque
    for joint in range(2):
        changed = tau.copy()
        changed[:, joint] *= 7.0
        results = [
            unknowns_without_joint(
                regression.gram(each), regression.inner, np.ones(2), np.full(2, 1e-3), joint
            )
            for each in (tau, changed)
        ]
        np.testing.assert_allclose(results[1], results[0], atol=1e-9 * np.abs(results[0]).max())
        assert np.abs(results[0]).max() > 0
