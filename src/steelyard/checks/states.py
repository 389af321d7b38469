"""States of a robot to try things on: random ones within its limits, and a smooth swing through them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mechanism.model import Limits
from ..robot import Robot

Array = NDArray[np.float64]


class States(NamedTuple):
    """Samples of a motion: q [rad|m], qd [rad/s|m/s], qdd [rad/s2|m/s2], each (N, n) in C order."""

    q: Array
    qd: Array
    qdd: Array


def random_states(robot: Robot, samples: int, seed: int = 0) -> States:
    """Independent states, uniform within the position limits (one turn, or one metre, where there are none); qd within 2, qdd within 5."""
    rng = np.random.default_rng(seed)
    centre, reach = _range(robot)
    shape = (samples, robot.n)
    return States(centre + reach * rng.uniform(-1, 1, shape), 2.0 * rng.uniform(-1, 1, shape), 5.0 * rng.uniform(-1, 1, shape))


def swing(robot: Robot, samples: int, seconds: float = 10.0) -> States:
    """A smooth motion that fills half of each joint's range: q_i(t) = c_i + a_i sin(w_i t), with its exact derivatives.

    Joints swing at different rates so that they meet in many combinations; amplitudes respect the velocity limits.
    """
    centre, reach = _range(robot)
    speed = np.array([min(limits.velocity, 2.0) for limits in robot.tree.limits])
    w = 2 * math.pi * (1 + np.arange(robot.n)) / seconds
    a = np.minimum(0.5 * reach, 0.9 * speed / w)
    phase = np.linspace(0.0, seconds, samples)[:, None] * w
    return States(centre + a * np.sin(phase), a * w * np.cos(phase), -a * w * w * np.sin(phase))


def _range(robot: Robot) -> tuple[Array, Array]:
    """Centre and half-width of every joint's travel, (n,) each."""
    kinds = (robot.mechanism.joint(name).kind for name in robot.joint_names)
    travels = [_travel(limits, 0.5 if kind == "prismatic" else math.pi) for limits, kind in zip(robot.tree.limits, kinds, strict=True)]
    low, high = np.array(travels, dtype=float).reshape(-1, 2).T
    return (low + high) / 2, (high - low) / 2


def _travel(limits: Limits, free: float) -> tuple[float, float]:
    """Both ends of a joint's travel; where an end is open, `free` to each side of what is known."""
    lower, upper = limits.lower, limits.upper
    if math.isinf(lower) and math.isinf(upper):
        return -free, free
    return (upper - 2 * free if math.isinf(lower) else lower), (lower + 2 * free if math.isinf(upper) else upper)
