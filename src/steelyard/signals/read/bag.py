"""rosbag2, MCAP and ROS 1 bags: message types that hold joint states, read without ROS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import LogError, mention, suggest
from .column_table import ColumnTable
from .joint_states import Message, table_of

Numbers = Sequence[float]
JOINT_STATE, USUAL = "sensor_msgs/msg/JointState", "/joint_states"


class JointNumbers(NamedTuple):
    """Joint names of a message, and as many numbers in each field, or none.

    effort_kind is 'torque' or 'current' where the message type defines it; None where it must be
    stated.
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
    """Return the fields of control_msgs/DynamicJointState; each joint lists its interfaces."""
    values = [interfaces(each) for each in message.interface_values]
    kind = next(
        (
            word
            for word in ("effort", "torque", "current")
            if any(word in interfaces for interfaces in values)
        ),
        "effort",
    )
    position, velocity, effort = (_column(values, word) for word in ("position", "velocity", kind))
    return JointNumbers(
        tuple(message.joint_names), position, velocity, effort, None if kind == "effort" else kind
    )


def interfaces(message: Any) -> dict[str, float]:
    """Return the values of control_msgs/InterfaceValue by their names.

    Raise LogError if there are fewer values than names; further values have no name.
    """
    names, values = message.interface_names, message.values
    if len(values) < len(names):
        raise LogError(
            f"DynamicJointState: {len(values)} values for the interfaces {', '.join(names)};"
            " expected one value per interface"
        )
    return dict(zip(names, values[: len(names)], strict=True))


def franka_robot_state(message: Any) -> JointNumbers:
    """Return the measured joint state of franka_msgs/FrankaRobotState (ROS 2); effort is torque."""
    return joint_state(message.measured_joint_state)._replace(effort_kind="torque")


def franka_state(message: Any) -> JointNumbers:
    """Return q, dq and tau_J of franka_msgs/FrankaState; its joints have no names."""
    # ROS 2 has no capital letters
    torque = message.tau_J if hasattr(message, "tau_J") else message.tau_j
    return JointNumbers((), message.q, message.dq, torque, "torque")


def ur_state(message: Any) -> JointNumbers:
    """Return what ur_msgs/RobotStateRTMsg has of the joints.

    Actual positions, velocities and currents, without names.
    """
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
    "control_msgs/msg/DynamicJointState": (
        "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[]"
        " interface_values"
    ),
}
"""Definitions that bags of ROS 2 before Iron may lack; other types must be defined in the bag."""


def _column(values: Sequence[dict[str, float]], word: str) -> Numbers:
    """Return one interface of every joint, NaN for joints that lack it; nothing where all do."""
    numbers = [float(interfaces.get(word, np.nan)) for interfaces in values]
    return numbers if any(word in interfaces for interfaces in values) else ()


def read_bag(
    path: Path, joints: Sequence[str] | None = None, topic: str | None = None, **_: Any
) -> ColumnTable:
    """Return the joint states of a bag, matched by name: their order in a message means nothing."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.LATEST)
    for name, text in DEFINITIONS.items():
        store.register(get_types_from_msg(text, name))
    with AnyReader([path], default_typestore=store) as reader:
        connections = connections_of(reader.connections, topic, path)
        kind = connections[0].msgtype
        if kind not in reader.typestore.fielddefs:
            raise LogError(
                f"{path}: the bag does not hold the definition of {kind}, on topic"
                f" '{connections[0].topic}': record it as MCAP, or by ROS 2 Iron or later, which"
                " store definitions"
            )
        stamped = [
            (received, reader.deserialize(data, c.msgtype))
            for c, received, data in reader.messages(connections=connections)
        ]
    if not stamped:
        raise LogError(f"{path}: topic '{connections[0].topic}' holds no messages")
    states = [MESSAGE_TYPES[kind](message) for _, message in stamped]
    table = table_of(messages_of(stamped, states), str(path), joints)
    effort_kind = states[0].effort_kind
    effort = {"effort": effort_kind} if effort_kind else {}
    remark = (
        f"Joint states are read from {kind} on topic"
        f" {connections[0].topic}{f', whose effort is {effort_kind}' if effort_kind else ''}."
    )
    remarks = table.remarks if kind == JOINT_STATE else (remark, *table.remarks)
    return replace(table, metadata={**table.metadata, **effort}, remarks=remarks)


def connections_of(connections: Sequence[Any], topic: str | None, path: Path) -> list[Any]:
    """Return the connections of the one topic of joint states."""
    states = [c for c in connections if c.msgtype in MESSAGE_TYPES]
    topics = sorted({c.topic for c in states})
    if not topics:
        available = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in connections})) or "none"
        raise LogError(
            f"{path}: no topic of type {' or '.join(MESSAGE_TYPES)}. Topics found: {available}"
        )
    if topic is None:
        topic = USUAL if USUAL in topics else topics[0] if len(topics) == 1 else None
    if topic is None:
        raise LogError(
            f"{path}: several topics of joint states: {', '.join(topics)}; name one:"
            f" {mention('topic', '...')}"
        )
    if topic not in topics:
        raise LogError(f"{path}: no joint states on topic '{topic}': {suggest(topic, topics)}")
    return [c for c in states if c.topic == topic]


def messages_of(
    stamped: Sequence[tuple[int, Any]], states: Sequence[JointNumbers]
) -> list[Message]:
    """Return messages with times [s] that start at zero.

    Times are from the headers, or from the recording where headers have none.
    """
    stamps = [getattr(getattr(message, "header", None), "stamp", None) for _, message in stamped]
    headers = [0 if stamp is None else stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]
    times = headers if len(set(headers)) > 1 else [received for received, _ in stamped]
    start = min(times)
    return [
        Message((time - start) * 1e-9, *numbers[:4])
        for time, numbers in zip(times, states, strict=True)
    ]
