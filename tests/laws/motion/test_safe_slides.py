"""Designed motions of arms that slide or drive: above the ground, within limits, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.house.sources import ROOT

MASS = '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>'
DATA = ROOT.parent / "shared" / "data"


def link(name: str, centre: str = "0 0 0") -> str:
    """A link of 2 kg."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="2"/>{MASS}'
        "</inertial></link>"
    )


def joint(kind: str, parent: str, child: str, origin: str, axis: str, low: float = 0) -> str:
    """A joint of the child, from `low` to 0.5 m above it, or to -low."""
    high = -low if kind == "revolute" else low + 1.5
    return (
        f'<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{origin}"/><axis xyz="{axis}"/>'
        f'<limit lower="{low}" upper="{high}" effort="200" velocity="1"/></joint>'
    )


# a slide that can lower its tool 0.7 m below the ground
GANTRY = (
    '<robot name="gantry"><link name="base"/>'
    + link("across")
    + joint("prismatic", "base", "across", "0 0 1", "1 0 0", -0.75)
    + link("down", "0 0 -0.1")
    + joint("prismatic", "across", "down", "0 0.1 0", "0 0 1", -1.5)
    + link("tool", "0.1 0 0")
    + joint("revolute", "down", "tool", "0 0 -0.2", "0 1 0", -3)
    + "</robot>"
)
# an arm that reaches the ground, on a base that drives
MOBILE = (
    '<robot name="mobile"><link name="world"/>'
    + link("along")
    + joint("prismatic", "world", "along", "0 0 0", "1 0 0", -0.75)
    + link("chassis", "0 0 0.1")
    + joint("continuous", "along", "chassis", "0 0 0.1", "0 0 1")
    + link("upper", "0.2 0 0")
    + joint("revolute", "chassis", "upper", "0 0 0.4", "0 1 0", -2)
    + link("lower", "0.2 0 0")
    + joint("revolute", "upper", "lower", "0.4 0 0", "0 1 0", -2.5)
    + "</robot>"
)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("text", "frames"), [(GANTRY, ("down", "tool")), (MOBILE, ("lower",))])
def test_arms_that_slide_or_drive_stay_above_the_ground(
    text: str, frames: tuple[str, ...], seed: int
) -> None:
    robot = sy.load(text)
    motion = sy.excite(robot, seconds=6, starts=1, seed=seed)
    assert motion.excitation is not None
    assert motion.excitation.checked, motion.excitation.unchecked
    s = motion.sample(1000)
    low, high = robot.limits.position.T
    assert np.all((s.q >= low) & (s.q <= high))
    assert np.all(np.abs(s.qd) <= 0.5 * robot.limits.velocity + 1e-9)
    for frame in frames:
        poses = robot.forward_kinematics(s.q, frame)
        centre = np.array([0.2 if frame in ("tool", "lower") else 0.0, 0.0, 0.0, 1.0])
        assert poses[:, 2, 3].min() > 0.0
        assert (poses @ centre)[:, 2].min() > 0.0, "the end of the link"


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_a_base_whose_wheels_hang_below_its_frame_is_refused() -> None:
    """The plane of the base frame cuts the wheels; the sentence says how to give its height."""
    if not (DATA / "tiago").is_dir():
        pytest.skip("the description of the TIAGo is missing")
    robot = sy.load(DATA / "tiago" / "tiago_no_hand.urdf")
    with pytest.raises(sy.ProblemError, match=r"wheel_right_link above the ground; give its"):
        sy.excite(robot, seconds=6, starts=1, candidates=3)


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_links_of_unknown_extent_are_named_and_programs_refused(tmp_path: Path) -> None:
    """Axes that meet in one point, and a mesh that is absent: neither a length nor a centre of
    mass tells how large the link is.
    """
    text = (
        '<robot name="wrist"><link name="base"/><link name="first"><collision><geometry>'
        '<mesh filename="package://absent/first.stl"/></geometry></collision></link>'
        + joint("revolute", "base", "first", "0 0 0.5", "0 0 1", -2)
        + link("second", "0.1 0 0")
        + joint("revolute", "first", "second", "0 0 0", "0 1 0", -1)
        + "</robot>"
    )
    motion = sy.excite(sy.load(text), seconds=6, starts=1)
    assert motion.excitation is not None
    assert motion.excitation.unchecked == ("links of unknown shape: first",)
    with pytest.raises(sy.SteelyardError, match="unchecked"):
        motion.write(tmp_path / "wrist.src", format="krl")
