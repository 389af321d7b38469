"""Thresholds of the stiffness of elastic joints."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ElasticThresholds:
    """Thresholds of elastic joints; the metadata `chosen` says how each was chosen."""

    # standard deviations by which a compliance must be above zero
    visible_deviations: float = threshold(2.0, "convention: 95 %")
    # samples with positions on both sides of the gear
    least_samples: int = threshold(100, "convention")
    # ratio of motor to link motion from which a position is at the motor's side
    motor_ratio: float = threshold(1.5, "convention: between 1 and the smallest gear ratio")
    # standard deviation of the smoothing window in decimated samples
    smoothing_width: float = threshold(0.8, "convention")
    # consecutive parts of the jackknife
    jackknife_parts: int = threshold(
        80, "the uncertainty of the uncertainty is 1 in sqrt(160), 8 %"
    )


THRESHOLDS = ElasticThresholds()
