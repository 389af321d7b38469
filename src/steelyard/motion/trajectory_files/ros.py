"""trajectory_msgs/JointTrajectory of ROS, as YAML and in bags; no ROS is needed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...errors import needs_extra
from ...files import Content, write_atomic
from ...names import program_comment, quoted_text
from .sampled_motion import SampledMotion

TYPE = "trajectory_msgs/msg/JointTrajectory"
TOPIC = "/joint_trajectory"
BAG_VERSION = 8  # of the metadata of a folder of ROS 2: Humble and later read it


def seconds(t: float) -> tuple[int, int]:
    """Split a time [s] into whole seconds and nanoseconds."""
    total = round(t * 1e9)
    return total // 10**9, total % 10**9


def yaml(motion: SampledMotion, name: str) -> Content:
    """Return the message as YAML, for `ros2 topic pub` and ros2_control; rad|m, rad/s, rad/s2."""
    names = ", ".join(quoted_text(label) for label in motion.labels)
    lines = [
        f"# {program_comment(motion.safety.line)}",
        "header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}",
    ]
    lines += [f"joint_names: [{names}]", "points:"]
    for t, q, qd, qdd in zip(
        motion.t - motion.t[0],
        motion.q.tolist(),
        motion.qd.tolist(),
        motion.qdd.tolist(),
        strict=True,
    ):
        sec, nanosec = seconds(float(t))
        lines += [f"- positions: {q}", f"  velocities: {qd}", f"  accelerations: {qdd}"]
        lines += [f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}"]
    return "\n".join(lines) + "\n"


def bag_folder(motion: SampledMotion, folder: Path, mcap: bool = False) -> None:
    """Write a bag folder of ROS 2 with one message."""
    Writer, plugin, store = _ros2()
    with TemporaryDirectory() as temporary:
        bag = Path(temporary) / "bag"
        with Writer(
            bag, version=BAG_VERSION, storage_plugin=plugin.MCAP if mcap else plugin.SQLITE3
        ) as writer:
            connection = writer.add_connection(TOPIC, TYPE, typestore=store)
            writer.write(connection, 0, store.serialize_cdr(_message(motion, store), TYPE))
        for part in sorted(bag.iterdir()):
            write_atomic(folder / part.name, part.read_bytes())


def mcap(motion: SampledMotion, name: str) -> Content:
    """Return an MCAP file with one message."""
    with TemporaryDirectory() as folder:
        bag_folder(motion, Path(folder), mcap=True)
        return next(Path(folder).glob("*.mcap")).read_bytes()


def ros1_bag(motion: SampledMotion, name: str) -> Content:
    """Return a ROS 1 bag with one message."""
    try:
        from rosbags.rosbag1 import Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise needs_extra("rosbags", "bags", "writing a bag") from None
    store = get_typestore(Stores.ROS1_NOETIC)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "motion.bag"
        with Writer(path) as writer:
            connection = writer.add_connection(TOPIC, TYPE, typestore=store)
            writer.write(connection, 0, store.serialize_ros1(_message(motion, store), TYPE))
        return path.read_bytes()


def _ros2() -> tuple[Any, Any, Any]:
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise needs_extra("rosbags", "bags", "writing a bag") from None
    return Writer, StoragePlugin, get_typestore(Stores.ROS2_HUMBLE)


def _message(motion: SampledMotion, store: Any) -> Any:
    types = store.types
    time, duration = types["builtin_interfaces/msg/Time"], types["builtin_interfaces/msg/Duration"]
    header = types["std_msgs/msg/Header"]
    stamp = {"seq": 0} if "seq" in header.__dataclass_fields__ else {}
    point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    rows = zip(motion.t - motion.t[0], motion.q, motion.qd, motion.qdd, strict=True)
    points = [point(q, qd, qdd, q[:0], duration(*seconds(float(t)))) for t, q, qd, qdd in rows]
    return types[TYPE](header(**stamp, stamp=time(0, 0), frame_id=""), list(motion.labels), points)
