"""Motions of joints and of frames: trajectories with exact derivatives."""

from .collision.walls import HalfSpace
from .trajectories.cartesian import PoseTrajectory, arc, follow, line
from .trajectories.fourier import Fourier
from .trajectories.point_to_point import point_to_point
from .trajectories.time_optimal import time_optimal
from .trajectories.trajectory import Trajectory, spline

__all__ = [
    "Fourier",
    "HalfSpace",
    "PoseTrajectory",
    "Trajectory",
    "arc",
    "follow",
    "line",
    "point_to_point",
    "spline",
    "time_optimal",
]
