"""Motions of joints: trajectories with exact derivatives."""

from .trajectories.fourier import Fourier
from .trajectories.trajectory import Trajectory

__all__ = ["Fourier", "Trajectory"]
