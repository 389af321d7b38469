"""Thresholds of trajectories, their limits and their checks."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class TrajectoryThresholds:
    """Thresholds of trajectories; the metadata `chosen` says how each was chosen."""

    # -- Limits
    # speed [rad/s] of a revolute joint that states none
    revolute_speed: float = threshold(2.0, "convention: not measured")
    # speed [m/s] of a prismatic joint that states none
    prismatic_speed: float = threshold(0.5, "convention: not measured")
    # time [s] in which a joint reaches its velocity where no acceleration is stated
    ramp_time: float = threshold(0.5, "convention: not measured")

    # -- Checks of a motion
    # rate [Hz] at which limits are checked
    limit_rate: float = threshold(1000.0, "convention: not measured")
    # rate [Hz] of the intervals that distances begin with
    distance_rate: float = threshold(250.0, "computing time")
    # relative excess of a limit that is rounding
    limit_tolerance: float = threshold(1e-9, "numerical tolerance")
    # change [rad|m] in 1 ms that velocities do not explain
    position_step: float = threshold(1e-5, "no record of a measurement")
    # change [rad/s|m/s] in 1 ms that accelerations do not explain
    velocity_step: float = threshold(1e-3, "no record of a measurement")

    # -- Certificates
    # intervals of a period per detail of the motion, before any is halved
    certificate_intervals: int = threshold(32, "computing time")
    # times that an interval is halved
    certificate_halvings: int = threshold(14, "computing time")
    # bound over the limit below which it is not made tighter
    ample_bound: float = threshold(0.98, "computing time")
    # relative excess of a limit that is rounding
    certificate_tolerance: float = threshold(1e-9, "numerical tolerance")

    # -- Fourier series and splines
    # samples of a period per harmonic
    coarse_harmonic_samples: int = threshold(32, "bounds are at most 0.5 % too wide")
    # the same for narrow bounds
    fine_harmonic_samples: int = threshold(256, "bounds are at most 0.01 % too wide")
    # parts of a piece on which bounds are computed
    coarse_piece_parts: int = threshold(4, "computing time")
    # the same for narrow bounds
    fine_piece_parts: int = threshold(16, "computing time")

    # -- Cartesian paths
    # error [m|rad] of a pose that is reached
    pose_error: float = threshold(1e-10, "numerical tolerance")
    # singular value [m|rad per rad|m] below which the damping sets in
    path_singular: float = threshold(1e-5, "a path is followed exactly, or not at all")
    # damping at a singularity
    path_damping: float = threshold(1e-5, "a path is followed exactly, or not at all")
    # Newton steps
    pose_steps: int = threshold(20, "computing time")
    # difference of R R^T from the identity
    rotation_error: float = threshold(1e-6, "numerical tolerance: rounding of the input")

    # -- Point to point
    # share of the time of each ramp where no acceleration limit decides
    ramp_share: float = threshold(1 / 3, "convention: three equal parts")
    # time [s] of a motion of no length
    shortest_time: float = threshold(1e-9, "numerical tolerance")

    # -- Time-optimal motions
    # distance [rad|m] from which a further point of a path counts
    least_distance: float = threshold(1e-9, "numerical tolerance")
    # speed [1/s] along the path at which Coulomb friction has its sign
    slow_path_speed: float = threshold(1e-6, "numerical tolerance")
    # rounds of friction that depends on the speed
    friction_rounds: int = threshold(6, "computing time")
    # rounds in which limits are lowered until they hold between grid points
    lowering_rounds: int = threshold(16, "computing time")
    # the first of them, interval by interval
    local_rounds: int = threshold(6, "computing time")
    # reduction of a limit over its excess
    lowering_factor: float = threshold(1.5, "computing time: few rounds are needed")
    # least reduction of a limit in the first round, doubled in each
    least_lowering: float = threshold(1e-7, "numerical tolerance")
    # relative excess of a limit that is rounding
    excess_rounding: float = threshold(1e-9, "numerical tolerance")
    # speed [1/s] along the path at rest, so that Coulomb friction has its sign
    resting_path_speed: float = threshold(1e-12, "numerical tolerance")
    # parts of an interval of the grid over which torques are bounded; the second where one does not
    # suffice
    bounded_parts: tuple[int, int] = threshold((1, 64), "computing time")
    # coefficient of u over the largest one that is zero
    zero_coefficient: float = threshold(1e-12, "numerical tolerance")
    # difference of gradients that is zero
    parallel_gradient: float = threshold(1e-14, "numerical tolerance")
    # intervals whose pairs of lines are compared at once
    compared_intervals: int = threshold(32, "computing time: they stay in the processor's cache")
    # contradiction of parallel bounds that is rounding
    contradiction_rounding: float = threshold(1e-9, "numerical tolerance")

    # -- Samples
    # difference [rad|m] of a straight line between samples from the motion that is reported
    interpolation_error: float = threshold(0.01, "convention: not measured")


THRESHOLDS = TrajectoryThresholds()
