"""Thresholds of motions that are checked, of calibrations and of static poses."""

from __future__ import annotations

from types import SimpleNamespace as Stub

import numpy as np

import steelyard as sy
from steelyard.experiments.calibration_result import KinematicCalibration
from steelyard.experiments.kinematic_calibration import _outliers
from steelyard.experiments.payload_identification.static_segments import _require_segments
from steelyard.motion.trajectories.check_motion import TimedMotion
from tests.thresholds.threshold import Threshold, sides


def consistent(position: float = 0.0, velocity: float = 0.0) -> bool:
    """Whether samples are a motion if position and velocity jump by so much without a reason."""
    jump = (np.arange(11) > 5)[:, None].astype(float)
    states = position * jump, velocity * jump, 0.0 * jump
    return bool(TimedMotion.consistent.fget(Stub(samples=(1e-3 * np.arange(11.0), states))))


def explains_nothing(residual: float) -> bool:
    """Whether a calibration that leaves so many tolerances of a joint is doubted."""
    result = Stub(
        std=np.ones(1),
        converged=True,
        outliers=(),
        before=(1.0, 0.0),
        after=(residual * 1e-3, 0.0),
        tolerance=1e-3,
        names=("a",),
    )
    return "check units" in KinematicCalibration.status.fget(result)


def enough(poses: int) -> bool:
    try:
        _require_segments(Stub(where=""), Stub(q=np.zeros((poses, 2))))
    except sy.LogError:
        return False
    return True


EXPERIMENTS = [
    Threshold(
        "motion.trajectories.trajectory_thresholds:position_step",
        sides(lambda x: consistent(position=x), 1e-5),
        (True, False),
    ),
    Threshold(
        "motion.trajectories.trajectory_thresholds:velocity_step",
        sides(lambda x: consistent(velocity=x), 1e-3),
        (True, False),
    ),
    Threshold(
        "experiments.experiment_thresholds:outlier_medians",
        sides(lambda x: _outliers(np.array([1.0, 1.0, 1.0, 1.0, x])) == (4,), 8.0),
    ),
    Threshold(
        "experiments.experiment_thresholds:refused_tolerances", sides(explains_nothing, 10.0)
    ),
    Threshold(
        "experiments.payload_identification.payload_thresholds:least_poses",
        lambda: (enough(2), enough(4)),
    ),
]
