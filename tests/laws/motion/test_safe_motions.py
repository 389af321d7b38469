"""Safe motions: arms without meshes stay above the ground and off themselves.

Programs of unchecked motions are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import steelyard as sy
from steelyard.checks.states import States
from steelyard.motion import Trajectory, point_to_point
from steelyard.motion.collision.robot_shapes import links_without_shape, robot_shapes
from steelyard.motion.collision.walls import walls
from steelyard.motion.trajectories.limits import motion_limits
from steelyard.motion.trajectories.trajectory import trajectory
from steelyard.motion.trajectory_files.formats import FORMATS
from tests.bare_arms import PlainArm, installed_text, judge, ur10e

TEXTS: dict[str, Callable[[], str]] = {
    "ur10e": ur10e,
    "panda": lambda: installed_text("panda_description/urdf/panda.urdf"),
}
CLEARANCE = 0.02  # [m]
CASES = [("ur10e", 0), ("ur10e", 1), ("panda", 2), ("panda", 4)]
"""Without checks the UR10e is in the ground; links of the Panda are nearer than the clearance."""
NOT_PROGRAMS = {"csv", "npz", "points", "svg"}


@cache
def bare(name: str) -> sy.Robot:
    """An arm from a folder in which its meshes are absent."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.urdf"
        path.write_text(TEXTS[name](), encoding="utf-8")
        return sy.load(path)


@cache
def designed(name: str, seed: int = 0) -> Trajectory:
    return sy.excite(bare(name), 6.0, 3, seed=seed, starts=1)


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize(("name", "seed"), CASES)
def test_motions_of_arms_without_meshes_are_safe_by_an_independent_check(
    name: str, seed: int
) -> None:
    robot, motion = bare(name), designed(name, seed)
    lower, upper, velocity = np.array([(x.lower, x.upper, x.velocity) for x in robot.tree.limits]).T
    fine = motion.sample(1000.0)
    arm = PlainArm(TEXTS[name](), robot.joint_names)
    for link, X in arm.poses(fine.q[:5]).items():
        if link in robot.frame_names:
            np.testing.assert_allclose(robot.forward_kinematics(fine.q[:5], link), X, atol=1e-8)
    checked = judge(arm, lower, upper, fine.q)
    assert checked.lowest >= -1e-9, "no frame is below the ground"
    assert checked.nearest >= CLEARANCE, checked.pair
    assert np.all(np.abs(fine.qd) <= 0.5 * velocity * (1 + 1e-9))
    assert np.all(np.abs(fine.qdd) <= velocity * (1 + 1e-9)), (
        "half of the limit takes half a second at least"
    )
    assert np.any(np.ptp(fine.q, axis=0) > 0.3 * (upper - lower)), (
        "positions are not scaled by the speed"
    )
    assert motion.excitation is not None
    assert motion.excitation.checked
    assert motion.excitation.unchecked == ()


def test_every_link_has_a_shape_whatever_the_others_have() -> None:
    shapes = {shape.name for shape in robot_shapes(bare("panda"))}
    links = {f"panda_link{k}" for k in range(8)} | {
        "panda_hand",
        "panda_leftfinger",
        "panda_rightfinger",
    }
    assert links <= shapes
    assert {shape.name for shape in robot_shapes(bare("ur10e"))} >= {
        "base_link",
        *(f"link_{k}" for k in range(1, 7)),
    }


BOX = (
    '<link name="tool"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.1 0.1 0.4"/>'
    '</geometry></collision></link><joint name="flange" type="fixed"><parent link="link_6"/>'
    '<child link="tool"/></joint></robot>'
)


