"""Thresholds of the samples that an identification reads."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class SamplesThresholds:
    """Thresholds of samples; the metadata `chosen` says how each was chosen."""

    # -- Requirements on a log
    # samples below which a log is refused
    least_samples: int = threshold(10, "convention: not measured")
    # samples for which errors of the states are drawn
    state_error_samples: int = threshold(8192, "computing time")
    # value of any signal, in its unit, that no sensor measures
    largest_signal: float = threshold(1e12, "convention: far beyond the sensors of any robot")
    # torque [N m|N] up to which it counts as zero
    smallest_torque: float = threshold(1e-12, "numerical tolerance")
    # time step [s] below which stamps are not seconds
    shortest_step: float = threshold(1e-9, "convention: no robot is logged at 1 GHz")
    # delay over the duration of the log that is refused
    longest_delay: float = threshold(0.5, "convention: half")
    # position over its limit, and over pi, from which a joint is far
    far_ratio: float = threshold(2.0, "convention: twice")
    # position over pi from which a joint without limits is far
    far_half_turns: float = threshold(6.0, "convention: three turns")
    # share of the revolute joints that are far, from which positions are not joint angles
    far_share: float = threshold(0.5, "convention: half")
    # range [rad|m] of positions that never change
    still_range: float = threshold(1e-9, "numerical tolerance")
    # standard deviation [m/s2|rad/s|rad/s2] of a base's motion from which it moves
    moving_base: float = threshold(0.5, "convention: sensors at rest have less; not measured")

    # -- Joints without limits
    # difference from 1 of the ratio of qd to dq/dt in a log of one unit
    velocity_agreement: float = threshold(0.2, "convention: units differ by larger factors")
    # speed [rad/s] up to which a joint that turns many times spins
    fastest_spin: float = threshold(50.0, "convention: not measured")

    # -- Decimation
    # kept samples on either side that the filter reads
    filter_reach: int = threshold(4, "convention: length of the filter against its transition band")
    # kept samples that one matrix product computes
    filter_group: int = threshold(8, "computing time")

    # -- Smoothing
    # standard deviation of the acceleration over its median, beyond which a sample is not used
    uncertain_acceleration: float = threshold(1.2, "no record of a measurement")
    # share of certain samples below which all are used
    certain_share: float = threshold(0.5, "convention: half")
    # variation of a position over its noise up to which the joint stands
    standing_noise_ratio: float = threshold(1.5, "no record of a measurement")
    # variation over the largest one of a joint, up to which a joint with white noise stands
    standing_share: float = threshold(0.01, "convention: a hundredth (design page 014)")
    # the same up to which a joint stands, for any noise
    standing_share_any_noise: float = threshold(
        1e-4, "convention: a ten-thousandth (design page 014)"
    )

    # -- Late velocities
    # samples from which the delay of velocities is estimated
    delay_samples: int = threshold(4096, "computing time")
    # time step [s] of the velocities that are compared: noise of shorter differences is larger
    velocity_step: float = threshold(5e-3, "computing time; shorter than the motion changes")
    # longest delay [s] that is looked for
    longest_velocity_delay: float = threshold(0.1, "convention: filters of drivers are faster")
    # correlation of velocities with the derivative of the positions, from which both are compared
    velocity_correlation: float = threshold(0.5, "convention: half")
    # standard deviations from which a delay is significant
    velocity_delay_deviations: float = threshold(4.0, "convention: four standard deviations")
    # delay [s] below which velocities are in time
    least_velocity_delay: float = threshold(
        5e-4, "unseen draws 0 to 21: filters of 25 to 120 Hz have 1.3 to 6 ms, exact states 0.0"
    )

    # delay [s] up to which velocities without accelerations are combined with positions
    fused_velocity_delay: float = threshold(
        2.5e-3,
        "unseen draw 3: 3.7 ms do harm; half logs of a double pendulum: up to 2.3 ms do not",
    )

    # -- Noise
    # samples that the noise is estimated from
    noise_samples: int = threshold(1 << 17, "computing time")
    # windows over a longer log in which they lie
    noise_windows: int = threshold(8, "convention: not measured")

    # -- Periods
    # half the mean square difference over the variance from which positions have moved away
    departure: float = threshold(0.5, "convention: half")
    # the same up to which positions may have come back
    return_difference: float = threshold(0.02, "no record of a measurement")
    # difference of a position from a period before, over its noise
    repeated_noise_ratio: float = threshold(2.0, "convention: twice")
    # the same over the variation of a joint without noise
    repeated_rounding: float = threshold(1e-7, "numerical tolerance")
    # difference of a time step from the mean, over the mean, beyond which no period is looked for
    uneven_step: float = threshold(0.5, "convention: half")
    # standard deviations within which a period is a whole number of time steps
    whole_step_deviations: float = threshold(4.0, "convention: four standard deviations")
    # smoothing windows within the time in which positions move away
    period_windows: float = threshold(8.0, "no record of a measurement")
    # widths of the window from the ends of a log
    window_edge: float = threshold(4.0, "a Gaussian window has fallen to 3e-4 there")
    # steps of the refinement of a period
    period_steps: int = threshold(4, "computing time")
    # samples of a period
    least_period_samples: int = threshold(16, "convention: not measured")
    # samples that are compared with those a period before
    period_samples: int = threshold(1 << 17, "computing time")
    # windows over a longer log in which they lie
    period_sample_windows: int = threshold(8, "convention: not measured")
    # columns whose path one call computes
    path_columns: int = threshold(8, "computing time")
    # knots from the end of a cubic spline after which the end has no influence
    spline_knots: int = threshold(
        64, "numerical: an influence falls by 0.27 per knot, far below rounding"
    )
    # difference of two times over a time step up to which they are equal
    aligned_time: float = threshold(1e-6, "numerical tolerance")
    # width [samples] of a window from which the Fourier transform applies it
    fourier_window: int = threshold(64, "computing time")

    # -- Fourier series
    # highest harmonic over the samples of a period
    highest_harmonic: float = threshold(
        0.4, "below the Nyquist frequency, 0.5, so that it can be distinguished from noise"
    )
    # samples whose series is evaluated at once
    fourier_block: int = threshold(4096, "memory")


THRESHOLDS = SamplesThresholds()
