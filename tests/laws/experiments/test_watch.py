"""Watch: details of `watch`."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from steelyard.experiments.online.watch import JointStates, match_joints


def states(names: tuple[str, ...], count: int) -> list[JointStates]:
    return [
        JointStates(0.01 * k, names, *(np.full(len(names), float(k)),) * 3) for k in range(count)
    ]


def test_messages_about_other_joints_are_passed_over_up_to_a_hundred() -> None:
    robot = sy.load("planar_2r")
    others, own = (
        states(("gripper",), THRESHOLDS.missed_messages - 1),
        states(("joint2", "joint1"), 2),
    )
    assert len(list(match_joints(iter([*others, *own, *others, *own]), robot, "the topic"))) == 4
    with pytest.raises(sy.LogError, match="has no joint joint1, joint2"):
        list(match_joints(iter([*others, *states(("gripper",), 1)]), robot, "the topic"))
