"""Thresholds of torque delay, drive gains and friction shape."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class NuisanceThresholds:
    """Thresholds of nuisance parameters; the metadata `chosen` says how each was chosen."""

    # -- Drive gains
    # share of the norm of a gain's column that no other unknown can take over
    least_gain_share: float = threshold(1e-6, "numerical tolerance")
    # relative standard deviation beyond which a gain is not identified
    largest_gain_deviation: float = threshold(0.5, "convention: two standard deviations from zero")
    # relative standard deviation of a mass that is known
    known_mass_deviation: float = threshold(1e-6, "numerical: practically exact")
    # iterations of the gains
    gain_rounds: int = threshold(60, "computing time")

    # -- Friction shape
    # samples that the search reads
    shape_samples: int = threshold(4000, "computing time")
    # widths of a smooth friction step that are tried
    width_candidates: int = threshold(36, "computing time")
    # Stribeck velocities that are tried
    stribeck_candidates: int = threshold(15, "computing time")
    # presliding distances that are tried
    distance_candidates: int = threshold(13, "a factor of 2.2 between neighbours")
    # rounds of the refinement of presliding distances
    distance_rounds: int = threshold(4, "computing time")
    # step of the logarithm of a distance at which it has converged
    distance_tolerance: float = threshold(0.01, "numerical: far below its standard deviation")
    # largest step of the logarithm of a distance
    largest_distance_step: float = threshold(0.5, "numerical: a linearisation reaches no further")
    # share of the squared residual that a shape must win over none
    least_shape_gain: float = threshold(
        0.005, "no record of a measurement; benchmarks.friction judges it"
    )

    # -- Torque delay
    # consecutive samples that are used
    delay_samples: int = threshold(60_000, "computing time")
    # largest delay [s] that is looked for
    longest_delay: float = threshold(0.1, "convention: not measured")
    # standard deviations of the common delay from which it is not zero
    common_delay_deviations: float = threshold(4.0, "convention: four standard deviations")
    # delay over the time step from which it is corrected
    least_delay: float = threshold(0.05, "convention: a smaller delay does not matter")
    # samples of a stretch that shows a delay
    least_delay_samples: int = threshold(200, "convention: not measured")
    # probability of a disagreement between joints up to which it is one
    disagreement_probability: float = threshold(0.1, "convention: 10 %")
    # standard deviations between the delay of a joint and the common one
    joint_delay_deviations: float = threshold(5.0, "convention: five standard deviations")


THRESHOLDS = NuisanceThresholds()
