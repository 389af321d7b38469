"""Good files of every format, small ones, to be damaged.

Logs of a robot with two joints, and robot descriptions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import steelyard as sy
from steelyard.signals import Log, to_csv, to_npz, to_parquet

JOINTS = ("joint1", "joint2")  # of the built-in planar_2r
TYPE = "sensor_msgs/msg/JointState"


class GoodFile(NamedTuple):
    """A file: name, kind ("log", "mapping", "fit" or "robot"), whether it is text, and content."""

    name: str
    kind: str
    text: bool
    content: bytes


def good_log() -> Log:
    """Return a log of 60 samples."""
    t = np.arange(60) / 50
    q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    return Log(t=t, q=q, tau=2 * q, joint_names=JOINTS, remarks=("of the benchmark",))


def good_files() -> list[GoodFile]:
    """Return all files."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*_logs(Path(folder)), *_mappings(), *_robots(Path(folder))]


def _logs(folder: Path) -> Iterator[GoodFile]:
    log = good_log()
    for ending, write in {".csv": to_csv, ".npz": to_npz, ".parquet": to_parquet}.items():
        yield GoodFile(
            f"log{ending}",
            "log",
            ending == ".csv",
            write(log, folder / f"log{ending}").read_bytes(),
        )
    table = np.column_stack([log.t, log.q, np.asarray(log.tau)])
    rows = [";".join(f"{x:.6f}".replace(".", ",") for x in row) for row in table]
    header = "time [s];q1 [deg];q2 [deg];tau1;tau2"
    yield GoodFile("comma.txt", "log", True, "\n".join([header, *rows]).encode())
    yield GoodFile(
        "wide.tsv", "log", True, "\n".join([header, *rows]).replace(";", "\t").encode("utf-16")
    )
    messages = [
        f"{t:.3f};['{JOINTS[0]}', '{JOINTS[1]}'];[{q[0]:.5f}, {q[1]:.5f}]"
        for t, q in zip(log.t, log.q, strict=True)
    ]
    yield GoodFile("states.csv", "log", True, "\n".join(["time;name;position", *messages]).encode())
    yield from _matlab(folder, log)
    yield from _bags(folder, log)
    yield GoodFile("lists.parquet", "log", False, _lists(folder / "lists.parquet", log))


def _lists(path: Path, log: Log) -> bytes:
    import polars as pl

    pl.DataFrame(
        {"t": log.t, "name": [list(JOINTS)] * log.N, "position": log.q.tolist()}
    ).write_parquet(path)
    return path.read_bytes()


def _matlab(folder: Path, log: Log) -> Iterator[GoodFile]:
    import h5py
    from scipy.io import savemat

    arrays = {"t": log.t, "q": log.q, "tau": log.tau}
    kinds: dict[str, dict[str, Any]] = {
        "five.mat": {},
        "packed.mat": {"do_compression": True},
        "four.mat": {"format": "4"},
    }
    for name, options in kinds.items():
        savemat(folder / name, arrays, **options)
        yield GoodFile(name, "log", False, (folder / name).read_bytes())
    nested = {
        "rec": {"time": log.t, "pos": log.q, "names": np.array(JOINTS, dtype=object)},
        "gear": np.ones(2),
    }
    savemat(folder / "nested.mat", nested, do_compression=True)
    yield GoodFile("nested.mat", "log", False, (folder / "nested.mat").read_bytes())
    with h5py.File(folder / "seven.mat", "w", userblock_size=512) as file:
        for name, value in arrays.items():
            file.create_dataset(
                f"rec/{name}", data=np.atleast_2d(np.asarray(value).T), compression="gzip"
            )
    yield GoodFile("seven.mat", "log", False, (folder / "seven.mat").read_bytes())


def _bags(folder: Path, log: Log) -> Iterator[GoodFile]:
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import Stores, get_typestore

    second, first = get_typestore(Stores.ROS2_HUMBLE), get_typestore(Stores.ROS1_NOETIC)
    for plugin, ending in (
        (rosbag2.StoragePlugin.SQLITE3, ".db3"),
        (rosbag2.StoragePlugin.MCAP, ".mcap"),
    ):
        with rosbag2.Writer(folder / ending[1:], version=9, storage_plugin=plugin) as writer:
            _fill(writer, log, second, second.serialize_cdr)
        yield GoodFile(
            f"bag{ending}",
            "log",
            False,
            next((folder / ending[1:]).glob(f"*{ending}")).read_bytes(),
        )
    with rosbag1.Writer(folder / "one.bag") as writer:
        _fill(writer, log, first, first.serialize_ros1)
    yield GoodFile("one.bag", "log", False, (folder / "one.bag").read_bytes())


