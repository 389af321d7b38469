"""Built-in functions for one state return what the gufuncs return, for any argument."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.runtime import kernel as kernels
from steelyard.compiler.runtime import single_call
from steelyard.errors import CallError
from steelyard.kernels import ALGORITHMS
from steelyard.kernels.tick import ORDER
from steelyard.robot import SINGLE_CALLS
from tests.zoo import ZOO
from tests.zoo import robot as zoo_robot

STATES = [
    name
    for name, row in ALGORITHMS.items()
    if set(row.inputs) <= set(ORDER) and name != "free_forward_dynamics"
]


def arrays_of(robot: sy.Robot, name: str, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = robot.body_names[-1] if ALGORITHMS[name].needs_frame else None
    return [
        rng.uniform(-1, 1, operand.shape) for operand in robot._kernel(name, frame=frame).inputs
    ]


def results(value: Any) -> tuple[np.ndarray, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", sorted(ZOO))
def test_one_state_gives_what_the_gufunc_gives_to_the_bit(name: str) -> None:
    robot = zoo_robot(name)
    for method in (
        "inverse_dynamics",
        "mass_matrix",
        "kinetic_energy",
        "regressor",
        "inverse_dynamics_derivatives",
    ):
        kernel = robot._kernel(method)
        arrays = arrays_of(robot, method)
        for a, b in zip(
            results(kernel.small_batch_call()(*arrays)), results(kernel.ufunc(*arrays)), strict=True
        ):
            assert type(a) is type(b)
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", STATES)
def test_every_algorithm_has_a_bare_function(name: str) -> None:
    robot = sy.load("puma560").with_rotors(0.1)
    framed = ALGORITHMS[name].needs_frame
    frame = robot.end_effector if framed else None
    bare, arrays = robot.kernel(name, frame), arrays_of(robot, name)
    assert type(bare) is type(len)
    gufunc = robot._kernel(name, frame=frame).ufunc
    for a, b in zip(results(bare(*arrays)), results(gufunc(*arrays)), strict=True):
        np.testing.assert_array_equal(a, b)
    batch = [np.stack([x, 2 * x, -x]) for x in arrays]
    many = [np.stack([x] * 3000) for x in arrays]
    for argument in (batch, many, [x.tolist() for x in arrays]):
        for a, b in zip(results(bare(*argument)), results(gufunc(*argument)), strict=True):
            np.testing.assert_array_equal(a, b)


class Sub(np.ndarray):
    """An array of another type."""


def oddities(x: np.ndarray) -> dict[str, Any]:
    """One state given in any way that somebody may think of, or not."""
    wide = np.zeros(2 * x.size)
    wide[::2] = x
    bytes_ = np.zeros(8 * x.size + 1, np.uint8)
    uneven = bytes_[1:].view(np.float64)
    uneven[:] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    return {
        "list": x.tolist(), "tuple": tuple(x), "float32": x.astype(np.float32),
        "int": x.astype(int), "bool": x > 0, "complex": x.astype(complex),
        "object": x.astype(object), "text": x.astype(str), "big-endian": x.astype(">f8"),
        "longdouble": x.astype(np.longdouble), "strided": wide[::2],
        "reversed": x[::-1].copy()[::-1], "not aligned": uneven, "read-only": frozen,
        "subclass": x.view(Sub), "masked": np.ma.array(x), "one more": np.append(x, 1.0),
        "one less": x[:-1], "0-d": np.float64(1.0), "number": 1.0, "None": None, "string": "q",
        "empty": np.zeros(0), "no rows": np.zeros((0, x.size)), "one row": x[None],
        "column": x[:, None], "deep": x.reshape((1,) * 20 + x.shape),
        "huge": np.broadcast_to(x, (10**12, x.size))[:0], "nan": x * np.nan, "inf": x * np.inf,
        "dict": {}, "robot": sy, "nested": [x, x], "ragged": [[1.0], [1.0, 2.0]],
        "structured": np.zeros(x.size, [("a", float)]), "time": np.zeros(x.size, "m8[s]"),
        "scalar array": np.array(1.0), "record": np.zeros(x.size, [("a", float)]).view(np.recarray),
        "memory": memoryview(x.copy()),
    }  # fmt: skip


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """What a call returns, or the kind of error that it raises."""
    with np.errstate(all="ignore"):
        try:
            return results(call(*args, **options))
        except (sy.SteelyardError, TypeError, ValueError) as error:
            return type(error)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    return all(
        type(x) is type(y) and np.array_equal(x, y, equal_nan=True)
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize(
    "method",
    [
        "inverse_dynamics",
        "mass_matrix",
        "kinetic_energy",
        "inverse_dynamics_derivatives",
        "jacobian",
    ],
)
def test_whatever_is_given_ends_as_without_the_short_way(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, robot = sy.load("elbow_6r"), sy.load("elbow_6r")
    monkeypatch.setattr(kernels, "single_call", lambda *_: None)
    arrays = arrays_of(robot, method)
    for name, odd in oddities(arrays[0]).items():
        for path in range(len(arrays)):
            arguments = [*arrays[:path], odd, *arrays[path + 1 :]]
            slow = outcome(getattr(robot, method), *arguments)
            monkeypatch.undo()
            for _ in range(2):  # the first call prepares the short way
                assert same(outcome(getattr(short, method), *arguments), slow), (method, name, path)
            if not (isinstance(slow, type) and name in ("None",)):
                assert same(outcome(short.kernel(method), *arguments), slow), (
                    "kernel",
                    method,
                    name,
                    path,
                )
            monkeypatch.setattr(kernels, "single_call", lambda *_: None)


def outs(shape: tuple[int, ...], inputs: list[np.ndarray]) -> dict[str, Any]:
    frozen = np.zeros(shape)
    frozen.flags.writeable = False
    wide = np.zeros((*shape[:-1], 2 * shape[-1]))
    return {
        "right": np.zeros(shape), "read-only": frozen, "float32": np.zeros(shape, np.float32),
        "big-endian": np.zeros(shape, ">f8"), "strided": wide[..., ::2], "an input": inputs[0],
        "too small": np.zeros(shape)[:-1], "batch": np.zeros((3, *shape)),
        "list": np.zeros(shape).tolist(), "number": 1.0, "tuple": (np.zeros(shape),),
        "subclass": np.zeros(shape).view(Sub),
    }  # fmt: skip


def test_results_go_where_they_are_asked_to_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short, robot = sy.load("elbow_6r"), sy.load("elbow_6r")
    for name in outs((6,), [np.zeros(6)]):
        outcomes = []
        for each in (robot, short, short):
            if each is robot:
                monkeypatch.setattr(kernels, "single_call", lambda *_: None)
            arrays = arrays_of(short, "inverse_dynamics")
            out = outs((6,), arrays)[name]
            result = outcome(each.inverse_dynamics, *arrays, out=out)
            outcomes.append((result, np.array(out) if isinstance(out, np.ndarray) else None))
            if not isinstance(result, type) and isinstance(out, np.ndarray):
                assert result[0] is out, name
            monkeypatch.undo()
        for result, written in outcomes[1:]:
            assert same(result, outcomes[0][0]), name
            assert (written is None) == (outcomes[0][1] is None)
            assert written is None or np.array_equal(written, outcomes[0][1]), name


def test_arguments_that_make_no_sense_are_refused_in_words() -> None:
    robot = sy.load("elbow_6r")
    bare, (q, qd, qdd) = robot.kernel("inverse_dynamics"), arrays_of(robot, "inverse_dynamics")
    for call in (
        lambda: bare(),
        lambda: bare(q),
        lambda: bare(q, qd, qdd, q),
        lambda: bare(q, qd, qdd, into=q),
        lambda: bare(q=q, qd=qd, qdd=qdd),
    ):
        with pytest.raises((sy.SteelyardError, TypeError)):
            call()
        np.testing.assert_array_equal(q, arrays_of(robot, "inverse_dynamics")[0])
    with pytest.raises(CallError, match="did you mean 'mass_matrix'"):
        robot.kernel("mass_matrx")
    with pytest.raises(CallError, match="not about a frame"):
        robot.kernel("mass_matrix", frame="link1")
    with pytest.raises(CallError, match="no frame is called"):
        robot.kernel("jacobian", frame="nowhere")


def test_nothing_leaks_and_code_lives_as_long_as_its_function() -> None:
    robot = sy.load("spatial_3r").with_gravity((0.0, 0.0, -3.7))
    bare = robot.kernel("inverse_dynamics_derivatives")
    arrays = arrays_of(robot, "inverse_dynamics_derivatives")
    expected = bare(*arrays)
    seen = weakref.ref(robot)
    del robot
    gc.collect()
    before, out = [sys.getrefcount(x) for x in arrays], np.zeros(3)
    for _ in range(200):
        bare(*arrays)
        outcome(bare, arrays[0])
    torque = sy.load("spatial_3r").kernel("inverse_dynamics")
    for _ in range(200):
        torque(*arrays, out=out)
    assert [sys.getrefcount(x) for x in arrays] == before
    assert sys.getrefcount(out) == 2
    assert seen() is None
    gufunc = sy.load("spatial_3r")._kernel("inverse_dynamics_derivatives").ufunc
    counts, usual = ([sys.getrefcount(x) for x in call(*arrays)] for call in (bare, gufunc))
    assert counts == usual
    for a, b in zip(bare(*arrays), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_where_python_is_another_methods_work_and_bare_functions_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot, q = sy.load("planar_2r").with_gravity((0.0, -1.0, 0.0)), np.array([0.1, 0.2])
    expected = robot.mass_matrix(q)
    for target, value, words in (
        (single_call.sysconfig, lambda name: 1, "global lock"),
        (single_call, lambda: False, "lays its objects out"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(
                target,
                "get_config_var" if target is single_call.sysconfig else "_has_expected_layout",
                value,
            )
            with pytest.raises(CallError, match=words):
                robot.kernel("mass_matrix")
            other = sy.load("planar_2r").with_gravity((0.0, -1.0, 0.0))
            for _ in range(2):
                np.testing.assert_array_equal(other.mass_matrix(q), expected)
                assert other.mass_matrix(np.zeros((1000, 2))).shape == (1000, 2, 2)
                assert other.mass_matrix([0.1, 0.2]).shape == (2, 2)


@pytest.mark.parametrize("name", ["elbow_6r", "planar_rp", "spatial_3r"])
def test_a_tick_gives_what_each_gives(name: str) -> None:
    robot = sy.load(name).with_friction(viscous=0.3, coulomb=0.2).with_rotors(0.1)
    names = (
        "inverse_dynamics",
        "mass_matrix",
        "jacobian",
        "kinetic_energy",
        "inverse_dynamics_derivatives",
        "forward_kinematics",
    )
    tick, (q, qd, qdd) = robot.tick(*names), arrays_of(robot, "inverse_dynamics")
    expected = [
        robot.inverse_dynamics(q, qd, qdd), robot.mass_matrix(q), robot.jacobian(q),
        robot.kinetic_energy(q, qd), *robot.inverse_dynamics_derivatives(q, qd, qdd),
        robot.forward_kinematics(q),
    ]  # fmt: skip
    for a, b in zip(tick(q, qd, qdd), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    batch = tick(*(np.stack([x, -x]) for x in (q, qd, qdd)))
    np.testing.assert_allclose(batch[0][0], expected[0], rtol=1e-12, atol=1e-12)


def test_a_tick_costs_less_than_its_parts() -> None:
    robot = sy.load("puma560")
    names = ("inverse_dynamics", "mass_matrix", "coriolis_matrix")
    parts = sum(robot._kernel(name).operations for name in names)
    assert sy.kernels.tick.tick(robot.tree, names, None).operations < 0.9 * parts


def test_a_tick_is_asked_for_in_words() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(CallError, match="did you mean 'mass_matrix'"):
        robot.tick("mass_matrx")
    with pytest.raises(CallError, match="expected the names"):
        robot.tick()
    with pytest.raises(CallError, match="about a frame"):
        robot.tick("mass_matrix", frame="link1")


def test_methods_are_on_the_short_way() -> None:
    robot = sy.load("planar_2r")
    for method, name in SINGLE_CALLS.items():
        if name in STATES and not ALGORITHMS[name].needs_frame:
            getattr(robot, method)(*arrays_of(robot, name))
            assert type(robot._calls[name]) is type(len), method
