"""Motion and measurements without a robot: simulation, controllers, drives, perturbed robots, sensor models, synthetic logs."""

from ..documented import documented
from .controllers.joint_space import PD, ComputedTorque, FeedForward, SlotineLi
from .controllers.task_space import Impedance, OperationalSpace
from .drives import Elastic, Motor, Stops
from .measurement.record import record
from .measurement.sensors import Sensors
from .perturbed import perturbed
from .run import Run
from .sensitivities import run_gradient, sensitivities
from .simulate import simulate

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
    "run_gradient",
    "sensitivities",
    "simulate",
]

for _public in (Run, Sensors, perturbed, record, simulate):
    documented(_public)
