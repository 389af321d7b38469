"""Every method of Robot that computes takes arrays of any batch shape, and `out=`."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.robot.loops.closures import ClosureMethods
from steelyard.robot.loops.constrained_dynamics import ConstrainedDynamicsMethods
from tests.laws.dynamics import running
from tests.loop_robots import motion
from tests.zoo import case


def taken(method: Any) -> set[str]:
    return set(inspect.signature(method).parameters)


PUBLIC = {
    name: method
    for name, method in inspect.getmembers(sy.Robot, inspect.isfunction)
    if not name.startswith("_")
}
# return other things than arrays
OBJECTS = ("assembly", "constrained_inverse_dynamics", "picture", "plot")
SEQUENCES = ("presliding_along",)  # take consecutive positions (N, n)
METHODS = [
    name
    for name, method in PUBLIC.items()
    if {"q", "qd"} & taken(method) and name not in (*OBJECTS, *SEQUENCES)
]


def of_loops(name: str) -> bool:
    return name in vars(ClosureMethods) or name in vars(ConstrainedDynamicsMethods)


def arguments(name: str) -> dict[str, np.ndarray]:
    """What a method must be given, (6, ...): six samples, along a time where it asks for one."""
    x: Any = motion("five_bar") if of_loops(name) else case("torso")
    wrench = running.inputs(case("torso"), "wrench_torque")[1]
    known = {
        "q": x.q,
        "qd": x.qd,
        "qdd": x.qdd,
        "tau": x.tau,
        "qrd": x.qd,
        "qrdd": x.qdd,
        "wrench": wrench,
        "angular_velocity": x.q[:, :3],
        "z": np.tanh(x.q),
        "dq": 0.01 * x.qd,
    }
    needed = [
        k
        for k, p in inspect.signature(getattr(sy.Robot, name)).parameters.items()
        if p.default is p.empty and k != "self"
    ]
    needed += ["q"] if name == "friction_torque" else []  # the torso has torque ripple
    return {k: np.arange(6) * 0.01 if k == "t" else known[k][[0, 1, 2, 3, 4, 0]] for k in needed}


def bound_method(name: str) -> Any:
    """A method of the torso, or of a linkage; where it takes a frame, of one of its two tips."""
    method = getattr(motion("five_bar").robot if of_loops(name) else case("torso").robot, name)
    return (
        partial(method, frame=case("torso").robot.frame_names[-1])
        if "frame" in taken(method)
        else method
    )


def results(value: Any) -> list[np.ndarray]:
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", METHODS)
def test_a_result_is_written_where_it_is_wanted(name: str) -> None:
    method, argument = bound_method(name), arguments(name)
    expected = results(method(**argument))
    out = tuple(np.full_like(array, np.nan) for array in expected)
    returned = results(method(**argument, out=out if len(out) > 1 else out[0]))
    for array, reference, values in zip(returned, out, expected, strict=True):
        assert array is reference
        np.testing.assert_array_equal(reference, values)


@pytest.mark.parametrize(
    "name", [name for name in METHODS if "t" not in taken(getattr(sy.Robot, name))]
)
def test_batches_have_any_shape_and_broadcast(name: str) -> None:
    method, argument = bound_method(name), arguments(name)
    expected = results(method(**argument))
    reshaped = results(method(**{k: a.reshape(2, 3, *a.shape[1:]) for k, a in argument.items()}))
    spread = results(
        method(**{k: a if i else a[:1, None] for i, (k, a) in enumerate(argument.items())})
    )
    again = results(
        method(
            **{
                k: a if i else np.broadcast_to(a[:1], a.shape)
                for i, (k, a) in enumerate(argument.items())
            }
        )
    )
    for k, values in enumerate(expected):
        np.testing.assert_array_equal(reshaped[k].reshape(values.shape), values)
        np.testing.assert_array_equal(
            spread[k].reshape(-1, *values.shape[1:]), again[k][: 6 if len(argument) > 1 else 1]
        )
