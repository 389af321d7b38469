"""The arms of the trust benchmark.

Descriptions of 2 to 7 joints, strangers with as many joints, and two measured logs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.errors import needs_extra

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def installed(path: str) -> sy.Robot:
    """A robot of the package example-robot-data."""
    try:
        folder = distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    except PackageNotFoundError:
        raise needs_extra("example-robot-data", "test", "the trust benchmark") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        return sy.load(Path(str(folder)) / path)


def shortened(robot: sy.Robot, joints: int) -> sy.Robot:
    """The robot with all but its first joints held at 0."""
    return robot.freeze(dict.fromkeys(robot.joint_names[joints:], 0.0))


ARMS: dict[str, Callable[[], sy.Robot]] = {
    "planar_2r": lambda: sy.load("planar_2r"),
    "planar_rp": lambda: sy.load("planar_rp"),
    "spatial_3r": lambda: sy.load("spatial_3r"),
    "elbow_4r": lambda: shortened(sy.load("elbow_6r"), 4),
    "z1_5r": lambda: shortened(installed("z1_description/urdf/z1.urdf"), 5),
    "ur5": lambda: installed("ur_description/urdf/ur5_robot.urdf"),
    "puma560": lambda: sy.load("puma560"),
    "xarm7": lambda: installed("xarm_description/urdf/xarm7.urdf"),
}
"""Simulated robots by name: the descriptions that a user would have."""

STRANGERS: dict[str, Callable[[], sy.Robot]] = {
    "elbow_3r": lambda: shortened(sy.load("elbow_6r"), 3),
    "ur5_4r": lambda: shortened(installed("ur_description/urdf/ur5_robot.urdf"), 4),
    "ur5_5r": lambda: shortened(installed("ur_description/urdf/ur5_robot.urdf"), 5),
    "elbow_6r": lambda: sy.load("elbow_6r"),
    "ur3": lambda: installed("ur_description/urdf/ur3_robot.urdf"),
    "panda": lambda: shortened(installed("panda_description/urdf/panda.urdf"), 7),
}
"""Robots that only serve as wrong descriptions."""


@cache
def arm(name: str) -> sy.Robot:
    """A robot of the two tables, or the description of a measured log."""
    if name in MEASURED:
        return measured(name)[0]
    return (ARMS | STRANGERS)[name]()


def stranger(robot: sy.Robot, rng: np.random.Generator) -> sy.Robot:
    """A description of another robot with as many joints."""
    others = [
        other
        for other in map(arm, ARMS | STRANGERS)
        if other.n == robot.n and not alike(other, robot)
    ]
    return others[int(rng.integers(len(others)))]


def alike(one: sy.Robot, other: sy.Robot) -> bool:
    """Whether two robots have the same joints at the same places."""
    joints = (
        [(body.kind, body.axis, body.placement) for body in robot.tree.bodies]
        for robot in (one, other)
    )
    return next(joints) == next(joints)


@cache
def measured(name: str) -> tuple[sy.Robot, sy.Log]:
    """Description and whole log of a measured robot; the TX40 at a tenth of its 5 kHz."""
    return MEASURED[name]()


def available() -> tuple[str, ...]:
    """The measured logs that are beside the project."""
    return tuple(
        name
        for name, folder in zip(MEASURED, ("ur10", "staubli_tx40"), strict=True)
        if (DATA / folder).is_dir()
    )


def log_of(robot: sy.Robot) -> sy.Log | None:
    """The measured log that a robot describes; None if there is none."""
    return next((measured(name)[1] for name in available() if measured(name)[0] is robot), None)


def _ur10() -> tuple[sy.Robot, sy.Log]:
    data = np.load(DATA / "ur10" / "ur10_exciting_trajectory.npz", allow_pickle=True)
    names = tuple(map(str, data["names"]))
    return sy.load(DATA / "ur10" / "ur10_robot.urdf"), sy.Log(
        t=data["t"], q=data["q"], qd=data["qd"], tau=data["tau"], joint_names=names
    )


def _tx40() -> tuple[sy.Robot, sy.Log]:
    """The source models a wrist whose last two joints share a motor; so does the description here.

    The robot stands from 7.5 s on: cut off,
    for stiction can hold any torque.
    """
    data = np.load(DATA / "staubli_tx40" / "tx40.npz")
    robot = sy.load(DATA / "staubli_tx40" / "tx40_mdh_modified.urdf")
    described = robot.with_coupling("joint_5", "joint_6", armature=0.0, viscous=0.0, coulomb=0.0)
    return described, sy.Log(
        t=data["t"], q=data["q"], tau=data["tau"], joint_names=robot.joint_names
    ).between(t1=7.5).resampled(500.0)


MEASURED: dict[str, Callable[[], tuple[sy.Robot, sy.Log]]] = {"ur10 log": _ur10, "tx40 log": _tx40}
"""Measured logs by name, each with the robot's URDF as description."""
