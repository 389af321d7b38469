"""A robot that nothing holds.

Momentum, the fall of its centre of mass, the energy balance, and bad input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steelyard as sy
from steelyard.mechanism.model import Limits, Link
from steelyard.simulation import Elastic
from tests.random_robots import random_inertia
from tests.zoo import robot

POSE = np.r_[0.3, -0.2, 0.5, Rotation.from_rotvec([0.4, -0.8, 0.3]).as_quat()]
TWIST = np.array([0.2, -0.1, 0.3, 0.5, -0.7, 0.4])


@cache
def satellite(gravity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> sy.Robot:
    """Three joints on a base with inertia."""
    mechanism = sy.load("spatial_3r").without_friction().with_gravity(gravity).mechanism
    links = [
        (
            Link(link.name, random_inertia(np.random.default_rng(1)))
            if link.name == mechanism.root
            else link
        )
        for link in mechanism.links
    ]
    joints = [
        replace(joint, kind="revolute", limits=Limits(-9.0, 9.0, 9.0, 99.0))
        for joint in mechanism.joints
    ]
    return sy.Robot(replace(mechanism, links=tuple(links), joints=tuple(joints)))


def test_momentum_and_energy_stay() -> None:
    """While its drives move the arm about."""

    def drives(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.stack(
            [3 * np.sin(5 * t) - qd[..., 0], -2 * q[..., 1], np.cos(3 * t) + 0 * q[..., 2]], axis=-1
        )

    run = sy.simulate(
        satellite(),
        drives,
        [0.4, -0.3, 0.8],
        seconds=2.0,
        step=5e-3,
        method="rk8",
        base_pose0=POSE,
        base_twist0=TWIST,
    )
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-10
    assert np.abs(run.audit).max() < 1e-9
    assert np.abs(run.base_twist[-1] - TWIST).max() > 0.05
    np.testing.assert_allclose(np.linalg.norm(run.base_pose[:, 3:], axis=1), 1.0, atol=1e-14)


def test_momentum_gains_what_gravity_gives() -> None:
    """A tree with slides, rotors on several links, mimic joints and viscous friction."""
    n = robot("hand").n
    smooth = robot("hand").without_friction().with_friction(0.3, 0.0, 0.0)
    run = sy.simulate(
        smooth,
        np.linspace(-2.0, 3.0, n),
        np.linspace(0.5, -0.4, n),
        seconds=0.1,
        step=2e-3,
        base_pose0=POSE,
        base_twist0=TWIST,
    )
    masses = [
        value
        for label, value in zip(smooth.parameter_names, smooth.parameters, strict=True)
        if label.endswith(".m")
    ]
    fallen = (smooth.root_parameters[0] + sum(masses)) * np.outer(run.t, smooth.gravity)
    np.testing.assert_allclose(run.momentum[:, :3] - run.momentum[0, :3], fallen, atol=1e-10)
    assert run.drift < 1e-9
    assert run.heat[-1] > 1e-4


def test_joints_that_stick_and_strike_keep_the_momentum() -> None:
    """Friction holds some joints, one breaks loose; with stops one strikes its end."""
    rough = satellite().with_friction(0.1, 0.5, 0.0)
    start = {"q0": [0.4, -0.3, 0.8], "base_pose0": POSE, "base_twist0": TWIST}
    run = sy.simulate(rough, [0.7, -0.3, 0.1], seconds=1.0, step=2e-3, **start)
    assert np.all(run.qd[:, 0] == 0)
    assert 0 < np.sum(run.qd[:, 1] == 0) < len(run.t)
    ends = [replace(joint, limits=Limits(-0.9, 0.9)) for joint in satellite().mechanism.joints]
    walled = sy.simulate(
        sy.Robot(replace(satellite().mechanism, joints=tuple(ends))),
        [0.7, -0.3, 0.1],
        seconds=2.0,
        stops=True,
        step=2e-3,
        **start,
    )
    assert 0.9 <= np.abs(walled.q).max() < 0.91
    for each in (run, walled):
        assert np.abs(each.momentum - each.momentum[0]).max() < 1e-9
        assert each.drift < 1e-8
        assert each.heat[-1] > 0.01


def test_the_adaptive_method_agrees() -> None:
    """With drives behind springs on a base that nothing holds; and it keeps the momentum."""
    start = {
        "q0": [0.4, -0.3, 0.8],
        "seconds": 0.2,
        "base_pose0": POSE,
        "base_twist0": TWIST,
        "drive": Elastic(500.0, 1.0, 0.1),
    }
    exact = sy.simulate(satellite(), [0.7, -0.3, 0.1], step=0.02, method="adaptive", **start)
    stepped = sy.simulate(satellite(), [0.7, -0.3, 0.1], step=5e-4, every=40, **start)
    for name in ("q", "qd", "base_pose", "base_twist", "drive_state", "work", "heat"):
        np.testing.assert_allclose(getattr(exact, name), getattr(stepped, name), atol=1e-7)
    assert np.abs(exact.momentum - exact.momentum[0]).max() < 1e-9
    assert np.abs(exact.audit).max() < 1e-9
    with pytest.raises(sy.CallError, match="dry friction on a free base"):
        sy.simulate(
            satellite().with_friction(0.0, 1.0, 0.0),
            seconds=0.01,
            base_twist0=TWIST,
            method="adaptive",
        )


def test_batches_and_bad_input() -> None:
    free = satellite((0.0, 0.0, -9.81))
    run = sy.simulate(free, [1.0, -2.0, 0.5], q0=np.zeros((2, 3)), seconds=0.01, base_twist0=TWIST)
    assert run.base_pose.shape == (2, 11, 7)
    assert run[1].base_pose.shape == (11, 7)
    assert not run.base_pose.flags.writeable
    for options, message in (
        ({"base_pose0": np.zeros(6)}, r"expected \(\.\.\., 7\): position and quaternion"),
        ({"base_pose0": np.zeros(7)}, "quaternion of length 0"),
        ({"base_pose0": [0, 0, 0, 0, 0, 0, 1.1]}, "quaternion of length 1.1"),
        ({"base_pose0": "here"}, "base_pose0 must be an array of numbers"),
        ({"base_twist0": [np.nan] * 6}, "base_twist0 is not finite"),
        (
            {"base_twist0": np.zeros((3, 6)), "q0": np.zeros((2, 3))},
            "batch shapes cannot be broadcast",
        ),
    ):
        with pytest.raises(sy.CallError, match=message):
            sy.simulate(free, seconds=0.01, **options)
    with pytest.raises(sy.ModelError, match="base has no inertia"):
        sy.simulate(sy.load("spatial_3r").without_friction(), seconds=0.01, base_twist0=TWIST)
    with pytest.raises(sy.CallError, match="base is fixed"):
        _ = sy.simulate(sy.load("spatial_3r").without_friction(), seconds=0.01).momentum
