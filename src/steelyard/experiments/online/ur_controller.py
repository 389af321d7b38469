"""States of a Universal Robots arm from its controller's real-time data exchange (RTDE)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import LogError, needs_extra, suggest

JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
VARIABLES = ("timestamp", "actual_q", "actual_qd")


def ur_states(
    address: str, joint_names: Sequence[str], current: bool, rate: float, timeout: float
) -> Iterator[tuple[float, tuple[str, ...], list[float], list[float], list[float]]]:
    """Yield time [s], names, positions, velocities and efforts of a UR.

    Motor currents [A], or the target moments [N m] of its controller.

    The joints are called as in Universal Robots' own description, with the prefix that the robot's
    names have. Raises MissingExtra without ur-rtde, and LogError where nothing answers, or when no
    new state came for `timeout` [s].
    """
    try:
        from rtde_receive import RTDEReceiveInterface
    except ImportError:
        raise needs_extra("ur-rtde", "ur", "the controller of a UR") from None
    names = prefixed_joint_names(joint_names)
    try:
        receiver = RTDEReceiveInterface(
            address, rate, [*VARIABLES, "actual_current" if current else "target_moment"]
        )
    except RuntimeError as error:  # the package's only exception
        raise LogError(f"watch: no controller of a UR answers at {address!r}: {error}") from None
    return _states(receiver, names, current, timeout, address)


def _states(
    receiver: Any, names: tuple[str, ...], current: bool, timeout: float, address: str
) -> Iterator[Any]:
    last, since = float("-inf"), time.monotonic()
    try:
        while True:
            period = receiver.initPeriod()
            t = float(receiver.getTimestamp())
            if t > last:
                last, since = t, time.monotonic()
                effort = receiver.getActualCurrent() if current else receiver.getTargetMoment()
                yield t, names, receiver.getActualQ(), receiver.getActualQd(), effort
            elif not receiver.isConnected() or time.monotonic() - since > timeout:
                raise LogError(
                    f"watch: {address} stopped: no state for {time.monotonic() - since:.2g} s, the"
                    f" last at {last:.6g} s"
                )
            receiver.waitPeriod(period)
    finally:
        receiver.disconnect()


def prefixed_joint_names(joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a UR's joints with the prefix that a robot gives them.

    Raise LogError if it is not a UR.
    """
    for name in joint_names:
        if name.endswith(JOINTS[0]):
            return tuple(name[: -len(JOINTS[0])] + joint for joint in JOINTS)
    raise LogError(
        f"watch: no joint of this robot is called {JOINTS[0]}, as a UR's first;"
        f" {suggest(JOINTS[0], joint_names)}"
    )
