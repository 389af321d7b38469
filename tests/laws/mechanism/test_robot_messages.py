"""Messages of the Franka and Universal Robots drivers in bags of ROS 1 and ROS 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.signals import read_log

FIELDS = {  # message type -> lines of a field type and the names of consecutive fields
    # flags; the reader does not use their names
    "franka_msgs/msg/Errors": ["bool " + " ".join(f"error{k}" for k in range(36))],
    "franka_msgs/msg/Elbow": [
        "float64[2] position desired_position commanded_position commanded_velocity"
        " commanded_acceleration"
    ],
    "franka_msgs/msg/CollisionIndicators": [
        "geometry_msgs/Vector3 is_cartesian_linear_collision is_cartesian_angular_collision",
        "geometry_msgs/Vector3 is_cartesian_linear_contact is_cartesian_angular_contact",
        "float64[7] is_joint_collision is_joint_contact",
    ],
    "franka_msgs/msg/FrankaRobotState": [
        "std_msgs/Header header",
        "franka_msgs/CollisionIndicators collision_indicators",
        (
            "sensor_msgs/JointState measured_joint_state desired_joint_state"
            " measured_joint_motor_state"
        ),
        "float64[7] ddq_d dtau_j",
        "sensor_msgs/JointState tau_ext_hat_filtered",
        "franka_msgs/Elbow elbow",
        "geometry_msgs/WrenchStamped k_f_ext_hat_k o_f_ext_hat_k",
        "geometry_msgs/InertiaStamped inertia_ee inertia_load inertia_total",
        "geometry_msgs/PoseStamped o_t_ee o_t_ee_d o_t_ee_c f_t_ee ee_t_k",
        "geometry_msgs/TwistStamped o_dp_ee_d o_dp_ee_c",
        "geometry_msgs/AccelStamped o_ddp_ee_c",
        "float64 time control_command_success_rate",
        "uint8 robot_mode",
        "franka_msgs/Errors current_errors last_motion_errors",
    ],
    "franka_msgs/msg/FrankaState": [
        "std_msgs/Header header",
        "float64[6] cartesian_collision cartesian_contact",
        "float64[7] q q_d dq dq_d ddq_d theta dtheta {tau} d{tau} {tau}_d",
        "float64[2] elbow elbow_d elbow_c delbow_c ddelbow_c",
        "float64[7] joint_collision joint_contact tau_ext_hat_filtered",
        "float64 time control_command_success_rate",
        "uint8 robot_mode",
        "franka_msgs/Errors current_errors last_motion_errors",
    ],
    "ur_msgs/msg/RobotStateRTMsg": [
        "float64 time",
        "float64[] q_target qd_target qdd_target i_target m_target q_actual qd_actual i_actual",
        "float64[] tool_acc_values tcp_force tool_vector tcp_speed",
        "float64 digital_input_bits",
        "float64[] motor_temperatures",
        "float64 controller_timer test_value robot_mode",
        "float64[] joint_modes",
    ],
}
FRANKA, STATE, UR = (
    "franka_msgs/msg/FrankaRobotState",
    "franka_msgs/msg/FrankaState",
    "ur_msgs/msg/RobotStateRTMsg",
)
T = np.arange(30) / 100


def definition(kind: str, tau: str) -> str:
    lines = [line.format(tau=tau).split() for line in FIELDS[kind]]
    return "\n".join(f"{field} {name}" for field, *names in lines for name in names)


def filled(store: Any, kind: str, **argument: Any) -> Any:
    """Return a message with the given fields, and noise in all others so that mix-ups show."""
    rng = np.random.default_rng(7)

    def value(node: Any, detail: Any) -> Any:
        word = node.name
        if word == "BASE":
            return (
                ""
                if detail[0] == "string"
                else (
                    True
                    if detail[0] == "bool"
                    else 1
                    if "int" in detail[0]
                    else float(rng.uniform(2, 3))
                )
            )
        if word == "NAME":
            return filled(store, detail)
        (_, (inner, *_)), count = detail
        return [] if inner == "string" else rng.uniform(2, 3, count or 6)

    fields = {
        name: argument[name] if name in argument else value(*each)
        for name, each in store.fielddefs[kind][1]
    }
    return store.types[kind](**fields)


def bag_of(path: Path, kind: str, q: np.ndarray, tau: np.ndarray, ros1: bool) -> Path:
    """Write a bag with positions q, velocities q / 2 and efforts tau; return its path."""
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    spelled = "tau_J" if ros1 else "tau_j"
    for name in FIELDS:
        store.register(get_types_from_msg(definition(name, spelled), name))

    def message(k: int) -> Any:
        if kind == UR:
            return filled(store, kind, q_actual=q[k], qd_actual=q[k] / 2, i_actual=tau[k])
        if kind == STATE:
            return filled(store, kind, q=q[k], dq=q[k] / 2, **{spelled: tau[k]})
        names = [f"fr3_joint{j + 1}" for j in range(7)][::-1]
        numbers = {
            "position": q[k, ::-1].copy(),
            "velocity": q[k, ::-1] / 2,
            "effort": tau[k, ::-1].copy(),
        }
        state = filled(store, "sensor_msgs/msg/JointState", name=names, **numbers)
        return filled(store, kind, measured_joint_state=state)

    writer = (
        rosbag1.Writer(path)
        if ros1
        else rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.MCAP)
    )
    serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
    with writer:
        connection = writer.add_connection("/state", kind, typestore=store)
        for k, t in enumerate(T):
            writer.write(connection, int(5e9 + round(t * 1e9)), serialize(message(k), kind))
    return path


@pytest.mark.parametrize(
    ("kind", "ros1"), [(FRANKA, False), (STATE, False), (STATE, True), (UR, False), (UR, True)]
)
def test_a_bag_of_the_driver_is_read(tmp_path: Path, kind: str, ros1: bool) -> None:
    n = 6 if kind == UR else 7
    q, tau = np.sin(np.outer(T, np.arange(1, n + 1))), np.cos(np.outer(T, np.arange(1, n + 1)))
    joints = [f"fr3_joint{j + 1}" for j in range(n)]
    log = read_log(bag_of(tmp_path / ("run.bag" if ros1 else "run"), kind, q, tau, ros1), joints)
    assert np.allclose(log.q, q)
    assert np.allclose(log.qd, q / 2)
    assert np.allclose(log.current if kind == UR else log.tau, tau)
    assert (log.tau is None) is (kind == UR), "currents are not torques"
    assert (
        f"read from {kind} on topic /state, whose effort is {'current' if kind == UR else 'torque'}"
        in " ".join(log.remarks)
    )
