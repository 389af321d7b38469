"""steelyard: the dynamics of robot manipulators, and their identification from logs."""

from typing import TYPE_CHECKING, Any

from .errors import (
    CallError,
    LogError,
    MissingExtra,
    ModelError,
    ProblemError,
    SteelyardError,
    SteelyardWarning,
)
from .version import __version__

if TYPE_CHECKING:
    from .checks.laws import check
    from .compiler.progress import compile_progress
    from .compiler.runtime.threads import threads
    from .experiments import (
        CollisionObserver,
        Fleet,
        KinematicCalibration,
        OnlineIdentifier,
        PayloadEstimate,
        calibrate,
        datasets,
        excite,
        identify_fleet,
        payload,
        static_poses,
        watch,
    )
    from .identification import Coupling, Fit, Validation, doctor, identify
    from .mechanism import robots
    from .motion import Trajectory
    from .motion.inverse_kinematics.rates import joint_acceleration, joint_velocity
    from .motion.inverse_kinematics.solve import inverse_kinematics
    from .motion.poses import (
        joints_from_degrees,
        joints_to_degrees,
        pose_from_quaternion,
        pose_from_rpy,
        pose_to_quaternion,
        pose_to_rpy,
    )
    from .parameters.base import base_parameters
    from .reporting import report
    from .resource_limits import reading_limits
    from .robot import Robot, load
    from .signals import Log, LogFile, Payload, find_logs, read_log
    from .simulation import Run, Sensors, perturbed, record, simulate

# public name -> module that has it; imported when first asked for, so that `import steelyard` stays
# light
_HOMES = {
    "Robot": "robot",
    "load": "robot",
    "robots": "mechanism",
    "compile_progress": "compiler.progress",
    "threads": "compiler.runtime.threads",
    "check": "checks.laws",
    "base_parameters": "parameters.base",
    "identify": "identification",
    "Fit": "identification",
    "Validation": "identification",
    "Coupling": "identification",
    "doctor": "identification",
    "Log": "signals",
    "LogFile": "signals",
    "Payload": "signals",
    "find_logs": "signals",
    "read_log": "signals",
    "Trajectory": "motion",
    "inverse_kinematics": "motion.inverse_kinematics.solve",
    "joint_velocity": "motion.inverse_kinematics.rates",
    "joint_acceleration": "motion.inverse_kinematics.rates",
    "joints_from_degrees": "motion.poses",
    "joints_to_degrees": "motion.poses",
    "pose_from_quaternion": "motion.poses",
    "pose_from_rpy": "motion.poses",
    "pose_to_quaternion": "motion.poses",
    "pose_to_rpy": "motion.poses",
    "excite": "experiments",
    "calibrate": "experiments",
    "datasets": "experiments",
    "KinematicCalibration": "experiments",
    "payload": "experiments",
    "PayloadEstimate": "experiments",
    "OnlineIdentifier": "experiments",
    "Fleet": "experiments",
    "identify_fleet": "experiments",
    "CollisionObserver": "experiments",
    "static_poses": "experiments",
    "watch": "experiments",
    "Sensors": "simulation",
    "perturbed": "simulation",
    "record": "simulation",
    "Run": "simulation",
    "simulate": "simulation",
    "report": "reporting",
    "reading_limits": "resource_limits",
}

__all__ = [
    "KinematicCalibration",
    "CallError",
    "CollisionObserver",
    "Coupling",
    "Fit",
    "Fleet",
    "Log",
    "LogError",
    "LogFile",
    "MissingExtra",
    "ModelError",
    "OnlineIdentifier",
    "Payload",
    "PayloadEstimate",
    "ProblemError",
    "Robot",
    "Run",
    "Sensors",
    "SteelyardError",
    "SteelyardWarning",
    "Trajectory",
    "Validation",
    "__version__",
    "base_parameters",
    "calibrate",
    "check",
    "compile_progress",
    "datasets",
    "doctor",
    "excite",
    "find_logs",
    "identify",
    "identify_fleet",
    "inverse_kinematics",
    "joint_acceleration",
    "joint_velocity",
    "joints_from_degrees",
    "joints_to_degrees",
    "load",
    "payload",
    "perturbed",
    "pose_from_quaternion",
    "pose_from_rpy",
    "pose_to_quaternion",
    "pose_to_rpy",
    "read_log",
    "reading_limits",
    "record",
    "report",
    "robots",
    "simulate",
    "static_poses",
    "threads",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module 'steelyard' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
