"""Experiments built on identification.

Excitation, rehearsals, payloads, online monitoring, fleets and kinematic calibration.
"""

from . import datasets
from .calibration_result import KinematicCalibration
from .excitation.excite import excite
from .fleet.fleet import Fleet
from .fleet.identify_fleet import identify_fleet
from .kinematic_calibration import calibrate
from .online.collision_observer import CollisionObserver
from .online.online_identifier import OnlineIdentifier
from .online.watch import Sample, watch
from .payload_identification.payload import PayloadEstimate, payload
from .payload_identification.static_poses import StaticPoses, static_poses

__all__ = [
    "KinematicCalibration",
    "CollisionObserver",
    "Fleet",
    "OnlineIdentifier",
    "PayloadEstimate",
    "Sample",
    "StaticPoses",
    "calibrate",
    "datasets",
    "excite",
    "identify_fleet",
    "payload",
    "static_poses",
    "watch",
]
