"""Test states of a robot: random ones within its limits, and a smooth motion."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..robot import Robot

Array = NDArray[np.float64]
FAR = 1e4  # [rad|m]


class States(NamedTuple):
    """States of a motion: q [rad|m], qd [rad/s|m/s], qdd [rad/s2|m/s2], each (..., n)."""

    q: Array
    qd: Array
    qdd: Array


def random_states(robot: Robot, samples: int, seed: int = 0) -> States:
    """Return independent states, uniform within the position limits; qd within 2, qdd within 5.

    Without limits, or if both are equal, the range is one revolution or one metre.
    """
    rng = np.random.default_rng(seed)
    lower, upper = joint_travel(robot)
    half = half_ranges(robot)
    lower, upper = (
        np.where(lower == upper, lower - half, lower),
        np.where(lower == upper, upper + half, upper),
    )
    shape = (samples, robot.n)
    q = (lower + upper) / 2 + (upper - lower) / 2 * rng.uniform(-1, 1, shape)
    return States(q, 2.0 * rng.uniform(-1, 1, shape), 5.0 * rng.uniform(-1, 1, shape))


def swing(robot: Robot, samples: int, seconds: float = 10.0) -> States:
    """Return a smooth motion over half of each joint's range: q_i(t) = c_i + a_i sin(w_i t).

    Derivatives are exact. Joints have different frequencies, so that they meet in many
    combinations; amplitudes respect the velocity limits.
    """
    lower, upper = joint_travel(robot)
    centre, reach = (lower + upper) / 2, (upper - lower) / 2
    speed = np.array([min(limits.velocity, 2.0) for limits in robot.tree.limits])
    w = 2 * math.pi * (1 + np.arange(robot.n)) / seconds
    a = np.minimum(0.5 * reach, 0.9 * speed / w)
    phase = np.linspace(0.0, seconds, samples)[:, None] * w
    return States(centre + a * np.sin(phase), a * w * np.cos(phase), -a * w * w * np.sin(phase))


def joint_travel(robot: Robot) -> tuple[Array, Array]:
    """Return lower and upper end of every joint's travel, (n,) each [rad|m].

    A limit beyond 1e4 means none. With one open end, the travel is one revolution (1 m for a
    prismatic joint) from the other; with two, half of that to each side of 0.
    """
    limits = np.array([(x.lower, x.upper) for x in robot.tree.limits], dtype=float).reshape(-1, 2)
    limits[np.abs(limits) > FAR] = np.copysign(np.inf, limits[np.abs(limits) > FAR])
    half = half_ranges(robot)
    no_lower, no_upper = np.isinf(limits).T
    lower = np.where(no_lower, np.where(no_upper, -half, limits[:, 1] - 2 * half), limits[:, 0])
    upper = np.where(no_upper, np.where(no_lower, half, limits[:, 0] + 2 * half), limits[:, 1])
    return lower, upper


def half_ranges(robot: Robot) -> Array:
    """Return half of the travel of joints without limits, (n,): half a turn or 0.5 m [rad|m]."""
    return np.array(
        [
            0.5 if robot.mechanism.joint(name).kind == "prismatic" else math.pi
            for name in robot.joint_names
        ]
    )
