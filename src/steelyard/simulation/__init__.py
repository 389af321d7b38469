"""Simulation: controllers, drives, integrators, sensor models and synthetic logs."""

from .controllers.joint_space import PD, ComputedTorque, FeedForward, SlotineLi
from .controllers.task_space import Impedance, OperationalSpace
from .drives import Elastic, Motor, Stops
from .measurement.record import record
from .measurement.sensors import Sensors
from .options import SimulationOptions
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
    "SimulationOptions",
    "SlotineLi",
    "Stops",
    "perturbed",
    "record",
    "run_gradient",
    "sensitivities",
    "simulate",
]
