"""States to try a robot on: within its limits, and a swing whose derivatives are derivatives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.checks.states import random_states, swing

BODY = (
    '<inertial><origin xyz="0 0 0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"'
    ' ixy="0" ixz="0" iyz="0"/></inertial>'
)
PENDULUM = f"""<robot name="pendulum"><link name="base"/><link name="a">{BODY}</link>
<link name="b">{BODY}</link>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/>
<axis xyz="0 1 0"/>LIMIT</joint>
<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/>LIMIT</joint></robot>"""


def limits(robot: sy.Robot) -> np.ndarray:
    return np.array([[limit.lower, limit.upper, limit.velocity] for limit in robot.tree.limits]).T


@pytest.mark.parametrize("name", sy.robots(installed=False))
def test_states_respect_the_limits(name: str) -> None:
    robot = sy.load(name)
    lower, upper, velocity = limits(robot)
    for q, qd, qdd in (random_states(robot, 100), swing(robot, 1000)):
        assert q.shape == qd.shape == qdd.shape
        assert q.flags.c_contiguous
        assert np.all((q >= lower - 1e-12) & (q <= upper + 1e-12))
    assert np.all(np.abs(swing(robot, 1000).qd) <= velocity)
    assert np.all(np.ptp(swing(robot, 1000).q, axis=0) > 0)


def test_random_states_repeat() -> None:
    robot = sy.load("planar_rp")
    assert all(
        np.array_equal(a, b)
        for a, b in zip(
            random_states(robot, 5, seed=3), random_states(robot, 5, seed=3), strict=True
        )
    )
    assert not np.array_equal(random_states(robot, 5, seed=3).q, random_states(robot, 5, seed=4).q)


def test_rates_of_a_swing_are_its_derivatives() -> None:
    seconds, samples = 4.0, 40001
    q, qd, qdd = swing(sy.load("elbow_6r"), samples, seconds)
    step = seconds / (samples - 1)
    inner = slice(1, -1)
    assert np.allclose(np.gradient(q, step, axis=0)[inner], qd[inner], atol=1e-6)
    assert np.allclose(np.gradient(qd, step, axis=0)[inner], qdd[inner], atol=1e-5)


def test_a_joint_without_travel_is_turned_all_the_same(tmp_path: Path) -> None:
    """URDF takes limits that are left out as zero.

    At that one pose hardly a law of motion could be tested.
    """
    text = PENDULUM.replace("LIMIT", '<limit lower="0.3" upper="0.3" effort="1" velocity="1"/>')
    (tmp_path / "stuck.urdf").write_text(text)
    robot = sy.load(tmp_path / "stuck.urdf")
    states = random_states(robot, 200)
    assert np.all(np.ptp(states.q, axis=0) > 5.0)
    assert np.all(np.abs(states.q - 0.3) <= np.pi)
    assert sy.check(robot).ok


@pytest.mark.parametrize("seed", range(3))
def test_a_stretched_arm_obeys_physics(seed: int, tmp_path: Path) -> None:
    """At q = 0 its Coriolis matrix vanishes: |C| is no measure of the error of dM/dt."""
    (tmp_path / "arm.urdf").write_text(
        PENDULUM.replace("LIMIT", '<limit lower="-1e-7" upper="1e-7" effort="1" velocity="1"/>')
    )
    assert sy.check(sy.load(tmp_path / "arm.urdf"), seed=seed).ok


def test_small_links_with_much_friction_obey_physics() -> None:
    """Forward dynamics subtracts friction from torque.

    |M^-1| |tau| eps is what rounding leaves, however well M is conditioned.
    """
    light = sy.load("planar_2r").with_parameters(1e-5 * sy.load("planar_2r").parameters)
    result = sy.check(light.with_friction(viscous=20.0))
    inversion = next(law for law in result.laws if law.name == "inversion")
    assert inversion.ok, inversion
    assert inversion.violation > 1e-12, "the case shows the growth of rounding"
    assert inversion.bound < 1e-6
