"""What is built on an identification: excitation, rehearsals, payloads, robots watched at work, fleets, calibrated kinematics."""

from ..documented import documented
from . import datasets
from .calibration_result import Calibration
from .excitation.excite import excite
from .fleet.fleet import Fleet
from .fleet.identify_fleet import identify_fleet
from .kinematic_calibration import calibrate
from .loads.payload import PayloadEstimate, payload
from .loads.static_poses import StaticPoses, static_poses
from .online.collision_observer import CollisionObserver
from .online.online_identifier import OnlineIdentifier
from .online.watch import Sample, watch

__all__ = [
    "Calibration",
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

for _public in (
    CollisionObserver,
    Fleet,
    OnlineIdentifier,
    PayloadEstimate,
    calibrate,
    excite,
    identify_fleet,
    payload,
    static_poses,
    watch,
):
    documented(_public)
