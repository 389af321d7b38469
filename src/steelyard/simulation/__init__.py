"""Measurements without a robot: perturbed robots, sensor models, synthetic logs."""

from .perturbed import perturbed
from .record import record
from .sensors import Sensors

__all__ = ["Sensors", "perturbed", "record"]
