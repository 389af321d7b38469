"""Numbers at the edge: a sentence that names the signal, or a verdict.

Never an error from inside, never a wrong word.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError, SteelyardError
from steelyard.signals import to_csv
from steelyard.signals.clean import clean, find_faults
from steelyard.signals.read.mapping import mapping_of

ROBOT = sy.load("planar_2r")
T = np.arange(300) / 100
RATES = np.array([2.0, 3.1])
Q, QD, QDD = (
    np.sin(T[:, None] * RATES),
    RATES * np.cos(T[:, None] * RATES),
    -(RATES**2) * np.sin(T[:, None] * RATES),
)
TAU = ROBOT.inverse_dynamics(Q, QD, QDD)


def log(t: np.ndarray = T, q: np.ndarray = Q, tau: np.ndarray = TAU) -> sy.Log:
    return sy.Log(t=t, q=q, tau=tau, joint_names=ROBOT.joint_names)


FIT = sy.identify(ROBOT, log(), "ols", delay=0.0, decimate=1, diagnose=False)


def with_one(x: np.ndarray, value: float) -> np.ndarray:
    changed = x.copy()
    changed[100, 1] = value
    return changed


EDGES = {
    "a torque of 1e300": (
        log(tau=with_one(TAU, 1e300)),
        r"tau reaches 1e\+300; expected less than",
    ),
    "all torques of 1e300": (
        log(tau=np.full_like(TAU, 1e300)),
        r"tau reaches 1e\+300; expected less than",
    ),
    "a position of 1e200": (log(q=with_one(Q, 1e200)), r"q reaches 1e\+200; expected less than"),
    "positions of 1e200": (log(q=Q * 1e200), r"q reaches .*e\+200; expected less than"),
    "torque that is NaN throughout": (
        log(tau=np.full_like(TAU, np.nan)),
        r"tau has no number in any of the 300 samples of joint1, joint2",
    ),
    "torque times 1e12": (
        log(tau=TAU * 1e12),
        r"tau reaches .*; expected less than 1e\+12 N m\|N: in which unit is it\?",
    ),
    "times of 1e300": (log(t=T * 1e300), r"t reaches .*e\+300; expected less than"),
}


@pytest.mark.parametrize("edge", EDGES)
def test_numbers_that_no_robot_has_are_named(edge: str) -> None:
    extreme, sentence = EDGES[edge]
    with pytest.raises(LogError, match=sentence):
        sy.identify(ROBOT, extreme, diagnose=False)
    with pytest.raises(LogError, match=sentence):
        FIT.validate(extreme)
    result = str(sy.doctor(ROBOT, extreme))
    assert "zero throughout" not in result
    assert np.all([isinstance(fault, str) for fault in find_faults(extreme)])


def test_a_number_that_is_no_measurement_is_a_hole(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(to_csv(log(), tmp_path / "b.csv").read_text())
    for value in (1e300, -1e200, np.inf, np.nan):
        mended = sy.read_log(
            to_csv(log(tau=with_one(TAU, value)), tmp_path / "a.csv", overwrite=True), ROBOT
        )
        assert "1 numbers that were NaN or infinite were interpolated." in mended.remarks
        np.testing.assert_allclose(mended.tau[100, 1], TAU[100, 1], rtol=1e-3)
    with pytest.raises(LogError, match="tau of joint1 holds no numbers"):
        clean(log(tau=TAU * 1e300))


def test_times_that_differ_by_less_than_any_clock_are_the_same() -> None:
    t = T.copy()
    t[1] = 1e-310
    mended = clean(log(t=t))
    assert len(T) == mended.N  # dropped, and filled in where it should be
    assert np.all(np.isfinite(mended.q))


FIXED = (
    "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent"
    " link='a'/><child link='b'/></joint></robot>"
)
NOTHING: dict[str, Callable[[sy.Robot, Path], object]] = {
    "base_parameters": lambda robot, _: sy.base_parameters(robot),
    "excite": lambda robot, _: sy.excite(robot),
    "to_c": lambda robot, folder: robot.to_c(folder / "c"),
    "symbolic": lambda robot, _: robot.symbolic(),
    "inverse_dynamics": lambda robot, _: robot.inverse_dynamics([], [], []),
    "mass_matrix": lambda robot, _: robot.mass_matrix(np.zeros((5, 0))),
    "forward_kinematics": lambda robot, _: robot.forward_kinematics([]),
    "simulate": lambda robot, _: sy.simulate(robot),
    "inverse_kinematics": lambda robot, _: sy.inverse_kinematics(robot, np.eye(4)),
    "check": lambda robot, _: sy.check(robot),
    "identify": lambda robot, _: sy.identify(robot, log()),
    "doctor": lambda robot, _: sy.doctor(robot, log()),
    "payload": lambda robot, _: sy.payload(robot, log()),
}


@pytest.mark.parametrize("call", NOTHING)
def test_a_robot_without_moving_joints_is_told(call: str, tmp_path: Path) -> None:
    (tmp_path / "fixed.urdf").write_text(FIXED)
    robot = sy.load(tmp_path / "fixed.urdf")
    with pytest.raises(CallError, match=r"no joint that moves|no moving body"):
        NOTHING[call](robot, tmp_path)
    assert not (tmp_path / "c").exists()


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("value", ["1e300", "-1e300", "1e-320", "0", "nan", "inf"])
@pytest.mark.parametrize(
    "key",
    ["mass value", "inertia ixx", "limit effort", "axis xyz", "origin xyz", "dynamics damping"],
)
def test_numbers_of_a_description_are_used_or_named(key: str, value: str, tmp_path: Path) -> None:
    element, attribute = key.split()
    numbers = {
        "mass": "value='1'",
        "inertia": "ixx='1' iyy='1' izz='1'",
        "limit": "effort='1'",
        "axis": "xyz='0 0 1'",
    }
    numbers |= {"origin": "xyz='0 0 0'", "dynamics": "damping='0'"}
    numbers[element] = numbers[element].replace(
        f"{attribute}='{numbers[element].split(chr(39))[1]}'", f"{attribute}='{value}'", 1
    )
    if attribute == "xyz":
        numbers[element] = f"xyz='0 {value} 0'"
    parts = {name: f"<{name} {text}/>" for name, text in numbers.items()}
    inertial = f"<inertial>{parts['mass']}{parts['inertia']}</inertial>"
    joint = (
        "<parent link='a'/><child"
        f" link='b'/>{parts['origin']}{parts['axis']}{parts['limit']}{parts['dynamics']}"
    )
    text = (
        f"<robot name='r'><link name='a'/><link name='b'>{inertial}</link><joint name='j'"
        f" type='revolute'>{joint}</joint></robot>"
    )
    (tmp_path / "a.urdf").write_text(text)
    try:
        robot = sy.load(tmp_path / "a.urdf")
    except SteelyardError as error:
        assert "a.urdf" in str(error)  # noqa: PT017 - a robot will do as well
    else:
        assert np.all(np.isfinite(robot.parameters))


HUGE = 10**400
TABLES = [
    {"transmission": {"coupling": [[2, 1, HUGE]]}},
    {"rate": HUGE},
    {"correction": {"clock": HUGE}},
    {"transmission": {"ratio": [HUGE, 1]}},
]


@pytest.mark.parametrize("table", TABLES)
def test_whole_numbers_that_are_no_floats_are_named(table: dict[str, object]) -> None:
    with pytest.raises(LogError, match=r"map: .*(a number beyond 1e\+60|positive number)"):
        mapping_of(table, "map", ("a", "b"))


@pytest.mark.parametrize(
    "coupling",
    [
        {"a": 1},
        [[1, 2, {}]],
        [[1, 2], [1]],
        "abc",
        [1, 2, 3],
        [[float("nan"), 1, 1]],
        7,
        [[True, 1, 1]],
    ],
)
def test_a_coupling_that_is_no_matrix_is_named(coupling: object) -> None:
    with pytest.raises(LogError, match=r"map: .*transmission\.coupling"):
        mapping_of({"transmission": {"ratio": [1.0, 1.0], "coupling": coupling}}, "map", ("a", "b"))
