"""Poses, Jacobians and their rates, of moving and of fixed frames."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from tests.laws.dynamics.law import close, law
from tests.reference import rate
from tests.zoo import Case, case, robot


def frames(x: Case) -> list[str]:
    """The base, the first and the last link, every fixed link, every link of a mimic joint."""
    joints = x.robot.mechanism.joints
    special = [joint.child for joint in joints if joint.kind == "fixed" or joint.mimic]
    return list(dict.fromkeys(["base", joints[0].child, joints[-1].child, *special]))


@law("forward_kinematics")
def test_poses_are_products_along_the_joints(name: str) -> None:
    x = case(name)
    expected = x.reference.poses(x.q)
    for frame in frames(x):
        close(x.robot.forward_kinematics(x.q, frame), expected[frame])


@law("jacobian")
def test_jacobian_times_rates_is_the_velocity_of_the_frame(name: str) -> None:
    x = case(name)
    J, V = x.reference.jacobians(x.q), x.reference.velocities(x.q, x.qd)
    for frame in frames(x):
        result = x.robot.jacobian(x.q, frame)
        close(result, J[frame])
        close(np.einsum("...ij,...j->...i", result, x.qd), V[frame])


@law("jacobian_rate", "jacobian")
def test_jacobian_rate_is_the_rate_of_the_jacobian(name: str) -> None:
    x = case(name)
    for frame in frames(x):
        close(
            x.robot.jacobian_rate(x.q, x.qd, frame),
            rate(lambda s, frame=frame: x.robot.jacobian(x.q + s * x.qd, frame)),
        )


def test_an_unknown_frame_is_named_with_those_that_exist() -> None:
    with pytest.raises(sy.CallError, match=r"'tool_swin'.*tool_swing"):
        robot("pendulum").jacobian([0.0], "tool_swin")
