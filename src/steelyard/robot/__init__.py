"""Robots: every method of a `Robot` is one compiled kernel.

Arrays are float64, batch dimensions first: q, qd, qdd, tau are (..., n). Every method that computes
takes `out=`. Methods that depend on the dynamic parameters take `parameters=` (..., p), which
replace the robot's own, for a whole batch of robots at once.
"""

from __future__ import annotations

import os

from ..kernels import ALGORITHMS
from ..mechanism import load as load_mechanism
from .bridges import BridgeMethods
from .control_loop import ControlLoopMethods
from .dynamics import DynamicsMethods
from .edits import EditMethods
from .momentum import MomentumMethods
from .moving_base import BaseMotionMethods
from .operational_space import OperationalSpaceMethods
from .pictures import PictureMethods
from .regressors import RegressorMethods
from .single_call import with_fast_path

__all__ = ["Robot", "load"]


class _General(
    DynamicsMethods,
    MomentumMethods,
    RegressorMethods,
    OperationalSpaceMethods,
    BaseMotionMethods,
    ControlLoopMethods,
    EditMethods,
    PictureMethods,
    BridgeMethods,
):
    """All methods of a robot, without the fast path of single calls."""


SINGLE_CALLS = {name: name for name in ALGORITHMS if hasattr(_General, name)} | {
    "slotine_li_torque": "slotine_li"
}


@with_fast_path(SINGLE_CALLS)
class Robot(_General):
    """A robot: a mechanism with its compiled kernels.

    Immutable: edits return new robots. Equal mechanisms share their kernels.

    Examples
    --------
    >>> robot = sy.load("puma560")
    >>> robot.n, robot.joint_names[:2], robot.parameters.shape
    (6, ('joint1', 'joint2'), (84,))
    """


def load(source: str | os.PathLike[str]) -> Robot:
    """Load a robot from a description, or a known robot by name (`robots()` lists them).

    A name without an ending means the built-in robot where there is one, also where a file of that
    name lies in the folder. "built-in/panda", "example-robot-data/panda" and
    "robot_descriptions/panda_description" name one package; the last one downloads its files.

    Parameters
    ----------
    source : path of a .urdf, .xml (MJCF), .toml or .xacro file, the text of a URDF or MJCF file (a
        string that starts with "<"), or the name of a known robot.

    Returns
    -------
    A `Robot`.

    Examples
    --------
    >>> sy.load("puma560")
    Robot('puma560', n=6, 84 parameters)
    """
    return Robot(load_mechanism(source))
