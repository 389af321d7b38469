"""Live sources: samples of the robot's joints in its order, from iterators, logs, ROS 2 topics and
the controller of a UR.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from steelyard.experiments.online.watch import Sample
from tests.fake_rtde import controller, state
from tests.motions import recorded

NAMES = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)


def arm() -> sy.Robot:
    return sy.load("spatial_3r")


def message(
    k: int, names: tuple[str, ...] = ("joint3", "gripper", "joint1", "joint2"), **fields: Any
) -> Any:
    """A real sensor_msgs/JointState, whose joints come in their own order."""
    store = pytest.importorskip("rosbags.typesys").get_typestore(
        pytest.importorskip("rosbags.typesys").Stores.ROS2_HUMBLE
    )
    kinds = store.types
    stamp = kinds["builtin_interfaces/msg/Time"](sec=7, nanosec=1_000_000 * k)
    header = kinds["std_msgs/msg/Header"](stamp=stamp, frame_id="")
    values = {
        field: np.arange(len(names)) + offset + k
        for field, offset in (("position", 0.0), ("velocity", 10.0), ("effort", 100.0))
    }
    return kinds["sensor_msgs/msg/JointState"](
        header=header, name=list(names), **{**values, **fields}
    )


def test_an_iterator_of_samples_goes_into_the_identifier() -> None:
    log = recorded(arm().with_friction(viscous=1.0, coulomb=0.5), 3.0)
    assert log.qd is not None
    assert log.tau is not None
    tuples = zip(log.t, log.q, log.qd, log.tau, strict=True)
    mappings = (
        {"t": t, "q": q, "qd": qd, "tau": tau, "more": 1}
        for t, q, qd, tau in zip(log.t, log.q, log.qd, log.tau, strict=True)
    )
    results = []
    for source in (tuples, mappings, log):
        o = sy.OnlineIdentifier(arm(), learn=0)
        for s in sy.watch(source, arm()):
            o.update(s.q, s.qd, tau=s.tau, t=s.t)
        results.append(o.base_values)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_a_log_in_another_order_is_matched_by_name() -> None:
    log = recorded(arm(), 1.0)
    assert log.qd is not None
    assert log.tau is not None
    turned = sy.Log(
        t=log.t,
        q=log.q[:, ::-1],
        qd=log.qd[:, ::-1],
        tau=log.tau[:, ::-1],
        joint_names=arm().joint_names[::-1],
    )
    for a, b in zip(sy.watch(log, arm()), sy.watch(turned, arm()), strict=True):
        np.testing.assert_array_equal(a.q, b.q)
        np.testing.assert_array_equal(a.tau, b.tau)


def test_messages_are_matched_by_name() -> None:
    results = list(sy.watch([message(0), message(1)], arm(), effort="torque"))
    assert [s.t for s in results] == pytest.approx([7.0, 7.001])
    np.testing.assert_array_equal(results[1].q, [3.0, 4.0, 1.0])
    np.testing.assert_array_equal(results[1].qd, [13.0, 14.0, 11.0])
    np.testing.assert_array_equal(results[1].tau, [103.0, 104.0, 101.0])


def test_currents_become_torques_by_the_gains() -> None:
    (result,) = sy.watch(
        [message(0)], arm(), effort="current", gains={"joint1": 2.0, "joint2": 3.0, "joint3": 0.5}
    )
    np.testing.assert_array_equal(result.tau, [204.0, 309.0, 50.0])


class FakeRos:
    """rclpy as far as a subscription needs it: messages come when it spins."""

    def __init__(self, messages: Iterator[Any]) -> None:
        self.messages, self.up, self.closed = messages, False, False
        self.topic = ""

    def modules(self) -> dict[str, ModuleType]:
        rclpy, qos, msg = (
            ModuleType("rclpy"),
            ModuleType("rclpy.qos"),
            ModuleType("sensor_msgs.msg"),
        )
        for name in ("ok", "init", "shutdown", "create_node", "spin_once"):
            setattr(rclpy, name, getattr(self, name))
        qos.qos_profile_sensor_data = "sensor data"  # type: ignore[attr-defined]
        msg.JointState = "sensor_msgs/msg/JointState"  # type: ignore[attr-defined]
        return {
            "rclpy": rclpy,
            "rclpy.qos": qos,
            "sensor_msgs": ModuleType("sensor_msgs"),
            "sensor_msgs.msg": msg,
        }

    def ok(self) -> bool:
        return self.up

    def init(self) -> None:
        self.up = True

    def shutdown(self) -> None:
        self.up = False

    def create_node(self, name: str) -> Any:
        assert self.up
        return SimpleNamespace(
            create_subscription=self.subscribe,
            destroy_subscription=lambda _: True,
            destroy_node=self.close,
        )

    def subscribe(self, kind: Any, topic: str, callback: Any, profile: Any) -> str:
        assert (kind, profile) == ("sensor_msgs/msg/JointState", "sensor data")
        self.topic, self.callback = topic, callback
        return "subscription"

    def close(self) -> None:
        self.closed = True

    def spin_once(self, node: Any, timeout_sec: float) -> None:
        for each in itertools.islice(self.messages, 2):  # two may come at once
            self.callback(each)


def with_ros(monkeypatch: pytest.MonkeyPatch, messages: Iterator[Any]) -> FakeRos:
    ros = FakeRos(messages)
    for name, module in ros.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return ros


def test_a_ros_topic_is_watched_until_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    others = (message(k, ("wheel",)) for k in range(3))
    ros = with_ros(monkeypatch, itertools.chain(others, (message(k) for k in range(5))))
    results: list[Sample] = []
    with pytest.raises(sy.LogError, match=r"no message came on /arm/joint_states for 0.05 s"):
        results.extend(sy.watch("ros2:/arm/joint_states", arm(), effort="torque", timeout=0.05))
    assert ros.topic == "/arm/joint_states"
    assert ros.closed
    assert not ros.up
    ros = with_ros(monkeypatch, (message(k) for k in range(5)))
    stream = sy.watch("ros2:", arm(), effort="torque", timeout=0.05)
    results = [next(stream) for _ in range(5)]
    assert [s.t for s in results] == pytest.approx([7.0 + 0.001 * k for k in range(5)])
    assert ros.topic == "/joint_states"
    stream.close()  # type: ignore[attr-defined]
    assert ros.closed


def test_a_topic_without_the_robot_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with_ros(
        monkeypatch, (message(0, ("wheel", "joint1")) for _ in range(THRESHOLDS.missed_messages))
    )
    with pytest.raises(
        sy.LogError, match=r"has no joint joint2, joint3; .*[Kk]nown: wheel, joint1"
    ):
        list(sy.watch("ros2:", arm(), effort="torque", timeout=1.0))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ur-rtde has wheels for Linux")
def test_the_controller_of_a_ur_is_watched_until_it_stops() -> None:
    """The real package ur-rtde against a server that speaks RTDE.

    Protocol version, recipe, start, data packages.
    """
    pytest.importorskip(
        "rtde_receive", reason="ur-rtde is not installed; it has no wheel for Python 3.13"
    )
    robot = SimpleNamespace(
        tree=SimpleNamespace(n=6),
        n=6,
        joint_names=tuple(f"left_{name}" for name in reversed(NAMES)),
    )
    results: list[Sample] = []
    # RTDE has one port: each test run has its own address
    host = f"127.1.{os.getpid() // 254 % 254 + 1}.{os.getpid() % 254 + 1}"
    with (
        controller(host, stop_after=40),
        pytest.raises(sy.LogError, match=f"{host} stopped: no state for"),
    ):
        results.extend(sy.watch(f"rtde:{host}", robot, effort="torque", timeout=0.5))
    assert len(results) > 10
    for s in results:
        true = state(round((s.t - 100.0) * 125.0))
        np.testing.assert_allclose(s.q, true["actual_q"][::-1])
        np.testing.assert_allclose(s.qd, true["actual_qd"][::-1])
        np.testing.assert_allclose(s.tau, true["target_moment"][::-1])
    assert np.all(np.diff([s.t for s in results]) > 0)
    with controller(host):
        stream = sy.watch(f"rtde:{host}", robot, effort="current", gains=2.0)
        s = next(stream)
        stream.close()  # type: ignore[attr-defined]
    np.testing.assert_allclose(
        s.tau, 2.0 * np.array(state(round((s.t - 100.0) * 125.0))["actual_current"][::-1])
    )
    with pytest.raises(sy.LogError, match="no joint of this robot is called shoulder_pan_joint"):
        list(sy.watch(f"rtde:{host}", arm(), effort="torque"))


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("ros3:/x", {"effort": "torque"}, r"no source is called 'ros3'; known: ros2:TOPIC"),
        ("ros2:/x", {}, r"torque \[N m\] or motor current"),
        ("ros2:/x", {"effort": "current"}, r"needs gains="),
        ("ros2:/x", {"effort": "volts"}, r"effort 'volts' is unknown"),
        (7, {}, r"not 7"),
        (
            [(0.0, [1, 2], [1, 2, 3], [1, 2, 3])],
            {},
            r"q of sample 0 has shape \(2,\), expected \(3,\): joint1",
        ),
        ([{"t": 0.0, "q": [0, 0, 0]}], {}, r"sample 0 has no qd, tau"),
        (["nonsense"], {}, r"sample 0 must be"),
        ([(0.0, "abc", [0, 0, 0], [0, 0, 0])], {}, r"sample 0 is not made of numbers"),
    ],
)
def test_wrong_sources_are_said_to_be(source: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(sy.SteelyardError, match=words):
        list(sy.watch(source, arm(), **options))


def test_messages_that_lack_something_are_said_to() -> None:
    with pytest.raises(sy.LogError, match=r"0 numbers of velocity for 4 joints"):
        list(sy.watch([message(0, velocity=np.zeros(0))], arm(), effort="torque"))
    with pytest.raises(sy.CallError, match=r"torque .* or motor current"):
        list(sy.watch([message(0)], arm()))
    with pytest.raises(sy.LogError, match="has no joint joint1"):
        list(sy.watch([message(0, ("a", "b"))], arm(), effort="torque"))
    log = recorded(arm(), 1.0)
    with pytest.raises(sy.LogError, match="the log has no qd"):
        list(sy.watch(sy.Log(t=log.t, q=log.q, tau=log.tau, joint_names=log.joint_names), arm()))
    with pytest.raises(sy.LogError, match=r"the log has no joint joint1, joint2, joint3; known: a"):
        list(
            sy.watch(
                sy.Log(t=log.t, q=log.q, qd=log.qd, tau=log.tau, joint_names=("a", "b", "c")), arm()
            )
        )


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rclpy", None)
    with pytest.raises(sy.MissingExtra, match="'rclpy' and 'sensor_msgs' of ROS 2"):
        sy.watch("ros2:", arm(), effort="torque")
    monkeypatch.setitem(sys.modules, "rtde_receive", None)
    with pytest.raises(sy.MissingExtra, match=r"pip install 'steelyard\[ur\]'"):
        sy.watch("rtde:host", arm(), effort="torque")
