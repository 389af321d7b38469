"""Motion and measurements without a robot: simulation, controllers, drives, perturbed robots, sensor models, synthetic logs."""

from .controllers import PD, ComputedTorque, FeedForward, SlotineLi
from .drives import Elastic, Motor, Stops
from .perturbed import perturbed
from .record import record
from .run import Run
from .sensors import Sensors
from .simulate import simulate
from .task_controllers import Impedance, OperationalSpace

__all__ = [
    "PD",
    "ComputedTorque",
    "Elastic",
    "FeedForward",
    "Impedance",
    "Motor",
    "OperationalSpace",
    "Run",
    "Sensors",
    "SlotineLi",
    "Stops",
    "perturbed",
    "record",
    "simulate",
]
