"""A simulated experiment, identified: what was put in comes out."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.reporting.tables import aligned


def test_a_delay_that_a_first_fit_would_hide_is_found() -> None:
    """A fit to late torques bends its friction towards them.

    One look at its residuals sees about two thirds of the delay.
    """
    robot = sy.load("elbow_6r")
    motion = sy.excite(robot, 20.0, 10, 0.05, candidates=20)
    log = sy.record(
        sy.perturbed(robot, 1),
        motion,
        500.0,
        sensors=sy.Sensors(delay=0.004, bandwidth=0.0, torque_ripple=0.0),
    )
    fit = sy.identify(robot, log, "wls")
    np.testing.assert_allclose(fit.delay, 0.004, atol=0.0006)


def test_true_parameters_lie_where_the_fit_says() -> None:
    robot = sy.load("elbow_6r")
    inside, count = 0, 0
    for seed in (1, 2):
        truth = sy.perturbed(robot, seed)
        log = sy.record(truth, sy.excite(robot, 20.0, 10, 0.05, seed, candidates=30), 250.0, seed)
        fit = sy.identify(robot, log)
        true = fit.base.values(aligned(truth, fit.parameter_names))
        inside += int(np.sum(np.abs(fit.base_values - true) <= 2 * fit.base_standard_deviation))
        count += len(true)
        assert fit.total_relative_error < 0.02
        assert fit.before is not None
        assert fit.before.total_relative_error > 2 * fit.total_relative_error
    assert inside >= 0.85 * count, f"{inside} of {count}"
