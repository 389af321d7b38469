"""What a user holds: a robot, whose every method is one compiled kernel.

Arrays are float64, batch dimensions first: q, qd, qdd, tau are (..., n). Every method that computes takes `out=`; those that depend on the
dynamic parameters take `parameters=` (..., p), which then stand in place of the robot's own, for a whole batch of robots at once.
"""

from __future__ import annotations

import os

from ..documented import documented
from ..kernels import ALGORITHMS
from ..kernels.algorithms import described_outputs
from ..mechanism import load as load_mechanism
from .bridges import Bridges
from .control_loop import ControlLoop
from .dynamics import Dynamics
from .edits import Edits
from .momentum import Momentum
from .moving_base import MovingBase
from .operational_space import OperationalSpace
from .pictures import Pictures
from .regressors import Regressors
from .single_call import with_straight_path

__all__ = ["Robot", "load"]


class _General(Dynamics, Momentum, Regressors, OperationalSpace, MovingBase, ControlLoop, Edits, Pictures, Bridges):
    """All methods, in their general form."""


RESULTS = {name: described_outputs(algorithm) for name, algorithm in ALGORITHMS.items()}
RESULTS["slotine_li_torque"] = RESULTS["slotine_li"]
for _part in _General.__mro__[:-1]:
    documented(_part, RESULTS)
SINGLE_CALLS = {name: name for name in ALGORITHMS if hasattr(_General, name)} | {"slotine_li_torque": "slotine_li"}


@with_straight_path(SINGLE_CALLS)
class Robot(_General):
    """A mechanism with its kernels. Immutable: edits return new robots. Equal mechanisms share their kernels.

    Example:
        >>> robot = sy.load("puma560")
        >>> robot.n, robot.joint_names[:2], robot.parameters.shape
        (6, ('joint1', 'joint2'), (84,))
    """


def load(source: str | os.PathLike[str]) -> Robot:
    """A robot from a .urdf, .xml (MJCF), .toml (DH table) or .xacro file, or a built-in one by name (`robots()` lists them).

    Example:
        >>> sy.load("puma560")
        Robot('puma560', n=6, 84 parameters)
    """
    return Robot(load_mechanism(source))
