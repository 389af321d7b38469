"""Motions of joints: trajectories with exact derivatives."""

from .trajectories.fourier import Fourier
from .trajectories.point_to_point import point_to_point
from .trajectories.spline import spline
from .trajectories.trajectory import Trajectory

__all__ = ["Fourier", "Trajectory", "point_to_point", "spline"]
