"""watch: live samples of a robot from an iterator, a log, a ROS 2 topic or a UR controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import one_of, per_joint, real_number, short_repr
from ...errors import CallError, LogError, require_robot, suggest
from ...option_groups.logs import EFFORTS
from ...robot import Robot
from ...signals.log import Log
from .online_thresholds import THRESHOLDS
from .ros2_topic import joint_state_messages
from .ur_controller import ur_states

Array = NDArray[np.float64]


class Sample(NamedTuple):
    """One sample: t [s], q [rad|m], qd and tau [N m|N], (n,) each, in the robot's joint order."""

    t: float
    q: Array
    qd: Array
    tau: Array


class JointStates(NamedTuple):
    """Named joints at one instant, in any order.

    T [s], and position, velocity and effort of each.
    """

    t: float
    name: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


def watch(
    source: Any,
    robot: Robot,
    *,
    effort: str | None = None,
    gains: ArrayLike | Mapping[str, float] | None = None,
    rate: float = 125.0,
    timeout: float = 2.0,
) -> Iterator[Sample]:
    """Return an iterator of live samples of a robot, its joints matched by name.

    source: "ros2:/joint_states", a topic of sensor_msgs/JointState (needs rclpy);
    "rtde:192.168.0.10", the address of a UR controller (needs ur-rtde), read at `rate` [Hz]; a Log;
    or any iterable of JointState messages, of Samples (t, q, qd, tau) in the robot's order, or of
    mappings with these keys. effort: 'torque', or 'current' with `gains` [N m/A|N/A], one or one
    per joint; it is required where a source does not define it. The torque of a UR is the
    controller's target moment. Raises LogError when no sample comes for `timeout` [s]. ROS REP 107
    and sensor_msgs/JointState; Universal Robots, "Real-Time Data Exchange (RTDE) Guide".

    Parameters
    ----------
    source : "ros2:/topic", "rtde:address", a `Log`, or an iterable of messages or samples.
    robot : the `Robot`, described in SI units.
    effort : 'torque' [N m|N] or 'current' [A].
    gains : torque per current [N m/A|N/A]: one, (n,) or by joint.
    rate : samples per second [Hz].
    timeout : silence that is an error [s].

    Returns
    -------
    An iterator of `Sample`: .t [s], .q .qd .tau (n,).

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> state = {"q": [0.1, 0.2], "qd": [0, 0], "tau": [3.0, 1.0]}
    >>> samples = [{"t": 0.01 * k} | state for k in range(5)]
    >>> sum(1 for sample in sy.watch(samples, robot))
    5
    """
    require_robot(robot, "watch")
    one_of("effort", effort, (*EFFORTS, None))
    patience = real_number("timeout [s]", timeout, 0.0)
    factor = (
        None if gains is None else per_joint("gains", gains, robot.joint_names, unit="N m/A|N/A")
    )
    if effort == "current" and factor is None:
        raise CallError(
            "watch: effort='current' needs gains= [N m/A|N/A], by which a motor current becomes the"
            " torque of its joint"
        )
    if isinstance(source, str):
        states = named_source(source, robot, effort, real_number("rate [Hz]", rate, 1e-3), patience)
        return (to_torque(sample, factor) for sample in match_joints(states, robot, source))
    if isinstance(source, Log):
        return samples_of_log(source, robot)
    if not isinstance(source, Iterable):
        raise CallError(
            "watch: the source must be 'ros2:TOPIC', 'rtde:ADDRESS', a Log or an iterable of"
            f" samples, not {short_repr(source)}"
        )
    return (to_torque(sample, factor) for sample in from_iterable(source, robot, effort))


def named_source(
    source: str, robot: Robot, effort: str | None, rate: float, timeout: float
) -> Iterator[JointStates]:
    """Return the states that come from 'KIND:ADDRESS'."""
    kind, _, address = source.partition(":")
    sources: dict[str, Callable[[], Iterator[tuple[Any, ...]]]] = {
        "ros2": lambda: joint_state_messages(address or "/joint_states", timeout),
        "rtde": lambda: ur_states(address, robot.joint_names, effort == "current", rate, timeout),
    }
    if kind not in sources:
        raise CallError(
            f"watch: no source is called {kind!r}; {suggest(kind, ['ros2:TOPIC', 'rtde:ADDRESS'])}"
        )
    if effort is None:
        raise CallError(
            f"watch: is the effort of {source} torque [N m] or motor current [A]? Give"
            " effort='torque' or effort='current'"
        )
    return (JointStates(*state) for state in sources[kind]())


