"""Thresholds of uncertainty, prediction bands, coverage and verdict."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ResultThresholds:
    """Thresholds of a result; the metadata `chosen` says how each was chosen."""

    # -- Verdict on a fit
    # share of the joints with unexplained torque from which a fit is refused
    unexplained_joints: float = threshold(0.3, "convention: a third")
    # share of the base parameters without excitation from which a fit is doubtful
    unexcited_share: float = threshold(0.5, "convention: half")
    # error of one part of the log over the expected error, from which the fit is limited to its
    # region
    uneven_ratio: float = threshold(2.0, "convention: twice")
    # error elsewhere over the error within the region, from which the fit is limited to it
    outside_ratio: float = threshold(1.5, "no record of a measurement; benchmarks.trust judges it")
    # held-out error of the physically consistent robot over the best predictor's, from which
    # the log contradicts every physical robot of this geometry
    consistency_ratio: float = threshold(1.25, "convention: a quarter more")
    # difference of these errors, shares of the torque, from which it matters
    consistency_cost: float = threshold(
        0.005,
        "convention: half a percent of the torque; unseen draws: 0.3 to 0.5 % without a fault",
    )
    # factor between identified and described mass from which the torque scale is doubtful
    mass_ratio: float = threshold(2.0, "convention: twice")

    # -- Verdict on a joint
    # relative error from which a fit or a joint is refused
    refused_error: float = threshold(0.5, "convention: half of the torque")
    # relative error from which it is doubtful
    doubtful_error: float = threshold(0.25, "convention: a quarter of the torque")
    # relative error up to which a fit may be trusted beyond the region
    good_error: float = threshold(0.1, "convention: a tenth of the torque")
    # R2 below which the torque of a joint is not explained
    explained_r2: float = threshold(0.7, "no record of a measurement; benchmarks.trust judges it")
    # error on another log over the expected error, from which the expectation is contradicted
    contradicted_ratio: float = threshold(2.0, "convention: twice")
    # probability of a fault from which a fit or a joint is doubtful
    likely_fault: float = threshold(0.5, "convention: half")
    # error over the rated torque up to which it is small, for any torque
    small_rated_share: float = threshold(0.05, "convention: 5 %")
    # samples of a validation log on one side of the region from which they decide
    least_validation_samples: int = threshold(20, "convention: not measured")

    # -- Files
    # decimals of the covered states in fit.json
    saved_path_digits: int = threshold(4, "convention: 0.1 mrad, far below their spacing")

    # -- Sequences of states without times
    # states from which they may be a sequence
    least_sequence: int = threshold(10, "convention: fewer are single states")
    # speed over the largest, from which a step shows whether positions follow velocities
    sequence_speed: float = threshold(0.1, "convention: a tenth")
    # |dq - qd dt| over |qd dt| up to which a step follows
    sequence_error: float = threshold(0.2, "convention: a fifth")
    # share of the steps that must follow
    sequence_share: float = threshold(0.9, "convention: nine of ten")
    # steps that a gap of the sequence counts for
    sequence_gap: float = threshold(1e3, "convention: far beyond a missing sample")

    # -- Notes
    # correlation of neighbouring residuals from which they vary slowly
    slow_correlation: float = threshold(0.8, "no record of a measurement")

    # -- Held-out logs
    # logs from which one can differ from the others
    least_logs: int = threshold(3, "two logs do not show which of them differs")
    # factor by which the error of the others must fall without a log
    odd_log_ratio: float = threshold(2.0, "convention: twice")
    # relative error up to which no such log is looked for
    usual_error: float = threshold(0.2, "convention: a fifth")
    # samples of all parts together
    held_out_samples: int = threshold(1 << 17, "computing time")
    # samples of a part without a gap
    least_part_samples: int = threshold(16, "convention: not measured")

    # -- Expected error
    # states at which the uncertainty of the torque is evaluated
    expected_error_states: int = threshold(400, "computing time")
    # error on another motion over the largest of the held-out parts of the same motion
    unseen_ratio: float = threshold(
        1.3, "unseen draws 0 to 59: 95 % of the errors of moving joints within 1.39"
    )
    # rows of a held-out part over the mean of all parts, from which its error counts
    least_part: float = threshold(0.2, "convention: a fifth")
    # time [s] for which a drift of friction goes on in another log
    drift_seconds: float = threshold(
        120.0, "unseen draws 16 and 28: friction warms up over half a minute to two and a half"
    )
    # the same time over the length of the longest log, at most
    drift_lengths: float = threshold(8.0, "convention: not much further than it was seen")
    # largest share of the friction by which it drifts
    largest_drift: float = threshold(0.3, "convention: as between a cold and a warm gear")

    # -- Jackknife
    # cells of the motion, about
    motion_cells: int = threshold(80, "convention: not measured")
    # neighbouring cells that are left out together
    block_cells: int = threshold(
        10,
        "an eighth of the motion; design page 014 compares 4, 8, 12 and 16 cells on the logs "
        "of three robots and on simulated ones",
    )
    # ratio of the degrees of freedom of overlapping and of separate blocks
    overlap_freedom: float = threshold(
        1.5, "Meketon and Schmeiser 1984: the variance of overlapping batch means is 2/3"
    )
    # points of the motion that are compared with each other
    compared_points: int = threshold(3000, "computing time")
    # samples whose standard deviation is the scale of a signal
    scale_samples: int = threshold(100_000, "computing time")
    # least and largest distance [standard deviations] at which two states are equal
    equal_state_distances: tuple[float, float] = threshold(
        (0.02, 0.1), "no record of a measurement; benchmarks.coverage judges it"
    )
    # the distance over the distance to the next point
    equal_state_steps: float = threshold(
        0.6, "a path that is followed again passes within half a step of a point of the first time"
    )
    # share added to the unit matrix before the leverage is subtracted
    leverage_rounding: float = threshold(1e-9, "numerical tolerance")

    # -- Prediction
    # standard deviations of a band
    band_deviations: float = threshold(1.96, "a normal distribution: 95 %")
    # least share of the samples within each range
    range_share: float = threshold(0.99, "convention: 99 %")
    # least share of the samples within all ranges at once
    region_share: float = threshold(0.9, "convention: 90 %")
    # distance [rad|m], [rad/s|m/s], [rad/s2|m/s2] by which ranges are widened
    region_slack: float = threshold(1e-3, "convention: for joints that stand")
    # samples of a log that the region is computed from
    region_samples: int = threshold(100_000, "computing time")
    # states that are compared with a region at once
    region_block: int = threshold(1 << 14, "memory")
    # share of the residuals that the parameters took, counted where the samples have been
    covered_noise_share: float = threshold(
        0.5, "no record of a measurement; benchmarks.coverage judges it"
    )

    # -- Residuals
    # samples from which the information of cells is summed
    information_samples: int = threshold(20_000, "computing time")
    # rows that are evaluated together
    validation_block: int = threshold(1 << 14, "memory")

    # -- State coverage
    # largest distance [standard deviations] to the path, rms over positions and velocities
    covered_distance: float = threshold(
        0.05, "no record of a measurement; benchmarks.coverage judges it"
    )
    # least scale of a joint over the scale of the most moving one
    least_scale: float = threshold(0.05, "convention: a standing joint has noise, not motion")
    # points of the path
    path_points: int = threshold(20_000, "computing time")

    # -- Torque noise
    # share of the samples within the band
    noise_quantile: float = threshold(0.95, "convention: 95 %")
    # samples that the noise below a frequency needs
    least_noise_samples: int = threshold(32, "convention: not measured")
    # samples of a stretch that are read
    noise_samples: int = threshold(1 << 18, "computing time")
    # windows over a longer stretch in which they lie
    noise_windows: int = threshold(4, "convention: not measured")

    # -- Uncertainty
    # standard deviations of the logarithm of a friction shape and of a delay [s] before the samples
    shape_spread: float = threshold(1.0, "convention: a factor of e")
    delay_spread: float = threshold(0.05, "convention: half of the longest delay that is tried")
    # relative step of the derivative by a friction shape
    shape_step: float = threshold(0.02, "numerical")
    # share of the information on a parameter that the samples must have
    least_information_share: float = threshold(0.01, "convention: 1 % (design page 014)")
    # least residual over the torque
    least_residual: float = threshold(1e-8, "numerical tolerance: rounding of the torque")
    # standard deviation over the value of a body like the described one, from which a parameter is
    # weak
    weak_share: float = threshold(0.1, "convention: a tenth")
    # component of a parameter in a direction without excitation
    direction_component: float = threshold(0.03, "no record of a measurement")


THRESHOLDS = ResultThresholds()
