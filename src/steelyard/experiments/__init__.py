"""What is built on an identification: excitation, rehearsals on a simulated robot, payloads, and the calibration of kinematics."""

from .excitation.excite import excite
from .kinematic_calibration import Calibration, calibrate
from .loads.payload import PayloadEstimate, payload
from .loads.static_poses import StaticPoses, static_poses

__all__ = ["Calibration", "PayloadEstimate", "StaticPoses", "calibrate", "excite", "payload", "static_poses"]
