"""Calls of every function that a bridge offers, with all options, beside the results of the robot itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

import steelyard as sy
from tests import loop_robots, zoo

LARGE = ("christoffel", "slotine_li_regressor", "momentum_rate_regressor", "base_wrench_regressor")  # of small robots only
TASK = ("task_inertia", "dynamically_consistent_inverse", "nullspace_projector")  # through (J M^-1 J^T)^-1, which may be near singular


@dataclass(frozen=True)
class Call:
    """A method of the robot, its arrays (SAMPLES, ...) and its options by name, and what the robot returns."""

    name: str
    arrays: tuple[np.ndarray, ...]
    options: Mapping[str, Any]
    results: tuple[np.ndarray, ...]

    @property
    def label(self) -> str:
        return "+".join((self.name, *self.options))

    @property
    def tolerance(self) -> float:
        return 1e-8 if self.name in TASK else 1e-12


def made(robot: sy.Robot, name: str, arrays: tuple[np.ndarray, ...], options: Mapping[str, Any] | None = None) -> Call:
    found = getattr(robot, name)(*arrays, **(options or {}))
    return Call(name, arrays, options or {}, found if isinstance(found, tuple) else (found,))


def calls(name: str) -> Iterator[Call]:
    """Of a robot of the zoo: every function that it has, without options and with all that the function takes."""
    case = zoo.case(name)
    robot, rng, count = case.robot, np.random.default_rng(3), len(case.q)
    given = {"q": case.q, "qd": case.qd, "qdd": case.qdd, "tau": case.tau, "qrd": case.qdd, "qrdd": case.qd}
    given["angular_velocity"] = rng.normal(size=(count, 3))
    options: dict[str, Any] = {
        "frame": robot.frame_names[-1],
        "wrench": {frame: rng.normal(size=(count, 6)) for frame in robot.frame_names[1:3]},
        "base": rng.normal(size=(count, 9)),
        "parameters": robot.parameters * rng.uniform(0.8, 1.2, len(robot.parameters)),
    }
    for method in robot._catalogue().entries:
        if method in LARGE and robot.n > 5:
            continue
        taken = [key for key in signature(getattr(robot, method)).parameters if key != "out"]
        arrays = tuple(given[key] for key in taken if key in given)
        needed = {key: options[key] for key in ("frame", "wrench") if key in taken and (key == "frame" or method == "wrench_torque")}
        try:
            yield made(robot, method, arrays, needed)
            if any(key in options and key not in needed for key in taken):
                yield made(robot, method, arrays, {key: options[key] for key in taken if key in options})
        except sy.ModelError:  # that this robot has no such thing, such as accelerations of what has no mass
            continue
    yield made(robot, "wrench_torque", (case.q,), {"wrench": rng.normal(size=(count, len(robot.body_names), 6))})


def loop_calls(name: str) -> Iterator[Call]:
    """Of a robot with loops."""
    motion = loop_robots.motion(name)
    robot = motion.robot
    yield made(robot, "closure", (motion.q + 0.1,))  # not closed: the residuals are no rounding
    yield made(robot, "closure_jacobian", (motion.q,))
    yield made(robot, "freedom_basis", (motion.q,))
    yield made(robot, "closure_bias", (motion.q, motion.qd))
    yield made(robot, "constrained_forward_dynamics", (motion.q, motion.qd, motion.tau))
    yield made(robot, "constrained_forward_dynamics", (motion.q, motion.qd, motion.tau), {"parameters": 1.1 * robot.parameters})
    yield made(robot, "constrained_regressor", (motion.q, motion.qd, motion.qdd))


def assert_close(label: str, found: tuple[Any, ...], expected: tuple[np.ndarray, ...], tolerance: float = 1e-12) -> None:
    """Equal to a tolerance relative to the largest entry, or to a thousandth of a unit."""
    assert len(found) == len(expected), label
    for got, wanted in zip(found, expected, strict=True):
        got = np.asarray(got)
        assert got.shape == wanted.shape, f"{label}: {got.shape} and not {wanted.shape}"
        scale = max(float(np.abs(wanted).max(initial=0.0)), 1e-3)
        error = float(np.abs(got - wanted).max(initial=0.0)) / scale
        assert error <= tolerance, f"{label}: {error:.1e} of {scale:.3g}"