def from_iterable(source: Iterable[Any], robot: Robot, effort: str | None) -> Iterator[Sample]:
    """Yield the samples of messages, mappings and tuples, in any mixture."""
    for number, item in enumerate(source):
        if hasattr(item, "position") and hasattr(item, "name"):
            if effort is None:
                raise CallError(
                    "watch: is the effort of messages torque [N m] or motor current [A]? Give"
                    " effort='torque' or 'current'"
                )
            yield from match_joints(
                iter(
                    [JointStates(stamp(item), item.name, item.position, item.velocity, item.effort)]
                ),
                robot,
                "message",
            )
        elif isinstance(item, Mapping):
            missing = [key for key in Sample._fields if key not in item]
            if missing:
                raise LogError(
                    f"watch: sample {number} has no {', '.join(missing)}; it has"
                    f" {', '.join(map(str, item))}"
                )
            yield check_sample(Sample(*(item[key] for key in Sample._fields)), robot, number)
        elif isinstance(item, Sequence) and len(item) == len(Sample._fields):
            yield check_sample(Sample(*item), robot, number)
        else:
            raise LogError(
                f"watch: sample {number} must be (t, q, qd, tau), a mapping of these or a"
                f" JointState message, not {short_repr(item)}"
            )


def check_sample(sample: Sample, robot: Robot, number: int) -> Sample:
    """Return a sample as float arrays; raise LogError where a shape is wrong."""
    try:
        arrays = [np.asarray(x, float) for x in sample[1:]]
        t = float(sample.t)
    except (TypeError, ValueError):
        raise LogError(f"watch: sample {number} is not made of numbers") from None
    for name, array in zip(Sample._fields[1:], arrays, strict=True):
        if array.shape != (robot.n,):
            raise LogError(
                f"watch: {name} of sample {number} has shape {array.shape}, expected ({robot.n},):"
                f" {', '.join(robot.joint_names)}"
            )
    return Sample(t, *arrays)


def match_joints(states: Iterator[JointStates], robot: Robot, source: str) -> Iterator[Sample]:
    """Yield the states of the robot's joints in its order.

    Messages about other joints are passed over.

    Raises LogError where a message has no velocity or effort of them, or where `missed_messages` in
    a row lack some of them.
    """
    misses, places, names = 0, [], None
    for state in states:
        if names is None or tuple(state.name) != names:
            names = tuple(state.name)
            places = [names.index(joint) if joint in names else -1 for joint in robot.joint_names]
        if min(places) < 0:
            misses += 1
            if misses >= THRESHOLDS.missed_messages or source == "message":
                lacking = [
                    joint
                    for joint, index in zip(robot.joint_names, places, strict=True)
                    if index < 0
                ]
                raise LogError(
                    f"watch: {source} has no joint {', '.join(lacking)};"
                    f" {suggest(lacking[0], names)}"
                )
            continue
        misses = 0
        fields = {"position": state.position, "velocity": state.velocity, "effort": state.effort}
        for field, values in fields.items():
            if len(values) != len(names):
                raise LogError(
                    f"watch: {source} has {len(values)} numbers of {field} for {len(names)} joints"
                )
        yield Sample(
            state.t, *(np.array([float(values[k]) for k in places]) for values in fields.values())
        )


def samples_of_log(log: Log, robot: Robot) -> Iterator[Sample]:
    """Yield the samples of a log that has velocities and torques."""
    names = log.joint_names or robot.joint_names
    missing = [name for name in robot.joint_names if name not in names]
    if missing:
        raise LogError(
            f"watch: the log has no joint {', '.join(missing)}; {suggest(missing[0], names)}"
        )
    for name in ("qd", "tau"):
        if getattr(log, name) is None:
            raise LogError(f"watch: the log has no {name}; a live stream has q, qd and tau")
    order = [names.index(name) for name in robot.joint_names]
    assert log.qd is not None
    assert log.tau is not None
    return (
        Sample(float(t), q[order], qd[order], tau[order])
        for t, q, qd, tau in zip(log.t, log.q, log.qd, log.tau, strict=True)
    )


def to_torque(sample: Sample, factor: Array | None) -> Sample:
    """Return the sample with its effort times a factor (n,), if there is one."""
    return sample if factor is None else sample._replace(tau=sample.tau * factor)


def stamp(message: Any) -> float:
    """Return the time [s] of a stamped message."""
    try:
        return float(message.header.stamp.sec) + 1e-9 * float(message.header.stamp.nanosec)
    except AttributeError:
        raise LogError("watch: a message has no header.stamp with sec and nanosec") from None
