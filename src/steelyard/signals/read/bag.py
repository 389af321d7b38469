"""rosbag2 and MCAP (and ROS 1 bags): messages that hold joint states, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import LogError, suggest
from .column_table import ColumnTable
from .joint_states import Message, table_of
from .recorders.message_types import DEFINITIONS, MESSAGE_TYPES, JointNumbers

JOINT_STATE, USUAL = "sensor_msgs/msg/JointState", "/joint_states"


def read_bag(path: Path, joints: Sequence[str] | None = None, topic: str | None = None, **_: Any) -> ColumnTable:
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
                f"{path}: the bag does not hold the definition of {kind}, on topic '{connections[0].topic}': "
                "record it as MCAP, or by ROS 2 Iron or later, which store definitions"
            )
        stamped = [(at, reader.deserialize(data, c.msgtype)) for c, at, data in reader.messages(connections=connections)]
    if not stamped:
        raise LogError(f"{path}: topic '{connections[0].topic}' holds no messages")
    found = [MESSAGE_TYPES[kind](message) for _, message in stamped]
    table = table_of(messages_of(stamped, found), str(path), joints)
    told = found[0].effort_kind
    effort = {"effort": told} if told else {}
    remark = f"Joint states are those of {kind} on topic {connections[0].topic}{f', whose effort is {told}' if told else ''}."
    remarks = table.remarks if kind == JOINT_STATE else (remark, *table.remarks)
    return replace(table, metadata={**table.metadata, **effort}, remarks=remarks)


def connections_of(connections: Sequence[Any], topic: str | None, path: Path) -> list[Any]:
    """Return the connections of the one topic of joint states."""
    states = [c for c in connections if c.msgtype in MESSAGE_TYPES]
    topics = sorted({c.topic for c in states})
    if not topics:
        found = ", ".join(sorted({f"{c.topic} ({c.msgtype})" for c in connections})) or "none"
        raise LogError(f"{path}: no topic of type {' or '.join(MESSAGE_TYPES)}. Topics found: {found}")
    if topic is None:
        topic = USUAL if USUAL in topics else topics[0] if len(topics) == 1 else None
    if topic is None:
        raise LogError(f"{path}: several topics of joint states: {', '.join(topics)}; name one: topic='...'")
    if topic not in topics:
        raise LogError(f"{path}: no joint states on topic '{topic}': {suggest(topic, topics)}")
    return [c for c in states if c.topic == topic]


def messages_of(stamped: Sequence[tuple[int, Any]], found: Sequence[JointNumbers]) -> list[Message]:
    """Return messages with times from the first one on [s]: of their headers, or of the recording where headers carry none."""
    stamps = [getattr(getattr(message, "header", None), "stamp", None) for _, message in stamped]
    headers = [0 if stamp is None else stamp.sec * 10**9 + stamp.nanosec for stamp in stamps]
    times = headers if len(set(headers)) > 1 else [at for at, _ in stamped]
    start = min(times)
    return [Message((time - start) * 1e-9, *numbers[:4]) for time, numbers in zip(times, found, strict=True)]