def test_boxes_need_no_collision_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without coal a link whose only shape is a box gets the capsule around it."""
    path = tmp_path / "arm.urdf"
    path.write_text(ur10e().replace("</robot>", BOX), encoding="utf-8")
    robot = sy.load(path)
    monkeypatch.setitem(sys.modules, "coal", None)
    assert not links_without_shape(robot)
    (box,) = [shape for shape in robot_shapes(robot) if shape.name == "tool"]
    assert box.capsule
    assert box.radius == pytest.approx(0.05 * np.sqrt(2))
    assert sorted(np.linalg.norm(box.points, axis=1)) == pytest.approx([0.0, 0.4])


def test_the_defaults_are_slow_and_speed_does_not_scale_positions() -> None:
    robot = bare("ur10e")
    slow, fast = (motion_limits(robot, 0.9, speed=speed) for speed in (0.5, 1.0))
    velocity = np.array([x.velocity for x in robot.tree.limits])
    np.testing.assert_allclose(slow.velocity, 0.5 * velocity)
    np.testing.assert_allclose(fast.velocity, 0.9 * velocity)
    np.testing.assert_allclose(slow.acceleration, slow.velocity / 0.5)
    np.testing.assert_array_equal(slow.reach, fast.reach)
    np.testing.assert_allclose(
        motion_limits(robot, 0.9, acceleration=3.0, speed=0.5).acceleration, 2.7
    )
    with pytest.raises(sy.CallError, match="speed = 0"):
        sy.excite(robot, speed=0.0)


@pytest.mark.parametrize("row", FORMATS.values(), ids=list(FORMATS))
def test_programs_of_unchecked_motions_are_refused_and_all_files_say_it(
    row: object, tmp_path: Path
) -> None:
    robot = bare("ur10e")
    path = tmp_path / ("a" + (row.endings[0] if row.endings else ""))  # type: ignore[attr-defined]
    name: str = row.name  # type: ignore[attr-defined]
    plain = point_to_point(np.zeros(6), np.full(6, 0.5), 4.0, joint_names=robot.joint_names)
    motions = {"CHECKED": designed("ur10e"), "NOT CHECKED": plain}
    if name not in NOT_PROGRAMS:
        with pytest.raises(
            sy.SteelyardError, match=r"NOT CHECKED.*motion = motion.check\(robot\).*unchecked=True"
        ):
            plain.write(path, name)
        assert not list(tmp_path.iterdir())
    for word, motion in motions.items():
        motion.write(path, name, overwrite=True, unchecked=word == "NOT CHECKED")
        if name == "npz":
            with np.load(path) as arrays:
                assert str(arrays["check"]).startswith(f"{word} (")
        elif name in ("csv", "points", "yaml", "urscript", "krl"):
            first = path.read_text().splitlines()[0]
            assert first.removeprefix("# ").removeprefix("&COMMENT ").startswith(f"{word} ("), first
            assert ("smallest distance at least" in first) == (word == "CHECKED")


def test_what_excite_was_told_to_leave_out_is_unchecked(tmp_path: Path) -> None:
    robot = bare("ur10e")
    for options, words in (
        ({"ground": None}, ("ground",)),
        ({"collision": "none"}, ("distances between links",)),
    ):
        motion = sy.excite(robot, 6.0, 3, candidates=3, **options)  # type: ignore[arg-type]
        assert motion.excitation is not None
        assert motion.excitation.unchecked == words
        assert not motion.excitation.checked
        with pytest.raises(sy.SteelyardError, match=f"NOT CHECKED \\({words[0]}\\)"):
            motion.write(tmp_path / "a.script", overwrite=True)
        motion.write(tmp_path / "a.script", overwrite=True, unchecked=True)


def folded() -> np.ndarray:
    """A position of the UR10e in which links are in each other, above the ground."""
    arm = PlainArm(ur10e(), bare("ur10e").joint_names)
    q = np.random.default_rng(1).uniform(-3, 3, (2000, 6))
    radii, gaps = arm.radii(arm.radius, np.full(6, -3.14), np.full(6, 3.14)), arm.distances(q)
    inside = np.min([gaps[pair] - total for pair, total in radii.items()], axis=0) < -0.05
    high = (
        np.min(
            [X[:, 2, 3] for name, X in arm.poses(q).items() if name not in ("base_link", "link_1")],
            axis=0,
        )
        > 0.15
    )
    return np.asarray(q[np.flatnonzero(inside & high)[0]])


def test_other_motions_are_checked_by_check(tmp_path: Path) -> None:
    robot = bare("ur10e")
    up = np.array([0.0, -1.5, 0.3, -0.5, 0.2, 0.0])
    good = point_to_point(up, up + 0.3, 4.0, joint_names=robot.joint_names)
    assert not good.safety.checked
    checked = good.check(robot)
    assert checked.safety.checked, checked.safety.line
    checked.write(tmp_path / "good.script")
    assert checked.sample(125).safety.checked
    bad = {
        "above the ground: not kept": point_to_point(
            up, np.array([0.0, 0.8, 0.3, -0.5, 0.2, 0.0]), 8.0
        ),
        "apart from .*not kept": point_to_point(folded(), folded() + 0.01, 4.0),
        "velocity limit of joint_1: not kept": point_to_point(
            up, up + np.array([2.5, 0, 0, 0, 0, 0]), 0.5
        ),
        "position limit of joint_1: not kept": point_to_point(
            up, up + np.array([4.0, 0, 0, 0, 0, 0]), 9.0
        ),
    }
    for words, motion in bad.items():
        copy = motion.check(robot)
        assert not copy.safety.checked
        with pytest.raises(sy.SteelyardError, match=words):
            copy.write(tmp_path / "bad.script")
    with pytest.raises(sy.CallError, match="the robot has joint_1"):
        point_to_point(np.zeros(2), np.ones(2), 1.0).check(robot)


def test_a_check_does_not_pass_to_another_motion() -> None:
    motion = designed("ur10e")
    assert motion.safety.checked
    moved = replace(motion, q=motion.q + 0.1)
    assert moved.safety.unchecked == ("limits", "distances between links", "ground")
    for changes in (
        {"qd": 2 * motion.qd},
        {"qdd": 2 * motion.qdd},
        {"joint_names": motion.joint_names[::-1]},
        {name: getattr(motion, name)[::-1] for name in ("t", "q", "qd", "qdd")},
    ):
        assert replace(motion, **changes).safety.unchecked == moved.safety.unchecked, list(changes)
    other = replace(motion, motion=lambda t: States(*(x + 0.0 for x in motion.motion(t))))
    assert not other.safety.checked
    coarse = motion.sample(1.0)
    assert "the motion between points that are 1 s apart" in coarse.safety.unchecked


def test_velocities_that_are_not_those_of_the_positions_are_not_checked() -> None:
    robot = bare("ur10e")
    up = np.array([0.0, -1.5, 0.3, -0.5, 0.2, 0.0])

    def jump(t: object) -> States:
        s = np.asarray(t, float)[..., None]
        return States(up + np.where(s > 1, 0.5, 0.0), 0 * s * up, 0 * s * up)

    assert not trajectory(jump, 2.0, 100.0, robot.joint_names).check(robot).safety.checked


def test_what_cannot_leave_the_ground_stands_on_it_and_the_rest_stays_above() -> None:
    flat = sy.load("planar_2r").with_gravity((0.0, 0.0, -9.81))
    limits = motion_limits(flat)
    made = walls(
        flat,
        robot_shapes(flat),
        ground=0.0,
        clearance=CLEARANCE,
        travel=(limits.lower, limits.upper),
    )
    q = np.random.default_rng(0).uniform(limits.lower, limits.upper, (50, flat.n))
    heights = np.array([flat.forward_kinematics(q, name)[:, 2, 3] for name in flat.frame_names])
    if np.ptp(heights) < 1e-9:
        assert not made.walls, "a flat arm in the base plane"
        assert made.standing
    robot = bare("ur10e")
    limits = motion_limits(robot)
    made = walls(
        robot,
        robot_shapes(robot),
        ground=0.0,
        clearance=CLEARANCE,
        travel=(limits.lower, limits.upper),
    )
    assert {wall.shape.name for wall in made.walls} >= {f"link_{k}" for k in range(2, 7)}


def test_a_link_that_hangs_below_the_base_is_not_excused(tmp_path: Path) -> None:
    """A pendulum that can only hang: the ground at its axis is refused, with the remedy."""
    path = tmp_path / "hanging.urdf"
    path.write_text(
        '<robot name="hanging"><link name="base"/><link name="rod"><inertial><origin xyz="0 0'
        ' -0.5"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0"'
        ' iyz="0"/></inertial><collision><origin xyz="0 0 -0.45"/><geometry><box size="0.1 0.1'
        ' 1.1"/></geometry></collision></link><joint name="hinge" type="revolute"><parent'
        ' link="base"/><child link="rod"/><axis xyz="0 1 0"/><limit lower="-1" upper="1"'
        ' velocity="3" effort="100"/></joint></robot>'
    )
    robot = sy.load(path)
    with pytest.raises(sy.ProblemError, match=r"rod above the ground.*ground=None"):
        sy.excite(robot, 4.0, 3, candidates=3)
    motion = sy.excite(robot, 4.0, 3, candidates=3, ground=-2.0)
    assert motion.excitation is not None
    assert motion.excitation.checked
    with pytest.raises(sy.CallError, match="ground = 'floor'; expected 'base'"):
        sy.excite(robot, ground="floor")


def test_static_poses_are_clear_and_so_are_the_ways_between_them(tmp_path: Path) -> None:
    robot = bare("ur10e")
    poses = sy.static_poses(robot, 6)
    assert poses.checked, poses.unchecked
    lower, upper = np.array([(x.lower, x.upper) for x in robot.tree.limits]).T
    ways = [
        a + s * (b - a)
        for a, b in zip(poses.path, poses.path[1:], strict=False)
        for s in np.linspace(0, 1, 300)[:, None]
    ]
    checked = judge(
        PlainArm(ur10e(), robot.joint_names),
        lower,
        upper,
        np.array(ways),
    )
    assert checked.lowest >= -1e-9
    assert checked.nearest >= CLEARANCE, checked.pair
    assert poses.write(tmp_path / "poses.csv").read_text().startswith("# CHECKED (")
    low = sy.static_poses(robot, 6, ground=None)
    assert low.unchecked == ("ground",)
    with pytest.raises(sy.SteelyardError, match=r"NOT CHECKED \(ground\).*unchecked=True"):
        low.write(tmp_path / "low.csv")
    assert (
        low.write(tmp_path / "low.csv", unchecked=True)
        .read_text()
        .startswith("# NOT CHECKED (ground)")
    )


def test_names_stay_on_the_first_line() -> None:
    from steelyard.motion.trajectories.motion_check import MotionCheck

    check = MotionCheck(
        what=("limits",), distance=0.03, narrowest="a\nset_digital_out(1, True)\x1b[2J apart from b"
    )
    assert "\n" not in check.line
    assert "\x1b" not in check.line


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_a_motion_is_searched_again_before_it_is_refused() -> None:
    """The only start of this seed does not keep its distances."""
    motion = sy.excite(bare("panda"), 10.0, seed=19, starts=1)
    assert motion.safety.checked
