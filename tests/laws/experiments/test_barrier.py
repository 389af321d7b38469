"""Barrier: details of `barrier`."""

from __future__ import annotations

import numpy as np

from steelyard.experiments.excitation.barrier import LogBarrier


def test_a_step_within_limits_is_that_of_the_slack_that_shrinks_fastest() -> None:
    barrier = LogBarrier(np.zeros((4, 1, 1)), ())
    states = np.zeros((4, 1, 1))
    assert barrier.longest_step(states, states, np.array([-4.0, 0.5, -2.0])) == 0.25
    assert barrier.longest_step(states, states, np.array([0.5, 3.0])) == np.inf
