"""Velocities and accelerations from measured positions."""

from .kalman import Smoother
from .motion_model import Noise
from .smoothed import Smoothed, butterworth, smooth

__all__ = ["Noise", "Smoothed", "Smoother", "butterworth", "smooth"]
