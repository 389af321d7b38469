"""Faults of single channels that can be planted into a log.

They are not part of the trust benchmark, whose published cases follow from the rows of
`benchmarks.faults`; `tests/laws/doctor/test_doctor_channels.py` plants each of them.
"""

from __future__ import annotations

import numpy as np

import steelyard as sy
from benchmarks.faults import Fault, Joints, Rng, all_joints, columns, each_joint


def unsign(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Magnitudes instead of torques."""
    return log.replace(tau=np.abs(np.array(log.tau)))


def command(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """The torque of a position controller of this stiffness [N m/rad], with its reference."""
    error = 0.02 * np.sin(np.outer(log.t, 1.0 + np.arange(log.n))) + 0.01
    return log.replace(reference=log.q + error, tau=size * error)


def quantise(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Torques of one joint in steps of `size` standard deviations."""
    tau = np.array(log.tau)
    for j in columns(log, joints):
        step = size * tau[:, j].std()
        tau[:, j] = step * np.rint(tau[:, j] / step)
    return log.replace(tau=tau)


def freeze(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """The position of one joint keeps its value for the last part of the log."""
    q = np.array(log.q)
    for j in columns(log, joints):
        # where it moves fast, so that it does not seem to come to rest
        speed = np.abs(np.gradient(q[:, j]))
        first = int((1 - size) * log.N)
        start = first + int(np.argmax(speed[first : first + log.N // 10]))
        q[start:, j] = q[start, j]
    return log.replace(q=q)


def repeat(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """Torques that are measured less often than they are logged."""
    rows = np.arange(log.N) // int(size) * int(size)
    return log.replace(tau=np.array(log.tau)[rows])


def scale_velocity(robot: sy.Robot, log: sy.Log, joints: Joints, size: float, rng: Rng) -> sy.Log:
    """The velocity of one joint times a factor."""
    qd = np.array(log.qd)
    qd[:, columns(log, joints)] *= size
    return log.replace(qd=qd)


CHANNEL_ROWS = (
    Fault(
        "effort without sign",
        "log",
        1,
        1,
        "x",
        "magnitudes replace torques",
        all_joints,
        unsign,
        whole=True,
    ),
    Fault(
        "effort is the command",
        "log",
        10,
        1000,
        "N m/rad",
        "efforts are the output of a controller",
        all_joints,
        command,
        whole=True,
    ),
    Fault(
        "quantised effort",
        "log",
        0.5,
        1,
        "std",
        "the torque of a joint has a coarse resolution",
        each_joint,
        quantise,
    ),
    Fault(
        "stuck channel",
        "log",
        0.3,
        0.7,
        "of the log",
        "the position of a joint freezes",
        each_joint,
        freeze,
    ),
    Fault(
        "repeated samples",
        "log",
        2,
        10,
        "times",
        "torques repeat the previous ones",
        all_joints,
        repeat,
        whole=True,
    ),
    Fault(
        "velocity channel",
        "log",
        1.3,
        60,
        "x",
        "the velocity of a joint has another unit",
        each_joint,
        scale_velocity,
    ),
)
CHANNEL_FAULTS = {row.key: row for row in CHANNEL_ROWS}
"""The faults by key; the doctor's findings have the same keys."""
