"""rosbag2 and MCAP (and ROS 1 bags): sensor_msgs/JointState, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import LogError, suggest
from .column_table import ColumnTable
from .joint_states import Message, table_of

JOINT_STATE = "sensor_msgs/msg/JointState"


def read_bag(path: Path, joints: Sequence[str] | None = None, topic: str | None = None, **_: Any) -> ColumnTable:
    """Return the joint states of a bag, matched by name: their order in a message means nothing."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
        connections = connections_of(reader.connections, topic, path)
        stamped = [(at, reader.deserialize(data, c.msgtype)) for c, at, data in reader.messages(connections=connections)]
    if not stamped:
        raise LogError(f"{path}: topic '{connections[0].topic}' holds no messages")
    return table_of(messages_of(stamped), str(path), joints)


def connections_of(connections: Sequence[Any], topic: str | None, path: Path) -> list[Any]:
    """Return the connections of the one topic of joint states."""
    states = [c for c in connections if c.msgtype == JOINT_STATE]
    topics = sorted({c.topic for c in states})
    if not topics:
        found = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in connections})) or "none"
        raise LogError(f"{path}: no topic of type {JOINT_STATE}. Topics found: {found}")
    if topic is None:
        topic = "/joint_states" if "/joint_states" in topics else topics[0] if len(topics) == 1 else None
    if topic is None:
        raise LogError(f"{path}: several topics of joint states: {', '.join(topics)}; name one: topic='...'")
    if topic not in topics:
        raise LogError(f"{path}: no joint states on topic '{topic}': {suggest(topic, topics)}")
    return [c for c in states if c.topic == topic]


def messages_of(stamped: Sequence[tuple[int, Any]]) -> list[Message]:
    """Return messages with times from the first one on [s]: of their headers, or of the recording where headers carry none."""
    headers = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for _, m in stamped]
    times = headers if len(set(headers)) > 1 else [at for at, _ in stamped]
    start = min(times)
    return [
        Message((time - start) * 1e-9, tuple(m.name), m.position, m.velocity, m.effort) for time, (_, m) in zip(times, stamped, strict=True)
    ]
