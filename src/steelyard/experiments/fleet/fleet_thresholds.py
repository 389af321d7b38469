"""Thresholds of fleets: partial pooling and outliers."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class FleetThresholds:
    """Thresholds of fleets; the metadata `chosen` of each field says how it was chosen."""

    # robots of a fleet
    least_robots: int = threshold(3, "the spread of two robots has one degree of freedom")
    # rounds of weighting the joints
    weighting_rounds: int = threshold(4, "convention: not measured")
    # probability of any outlier in a fleet without one
    false_alarm: float = threshold(0.01, "convention: 1 %")
    # share of the spread's variance that a deviation must show
    least_information: float = threshold(1e-3, "numerical tolerance")
    # outliers that are looked for
    most_outliers: int = threshold(50, "computing time")
    # iterations of the spread
    pooling_rounds: int = threshold(60, "computing time")
    # relative change of the spread that ends them
    pooling_tolerance: float = threshold(1e-3, "numerical tolerance")
    # prior spread of a parameter over its size
    prior_spread: float = threshold(0.03, "convention: 3 %")
    # robots that the prior spread counts for
    prior_spread_weight: float = threshold(0.5, "convention: less than one robot")
    # robots that the spread of parameters of the same kind counts for
    kind_weight: float = threshold(10.0, "no record of a measurement; benchmarks.fleet judges it")
    # standard deviations beyond which a robot counts no more
    huber_deviations: float = threshold(2.5, "Huber's proposal 2 with k = 2.5")
    # variance of a normal distribution that is cut off there
    huber_variance: float = threshold(0.97756, "computed: E min(z^2, 2.5^2)")
    # spread of a freed parameter over the spread of the fleet
    free_spread: float = threshold(1e4, "numerical: practically without a prior")
    # prior spread of the type's parameter over its size
    center_spread: float = threshold(10.0, "convention: weakly informative")


THRESHOLDS = FleetThresholds()
