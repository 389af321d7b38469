"""Thresholds of the doctor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...threshold import threshold
from .channel_thresholds import ChannelThresholds


@dataclass(frozen=True)
class DoctorThresholds(ChannelThresholds):
    """Thresholds of the doctor. Each field says how it was chosen (metadata `chosen`)."""

    # -- Excitation
    # share of the travel that at least one joint must move through
    least_travel: float = threshold(0.1, "convention: a tenth")
    # independent rows per unknown, below which a log is short
    least_rows: float = threshold(2.2, "no record of a measurement; benchmarks.trust judges it")
    # independent rows per unknown, below which every torque seems to fit
    too_few_rows: float = threshold(1.5, "two periods of a motion of six joints")
    # torque over the size of its terms, below which a motion is close to free swinging
    free_swing: float = threshold(
        0.4, "double pendulums of design A: 0.09 to 0.31; simulated arms of benchmarks.trust: 0.65"
    )
    # range [rad|m] of a joint below which it stands
    standing: float = threshold(
        0.02, "twice the range of joints that benchmarks.trust plants as standing (0.01)"
    )

    # -- Verdict on the log
    # held-out error over the torque from which a joint is unexplained
    unexplained_error: float = threshold(
        0.7, "no record of a measurement; benchmarks.trust judges it"
    )
    # share of unexplained joints from which a log is of no use
    unexplained_joints: float = threshold(0.3, "convention: a third")
    # factor by which torques may be too small for positions in degrees
    motor_side_factor: float = threshold(
        16.5, "about half of the least gear ratio planted in benchmarks.trust (30)"
    )
    # median error over the torque up to which positions are in degrees
    degrees_error: float = threshold(0.2, "no record of a measurement; benchmarks.trust judges it")
    # weight below which the description of a body contradicts the log
    contradicted_weight: float = threshold(
        0.25, "no record of a measurement; benchmarks.trust judges it"
    )
    # weight below which the description says little about the log
    low_weight: float = threshold(6.0, "no record of a measurement; benchmarks.trust judges it")
    # share of such bodies that means another robot
    low_weight_share: float = threshold(
        0.7, "no record of a measurement; benchmarks.trust judges it"
    )
    # factor of the clock up to which a similar robot may be meant
    similar_clock: float = threshold(1.8, "dynamic similarity: a robot three times as large")
    # systematic error over the torque of another robot, without a fault
    wrong_robot_error: float = threshold(
        0.2, "no record of a measurement; benchmarks.trust judges it"
    )
    # the same after faults were corrected
    wrong_robot_error_with_faults: float = threshold(
        0.15, "no record of a measurement; benchmarks.trust judges it"
    )
    # number of faults that are less likely than another robot
    most_faults: int = threshold(3, "convention: two faults are the most that are planted")
    # share of point-like bodies from which a description is a placeholder
    placeholder_share: float = threshold(0.5, "convention: half")
    # how many of a body's ten parameters a log must determine
    informed_numbers: float = threshold(0.5, "convention: half a parameter")
    # radius of gyration [m] below which an inertia is a placeholder
    placeholder_radius: float = threshold(0.005, "convention: no link of an arm is so thin")
    # ratio of errors that is reported
    notable_error_ratio: float = threshold(0.8, "convention")
    # delay [s] that `identify` estimates by itself
    handled_delay: float = threshold(0.1, "the longest delay that nuisance.torque_delay looks for")
    # largest probability that is reported
    largest_probability: float = threshold(0.99, "convention: no model is more certain")

    # -- Odds
    # log odds [nats] from which a fault is accepted
    decisive: float = threshold(3.0, "convention: a probability of 95 %")
    # prior log odds of a fault at one joint
    fault_odds: float = threshold(-4.0, "convention: one log in 50")
    # log odds from which a wrong distance between joints is accepted
    length_odds: float = threshold(
        10.0, "benchmarks.unseen, seeds 100 to 203: at most 4 with right lengths, 18 and more else"
    )
    # log odds of one further number
    number_odds: float = threshold(-2.0, "a number known to a tenth of its range after the samples")
    # prior standard deviation of the logarithm of a wrong gain
    gain_spread: float = threshold(1.5, "convention: a factor of 4.5 is one standard deviation")
    # prior standard deviation of the logarithm of a wrong clock
    clock_spread: float = threshold(1.0, "convention: a factor of 2.7 is one standard deviation")
    # prior standard deviation of the logarithm of a wrong distance between joints
    length_spread: float = threshold(0.25, "convention: a quarter, as a wrong digit or offset")
    # log odds of one factor for all torques over a factor for one joint
    unit_odds: float = threshold(2.0, "convention: units are wrong for a whole log")
    # evidence [nats] that a contradicted path of the search loses
    contradiction_cost: float = threshold(
        10.0, "no record of a measurement; benchmarks.trust judges it"
    )
    # evidence [nats] per independent row that an exchange of joints must gain
    least_exchange_gain: float = threshold(0.5, "the errors of both joints fall by a third")

    # -- Least sizes of faults
    # factor of one joint
    least_gain: float = threshold(
        1.15, "about half of the least gain planted in benchmarks.trust (1.3), as a logarithm"
    )
    # factor of all joints
    least_scale: float = threshold(
        1.4, "about half of the least scale planted in benchmarks.trust (2), as a logarithm"
    )
    # median factor [N m/A] of motor currents
    least_current_factor: float = threshold(
        2.0, "below half of the least factor planted in benchmarks.trust (5)"
    )
    # median factor [N m per unit] below which currents may be in mA
    milliampere_factor: float = threshold(0.1, "an ampere makes more than 1 N m at a joint")
    # delay [s]
    least_delay: float = threshold(
        0.014, "below the least delay planted in benchmarks.trust (20 ms)"
    )
    # largest delay [s] that is tried
    longest_delay: float = threshold(
        0.55, "above the largest delay planted in benchmarks.trust (0.5 s)"
    )
    # offset [rad] of a revolute joint
    least_offset: float = threshold(
        np.radians(2.5), "half of the least offset planted in benchmarks.trust (5 degrees)"
    )
    # offset [m] of a prismatic joint
    least_slide: float = threshold(
        0.025, "half of the least offset planted in benchmarks.trust (5 cm)"
    )
    # factor of the clock
    least_clock: float = threshold(1.2, "below the least factor planted in benchmarks.trust (2)")
    # largest factor of the clock, milliseconds apart
    largest_clock: float = threshold(
        10.0, "beyond it a motion shows gravity alone, which every clock explains"
    )
    # largest position from which positions may be degrees
    least_degrees: float = threshold(2 * np.pi, "one turn, if it were radians")
    # tilt [rad] of gravity
    least_tilt: float = threshold(
        np.radians(15.0), "half of the least tilt planted in benchmarks.trust (30 degrees)"
    )
    # share of a coupling in the torques of its joints
    least_coupling: float = threshold(
        0.1, "half of the least share planted in benchmarks.trust (20 %)"
    )

    # torque of a spring over the torque of its joint
    least_spring: float = threshold(0.03, "convention: a few percent, as noise of torques")
    # factor of a distance between joints
    least_length: float = threshold(
        1.1, "below half of the factor planted in benchmarks.unseen (1.25), as a logarithm"
    )

    # -- When a hypothesis is tried
    # error over the torque from which all families are tried
    doubtful_error: float = threshold(
        0.08, "no record of a measurement; benchmarks.trust judges it"
    )
    # weight of a body over its prior weight, below which all are tried
    doubtful_weight: float = threshold(
        0.15, "no record of a measurement; benchmarks.trust judges it"
    )
    # evidence [nats] of negative friction below which all are tried
    doubtful_friction: float = threshold(
        -4.0, "no record of a measurement; benchmarks.trust judges it"
    )
    # evidence [nats] that a joint's own gain must have over the median gain
    own_gain_evidence: float = threshold(3.0, "convention: as `decisive`")
    # evidence [nats] of a first gain below which it is not refined
    hopeless_gain: float = threshold(
        -60.0, "computing time; no record of a measurement; benchmarks.trust judges it"
    )
    # largest gain
    largest_gain: float = threshold(
        1e4, "numerical tolerance: larger ones come from torques that are nearly zero"
    )
    # how many gains are refined
    refined_gains: int = threshold(3, "computing time")
    # evidence [nats] that they must have before refinement
    refined_gain_evidence: float = threshold(3.0, "convention: as `decisive`")
    # evidence [nats] that the first step of an offset must predict
    offset_evidence: float = threshold(3.0, "convention: as `decisive`")
    # how many offsets are refined
    refined_offsets: int = threshold(3, "computing time")
    # factors of the clock that are tried first, milliseconds first
    clocks: tuple[float, ...] = threshold(
        (1e-3, 0.25, 0.4, 0.65, 1.5, 2.5, 4.0), "a factor of about 1.6 between neighbours"
    )
    # factors of the clock that are tried with another fault
    clocks_with_fault: tuple[float, ...] = threshold(
        (0.28, 0.45, 2.2, 3.5), "a factor of about 1.6 between neighbours"
    )
    # faults that a search accepts
    most_search_steps: int = threshold(6, "computing time: two are the most that are planted")
    # hypotheses that are tried first
    first_hypotheses: int = threshold(3, "computing time")
    # tilt [rad] of gravity from which it is tried
    smallest_tilt: float = threshold(np.radians(2.0), "computing time: far below `least_tilt`")
    # share of a squared residual from which a coupling is tried
    coupling_share: float = threshold(
        0.1, "computing time; no record of a measurement; benchmarks.trust judges it"
    )
    # share of a squared residual from which a spring is tried
    spring_residual: float = threshold(0.05, "computing time; benchmarks.unseen judges it")
    # hypotheses of each kind of structure that are tried
    tried_structures: int = threshold(2, "computing time")
    # distance between joints over the longest, below which its length is not tried
    short_distance: float = threshold(0.1, "convention: a tenth")
    # distances that are tried
    most_lengths: int = threshold(8, "computing time")
    # step of a length's factor that ends its estimation
    length_tolerance: float = threshold(0.01, "numerical tolerance")
    # Gauss-Newton steps of a length
    length_steps: int = threshold(4, "computing time")
    # largest factor of a length
    largest_length: float = threshold(3.0, "convention: such arms are other robots")
    # cut-offs [Hz] of torque filters that are tried
    filter_cutoffs: tuple[float, ...] = threshold(
        (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6), "a factor of 1.4 between neighbours"
    )
    # orders of these filters
    filter_orders: tuple[int, ...] = threshold((1, 2), "convention: drives use such filters")
    # frequency over the cut-off above which a filtered torque has little left
    stop_band: float = threshold(1.4, "numerical: half of the amplitude and less")
    # share of the predicted torque above the cut-off that makes a filter visible
    filtered_share: float = threshold(0.03, "convention: a few percent, as noise of torques")
    # ratio of errors with and without a filter, above which noise of accelerations explains it
    filtered_error_ratio: float = threshold(
        0.7, "benchmarks.unseen: at most 0.5 for filters of 1 Hz, 0.75 and more without one"
    )
    # share of the predicted torque in a band, below which a filter is tried
    passed_share: float = threshold(0.5, "convention: a half")
    # share of gravity that torques must show to have a direction
    least_gravity: float = threshold(0.05, "convention")
    # relative singular value below which a direction of gravity is not shown
    gravity_rank: float = threshold(0.02, "numerical tolerance")
    # parabolas of a line search
    parabolas: int = threshold(4, "computing time")
    # evidence [nats] that needs no further trial
    negligible_evidence: float = threshold(0.1, "far below `decisive`")
    # how far a line search goes in the logarithm of a factor
    farthest_step: float = threshold(4.0, "a factor of 55")

    # -- Evidence
    # shape of the gamma prior of a body's weight
    weight_shape: float = threshold(3.0, "convention: a relative standard deviation of 0.6")
    # prior torque of a joint term over the joint's torque
    joint_term_spread: float = threshold(3.0, "convention: weakly informative")
    # least noise of a joint over its torque
    least_noise: float = threshold(0.005, "judgement: no model of a real joint is better")
    # share of the torque by which friction and rotor inertia may seem negative
    friction_slack: float = threshold(
        0.02, "no record of a measurement; benchmarks.trust judges it"
    )
    # largest cost [nats] of each negative friction
    negative_friction_cost: float = threshold(
        -15.0, "no record of a measurement; benchmarks.trust judges it"
    )
    # iterations of the evidence
    evidence_steps: int = threshold(12, "computing time")
    # change of the logarithms of noise and weights that ends it
    evidence_tolerance: float = threshold(0.02, "numerical tolerance")
    # evidence [nats] below the start after each iteration that ends it
    hopeless_evidence: tuple[float, ...] = threshold(
        (np.inf, 300.0, 150.0, 80.0, 60.0),
        "computing time; no record of a measurement; benchmarks.trust judges it",
    )
    # evidence [nats] that a correction with singular equations loses
    singular_cost: float = threshold(1e6, "numerical: far above every other evidence")
    # how many times its last growth the evidence may still grow
    evidence_growth: float = threshold(
        10.0, "computing time; no record of a measurement; benchmarks.trust judges it"
    )
    # corrected torques of one joint that are cached
    cached_torques: int = threshold(500, "memory: 6 MB")
    # rms speed [rad/s|m/s] below which a joint hardly moves
    slow_joint: float = threshold(0.05, "convention")
    # consecutive parts of a log for held-out errors
    folds: int = threshold(5, "convention: 5-fold cross-validation")
    # blocks on which the gain of a fault is measured
    held_out_blocks: int = threshold(8, "convention: blocks of a few periods of the motion")
    # share of the blocks whose error a fault must lower
    held_out_share: float = threshold(0.75, "convention: most of the blocks")
    # share of the blocks whose error a wrong length must lower
    positive_share: float = threshold(0.5, "convention: half")
    # logarithm of the ratio of held-out errors that a fault must gain
    held_out_gain: float = threshold(
        0.05, "5 %; faults of twice the least size gain 0.12 or more on a simulated arm"
    )
    # widths of smooth friction steps over the rms speed
    friction_widths: tuple[float, ...] = threshold(
        (0.03, 0.3), "no record of a measurement; benchmarks.trust judges it"
    )
    # prior weight of a body of the description
    description_weight: float = threshold(30.0, "a description right to about a fifth of its size")
    # prior weights of a description of unknown accuracy
    description_weights: tuple[float, ...] = threshold(
        (30.0, 10.0), "convention: right to a fifth or to a third of its size"
    )
    # prior weight of a placeholder
    placeholder_weight: float = threshold(1e-4, "next to nothing")

    # -- Thinned log
    # rows of the thinned log
    most_rows: int = threshold(1500, "computing time: a few milliseconds for each trial")
    # windows into which the rows of a long log are divided
    log_windows: int = threshold(16, "convention")
    # rows of a stretch without gaps
    least_stretch: int = threshold(8, "convention")
    # share of the samples in which a joint moves, below which its rest counts as well
    least_moving_share: float = threshold(0.02, "convention: a fiftieth")
    # rows within a period of the fastest motion
    rows_per_period: float = threshold(
        50.0, "reversals of friction must not be smeared over many rows"
    )
    # frequency of model errors over the frequency of the motion
    model_error_band: float = threshold(3.0, "the third harmonic")
    # cut-off over half of the sampling rate up to which signals are filtered
    widest_band: float = threshold(0.8, "numerical: filters near the Nyquist frequency ring")
    # order of the low-pass filter
    band_order: int = threshold(4, "convention")
    # ratio of errors within the band of model errors to all errors, below which it is used
    band_error_ratio: float = threshold(
        0.75, "half of the double pendulums (design A); others keep 0.8 or more"
    )

    @property
    def needed(self) -> float:
        """Evidence [nats] that a usual fault must have."""
        return self.decisive - self.fault_odds


THRESHOLDS = DoctorThresholds()
