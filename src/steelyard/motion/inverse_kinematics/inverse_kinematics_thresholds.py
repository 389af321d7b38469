"""Thresholds of inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class InverseKinematicsThresholds:
    """Thresholds of inverse kinematics; the metadata `chosen` says how each was chosen."""

    # -- Geometry of an arm
    # distance [m] or angle [rad] within which axes meet or are parallel
    axis_tolerance: float = threshold(1e-9, "numerical tolerance")
    # difference of a component from a whole number that is rounding
    zero_component: float = threshold(1e-13, "numerical tolerance")
    # angle [rad] within which a rotation is meant to be a right angle
    rounded_angle: float = threshold(3e-4, "1.571, as files write it, is one")
    # distance [rad|m] by which a position may pass its limit
    limit_rounding: float = threshold(1e-9, "numerical tolerance")
    # distance [m] or angle [rad] to an axis, or beyond the reach, that is zero
    axis_distance: float = threshold(1e-11, "numerical tolerance")
    # difference of the cosines of two solutions from 1 up to which they are one
    double_solution: float = threshold(1e-14, "numerical tolerance: rounding")
    # error [m|rad] within which an arm of fewer than six joints reaches a pose
    reached_error: float = threshold(1e-9, "numerical tolerance")

    # -- Redundant arms
    # positions of a free joint that are tried where none is given
    free_positions: int = threshold(33, "computing time")

    # -- Poses
    # difference of a matrix from a pose
    pose_tolerance: float = threshold(1e-6, "numerical tolerance: rounding of the input")
    # rounds and steps for poses that are out of reach
    nearest_effort: tuple[int, int] = threshold((12, 60), "computing time")

    # -- Calls
    # scalars of poses up to which one thread is faster
    single_thread_scalars: int = threshold(512, "computing time")
    # robots whose problem is in memory
    cached_problems: int = threshold(64, "memory")

    # -- Numerical solution
    # error [m|rad] within which a pose is reached
    accuracy: float = threshold(1e-9, "numerical tolerance")
    # steps from one start
    steps: int = threshold(16, "computing time")
    # rounds of starts for a pose that may be in reach
    rounds: int = threshold(60, "computing time")
    # random positions of which a round starts at the nearest
    tried_positions: int = threshold(64, "computing time")
    # starts in a round where few poses are open
    parallel_starts: int = threshold(256, "computing time")
    # poses that are solved together
    chunk_poses: int = threshold(16384, "memory")
    # steps from a solution of an arm that is nearly the same
    polishing_steps: int = threshold(8, "computing time")
    # steps towards the preferred position
    preference_steps: int = threshold(30, "computing time")
    # share of the way of each of them
    preference_gain: float = threshold(0.25, "no record of a measurement")
    # share of converged poses from which they leave the batch
    leaving_share: float = threshold(0.2, "computing time")
    # longest step [rad|m] of a joint
    longest_step: float = threshold(1.0, "convention: not measured")
    # damping over the square of the error
    error_damping: float = threshold(0.02, "no record of a measurement")
    # least damping
    least_damping: float = threshold(1e-14, "numerical tolerance")
    # weight of closures beside the pose
    closure_weight: float = threshold(
        30.0, "judgement: the nearest position to a pose out of reach is nearly closed"
    )
    # weight [m2] of rotations beside distances where starts are compared
    rotation_weight: float = threshold(0.3, "no record of a measurement")

    # -- Velocities
    # singular value [m|rad per rad|m] of the Jacobian below which the damping sets in
    singular_value: float = threshold(0.02, "convention: not measured")
    # damping at a singularity
    damping: float = threshold(0.05, "convention: not measured")


THRESHOLDS = InverseKinematicsThresholds()
