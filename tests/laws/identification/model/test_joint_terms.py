"""Joint terms with a smoothing width."""

from __future__ import annotations

import steelyard as sy
from steelyard.identification.model.joint_terms import with_shape


def test_what_two_joints_share_is_as_smooth_as_the_smoother_of_them() -> None:
    robot = (
        sy.load("planar_2r")
        .with_friction(coulomb=1.0)
        .with_coupling("joint1", "joint2", coulomb=0.5)
    )
    for widths in ((0.02, 0.3), (0.3, 0.02)):
        (coupling,) = with_shape(robot, "width", widths).mechanism.couplings
        assert coupling.terms.get("width") == 0.3
