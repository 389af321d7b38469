"""Thresholds of online identification and change detection."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class OnlineThresholds:
    """Thresholds of online identification; the metadata `chosen` says how each was chosen."""

    # windows [s] over which innovations are summed
    window_seconds: tuple[float, ...] = threshold(
        (0.05, 0.2, 0.8), "a jump shows in the shortest, a small change in the longest"
    )
    # instants at which a change may have begun
    change_starts: int = threshold(64, "computing time")
    # samples that are tested at once
    chunk_samples: int = threshold(256, "computing time")
    # parts of the learning phase, each predicted from the others
    learning_folds: int = threshold(5, "convention: 5-fold cross-validation")
    # relative eigenvalue below which a combination of a change is not shown
    change_rank: float = threshold(1e-7, "numerical tolerance")
    # least certain directions of the parameters
    uncertain_modes: int = threshold(16, "convention: not measured")
    # relative ridge of a diagonal entry
    normal_ridge: float = threshold(1e-9, "numerical tolerance")
    # rounds of weighting the joints by their residuals
    weighting_rounds: int = threshold(5, "convention: not measured")
    # prior standard deviation of a parameter over its size
    prior_spread: float = threshold(3.0, "convention: weakly informative")
    # samples for the autocorrelation of the residuals
    recent_samples: int = threshold(512, "memory")
    # samples that are folded before they join the past
    block_samples: int = threshold(512, "keeps rounding small")
    # relative norm below which no sample has shown a direction
    unseen_direction: float = threshold(1e-9, "numerical tolerance")
    # rate [Hz] where it is unknown and only counts of samples matter
    nominal_rate: float = threshold(1000.0, "convention")
    # default duration [s] of the learning phase
    learning_seconds: float = threshold(60.0, "convention")
    # samples whose rows are computed at once
    portion_samples: int = threshold(128, "computing time: they stay in the cache")
    # share of the filter's memory that may come from a joint at rest
    resting_memory: float = threshold(0.01, "convention")
    # time [s] that ROS works between looks at the clock
    ros_wait: float = threshold(0.05, "convention")
    # messages in a row without the robot's joints that are an error
    missed_messages: int = threshold(100, "convention")

    # -- Velocities of the collision observer
    # intervals between samples over their median that are regular
    regular_intervals: tuple[float, float] = threshold((0.5, 1.5), "convention: half")
    # time constants after which a start at zero velocity is forgotten
    settling_constants: float = threshold(8.0, "numerical: to 3e-4")
    # bandwidth of the derivative over the gain of the observer
    derivative_bandwidth: float = threshold(
        4.0, "no record of a measurement; benchmarks.collision_calibration judges it"
    )
    # samples until the noise of the velocities is known
    warm_up_samples: int = threshold(64, "convention: not measured")

    # -- Collision thresholds
    # velocity variance over the calibrated one, from which live velocities are noisier
    noisier_variance: float = threshold(4.0, "convention: twice the standard deviation")
    # standard deviations of the velocity noise beyond the calibrated noise
    noise_deviations: float = threshold(4.0, "convention: four standard deviations")
    # squared velocity change over the calibrated variance, beyond which it is a jolt
    clipped_variance: float = threshold(25.0, "convention: five standard deviations")
    # samples whose regressor is in memory at once
    regressor_samples: int = threshold(4096, "memory")
    # quantile of the changes of velocity between samples
    velocity_change_quantile: float = threshold(0.99, "convention: 99 %")
    # states of the log from which the distance of a live state is measured
    state_points: int = threshold(4096, "computing time")
    # standard deviation of a position or velocity over the largest one, at least
    least_state_scale: float = threshold(1e-3, "numerical: a joint that never moves")
    # difference of a sum of intervals over the window that is rounding
    window_rounding: float = threshold(
        1e-6, "numerical tolerance: blocks and single samples differ by it"
    )


THRESHOLDS = OnlineThresholds()
