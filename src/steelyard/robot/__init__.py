"""What a user holds: a robot, whose every method is one compiled kernel.

Arrays are float64, batch dimensions first: q, qd, qdd, tau are (..., n). Every method that computes takes `out=`; those that depend on the
dynamic parameters take `parameters=` (..., p), which then stand in place of the robot's own, for a whole batch of robots at once.
"""

from __future__ import annotations

import os

from ..mechanism import load as load_mechanism
from .dynamics import Dynamics
from .edits import Edits
from .files import Files
from .kinematics import Kinematics
from .structure import Structure

__all__ = ["Robot", "load"]


class Robot(Dynamics, Structure, Kinematics, Edits, Files):
    """A mechanism with its kernels. Immutable: edits return new robots. Equal mechanisms share their kernels."""


def load(source: str | os.PathLike[str]) -> Robot:
    """A robot from a .urdf, .xml (MJCF), .toml (DH table) or .xacro file, or a built-in one by name (`robots()` lists them)."""
    return Robot(load_mechanism(source))
