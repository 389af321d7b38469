"""Thresholds of the choice between a measured and a simulated motion."""

from __future__ import annotations

import numpy as np

from steelyard.identification.estimators.simulated.automatic import is_better
from steelyard.identification.estimators.simulated.feedback_loop import SimulatedMotion
from steelyard.identification.estimators.simulated.simulated_states import (
    is_slow,
    with_simulated_motion,
)
from steelyard.identification.samples.samples import Samples
from tests.thresholds.threshold import Threshold, sides

OTHERS = np.ones((8, 1))


def slow(share: float) -> bool:
    """Whether differences count as slow whose means have so many times the variance of white
    noise.
    """
    # half the mean square of successive differences is 2, parts have 10 samples
    fast = np.where(np.arange(1000) % 2, 1.0, -1.0)
    return bool(is_slow((fast + np.sqrt(share * 2.0 / 10.0))[:, None])[0])


def rests(seconds: float) -> bool:
    """Whether rows of a joint that sticks for so long are left out."""
    t = np.arange(400) * 1e-3
    stuck = (t > 0.2)[:, None] & (t <= 0.2 + seconds)[:, None]
    x = np.sin(t)[:, None]
    result = with_simulated_motion(
        Samples(t, x, x, x, x, measured=x), SimulatedMotion(np.stack([x, x, x]), stuck), False, 1
    )
    return result.keep is not None and not result.keep.all()


SIMULATED = [
    Threshold(
        "estimators.estimator_thresholds:least_simulation_gain",
        sides(lambda gain: is_better((1.0 - gain) * OTHERS, OTHERS), 0.01),
    ),
    Threshold("estimators.estimator_thresholds:white_variance_ratio", sides(slow, 2.0)),
    Threshold("estimators.estimator_thresholds:least_rest", sides(rests, 0.01)),
]
