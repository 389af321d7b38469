"""Static poses: details of `static_poses`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import steelyard as sy
from steelyard.experiments.payload_identification.static_poses import _candidates
from steelyard.mechanism import Joint, Limits


def test_static_poses_are_within_the_limits_or_within_one_turn() -> None:
    mechanism = sy.load("planar_2r").mechanism

    def limited(joint: Joint, limits: Limits) -> Joint:
        return replace(joint, limits=limits) if joint.kind != "fixed" else joint

    first, second = (joint.name for joint in mechanism.joints if joint.kind != "fixed")
    ends = {first: Limits(), second: Limits(-1.0, 9.0)}
    robot = sy.Robot(
        replace(
            mechanism,
            joints=tuple(
                limited(joint, ends.get(joint.name, Limits())) for joint in mechanism.joints
            ),
        )
    )
    poses = _candidates(robot, 1.0, 0.0, np.random.default_rng(0))
    np.testing.assert_allclose(
        [poses.min(axis=0), poses.max(axis=0)], [[-np.pi, -1.0], [np.pi, 2 * np.pi]], atol=0.3
    )
    assert np.all(np.abs(poses[:, 0]) <= np.pi)
