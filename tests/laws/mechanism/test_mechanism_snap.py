"""Snapping makes near-integers exact, counts them, and never spoils a rotation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.algebra.rotation import about, from_quaternion, from_rpy, to_rpy
from steelyard.algebra.vector import IDENTITY
from steelyard.mechanism import near_integers as snap
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from tests.random_robots import random_pose

ARM = """<robot name="r">
<link name="a"/>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous">
<origin rpy="{rpy}"/><parent link="a"/><child link="b"/><axis xyz="{axis}"/><dynamics damping="1"/>
</joint>
</robot>"""


@pytest.mark.parametrize(
    ("angle", "count"),
    [("1.5707963267948966", 2), ("-3.141592653589793", 2), ("7.853981633974483", 2)],
)
def test_right_angles_become_exact_and_are_reported(angle: str, count: int) -> None:
    mechanism = read_urdf(ARM.format(rpy=f"{angle} 0 0", axis="0 0 1"))
    R = np.array(mechanism.joints[0].origin.R)
    assert set(np.abs(R).ravel()) == {0.0, 1.0}
    np.testing.assert_allclose(R, from_rpy((float(angle), 0.0, 0.0)), atol=1e-15)
    assert f"snapped {count} entries" in mechanism.remarks[0]


@pytest.mark.parametrize("angle", [1.5708, 1.57079632679])
def test_angles_that_are_not_right_stay_and_nothing_is_reported(angle: float) -> None:
    mechanism = read_urdf(ARM.format(rpy=f"{angle} 0 0", axis="0 0 2"))
    assert mechanism.joints[0].origin.R[1][1] == pytest.approx(math.cos(angle), rel=1e-12)
    assert mechanism.joints[0].axis == (0.0, 0.0, 1.0)
    assert mechanism.remarks == ()


def test_an_angle_of_eleven_decimals_is_meant_where_the_tolerance_says_so() -> None:
    R = snap.matrix(from_rpy((1.57079632679, 0.0, 0.3)), snap.LOOSE)
    assert [sum(x == 0.0 for x in row) for row in R] == [1, 1, 2]


def test_one_small_entry_alone_is_no_reason_to_bend_a_rotation() -> None:
    R = from_rpy((0.3, 5e-12, 0.4))
    assert snap.matrix(R, snap.LOOSE) == R


def test_snapping_twice_is_snapping_once(rng: np.random.Generator) -> None:
    for _ in range(100):
        R = from_rpy(tuple(float(x) for x in rng.integers(-4, 5, 3) * math.pi / 4))
        assert snap.matrix(snap.matrix(R)) == snap.matrix(R)


def test_roll_pitch_yaw_there_and_back(rng: np.random.Generator) -> None:
    for _ in range(50):
        R = random_pose(rng).R
        np.testing.assert_allclose(from_rpy(to_rpy(R)), R, atol=1e-14)
    for pitch in (math.pi / 2, -math.pi / 2):
        R = from_rpy((0.3, pitch, 0.9))
        np.testing.assert_allclose(from_rpy(to_rpy(R)), R, atol=1e-14)


def test_axis_and_angle_agree_with_the_quaternion(rng: np.random.Generator) -> None:
    axis, angle = rng.normal(size=3), 1.234
    axis /= np.linalg.norm(axis)
    quaternion = (2 * math.cos(angle / 2), *(2 * math.sin(angle / 2) * axis))
    np.testing.assert_allclose(about(tuple(axis), angle), from_quaternion(quaternion), atol=1e-15)
    assert about((0.0, 0.0, 1.0), 0.0) == IDENTITY
