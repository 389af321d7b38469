"""Motions through public names: arms whose meshes are absent stay above the base plane, slowly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.apps.test_cli import Run, run
from tests.bare_arms import PlainArm, installed_text, ur10e

__all__ = ["run"]  # the fixture

ARMS: dict[str, Callable[[], str]] = {
    "ur10e": ur10e,
    "panda": lambda: installed_text("panda_description/urdf/panda.urdf"),
}
ROUNDING = 1e-9


def load_without_meshes(name: str, folder: Path) -> sy.Robot:
    """Load an arm from a folder that has none of its meshes."""
    path = folder / f"{name}.urdf"
    path.write_text(ARMS[name](), encoding="utf-8")
    return sy.load(path)


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("name", ARMS)
def test_default_motions_stay_above_the_base_plane(name: str, seed: int, tmp_path: Path) -> None:
    robot = load_without_meshes(name, tmp_path)
    motion = sy.excite(robot, 6.0, 3, seed=seed, starts=1).sample(1000.0)
    poses = PlainArm(ARMS[name](), robot.joint_names).poses(motion.q)
    assert min(X[:, 2, 3].min() for X in poses.values()) >= -ROUNDING


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("name", ARMS)
def test_default_motions_are_slow(name: str, tmp_path: Path) -> None:
    """Half of the velocity limits, reached in no less than half a second."""
    robot = load_without_meshes(name, tmp_path)
    joints = {joint.name: joint for joint in robot.mechanism.joints}
    velocity = np.array([joints[joint].limits.velocity for joint in robot.joint_names])
    motion = sy.excite(robot, 6.0, 3, seed=2, starts=1).sample(1000.0)
    assert np.all(np.abs(motion.qd) <= 0.5 * velocity * (1 + ROUNDING))
    assert np.all(np.abs(motion.qdd) <= velocity * (1 + ROUNDING))


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_static_poses_stay_above_the_base_plane(tmp_path: Path) -> None:
    robot = load_without_meshes("ur10e", tmp_path)
    poses = PlainArm(ARMS["ur10e"](), robot.joint_names).poses(sy.static_poses(robot, 8).q)
    assert min(X[:, 2, 3].min() for X in poses.values()) >= -ROUNDING


def test_programs_state_the_check_first_or_are_not_written(run: Run, tmp_path: Path) -> None:
    load_without_meshes("ur10e", tmp_path)
    command = ("excite", tmp_path / "ur10e.urdf", "--seconds", 6, "--harmonics", 3, "--starts", 1)
    for ending in ("script", "yaml"):
        program = tmp_path / f"motion.{ending}"
        ran = run(*command, "--quiet", "-o", program)
        assert ran.code == 0, ran.err
        assert ran.out.startswith("CHECKED ("), ran.out
        assert program.read_text(encoding="utf-8").splitlines()[0].startswith("# CHECKED (")
    refused = run(*command, "--collision", "none", "-o", tmp_path / "other.script")
    assert refused.code != 0
    assert not (tmp_path / "other.script").exists()


TOOL = """<link name="tool">{inertia}<collision><geometry>
<mesh filename="package://absent/tool.stl"/></geometry></collision></link>
<joint name="flange" type="fixed"><parent link="link_6"/><child link="tool"/></joint></robot>"""
INERTIA = """<inertial><origin xyz="0 0 0.1"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("inertia", ["", INERTIA], ids=["unknown", "known by its mass"])
def test_a_link_of_unknown_shape_is_named_and_refused(inertia: str, tmp_path: Path) -> None:
    """A tool without mass whose mesh is absent: nothing tells how far it reaches."""
    path = tmp_path / "arm.urdf"
    path.write_text(ur10e().replace("</robot>", TOOL.format(inertia=inertia)), encoding="utf-8")
    motion = sy.excite(sy.load(path), 6.0, 3, candidates=3)
    assert motion.excitation is not None
    assert motion.excitation.checked == bool(inertia)
    if inertia:
        motion.write(tmp_path / "motion.script")
        return
    assert motion.excitation.unchecked == ("links of unknown shape: tool",)
    with pytest.raises(sy.SteelyardError, match=r"NOT CHECKED \(links of unknown shape: tool\)"):
        motion.write(tmp_path / "motion.script")
    assert not (tmp_path / "motion.script").exists()


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_an_arm_without_lengths_is_not_checked(tmp_path: Path) -> None:
    """Both joints in one point and a centre of mass there: no capsule has a size."""
    body = INERTIA.replace("0 0 0.1", "0 0 0")
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<axis xyz="{k} {1 - k} 0"/><limit lower="-1" upper="1" velocity="2" effort="9"/></joint>'
        for k in range(2)
    )
    links = "".join(f'<link name="l{k}">{body}</link>' for k in range(3))
    path = tmp_path / "point.urdf"
    path.write_text(f'<robot name="point">{links}{joints}</robot>', encoding="utf-8")
    motion = sy.excite(sy.load(path), 4.0, 3, candidates=3, ground=-1.0)
    assert motion.excitation is not None
    assert motion.excitation.unchecked == ("links of unknown shape: l0, l1, l2",)
