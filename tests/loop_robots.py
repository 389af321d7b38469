"""Robots with loops for tests.

The built-in ones in closed motion, and one that has a loop of every kind, closed or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import steelyard as sy
from steelyard.algebra.spatial import Pose
from steelyard.mechanism.loops import FRAME_KINDS, Loop
from steelyard.mechanism.model import Joint, Link, Mechanism
from tests.random_robots import random_inertia, random_pose

CLOSED = ("four_bar", "five_bar", "planar_3rrr", "delta")
SAMPLES = 5


@dataclass(frozen=True)
class Motion:
    """A robot in a motion that keeps its loops closed.

    Q, qd, qdd and drive torques, (SAMPLES, n).
    """

    robot: sy.Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


@cache
def robot(name: str) -> sy.Robot:
    return sy.load(name)


@cache
def motion(name: str) -> Motion:
    return moved(robot(name))


def moved(result: sy.Robot, scale: float = 0.12) -> Motion:
    """Random closed states; accelerations are those of random drive torques."""
    rng = np.random.default_rng(7)
    q = result.assemble(scale * rng.normal(size=(SAMPLES, result.n)))
    qd = result.consistent_velocity(q, rng.normal(size=q.shape))
    tau = np.zeros_like(q)
    tau[:, list(result.tree.driven)] = rng.normal(size=(SAMPLES, len(result.tree.driven)))
    return Motion(result, q, qd, result.constrained_forward_dynamics(q, qd, tau)[0], tau)


@cache
def every_kind() -> sy.Robot:
    """Two arms of three joints in random places, with loops of every kind between them.

    They cannot all be closed.
    """
    rng = np.random.default_rng(5)
    links, joints = [Link("base", random_inertia(rng))], []
    for arm in "ab":
        parent = "base"
        for k, kind in enumerate(
            ("revolute", "prismatic" if arm == "b" else "revolute", "revolute")
        ):
            links.append(Link(f"{arm}{k}", random_inertia(rng)))
            pose = random_pose(rng)
            joint = Joint(f"j{arm}{k}", kind, parent, f"{arm}{k}", pose)  # type: ignore[arg-type]
            joints.append(joint)
            parent = f"{arm}{k}"
    loops = [
        Loop(
            kind,
            kind,
            "a2",
            "b2",
            random_pose(rng),
            random_pose(rng),
            0.4 if kind == "distance" else 0.0,
        )
        for kind in FRAME_KINDS
    ]
    loops += [
        Loop("gear", "gear", "ja0", "jb2", ratio=-2.0, offset=0.3),
        Loop("rack", "rack", "jb1", "ja1", ratio=0.05),
    ]
    loops.append(
        Loop(
            "own",
            "residual",
            expressions=("q['ja0'] * sin(q['jb1']) - 0.1", "sqrt(1.5 + cos(q['ja2'])) - q['jb0']"),
        )
    )
    return sy.Robot(Mechanism("every_kind", tuple(links), tuple(joints), loops=tuple(loops)))


def four_bar_with(kind: str, **argument: object) -> sy.Robot:
    """The four-bar with a closure of another kind at its pin."""
    return (
        robot("four_bar")
        .without_loops()
        .with_loop(
            "pin",
            kind,
            "coupler_link",
            "rocker_link",
            (0.4, 0.2, 0.0),
            (-0.1, 0.4, 0.0),
            **argument,
        )
    )  # type: ignore[arg-type]


HERE = Pose()
