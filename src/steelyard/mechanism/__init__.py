"""Immutable description of a robot: links, joints, gravity; files, edits, reduction to bodies."""

from .joint_terms import COUPLING_TERMS, JOINT_TERMS, JointTerm, Terms
from .load import load, robots
from .model import Coupling, Joint, Limits, Link, Mechanism, Mimic
from .reduce import reduce
from .tree import Body, Frame, Tree

__all__ = [
    "Body",
    "COUPLING_TERMS",
    "Coupling",
    "Frame",
    "JOINT_TERMS",
    "Joint",
    "JointTerm",
    "Limits",
    "Link",
    "Mechanism",
    "Mimic",
    "Terms",
    "Tree",
    "load",
    "reduce",
    "robots",
]
