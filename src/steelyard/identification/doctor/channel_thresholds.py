"""Thresholds of the doctor on signals and channels."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ChannelThresholds:
    """Thresholds on single signals: time stamps, efforts, positions and velocities."""

    # -- Signals
    # share of the samples at the largest torque from which it is cut off
    saturated_share: float = threshold(0.01, "convention: one in a hundred")
    # ratio of the samples at the largest torque to those at each of the next values
    saturated_crowding: float = threshold(
        10.0, "convention: quantisation crowds all values alike, by a ratio of 1"
    )
    # how many of the next values are counted
    saturated_neighbours: int = threshold(5, "convention: enough for a mean")
    # single positions that make a finding
    least_spikes: int = threshold(3, "convention: one or two may be chance")
    # share of exact zeros from which a torque channel is dead
    dead_share: float = threshold(0.5, "convention: most of the samples")
    # standard deviation of a time stamp over the interval
    least_jitter: float = threshold(
        0.08, "below half of the least jitter planted in benchmarks.trust (20 %)"
    )
    # relative difference of a step from the interval from which it is irregular
    irregular_step: float = threshold(0.02, "convention")
    # share of irregular steps from which stamps jitter
    irregular_share: float = threshold(
        0.2, "no record of a measurement; benchmarks.trust judges it"
    )
    # share of missing samples up to which steps are explained by jitter
    most_missing_of_jitter: float = threshold(0.5, "convention: half")
    # missing samples per repeated stamp up to which no sample is missing
    complete_ratio: float = threshold(0.5, "convention: half")
    # share of missing samples or repeated stamps
    least_stamp_share: float = threshold(
        0.01, "half of the least share planted in benchmarks.trust (2 %)"
    )
    # samples that are needed to judge time stamps
    least_stamps: int = threshold(50, "convention: enough for a share of a few percent")
    # interval [s] from which stamps are not seconds
    longest_interval: float = threshold(0.5, "convention: slower samples show no motion of an arm")
    # samples whose roughness is compared
    roughness_samples: int = threshold(50_000, "computing time")
    # ratio of roughness that decides between stamps and even spacing
    roughness_ratio: float = threshold(
        0.8, "no record of a measurement; benchmarks.trust judges it"
    )

    # -- Channels
    # least magnitude over the largest, up to which an effort of one sign may be a magnitude
    unsigned_least: float = threshold(0.1, "convention: a tenth")
    # joints that are needed where the sign of no single effort is certain
    least_unsigned_joints: int = threshold(
        4, "one log in 16 has four efforts of one sign by chance, if each sign is even"
    )
    # visits near zero without a sample on the other side, from which an effort is rectified
    least_touches: int = threshold(3, "convention: a signed effort crosses zero half of the time")
    # magnitude over the largest that an effort exceeds between two touches of zero
    risen: float = threshold(0.05, "convention: a twentieth")
    # magnitude over the largest up to which an effort touches zero, and share of zeros allowed
    touched_zero: float = threshold(0.01, "convention: a hundredth")
    # share of a path, or of the samples, on the smaller side from which both sides are reached
    reversed_path: float = threshold(0.1, "convention: a tenth")
    # gravity of a joint over the largest of all joints, up to which friction decides the sign
    negligible_gravity: float = threshold(0.02, "convention: a fiftieth")
    # gravity over its largest value from which its sign is certain
    relevant_gravity: float = threshold(0.3, "a description right to about a fifth, and friction")
    # rows at which described gravity is computed
    gravity_rows: int = threshold(500, "computing time")
    # residual over the effort up to which it is a function of position and command
    command_residual: float = threshold(
        0.025, "the drive of the DFKI simple pendulum tracks its command to 1.7 %"
    )
    # share of that residual that friction and inertia may explain
    command_mechanics: float = threshold(
        0.1, "friction of a real joint is a larger part of its torque than the residual"
    )
    # rows by which a command is compared
    command_rows: int = threshold(3000, "computing time")
    # range [rad] of a position from which the residual of a sine is judged
    least_command_range: float = threshold(
        2.0, "over a smaller range a sine is a straight line, as inertia along a sine is"
    )
    # step of an effort over its standard deviation from which it is coarse
    coarse_effort: float = threshold(
        0.25, "noise of a quantiser of 7 % of the variation, as large as a good fit's error"
    )
    # samples per distinct value from which a signal is quantised
    least_repeats: float = threshold(4.0, "convention: values of a continuous signal differ")
    # relative difference of values from whole steps
    quantum_tolerance: float = threshold(0.02, "numbers printed with few digits")
    # equal samples in a row of a stuck position
    least_stuck_samples: int = threshold(20, "convention: enough for a mean")
    # duration [s] of a stuck position
    least_stuck_seconds: float = threshold(0.3, "convention: longer than a reversal of friction")
    # share of the log of a stuck position
    least_stuck_share: float = threshold(0.02, "convention: a fiftieth; shorter ones do no harm")
    # variation of another signal during the run over its variation in the whole log
    stuck_motion_share: float = threshold(0.3, "convention: a third")
    # distance [rad|m] that a velocity or a command covers during the run
    stuck_distance: float = threshold(
        0.1, "more than the deadband of hobby servos (SO-101: 0.04 rad)"
    )
    # share of the torque's variation during the run that a joint at rest leaves unexplained
    stuck_unexplained: float = threshold(0.5, "convention: half")
    # samples before the run that are all faster than `stuck_speed_share`
    stuck_approach: int = threshold(5, "convention: enough to be no noise")
    # steps before an abrupt stop over the rms step
    stuck_speed_share: float = threshold(0.4, "no joint stops from its usual speed within a sample")
    # step after a run of equal samples over the rms step
    stuck_jump: float = threshold(5.0, "convention: no joint moves so fast")
    # share of equal distances between changes from which samples repeat
    regular_repeats: float = threshold(0.9, "convention: nine in ten")
    # samples of a stretch whose velocities are judged
    least_velocity_samples: int = threshold(100, "convention: enough for a delay")
    # samples at which a velocity is compared with differences of positions
    velocity_samples: int = threshold(4096, "computing time")
    # largest delay [s] of a velocity
    longest_velocity_delay: float = threshold(0.5, "as `longest_delay`")
    # correlation with the derivative of the position below which a velocity is another signal
    least_velocity_correlation: float = threshold(0.5, "convention")
    # relative difference of velocity factors of all joints, up to which the clock is wrong
    velocity_spread: float = threshold(0.03, "convention: three per cent")
    # difference of the scale of all velocities from 1, up to which they confirm the clock
    clock_velocity: float = threshold(0.05, "convention: a twentieth")
    # logarithm of the ratio of held-out errors for a fault of a motion close to free swinging
    obvious_gain: float = threshold(
        1.0, "unseen draw 17: exchanged torques gain 2.0; double pendulums gain less by any fault"
    )
    # logarithm of the ratio of held-out errors for a clock beside velocities that confirm it
    clock_gain: float = threshold(
        0.15, "unseen draws: elastic joints 0.09, clocks beside velocities 0.9 and 1.2"
    )
    # difference of links from the description over their size, up to which it shows a sign
    described_difference: float = threshold(0.45, "a simple pendulum: 50 % after a wrong sign")
    # difference of the scale of a velocity from 1
    velocity_scale: float = threshold(0.1, "convention: a tenth")
    # delay of a velocity over its standard deviation
    velocity_delay_deviations: float = threshold(4.0, "convention: four standard deviations")
    # relative error of a velocity by its delay
    velocity_delay_harm: float = threshold(0.05, "as signals.clean.faults.velocity_delay")
