"""The immutable description of a robot: links, joints, gravity; read from and written to files, edited, reduced to moving bodies."""

from .load import load, robots
from .model import Friction, Joint, Limits, Link, Mechanism, Mimic
from .reduce import reduce
from .tree import Body, Frame, Tree

__all__ = ["Body", "Frame", "Friction", "Joint", "Limits", "Link", "Mechanism", "Mimic", "Tree", "load", "reduce", "robots"]
