"""Motions worth making: trajectories with exact derivatives, and which of them show a robot's parameters."""

from .excite import excite
from .fourier import Fourier
from .trajectory import Trajectory

__all__ = ["Fourier", "Trajectory", "excite"]
