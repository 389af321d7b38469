"""Types of messages that hold joint states: where names, positions, velocities and efforts stand in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Numbers = Sequence[float]


class JointNumbers(NamedTuple):
    """What a message says of its joints: names, and as many numbers in each field, or none.

    effort_kind: 'torque' or 'current' where the type tells what its effort is, None where it must be stated.
    """

    name: tuple[str, ...]
    position: Numbers
    velocity: Numbers
    effort: Numbers
    effort_kind: str | None = None


def joint_state(message: Any) -> JointNumbers:
    """Return the fields of sensor_msgs/JointState."""
    return JointNumbers(tuple(message.name), message.position, message.velocity, message.effort)


def dynamic_joint_state(message: Any) -> JointNumbers:
    """Return the fields of control_msgs/DynamicJointState, each joint with its own list of interfaces."""
    values = [dict(zip(each.interface_names, each.values, strict=False)) for each in message.interface_values]
    kind = next((word for word in ("effort", "torque", "current") if any(word in own for own in values)), "effort")
    position, velocity, effort = (_column(values, word) for word in ("position", "velocity", kind))
    return JointNumbers(tuple(message.joint_names), position, velocity, effort, None if kind == "effort" else kind)


def franka_robot_state(message: Any) -> JointNumbers:
    """Return the measured joint state of franka_msgs/FrankaRobotState (ROS 2), whose effort is the torque of its sensors."""
    return joint_state(message.measured_joint_state)._replace(effort_kind="torque")


def franka_state(message: Any) -> JointNumbers:
    """Return q, dq and tau_J of franka_msgs/FrankaState; its joints have no names."""
    torque = message.tau_J if hasattr(message, "tau_J") else message.tau_j  # ROS 2 has no capital letters
    return JointNumbers((), message.q, message.dq, torque, "torque")


def ur_state(message: Any) -> JointNumbers:
    """Return what ur_msgs/RobotStateRTMsg has of the joints: actual positions, velocities and currents, without names."""
    return JointNumbers((), message.q_actual, message.qd_actual, message.i_actual, "current")


MESSAGE_TYPES: dict[str, Callable[[Any], JointNumbers]] = {
    "sensor_msgs/msg/JointState": joint_state,
    "control_msgs/msg/DynamicJointState": dynamic_joint_state,
    "franka_msgs/msg/FrankaRobotState": franka_robot_state,
    "franka_msgs/msg/FrankaState": franka_state,
    "ur_msgs/msg/RobotStateRTMsg": ur_state,
}
DEFINITIONS = {
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values",
    "control_msgs/msg/DynamicJointState": ("std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values"),
}
"""Fields of types that a bag of ROS 2 before Iron may lack; those of the other types must be in the bag."""


def _column(values: Sequence[dict[str, float]], word: str) -> Numbers:
    """Return one interface of every joint, NaN for joints that lack it; nothing where all do."""
    found = [float(own.get(word, np.nan)) for own in values]
    return found if any(word in own for own in values) else ()
