"""Thresholds of the learned residual."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ResidualThresholds:
    """Thresholds of the learned residual; the metadata `chosen` says how each was chosen."""

    # samples that the residual is learned from
    samples: int = threshold(20_000, "computing time")
    # knots over the ranges of position, speed and load
    position_knots: int = threshold(25, "resolution: three knots within a correlation length")
    speed_knots: int = threshold(21, "resolution: four knots within a correlation length")
    load_knots: int = threshold(15, "resolution: four knots within a correlation length")
    # correlation lengths over the ranges of position, speed and load
    position_length: float = threshold(0.15, "unseen draws 5 to 54: as good as 0.08")
    speed_length: float = threshold(0.2, "convention: a few changes over the range")
    load_length: float = threshold(0.3, "convention: load friction is nearly a straight line")
    # variance at the knots over the prior's, for a factor of the covariance
    knot_variance: float = threshold(1e-6, "numerical: keeps the covariance positive definite")
    # speed over the largest one, over which the direction of motion changes
    direction_speed: float = threshold(0.05, "convention: a twentieth, as a slow reversal")
    # ridges over the number of rows, from which held-out torque chooses
    ridges: tuple[float, ...] = threshold(
        (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3), "search: half a decade"
    )
    # share of a range at its edge over which the residual falls to zero
    taper: float = threshold(0.01, "measured logs: wider ones lose half of the gain")
    # range of a joint's load over its torque, below which the load is constant
    least_load: float = threshold(0.01, "convention: a hundredth of the torque")
    # rows of a joint that it is learned from
    least_rows: int = threshold(200, "convention: as the automatic decimation")
    # relative gain of a joint's held-out error over blocks, from which it is kept
    least_gain: float = threshold(
        0.03, "measured logs and unseen draws 0 to 54: no set was worse by more than 0.1 %"
    )
    # relative gain of the held-out error where each half of the motion predicts the other
    least_half_gain: float = threshold(
        0.01, "TX40: a gain of 17 % over blocks without one over halves was a loss of 14 %"
    )


THRESHOLDS = ResidualThresholds()
