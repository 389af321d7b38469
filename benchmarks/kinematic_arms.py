"""Arms of every family that inverse kinematics solves in closed form, by DH table or by axes.

UR10e, UR5e and iiwa 14 as their makers publish them; the lecture's arm from
recursive_direct_dynamics_lecture; the others are of plausible size. UR5, Panda, xArm7 and Z1 are
URDF files of the package example-robot-data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import steelyard as sy
from steelyard.algebra.spatial import Pose
from steelyard.mechanism.formats.toml.dh import denavit_hartenberg
from steelyard.mechanism.formats.toml.keys import TomlKeys
from steelyard.mechanism.model import Joint, Limits, Link, Mechanism

from .targets import urdf

Q = math.pi / 2
Row = tuple[float, float, float]  # a [m], alpha [rad], d [m]


def by_dh(
    name: str, rows: Sequence[Row], slides: Sequence[int] = (), limits: Sequence[float] = ()
) -> sy.Robot:
    """A robot from a standard DH table.

    `slides` are the joints that slide, `limits` the largest |q| of each joint.
    """
    joints: list[dict[str, Any]] = [{"a": a, "alpha": alpha, "d": d} for a, alpha, d in rows]
    for i in slides:
        joints[i]["kind"] = "prismatic"
    for joint, most in zip(joints, limits, strict=False):
        joint["limits"] = [-most, most]
    return sy.Robot(denavit_hartenberg(TomlKeys({"name": name, "joints": joints}, name, [])))


def by_axes(
    name: str, joints: Sequence[tuple[str, Sequence[float], Sequence[float]]], tool: Sequence[float]
) -> sy.Robot:
    """Return a robot from kind, axis and point [m] of each joint at q = 0, and its tool."""
    links, result, last = [Link("base")], [], (0.0, 0.0, 0.0)
    for i, (kind, axis, point) in enumerate(joints, start=1):
        offset = tuple(a - b for a, b in zip(point, last, strict=True))
        origin = Pose(p=offset)  # type: ignore[arg-type]
        names = (f"joint{i}", kind, links[-1].name, f"link{i}")
        result.append(Joint(*names, origin, tuple(axis), Limits()))  # type: ignore[arg-type]
        links.append(Link(f"link{i}"))
        last = tuple(point)  # type: ignore[assignment]
    origin = Pose(p=tuple(a - b for a, b in zip(tool, last, strict=True)))  # type: ignore[arg-type]
    return sy.Robot(
        Mechanism(
            name,
            (*links, Link("tool")),
            (*result, Joint("tool_fixed", "fixed", links[-1].name, "tool", origin)),
        )
    )


def universal(
    name: str, d1: float, a2: float, a3: float, d4: float, d5: float, d6: float
) -> sy.Robot:
    rows = [
        (0.0, Q, d1),
        (a2, 0.0, 0.0),
        (a3, 0.0, 0.0),
        (0.0, Q, d4),
        (0.0, -Q, d5),
        (0.0, 0.0, d6),
    ]
    return by_dh(name, rows, limits=[2 * math.pi] * 6)


def iiwa() -> sy.Robot:
    degrees = (170, 120, 170, 120, 170, 120, 175)
    lengths, alphas = (0.36, 0.0, 0.42, 0.0, 0.40, 0.0, 0.126), (-Q, Q, Q, -Q, -Q, Q, 0.0)
    rows = [(0.0, alpha, d) for alpha, d in zip(alphas, lengths, strict=True)]
    return by_dh("iiwa14", rows, limits=[math.radians(x) for x in degrees])


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)


def lecture_arm(l3: float = 0.6, l4: float = 0.5, l6: float = 0.15) -> sy.Robot:
    """Rz Rx Rx Ry Rx Ry, along y at zero."""
    points = [
        ZERO,
        ZERO,
        (0.0, l3, 0.0),
        (0.0, l3 + l4, 0.0),
        (0.0, l3 + l4, 0.0),
        (0.0, l3 + l4, 0.0),
    ]
    joints = [
        ("revolute", axis, point) for axis, point in zip((Z, X, X, Y, X, Y), points, strict=True)
    ]
    return by_axes("lecture_6r", joints, (0.0, l3 + l4 + l6, 0.0))


def _revolute(
    *axes: tuple[Sequence[float], Sequence[float]],
) -> list[tuple[str, Sequence[float], Sequence[float]]]:
    return [("revolute", axis, point) for axis, point in axes]


_WRIST = _revolute((Z, (0.7, 0.0, 0.9)), (Y, (0.7, 0.0, 0.9)), (Z, (0.7, 0.0, 0.9)))
_END = (0.7, 0.0, 1.0)
_ELBOW = _revolute((Z, ZERO), (Y, (0.1, 0.0, 0.4)), (Y, (0.1, 0.0, 0.9)))
_PLANAR = _revolute((Z, ZERO), (Z, (0.3, 0.0, 0.0)), (Z, (0.6, 0.0, 0.0)))
_SLIDES = {axis: ("prismatic", vector, ZERO) for axis, vector in (("x", X), ("y", Y), ("z", Z))}
_OBLIQUE = (0.5, math.sqrt(0.75), 0.0)


def _kuka_like() -> sy.Robot:
    rows = [
        (0.025, -Q, 0.4),
        (0.455, 0.0, 0.0),
        (0.035, -Q, 0.0),
        (0.0, Q, 0.42),
        (0.0, -Q, 0.0),
        (0.0, 0.0, 0.08),
    ]
    return by_dh("kuka_like", rows, limits=[math.pi] * 6)


def _scara() -> sy.Robot:
    rows = [(0.325, 0.0, 0.4), (0.275, math.pi, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.05)]
    return by_dh("scara", rows, slides=[2], limits=[2.4, 2.6, 0.2, 6.2])


def _youbot() -> sy.Robot:
    heights = ((Z, 0.0), (Y, 0.15), (Y, 0.3), (Y, 0.43), (Z, 0.5))
    return by_axes(
        "youbot_5r",
        _revolute(*((axis, (0.03 if z else 0.0, 0.0, z)) for axis, z in heights)),
        (0.03, 0.0, 0.65),
    )


def _oblique_wrist() -> sy.Robot:
    centre = (0.6, 0.0, 0.95)
    return by_axes(
        "oblique_wrist",
        [*_ELBOW, *_revolute((X, centre), (_OBLIQUE, centre), (X, centre))],
        (0.75, 0.0, 0.95),
    )


def _wrist_at_the_base() -> sy.Robot:
    arm = _revolute((Y, (0.5, 0.0, 0.1)), (Y, (1.0, 0.0, 0.1)), (Z, (1.1, 0.05, 0.0)))
    return by_axes(
        "wrist_at_the_base", [*_revolute((Z, ZERO), (Y, ZERO), (X, ZERO)), *arm], (1.1, 0.1, 0.3)
    )


def _axes(
    name: str, joints: Sequence[tuple[str, Sequence[float], Sequence[float]]], tool: Sequence[float]
) -> Callable[[], sy.Robot]:
    return lambda: by_axes(name, joints, tool)


_BY_AXES = {
    "palletiser_4r": ([*_ELBOW, *_revolute((Y, (0.6, 0.0, 0.9)))], (0.7, 0.0, 0.9)),
    "wrist_5r": (
        [*_ELBOW, *_revolute((X, (0.5, 0.0, 0.95)), (Y, (0.6, 0.0, 0.95)))],
        (0.7, 0.0, 0.95),
    ),
    "stanford": (
        [*_revolute((Z, ZERO), (Y, (0.0, 0.15, 0.4))), ("prismatic", Z, (0.0, 0.15, 0.4)), *_WRIST],
        _END,
    ),
    "cylindrical": ([("revolute", Z, ZERO), _SLIDES["z"], _SLIDES["x"], *_WRIST], _END),
    "gantry_3p3r": ([*_SLIDES.values(), *_WRIST], _END),
    "gantry_rr": (
        [_SLIDES["x"], *_revolute((Z, (0.1, 0.0, 0.3)), (Y, (0.1, 0.0, 0.6))), *_WRIST],
        _END,
    ),
    "scara_rrrp": ([*_PLANAR, _SLIDES["z"]], (0.6, 0.0, -0.1)),
    "scara_prrr": ([_SLIDES["z"], *_PLANAR], (0.7, 0.0, -0.1)),
    "planar_3r": (_PLANAR, (0.7, 0.0, 0.0)),
    "meeting_shoulder": ([*_revolute((Z, ZERO), (Y, ZERO), (X, (0.1, 0.1, 0.5))), *_WRIST], _END),
    "parallel_shoulder": (
        [*_revolute((Z, ZERO), (Z, (0.3, 0.0, 0.0)), (Y, (0.5, 0.0, 0.4))), *_WRIST],
        _END,
    ),
    "rail_6r": ([_SLIDES["y"], *_ELBOW, *_WRIST], _END),
}

ARMS: dict[str, Callable[[], sy.Robot]] = {
    "ur5": lambda: sy.load(urdf("ur5")),
    "ur10e": lambda: universal("ur10e", 0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
    "puma560": lambda: sy.load("puma560"),
    "elbow_6r": lambda: sy.load("elbow_6r"),
    "kuka_like": _kuka_like,
    "scara": _scara,
    "panda": lambda: sy.load(urdf("panda")),
    "iiwa14": iiwa,
    "xarm7": lambda: sy.load(urdf("xarm7")),
    "z1": lambda: sy.load(Path(urdf("ur5")).parents[2] / "z1_description/urdf/z1.urdf"),
    "lecture_6r": lecture_arm,
    "youbot_5r": _youbot,
    "oblique_wrist": _oblique_wrist,
    "wrist_at_the_base": _wrist_at_the_base,
    **{name: _axes(name, joints, tool) for name, (joints, tool) in _BY_AXES.items()},
}


def arm(name: str) -> sy.Robot:
    """One of ARMS."""
    return ARMS[name]()


FRAMES = {"panda": "panda_link8"}


def frame_of(robot: sy.Robot) -> str:
    """The frame whose poses are asked for."""
    return FRAMES.get(robot.name, "") or robot.end_effector
