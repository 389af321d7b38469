"""The robots and what is claimed of them.

How many times faster than Pinocchio, and how long the first answer may take.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from steelyard.errors import needs_extra

ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}

# (robot, kernel): at least this many times faster than Pinocchio in the same run, one thread
FASTER = {
    ("ur5", "inverse_dynamics"): 50.0,
    ("xarm7", "inverse_dynamics"): 33.0,
    ("ur5", "forward_dynamics"): 25.0,
    ("xarm7", "forward_dynamics"): 18.0,
    **{
        (robot, kernel): 20.0
        for robot in ("ur5", "xarm7")
        for kernel in ("mass_matrix", "coriolis_matrix")
    },
    **{(robot, "regressor"): 10.0 for robot in ("ur5", "xarm7")},
    **{("ur5", f"{kernel}_dynamics_derivatives"): 20.0 for kernel in ("inverse", "forward")},
    **{(robot, "inverse_dynamics, one call"): 1.0 for robot in ("ur5", "xarm7")},
    **{(robot, "inverse_dynamics, 2 threads"): 1.7 for robot in ("ur5", "xarm7")},
}

# (robot, kernel): seconds that the first call of a new robot may take
COMPILED_WITHIN = {
    ("xarm7", "inverse_dynamics"): 0.5,
    ("talos", "inverse_dynamics"): 3.0,
    ("talos", "regressor"): 20.0,
}


def urdf(robot: str) -> str:
    """The file of a robot that example-robot-data installs."""
    try:
        installed = distribution("example-robot-data")
    except PackageNotFoundError:
        raise needs_extra("example-robot-data", "test", "the benchmark") from None
    return str(
        Path(str(installed.locate_file("cmeel.prefix/share/example-robot-data/robots")))
        / ROBOTS[robot]
    )
