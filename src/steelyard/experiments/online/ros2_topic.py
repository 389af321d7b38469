"""Joint states of a ROS 2 topic, as they are published."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from ...errors import LogError, MissingExtra
from .online_thresholds import THRESHOLDS


def joint_state_messages(
    topic: str, timeout: float
) -> Iterator[tuple[float, list[str], list[float], list[float], list[float]]]:
    """Yield time [s], names, positions, velocities and efforts of every JointState message.

    Raises MissingExtra without rclpy, and LogError when no message came for `timeout` [s].
    """
    try:
        import rclpy
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import JointState
    except ImportError:
        raise MissingExtra(
            "a ROS 2 topic needs the packages 'rclpy' and 'sensor_msgs' of ROS 2, which are not"
            " found here: source its setup file"
        ) from None
    return _messages(rclpy, JointState, qos_profile_sensor_data, topic, timeout)


def _messages(rclpy: Any, kind: Any, profile: Any, topic: str, timeout: float) -> Iterator[Any]:
    started = not rclpy.ok()
    if started:
        rclpy.init()
    node = rclpy.create_node("steelyard_watch")
    came: deque[Any] = deque()
    subscription = node.create_subscription(kind, topic, came.append, profile)
    try:
        last = time.monotonic()
        while True:
            rclpy.spin_once(node, timeout_sec=min(THRESHOLDS.ros_wait, timeout))
            if came:
                last = time.monotonic()
            elif time.monotonic() - last > timeout:
                raise LogError(
                    f"watch: no message came on {topic} for {timeout:g} s; is it published, and are"
                    " its publishers reliable?"
                )
            while came:
                message = came.popleft()
                t = float(message.header.stamp.sec) + 1e-9 * float(message.header.stamp.nanosec)
                yield (
                    t,
                    list(message.name),
                    list(message.position),
                    list(message.velocity),
                    list(message.effort),
                )
    finally:
        node.destroy_subscription(subscription)
        node.destroy_node()
        if started:
            rclpy.shutdown()
