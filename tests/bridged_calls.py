"""Calls of every function that a bridge offers, with all options, beside the results of the robot
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

import steelyard as sy
from steelyard.bridges.array_functions import ArrayFunctions, Linearised
from steelyard.compiler.ir.program import Program
from steelyard.compiler.render import array_expressions
from tests import loop_robots, zoo
from tests.interpret import run

# of small robots only
LARGE = ("christoffel", "slotine_li_regressor", "momentum_rate_regressor", "base_wrench_regressor")
# through (J M^-1 J^T)^-1
TASK = ("task_inertia", "dynamically_consistent_inverse", "nullspace_projector")
STEP = 1e-200


class NumpyFunctions(ArrayFunctions):
    """The functions of a robot over NumPy arrays.

    What the bridges share, without another library.
    """

    library = "NumPy"
    xp = np

    def _array(self, x: Any) -> Any:
        return np.asarray(x, float)

    def _together(self, arrays: list[Any]) -> list[Any]:
        return arrays

    def _run(self, made: Linearised, arrays: Any) -> tuple[Any, ...]:
        return array_expressions.call(made.program, np, arrays)


@dataclass(frozen=True)
class Call:
    """A method of the robot, its arrays (SAMPLES, ...), its options by name and its result.

    `condition` is that of what the method inverts: rounding grows by it.
    """

    name: str
    arrays: tuple[np.ndarray, ...]
    options: Mapping[str, Any]
    results: tuple[np.ndarray, ...]
    condition: float = 1.0

    @property
    def label(self) -> str:
        return "+".join((self.name, *self.options))

    @property
    def tolerance(self) -> float:
        return max(1e-12, 1e-14 * self.condition)


def made(
    robot: sy.Robot,
    name: str,
    arrays: tuple[np.ndarray, ...],
    options: Mapping[str, Any] | None = None,
) -> Call:
    result = getattr(robot, name)(*arrays, **(options or {}))
    condition = mobility_condition(robot, arrays[0], options or {}) if name in TASK else 1.0
    return Call(
        name, arrays, options or {}, result if isinstance(result, tuple) else (result,), condition
    )


def mobility_condition(robot: sy.Robot, q: np.ndarray, options: Mapping[str, Any]) -> float:
    """The largest condition of J M^-1 J^T over some states, in the directions that are independent.

    Those in which Lambda is not zero.
    """
    pi = {key: value for key, value in options.items() if key == "parameters"}
    J = robot.jacobian(q, options.get("frame"))
    mobility = J @ np.linalg.solve(robot.mass_matrix(q, **pi), np.swapaxes(J, -1, -2))
    inverse = robot.task_inertia(q, **options)
    return max(
        1.0,
        float(
            np.max(np.linalg.norm(mobility, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1)))
        ),
    )


@dataclass(frozen=True)
class Change:
    """A call of one sample: arrays, a direction for each, and the rates of the results along it.

    The arrays of the options follow in order.

    The rates are those of the complex step through the graph, node by node.
    """

    call: Call
    program: Program
    arrays: list[np.ndarray]
    directions: list[np.ndarray]
    rates: list[np.ndarray]


def change(robot: sy.Robot, call: Call) -> Change:
    """How the results of a call change along a random direction of all of its arrays, at its first
    sample.
    """
    rng = np.random.default_rng(list(call.label.encode()))
    one = {
        key: (
            _first(value, 1)
            if key == "base"
            else _first_wrench(value)
            if key == "wrench"
            else value
        )
        for key, value in call.options.items()
    }
    here = NumpyFunctions(robot._catalogue())
    form, arrays = here._form(call.name, [x[0] for x in call.arrays], one)
    program = here._catalogue.program(call.name, form)
    directions = [rng.normal(size=x.shape) for x in arrays]
    stepped = [(x + 1j * STEP * v).ravel() for x, v in zip(arrays, directions, strict=True)]
    with np.errstate(all="ignore"):
        finished_run = run(program, stepped, number=np.complex128)
    rates = [
        np.imag(np.array(y)).reshape(o.shape) / STEP
        for y, o in zip(finished_run, program.outputs, strict=True)
    ]
    return Change(
        Call(call.name, tuple(x[0] for x in call.arrays), one, ()),
        program,
        arrays,
        directions,
        rates,
    )


def _first(value: np.ndarray, core: int) -> np.ndarray:
    return value[0] if value.ndim > core else value


def _first_wrench(wrench: Any) -> Any:
    return (
        {frame: _first(value, 1) for frame, value in wrench.items()}
        if isinstance(wrench, dict)
        else _first(wrench, 2)
    )


def calls(name: str) -> Iterator[Call]:
    """Of a robot of the zoo.

    Every function that it has, without options and with all that the function takes.
    """
    case = zoo.case(name)
    robot, rng, count = case.robot, np.random.default_rng(3), len(case.q)
    arguments = {
        "q": case.q,
        "qd": case.qd,
        "qdd": case.qdd,
        "tau": case.tau,
        "qrd": case.qdd,
        "qrdd": case.qd,
        "z": np.tanh(case.q),
        "dq": 0.01 * case.qd,
    }
    arguments["angular_velocity"] = rng.normal(size=(count, 3))
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
        arrays = tuple(arguments[key] for key in taken if key in arguments)
        needed = {
            key: options[key]
            for key in ("frame", "wrench")
            if key in taken and (key == "frame" or method == "wrench_torque")
        }
        try:
            yield made(robot, method, arrays, needed)
            if any(key in options and key not in needed for key in taken):
                yield made(
                    robot, method, arrays, {key: options[key] for key in taken if key in options}
                )
        # that this robot has no such thing, such as accelerations of what has no mass
        except sy.ModelError:
            continue
    yield made(
        robot,
        "wrench_torque",
        (case.q,),
        {"wrench": rng.normal(size=(count, len(robot.body_names), 6))},
    )


def of_arrays(functions: Any, call: Call) -> Any:
    """The function of a call over all of its arrays, those of the options included, as `Change` has
    them; it returns a tuple.
    """
    frames = (
        sorted(call.options["wrench"]) if isinstance(call.options.get("wrench"), dict) else None
    )

    def function(*arrays: Any) -> tuple[Any, ...]:
        rest = list(arrays)
        options = {key: rest.pop() for key in ("parameters", "base") if key in call.options}
        if "wrench" in call.options:
            wrench = rest.pop()
            options["wrench"] = (
                wrench if frames is None else {frame: wrench[i] for i, frame in enumerate(frames)}
            )
        if call.name == "friction_torque":
            rest = rest[::-1]  # its algorithm takes q first
        frame = {"frame": call.options["frame"]} if "frame" in call.options else {}
        result = getattr(functions, call.name)(*rest, **options, **frame)
        return result if isinstance(result, tuple) else (result,)

    return function


def to_differentiate(asked: Iterator[Call]) -> list[Call]:
    """Of each function the call with most options.

    Of robots of more than three joints, not of the largest results.
    """
    results: dict[str, Call] = {}
    for call in asked:
        large = call.name.endswith(("_derivatives", "regressor")) or call.name in LARGE
        if large and call.arrays[0].shape[-1] > 3:
            continue
        if call.name not in results or len(call.options) > len(results[call.name].options):
            results[call.name] = call
    return list(results.values())


def loop_calls(name: str) -> Iterator[Call]:
    """Of a robot with loops."""
    motion = loop_robots.motion(name)
    robot = motion.robot
    yield made(robot, "closure", (motion.q + 0.1,))  # not closed: the residuals are no rounding
    yield made(robot, "closure_jacobian", (motion.q,))
    yield made(robot, "freedom_basis", (motion.q,))
    yield made(robot, "closure_bias", (motion.q, motion.qd))
    yield made(robot, "constrained_forward_dynamics", (motion.q, motion.qd, motion.tau))
    yield made(
        robot,
        "constrained_forward_dynamics",
        (motion.q, motion.qd, motion.tau),
        {"parameters": 1.1 * robot.parameters},
    )
    yield made(robot, "constrained_regressor", (motion.q, motion.qd, motion.qdd))


ROBOTS = [
    *((name, calls, zoo.robot) for name in zoo.ZOO),
    *((name, loop_calls, loop_robots.robot) for name in loop_robots.CLOSED),
]


def assert_close(
    label: str, result: tuple[Any, ...], expected: tuple[np.ndarray, ...], tolerance: float = 1e-12
) -> None:
    """Equal to a tolerance relative to the largest entry, or to a thousandth of a unit."""
    assert len(result) == len(expected), label
    for got, reference in zip(result, expected, strict=True):
        got = np.asarray(got)
        assert got.shape == reference.shape, f"{label}: {got.shape} and not {reference.shape}"
        scale = max(float(np.abs(reference).max(initial=0.0)), 1e-3)
        error = float(np.abs(got - reference).max(initial=0.0)) / scale
        assert error <= tolerance, f"{label}: {error:.1e} of {scale:.3g}"
