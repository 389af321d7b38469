"""Motions of arms whose meshes are absent, met with the meshes: no links touch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.bare_arms import installed_text
from tests.mesh_arms import MeshArm

URDFS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
}
CASES = [("panda", 0), ("panda", 7), ("panda", 12), ("ur10", 1), ("ur5", 0), ("xarm7", 0)]


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_links_do_not_touch_by_the_meshes_that_the_design_did_not_have(
    name: str, seed: int, tmp_path: Path
) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(installed_text(URDFS[name]), encoding="utf-8")
    robot = sy.load(path)
    motion = sy.excite(robot, 10.0, seed=seed, starts=1)
    assert motion.safety.checked
    lower, upper = np.array([(limit.lower, limit.upper) for limit in robot.tree.limits]).T
    arm = MeshArm(URDFS[name], robot.joint_names)
    distance, pair = arm.nearest(lower, upper, motion.sample(50.0).q)
    assert distance > 0, pair
