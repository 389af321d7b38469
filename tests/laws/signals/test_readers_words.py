"""Readers say what they saw.

Units below a header, text among numbers, milliseconds, one row, order, currents; and who wrote the
file.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steelyard.errors import LogError
from steelyard.signals import Log, read_log
from steelyard.signals.read.bag import dynamic_joint_state

JOINTS = ("shoulder_pan_joint", "elbow_joint")
T = np.arange(300) / 100
Q = np.stack([np.sin(T), np.cos(T)], axis=1)
TAU = 3.0 * Q + 1.0


def written(path: Path, header: str, columns: Any, below: str = "") -> Path:
    rows = [",".join(f"{x:.9g}" for x in row) for row in np.column_stack(columns)]
    path.write_text("\n".join([header, *([below] if below else []), *rows]) + "\n")
    return path


def told(log: Log) -> str:
    return " ".join(log.remarks)


HEAD = "t,q_shoulder_pan_joint,q_elbow_joint,tau_shoulder_pan_joint,tau_elbow_joint"


def test_a_row_of_units_is_read_and_told(tmp_path: Path) -> None:
    log = read_log(
        written(tmp_path / "a.csv", HEAD, [T * 1000, np.degrees(Q), TAU], "ms,deg,deg,Nm,Nm"),
        JOINTS,
    )
    assert np.allclose(log.q, Q)
    assert np.allclose(log.t, T)
    assert "The row below the header was read as units: ms, deg, Nm." in told(log)


def test_text_in_row_200_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEAD, [T, Q, TAU])
    lines = path.read_text().splitlines()
    cells = lines[200].split(",")
    lines[200] = ",".join([*cells[:2], "ERR", *cells[3:]])
    path.write_text("\n".join(["# a comment", "", *lines]))
    with pytest.raises(
        LogError, match=r"column 'q_elbow_joint' holds text: 'ERR' in row 200, line 203 of the file"
    ):
        read_log(path, JOINTS)


def test_milliseconds_without_a_unit_are_asked_about(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEAD, [T * 1000, Q, TAU])
    asked = (
        "The time goes in steps of 10 s, if it is in seconds. If it is in milliseconds, say"
        " time_unit='ms'."
    )
    assert asked in told(read_log(path, JOINTS))
    log = read_log(path, JOINTS, time_unit="ms")
    assert np.allclose(log.t, T)
    assert "if it is in seconds" not in told(log)
    assert "if it is in seconds" not in told(
        read_log(written(tmp_path / "b.csv", HEAD, [T, Q, TAU]), JOINTS)
    )


def test_one_row_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEAD, [T[:1], Q[:1], TAU[:1]])
    with pytest.raises(LogError, match=r"a\.csv: the file has one row; expected samples"):
        read_log(path, JOINTS)


def test_currents_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", HEAD.replace("tau", "current"), [T, Q, TAU])
    log = read_log(path, JOINTS)
    assert log.tau is None
    assert (
        "The log has currents [A] and no torques: torque_constant [N m/A] of a transmission makes"
        " torques of them." in told(log)
    )
    log = read_log(
        path,
        JOINTS,
        {"transmission": {"torque_constant": [2.0, 3.0], "position": "joint", "torque": "joint"}},
    )
    assert np.allclose(log.tau, TAU * [2.0, 3.0])
    assert "no torques" not in told(log)


def test_names_matched_by_position_are_told(tmp_path: Path) -> None:
    log = read_log(written(tmp_path / "a.csv", "t,q1,q2,tau1,tau2", [T, Q, TAU]), JOINTS)
    assert "q1 is shoulder_pan_joint, q2 is elbow_joint. Is that right?" in told(log)


RTDE = (
    "timestamp", "target_q", "target_qd", "target_current", "target_moment", "actual_q",
    "actual_qd", "actual_current", "actual_TCP_pose", "actual_TCP_speed", "joint_temperatures",
)  # fmt: skip


def test_a_recording_of_ur_rtde(tmp_path: Path) -> None:
    """Beside what was measured it has what the controller computed, speeds of the tool, and the
    current of the whole robot.
    """
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=(50, 6)) for name in RTDE[1:]}
    columns = {
        "timestamp": 1000.0 + T[:50],
        **{f"{name}_{k}": values[name][:, k] for name in RTDE[1:] for k in range(6)},
    }
    columns |= {
        "actual_robot_current": T[:50],
        "speed_scaling": T[:50],
        "actual_execution_time": T[:50],
    }
    path = written(tmp_path / "robot_data.csv", ",".join(columns), list(columns.values()))
    names = (
        "shoulder_pan_joint",
        "shoulder_lift_joint",
        "elbow_joint",
        "wrist_1_joint",
        "wrist_2_joint",
        "wrist_3_joint",
    )
    log = read_log(path, names, clean=False)
    for own, name in (
        (log.q, "actual_q"),
        (log.qd, "actual_qd"),
        (log.current, "actual_current"),
        (log.reference, "target_q"),
    ):
        assert np.allclose(own, values[name], atol=1e-8), name
    assert log.tau is None
    assert (
        "The columns are columns of ur_rtde: actual_q, actual_qd, actual_current, target_q are "
        "read; 39 other columns" in told(log)
    )


def lerobot(folder: Path, names: Any, episodes: int = 1) -> Path:
    import polars as pl

    file = folder / "data" / "chunk-000" / "episode_000000.parquet"
    file.parent.mkdir(parents=True)
    # recorders do not all begin at zero
    t = np.concatenate([T + 0.25 * k for k in range(episodes)]).astype(np.float32)
    frame = {
        "observation.state": np.tile(Q, (episodes, 1)).tolist(),
        "action": np.tile(Q + 0.1, (episodes, 1)).tolist(),
        "observation.effort": np.tile(TAU, (episodes, 1)).tolist(),
        "observation.velocity": np.tile(Q / 2, (episodes, 1)).tolist(), "timestamp": t,
        "frame_index": np.arange(len(t)), "episode_index": np.repeat(np.arange(episodes), len(T)),
        "index": np.arange(len(t)), "task_index": np.zeros(len(t), int),
    }  # fmt: skip
    pl.DataFrame(frame).write_parquet(file)
    if names is not None:
        (folder / "meta").mkdir()
        (folder / "meta" / "info.json").write_text(
            json.dumps({"fps": 100, "features": {"observation.state": {"names": names}}})
        )
    return file


@pytest.mark.parametrize(
    "names",
    [
        ["elbow_joint.pos", "shoulder_pan_joint.pos"],
        {"motors": ["elbow_joint", "shoulder_pan_joint"]},
    ],
)
def test_lerobot_by_name(tmp_path: Path, names: Any) -> None:
    log = read_log(lerobot(tmp_path, names), JOINTS, effort="torque")
    assert np.allclose(log.q, Q[:, ::-1]), "in the order of the robot"
    assert np.allclose(log.tau, TAU[:, ::-1])
    assert np.allclose(log.qd, Q[:, ::-1] / 2)
    assert log.reference is not None
    assert np.allclose(log.t, T, atol=1e-6)
    assert "if it is in degrees, say angle='deg'" in told(log)


def test_lerobot_without_names_and_with_episodes(tmp_path: Path) -> None:
    log = read_log(lerobot(tmp_path / "a", None), JOINTS, effort="torque")
    assert np.allclose(log.q, Q)
    assert "No meta/info.json was found" in told(log)
    log = read_log(lerobot(tmp_path / "b", None, 3), JOINTS, effort="torque")
    assert len(log.segments) == 3
    assert np.allclose(log.t, np.concatenate([T + k * (T[-1] + 1) for k in range(3)]), atol=1e-5)
    assert "3 episodes follow each other, 1 s apart." in told(log)
    with pytest.raises(
        LogError, match=r"observation.state has 2 numbers, meta/info.json names 3: a, b, c"
    ):
        read_log(lerobot(tmp_path / "c", ["a", "b", "c"]), JOINTS, effort="torque")
    with pytest.raises(
        LogError, match=r"no joint 'shoulder_pan_joint' in q: .*[Kk]nown: hip, knee"
    ):
        read_log(lerobot(tmp_path / "d", ["hip", "knee"]), JOINTS, effort="torque")


HEADER = "std_msgs/Header header\n"
TYPES = {  # type -> its fields that count, as a bag defines them
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values",
    "control_msgs/msg/DynamicJointState": (
        HEADER + "string[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values"
    ),
    "franka_msgs/msg/FrankaRobotState": (
        HEADER + "sensor_msgs/JointState measured_joint_state\nfloat64[2] ddq_d"
    ),
    "franka_msgs/msg/FrankaState": (
        HEADER + "float64[2] q\nfloat64[2] dq\nfloat64[2] tau_J\nfloat64[2] q_d"
    ),
    "ur_msgs/msg/RobotStateRTMsg": (
        "float64 time\nfloat64[] q_actual\nfloat64[] qd_actual\nfloat64[] i_actual"
    ),
}


def bag_of(
    folder: Path, kind: str, storage: str = "MCAP", topic: str = "/state", defined: bool = True
) -> Path:
    """A bag of messages of a type, the joints in the order of JOINTS reversed where it has
    names.
    """
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in TYPES.items():
        store.register(get_types_from_msg(text, name))
    make = store.types

    def state(header: Any, k: int) -> Any:
        return make["sensor_msgs/msg/JointState"](
            header, list(JOINTS[::-1]), Q[k, ::-1].copy(), Q[k, ::-1] / 2, TAU[k, ::-1].copy()
        )

    def interfaces(k: int, j: int) -> Any:
        words = ["effort", "position", "velocity", "voltage"]
        return make["control_msgs/msg/InterfaceValue"](
            words, np.array([TAU[k, j], Q[k, j], Q[k, j] / 2, 9.0])
        )

    def message(header: Any, k: int) -> Any:
        return {
            "sensor_msgs/msg/JointState": lambda: state(header, k),
            "control_msgs/msg/DynamicJointState": lambda: make[kind](
                header, list(JOINTS[::-1]), [interfaces(k, 1), interfaces(k, 0)]
            ),
            "franka_msgs/msg/FrankaRobotState": lambda: make[kind](
                header, state(header, k), np.zeros(2)
            ),
            "franka_msgs/msg/FrankaState": lambda: make[kind](header, Q[k], Q[k] / 2, TAU[k], Q[k]),
            "ur_msgs/msg/RobotStateRTMsg": lambda: make[kind](T[k], Q[k], Q[k] / 2, TAU[k]),
        }[kind]()

    with Writer(folder, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        connection = writer.add_connection(topic, kind, typestore=store)
        for k in range(40):
            header = make["std_msgs/msg/Header"](
                make["builtin_interfaces/msg/Time"](0, int(T[k] * 1e9)), ""
            )
            writer.write(
                connection, int(5e9 + T[k] * 1e9), store.serialize_cdr(message(header, k), kind)
            )
    if not defined:
        with closing(sqlite3.connect(next(folder.glob("*.db3")))) as base:
            base.execute("DELETE FROM message_definitions")
            base.commit()
    return folder


NAMED = (
    "sensor_msgs/msg/JointState",
    "control_msgs/msg/DynamicJointState",
    "franka_msgs/msg/FrankaRobotState",
)
STATED = {
    "franka_msgs/msg/FrankaRobotState": "torque",
    "franka_msgs/msg/FrankaState": "torque",
    "ur_msgs/msg/RobotStateRTMsg": "current",
}


@pytest.mark.parametrize(
    "kind", [*NAMED, "franka_msgs/msg/FrankaState", "ur_msgs/msg/RobotStateRTMsg"]
)
def test_messages_of_every_type(tmp_path: Path, kind: str) -> None:
    bag = bag_of(tmp_path / "bag", kind)
    if kind not in STATED:
        with pytest.raises(LogError, match="is `effort` torque"):
            read_log(bag, JOINTS)
    log = read_log(bag, JOINTS, effort=None if kind in STATED else "torque")
    effort = log.current if STATED.get(kind) == "current" else log.tau
    assert np.allclose(log.t, T[:40], atol=1e-6)
    assert np.allclose(log.q, Q[:40])
    assert np.allclose(log.qd, Q[:40] / 2)
    assert np.allclose(effort, TAU[:40])
    assert (f"Joint states are read from {kind} on topic /state" in told(log)) is (
        kind != "sensor_msgs/msg/JointState"
    )
    assert ("Is that right?" in told(log)) is (kind not in NAMED), (
        "without names the order is asked about"
    )


@pytest.mark.parametrize(("words", "kind", "column"), [
    (("effort", "torque", "position"), None, 0),
    (("rpm", "torque", "position"), "torque", 1),
    (("current", "rpm", "position"), "current", 0),
])  # fmt: skip
def test_interfaces_of_dynamic_joint_states(
    words: tuple[str, ...], kind: str | None, column: int
) -> None:
    """An effort is asked about, a torque or a current is known by its name.

    Joints that lack one have none.
    """
    each = SimpleNamespace(interface_names=list(words), values=[1.0, 2.0, 3.0])
    other = SimpleNamespace(interface_names=["position"], values=[4.0])
    result = dynamic_joint_state(
        SimpleNamespace(joint_names=["a", "b"], interface_values=[each, other])
    )
    assert (result.name, result.position, result.velocity, result.effort_kind) == (
        ("a", "b"),
        [3.0, 4.0],
        (),
        kind,
    )
    assert np.array_equal(result.effort, [each.values[column], np.nan], equal_nan=True)


def test_dynamic_joint_states_of_bags_without_definitions(tmp_path: Path) -> None:
    """As ROS 2 Humble writes them into .db3.

    Other types cannot be read there, and a sentence says why.
    """
    log = read_log(
        bag_of(tmp_path / "a", "control_msgs/msg/DynamicJointState", "SQLITE3", defined=False),
        JOINTS,
        effort="torque",
    )
    assert np.allclose(log.tau, TAU[:40])
    with pytest.raises(
        LogError,
        match=(
            "does not hold the definition of franka_msgs/msg/FrankaState, on topic '/state': record"
            " it as MCAP"
        ),
    ):
        read_log(
            bag_of(tmp_path / "b", "franka_msgs/msg/FrankaState", "SQLITE3", defined=False), JOINTS
        )
