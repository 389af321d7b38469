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

    # relative scatter of time stamps from which a window is resampled
    uniform_scatter: float = threshold(0.05, "convention: not measured")
    # held-out blocks on which a delay is tested
    delay_blocks: int = threshold(8, "convention: as of the doctor")
    # ridge over the diagonal of the normal equations of a block
    delay_ridge: float = threshold(1e-9, "numerical tolerance")
    # time [s] from a reversal within which friction with memory lags
    reversal_time: float = threshold(0.1, "presliding ends within 0.1 s on TX40, UR10 and KUKA")
    # share of the samples away from reversals from which these alone are used
    least_away_share: float = threshold(0.2, "convention: a fifth shows a delay")
    # time [s] by which torque may be early: positions that are filtered are late
    earliest_torque: float = threshold(
        0.015, "judgement: swings near resonance seem to be early by 18 to 65 ms (DFKI pendulums)"
    )
    # held-out error over the torque up to which it shows a delay
    delay_error: float = threshold(
        0.3, "UR10 and TX40: 0.05 to 0.2; double pendulums, whose delays are wrong: 0.3 or more"
    )
    # logarithm of the ratio of held-out errors that a common delay must gain
    common_delay_gain: float = threshold(0.02, "a smaller gain does not matter")
    # share of the blocks in which a common delay must gain
    common_delay_share: float = threshold(0.75, "convention: most of the blocks")
    # the same for a single joint that differs
    joint_delay_gain: float = threshold(
        0.05, "more than for all joints: friction differs from joint to joint, transport does not"
    )
    joint_delay_share: float = threshold(0.85, "convention: all blocks but one of eight")
    # width of the Coulomb step over the speed below which a joint rests, at least
    rest_width: float = threshold(0.4, "at that speed 98.7 % of the friction acts")


THRESHOLDS = NuisanceThresholds()