def _fill(writer: Any, log: Log, store: Any, serialize: Callable[..., Any]) -> None:
    types = store.types
    header = types["std_msgs/msg/Header"]
    more = {"seq": 0} if "seq" in header.__dataclass_fields__ else {}
    connection = writer.add_connection("/joint_states", TYPE, typestore=store)
    for t, q, tau in zip(log.t, log.q, np.asarray(log.tau), strict=True):
        stamp = types["builtin_interfaces/msg/Time"](int(t), round((t % 1) * 1e9))
        state = types[TYPE](
            header(**more, stamp=stamp, frame_id=""), list(JOINTS), q, np.zeros(0), tau
        )
        writer.write(connection, round(t * 1e9), serialize(state, TYPE))


MAPPING = """effort = "torque"
joints = ["joint1", "joint2"]
columns = { q = ["q_joint1", "q_joint2"], tau = { joint1 = "tau_joint1", joint2 = "tau_joint2" } }
angle = "deg"
time_unit = "s"
[transmission]
ratio = { joint2 = 3.0 }
sign = [1, -1]
coupling = [[2, 1, 0.5]]
[correction]
delay = [0.001, 0.0]
clock = 1.0
"""


FIT = """{"joints": [{"name": "joint1", "coulomb_width": 0.01},
{"name": "joint2", "coulomb_width": null}],
"verdict": {"word": "trusted", "error": 0.05}}
"""


def _mappings() -> Iterator[GoodFile]:
    yield GoodFile("map.toml", "mapping", True, MAPPING.encode())
    yield GoodFile("fit.json", "fit", True, FIT.encode())


def _robots(folder: Path) -> Iterator[GoodFile]:
    for name in ("spatial_3r", "planar_rp", "four_bar", "puma560"):
        robot = sy.load(name)
        assert robot.mechanism.source is not None
        yield GoodFile(f"{name}.toml", "robot", True, robot.mechanism.source.text.encode())
        robot.to_toml(folder / f"{name}_links.toml")
        yield GoodFile(
            f"{name}_links.toml", "robot", True, (folder / f"{name}_links.toml").read_bytes()
        )
        robot.to_urdf(folder / f"{name}.urdf")
        yield GoodFile(f"{name}.urdf", "robot", True, (folder / f"{name}.urdf").read_bytes())
    for name, text in {"arm.xacro": XACRO, "arm.mjcf": MJCF, "arm.xml": MJCF}.items():
        yield GoodFile(name, "robot", True, text.encode())


XACRO = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="side" default="left"/>
  <xacro:property name="m" value="3"/>
  <xacro:property name="lengths" value="${[0.4, 0.3]}"/>
  <xacro:macro name="rod" params="name mass length:=1 *origin">
    <link name="${name}"><inertial><mass value="${mass}"/><xacro:insert_block name="origin"/>
      <inertia ixx="${mass * length**2 / 12}" ixy="0" ixz="0" iyy="0.01" iyz="0"
      izz="${mass * length**2 / 12}"/></inertial></link>
  </xacro:macro>
  <link name="$(arg side)_base"/>
  <xacro:rod name="rod1" mass="${m * 2}" length="${lengths[0]}"><origin xyz="0 0 0.2"/></xacro:rod>
  <xacro:if value="${m > 2}"><xacro:rod name="rod2" mass="1"><origin xyz="0 0 ${sin(pi / 4)}"/>
  </xacro:rod></xacro:if>
  <joint name="j1" type="revolute"><parent link="$(arg side)_base"/><child link="rod1"/>
  <axis xyz="0 1 0"/>
    <limit lower="${-pi}" upper="${pi}" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="j2" type="prismatic"><parent link="rod1"/><child link="rod2"/>
  <origin xyz="0 0 0.4" rpy="0 ${radians(30)} 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/></joint>
</robot>
"""

MJCF = """<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <default><joint damping="0.1" armature="0.01"/><geom type="capsule" size=".04"/></default>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-90 90" stiffness="2"/>
      <inertial pos="0 0 .2" mass="2" diaginertia=".1 .1 .01"/>
      <geom fromto="0 0 0 0 0 .4"/>
      <body name="fore" pos="0 0 .4" euler="0 30 0">
        <joint name="elbow" type="slide" axis="0 0 1" frictionloss=".3"/>
        <joint name="twist" axis="0 0 1" pos=".01 0 0"/>
        <geom fromto="0 0 0 0 0 .3" density="800"/>
        <site name="tip" pos="0 0 .3"/>
      </body>
    </body>
    <body name="rod" pos=".5 0 0"><joint name="swing" axis="0 1 0"/><geom fromto="0 0 0 0 0 .5"/>
    </body>
  </worldbody>
  <equality><joint joint1="twist" joint2="shoulder" polycoef="0 1 0 0 0"/>
  <connect body1="fore" body2="rod" anchor="0 0 .3"/></equality>
  <tendon><fixed name="both"><joint joint="shoulder" coef="1"/><joint joint="swing" coef="-1"/>
  </fixed></tendon>
  <actuator><motor joint="shoulder" gear="50" forcerange="-1 1"/></actuator>
</mujoco>
"""
