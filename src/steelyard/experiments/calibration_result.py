"""The result of a kinematic calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..robot import Robot
from .experiment_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KinematicCalibration:
    """The result of a kinematic calibration: corrected robot, base, tool and corrections.

    `robot` is the corrected robot; `base` and `tool` are poses (4, 4) of the robot in the
    measuring device's frame and of the target on the frame.

    `tolerance` [m] is the assumed tolerance of the description; `outliers` are the numbers of
    measurements far off all others. `names` are joint and axis, such as joint3.rx; `corrections`
    and `std` (k,) are [m] and [rad], std infinite where the measurements hold less than 1 % of the
    information. `before` and `after` are rms deviations (position [m], turn [rad]; 0 for points),
    `before` with the best base and tool for the robot as described.

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> q = np.random.default_rng(0).uniform(-1, 1, (30, 6))
    >>> calibration = sy.calibrate(robot, q, robot.forward_kinematics(q))
    >>> len(calibration.names) == len(calibration.std)
    True
    """

    robot: Robot
    base: Array
    tool: Array
    names: tuple[str, ...]
    corrections: Array
    std: Array
    before: tuple[float, float]
    after: tuple[float, float]
    tolerance: float
    converged: bool
    outliers: tuple[int, ...] = ()

    @property
    def status(self) -> str:
        """The outcome in a sentence."""
        shown = int(np.isfinite(self.std).sum())
        reached = (
            "" if self.converged else f"not converged after {THRESHOLDS.calibration_steps} steps: "
        )
        if self.outliers:
            listed = ", ".join(map(str, self.outliers[:5])) + (
                ", ..." if len(self.outliers) > 5 else ""
            )
            reached += (
                f"{len(self.outliers)} measurements are outliers ({listed}): check them, and leave"
                " them out; "
            )
        if self.after[0] > THRESHOLDS.refused_tolerances * self.tolerance:
            times = f"{self.after[0] / self.tolerance:.0f} times the tolerance of a joint"
            reached += f"the residual is {times}: check units, joint order and frame; "
        turn = f" and {self.before[1]:.2g} to {self.after[1]:.2g} rad" if self.before[1] else ""
        return (
            f"{reached}the RMS deviation was reduced from {1e3 * self.before[0]:.3g} to"
            f" {1e3 * self.after[0]:.3g} mm{turn}; {shown} of {len(self.names)} corrections are"
            " identified, the others stay near the description"
        )
