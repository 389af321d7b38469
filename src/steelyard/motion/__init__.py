"""Motions of joints and of frames: trajectories with exact derivatives."""

from ..documented import documented
from .collision.walls import HalfSpace
from .trajectories.cartesian import PoseTrajectory, arc, follow, line
from .trajectories.fourier import Fourier
from .trajectories.point_to_point import point_to_point
from .trajectories.time_optimal import time_optimal
from .trajectories.trajectory import Trajectory, spline

__all__ = ["Fourier", "HalfSpace", "PoseTrajectory", "Trajectory", "arc", "follow", "line", "point_to_point", "spline", "time_optimal"]

documented(
    Trajectory,
    arguments={
        "Trajectory.t": "(N,) times [s]",
        "Trajectory.q": "(N, n) positions [rad|m]",
        "Trajectory.qd": "(N, n) velocities [rad/s|m/s]",
        "Trajectory.qdd": "(N, n) accelerations [rad/s2|m/s2]",
        "Trajectory.motion": "function of times that gives q, qd and qdd there",
        "Trajectory.joint_names": "names of the joints",
        "Trajectory.excitation": "what to expect of an identification from it, None unless `excite` made it",
        "Trajectory.sliding": "names of joints that slide",
    },
)
