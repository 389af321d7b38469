"""Thresholds of payload identification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...threshold import threshold


@dataclass(frozen=True)
class PayloadThresholds:
    """Thresholds of payloads; the metadata `chosen` says how each was chosen."""

    # -- Verdict
    # standard deviations of the mass below zero from which the loaded robot is the lighter one
    lighter_deviations: float = threshold(3.0, "convention: three standard deviations")
    # relative error of the torque with the load from which it is refused
    refused_error: float = threshold(0.5, "convention: half of the torque")
    # error with the load over the error without it, from which it is doubtful
    doubtful_error_ratio: float = threshold(2.0, "convention: twice")
    # relative error up to which nothing is doubtful, for any error without the load
    small_error: float = threshold(1e-3, "convention: not measured")
    # relative standard deviation of the mass from which it is doubtful
    doubtful_mass_deviation: float = threshold(0.1, "convention: a tenth")

    # -- Load
    # rounds of weighting the joints by their residuals
    weighting_rounds: int = threshold(6, "convention: not measured")
    # typical distance [m] of a load's mass from its centre
    gyration_radius: float = threshold(0.1, "convention: not measured")
    # mass [kg] to which uncertainties of lighter loads are compared
    compared_mass: float = threshold(1.0, "convention")
    # prior standard deviation over the typical size
    prior_spread: float = threshold(10.0, "convention: weakly informative")
    # relative error of a load's torque at a joint over the relative model error of the joint
    load_error_share: float = threshold(
        0.3, "coverage of loads in simulated LuGre friction of which 0 to 5 % grows with the torque"
    )
    # density [kg/m3] of the ball whose inertia a load has where the samples show none
    density: float = threshold(2000.0, "convention: not measured")
    # least eigenvalue of the pseudo-inertia over the typical size
    least_eigenvalue: float = threshold(1e-6, "numerical tolerance")
    # least noise over the torque
    least_noise: float = threshold(1e-8, "numerical tolerance: rounding of the torque")
    # standard deviations of the mass above zero that are a load
    load_deviations: float = threshold(2.0, "convention: two standard deviations")
    # mass [kg] below which a load has no centre
    lightest_load: float = threshold(1e-6, "numerical tolerance")

    # -- Static segments
    # time [s] on either side over which a velocity is computed
    velocity_window: float = threshold(0.1, "no record of a measurement")
    # speed [rad/s|m/s] up to which a joint rests
    resting_speed: float = threshold(2e-3, "no record of a measurement")
    # time [s] at the start of a rest that is left out
    settling_time: float = threshold(0.1, "no record of a measurement")
    # interval [s] between samples from which each is a pose
    separate_interval: float = threshold(0.5, "convention: half a second")
    # motion [rad|m] of a joint that shows its side
    least_approach: float = threshold(1e-4, "convention: not measured")
    # time [s] before a rest at which a joint shows from which side it comes
    approach_time: float = threshold(0.3, "no record of a measurement")
    # poses of a log
    least_poses: int = threshold(3, "convention: not measured")

    # -- Choice of poses
    # random poses that are compared
    candidate_poses: int = threshold(4000, "computing time")
    # draws of so many candidates until enough are clear
    candidate_draws: int = threshold(3, "computing time")
    # range [rad] of a joint without limits, to either side
    free_range: float = threshold(np.pi, "convention: half a turn")
    # least eigenvalue of the information on mass and centre over the largest one
    least_information: float = threshold(1e-6, "numerical tolerance")
    # mass [kg] and first moments [kg m] of a load of 1 kg, by which they are compared
    load_sizes: tuple[float, ...] = threshold(
        (1.0, 0.1, 0.1, 0.1), "convention: as `gyration_radius`"
    )
    # distance [m] beyond the least ones while poses are chosen
    pose_reserve: float = threshold(0.02, "no record of a measurement")
    # positions of a straight way that are checked while poses are chosen
    way_positions: int = threshold(24, "computing time")
    # positions that are checked at once
    block_positions: int = threshold(4000, "memory")


THRESHOLDS = PayloadThresholds()
