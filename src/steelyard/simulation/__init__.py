"""Motion and measurements without a robot: simulation, controllers, perturbed robots, sensor models, synthetic logs."""

from .controllers import PD, ComputedTorque, FeedForward
from .perturbed import perturbed
from .record import record
from .run import Run
from .sensors import Sensors
from .simulate import simulate

__all__ = ["PD", "ComputedTorque", "FeedForward", "Run", "Sensors", "perturbed", "record", "simulate"]
