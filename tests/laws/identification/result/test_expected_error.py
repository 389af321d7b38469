"""Positions within joint limits, over which expected errors are computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import steelyard as sy
from steelyard.identification.result.expected_error import between_limits
from steelyard.mechanism import Limits


def test_positions_between_limits_are_within_a_turn_where_there_are_none() -> None:
    robot = sy.load("planar_2r")
    free = sy.Robot(
        replace(
            robot.mechanism,
            joints=tuple(replace(joint, limits=Limits()) for joint in robot.mechanism.joints),
        )
    )
    spread = between_limits(free, np.zeros((2000, 2)))
    assert 0.98 * np.pi < np.abs(spread).max() < np.pi
    assert spread.min() < -0.9 * np.pi < 0.9 * np.pi < spread.max()
