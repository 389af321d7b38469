"""What is built on an identification: excitation, rehearsals on a simulated robot, and the calibration of kinematics."""

from .excitation.excite import excite
from .kinematic_calibration import Calibration, calibrate

__all__ = ["Calibration", "calibrate", "excite"]
