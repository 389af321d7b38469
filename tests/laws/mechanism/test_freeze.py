"""Joints that were held move again.

The whole robot comes back, with what was identified of its arm.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from steelyard.mechanism.check import is_physical
from tests.random_mechanisms import random_mechanism
from tests.zoo import ZOO, robot

SEEDS = range(4)


@pytest.mark.parametrize("name", ZOO)
def test_thawing_undoes_freezing(name: str) -> None:
    whole = robot(name)
    shared = {name for each in whole.mechanism.couplings for name in (each.joint_a, each.joint_b)}
    fixed = {
        joint: 0.1 * k for k, joint in enumerate(whole.joint_names) if k % 2 and joint not in shared
    }
    frozen = whole.freeze(fixed)
    back = frozen.thaw(whole)
    assert back.joint_names == whole.joint_names
    assert np.allclose(back.parameters, whole.parameters, rtol=1e-12, atol=1e-12)
    assert back.mechanism.joints == whole.mechanism.joints


def test_a_motor_that_is_shared_with_a_held_joint_rubs_at_both_again() -> None:
    whole = (
        sy.load("planar_2r")
        .with_friction(coulomb=2.0)
        .with_coupling("joint1", "joint2", armature=0.1, viscous=0.2, coulomb=0.5)
    )
    frozen = whole.freeze({"joint2": 0.3})
    assert frozen.tree.terms[0]["coulomb"] == 2.5
    assert frozen.thaw(whole).mechanism == whole.mechanism


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_identified_while_held_is_in_the_whole_robot(seed: int) -> None:
    """thaw then freeze gives the torques of the identified robot, and the joints that were held are
    as they were.
    """
    rng = np.random.default_rng(seed)
    whole = sy.Robot(random_mechanism(rng, 6))
    fixed = {
        joint: float(rng.uniform(-1, 1))
        for k, joint in enumerate(whole.joint_names)
        if k % 3 == seed % 3
    }
    frozen = whole.freeze(fixed)
    identified = frozen.with_parameters(
        frozen.parameters * rng.uniform(0.9, 1.3, len(frozen.parameters))
    )
    back = identified.thaw(whole)
    assert back.joint_names == whole.joint_names
    q, qd, qdd = rng.normal(size=(3, 5, frozen.n))
    again = back.freeze(fixed)
    assert np.allclose(
        again.inverse_dynamics(q, qd, qdd),
        identified.inverse_dynamics(q, qd, qdd),
        rtol=1e-9,
        atol=1e-9,
    )
    assert not np.allclose(
        frozen.inverse_dynamics(q, qd, qdd), identified.inverse_dynamics(q, qd, qdd), rtol=1e-3
    )
    for joint in fixed:
        assert back.mechanism.joint(joint) == whole.mechanism.joint(joint)


def test_links_behind_a_held_joint_keep_their_mass(example_robots: Path) -> None:
    """The hand of a Panda: where its body is found to be lighter than its parts, they keep theirs
    if a real body is left.
    """
    whole = sy.load(example_robots / "panda_description/urdf/panda.urdf")
    arm = whole.freeze({"panda_finger_joint1": 0.02})
    pi = dict(zip(arm.parameter_names, arm.parameters, strict=True))
    fingers = [whole.mechanism.link(f"panda_{side}finger") for side in ("left", "right")]
    light = arm.with_parameters(
        [0.35 * value if name.startswith("panda_link7.") else value for name, value in pi.items()]
    )
    back = light.thaw(whole)
    assert [back.mechanism.link(link.name).inertia for link in fingers] == [
        link.inertia for link in fingers
    ]
    assert all(
        is_physical(link.inertia) for link in back.mechanism.links if link.inertia is not None
    )
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4, 7))
    again = back.freeze({"panda_finger_joint1": 0.02})
    assert np.allclose(
        again.inverse_dynamics(q, qd, qdd), light.inverse_dynamics(q, qd, qdd), atol=1e-9
    )
    feather = arm.with_parameters(
        [0.01 * value if name.startswith("panda_link7.") else value for name, value in pi.items()]
    ).thaw(whole)
    assert any(
        "these have none: panda_leftfinger, panda_rightfinger" in remark
        for remark in feather.mechanism.remarks
    )


def test_another_robot_cannot_be_thawed_into() -> None:
    with pytest.raises(
        CallError,
        match="'planar_2r' was not derived from 'spatial_3r' by freezing joints: it has no",
    ):
        sy.load("planar_2r").thaw(sy.load("spatial_3r"))
