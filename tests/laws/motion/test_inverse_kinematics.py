"""Inverse kinematics: every solution reaches its pose, the position that a pose was made from is
among them, turns keep to the limits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import steelyard as sy
from benchmarks.kinematic_arms import ARMS, arm, frame_of
from steelyard.algebra.spatial import Pose
from steelyard.motion.inverse_kinematics.analytic import analytic
from steelyard.motion.inverse_kinematics.chain import chain_of
from steelyard.motion.inverse_kinematics.families import find_family
from steelyard.motion.inverse_kinematics.numerical import joint_range

FAMILIES = {
    "ur5": "three parallel axes",
    "puma560": "spherical wrist",
    "panda": "spherical wrist, seen from the frame",
    "iiwa14": "spherical wrist",
    "scara": "one axis at the end",
    "youbot_5r": "two axes that meet at the end",
    "wrist_at_the_base": "spherical wrist, seen from the frame",
}


def poses_of(
    robot: sy.Robot, rng: np.random.Generator, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Random positions within the limits, and the poses that they give."""
    low, high = joint_range(robot.tree)
    q = rng.uniform(low, high, (count, robot.n))
    return q, robot.forward_kinematics(q, frame_of(robot))


def solved(
    robot: sy.Robot, q: np.ndarray, T: np.ndarray, **more
) -> sy.motion.inverse_kinematics.solutions.Solutions:
    """The solutions, with the joints that are too many where they were."""
    frame = frame_of(robot)
    fixed = analytic(robot, frame, None).fixed
    free = {name: q[..., None, robot.joint_names.index(name)] for name in fixed}
    return sy.inverse_kinematics(robot, T, frame, free=free or None, **more)


def same_turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The difference of angles, whole turns apart."""
    return np.abs((a - b + np.pi) % (2 * np.pi) - np.pi)


def on_the_way(robot: sy.Robot) -> list[int]:
    return list(chain_of(robot.tree, frame_of(robot)).coordinates)


@pytest.mark.parametrize("name", ARMS)
def test_all_solutions_reach_the_pose_and_the_origin_is_one(
    name: str, rng: np.random.Generator
) -> None:
    robot = arm(name)
    q, T = poses_of(robot, rng, 300)
    s = solved(robot, q, T)
    assert s.q.shape == (300, len(s.branches), robot.n)
    np.testing.assert_array_equal(np.isnan(s.q).any(axis=-1), ~s.valid)
    pose, branch = np.nonzero(s.valid)
    reached = robot.forward_kinematics(s.q[pose, branch], frame_of(robot))
    assert np.abs(reached - T[pose]).max() < 1e-10
    chain = on_the_way(robot)
    away = (
        np.where(s.valid[..., None], same_turn(s.q, q[:, None])[..., chain], np.inf)
        .max(axis=-1)
        .min(axis=-1)
    )
    assert away.max() < 1e-6
    low, high = np.array([[limits.lower, limits.upper] for limits in robot.tree.limits]).T
    result = s.q[s.valid]
    assert ((result >= low - 1e-8) & (result <= high + 1e-8))[:, chain].all()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_family_is_told_by_the_axes(name: str) -> None:
    robot = arm(name)
    assert analytic(robot, frame_of(robot), None).family == FAMILIES[name]


@pytest.mark.parametrize("name", ["ur10e", "kuka_like", "scara"])
def test_numpy_arrays_take_the_same_way_as_the_kernel(name: str, rng: np.random.Generator) -> None:
    """The closed form runs on arrays of samples without a compiler."""
    robot = arm(name)
    chain = chain_of(robot.tree, robot.end_effector)
    T = poses_of(robot, rng, 50)[1]
    columns = [[T[:, i, j] for j in range(4)] for i in range(3)]
    X = chain.before.compose(
        Pose(tuple(tuple(row[:3]) for row in columns), tuple(row[3] for row in columns))
    ).compose(chain.after)
    branches = list(find_family(chain.joints, chain.tool).solve(chain.joints, X, ()))
    s = sy.inverse_kinematics(robot, T)
    for k, branch in enumerate(branches):
        assert " ".join(branch.name) == s.branches[k]
        values = np.stack([np.broadcast_to(move.value, 50) for move in branch.moves], axis=-1)
        assert same_turn(values, s.q[:, k])[s.valid[:, k]].max(initial=0.0) < 1e-9


@pytest.mark.parametrize("name", ["ur10e", "puma560"])
def test_each_joint_is_in_the_turn_nearest_to_q0(name: str, rng: np.random.Generator) -> None:
    robot = arm(name)
    T = poses_of(robot, rng, 100)[1]
    low, high = np.array([[limits.lower, limits.upper] for limits in robot.tree.limits]).T
    for q0 in (rng.uniform(-6.0, 6.0, robot.n), high - 0.1, low + 0.1, high + 9.0):
        s = sy.inverse_kinematics(robot, T, q0=q0)
        expected = np.clip(q0, low, high)
        assert s.solved.all()
        assert ((s.q >= low - 1e-8) & (s.q <= high + 1e-8))[s.valid].all()
        for turns in (-1, 1):
            other = s.q + turns * 2 * np.pi
            better = (
                (np.abs(other - expected) < np.abs(s.q - expected) - 1e-9)
                & (other >= low)
                & (other <= high)
            )
            assert not better[s.valid].any()


def test_branches_are_those_of_the_lecture() -> None:
    """Oracle: table of the lecture's function for both flags.

    Elbow + and wrist + are konfi1 = konfi2 = 1.
    """
    robot = arm("lecture_6r")
    T = robot.forward_kinematics([0.3, 0.4, 0.7, -0.5, 0.9, 1.1])
    np.testing.assert_allclose(T[:3, 3], [-0.26949607, 0.68058759, 0.80912480], atol=5e-9)
    table = {
        "shoulder - elbow + wrist +": (0.3, 0.4, 0.7, -0.5, 0.9, 1.1),
        "shoulder - elbow + wrist -": (0.3, 0.4, 0.7, 2.641593, 5.383185, -2.041593),
        "shoulder - elbow - wrist +": (0.3, 1.033656, 5.583185, -0.385156, 1.599701, 0.760916),
        "shoulder - elbow - wrist -": (0.3, 1.033656, 5.583185, 2.756436, 4.683484, -2.380677),
    }
    s = sy.inverse_kinematics(robot, T)
    assert s.valid.all()
    for branch, expected in table.items():
        assert same_turn(s.q[s.branches.index(branch)], np.array(expected)).max() < 1e-6, branch


SINGULAR = {
    "wrist": ("elbow_6r", (0.3, 0.4, 0.2, 0.7, 0.0, -0.4), 3),
    "stretched elbow": ("lecture_6r", (0.3, 0.4, 0.0, 0.7, 0.5, -0.4), None),
    "stretched and wrist": ("lecture_6r", (0.3, 0.4, 0.0, 0.7, 0.0, -0.4), 3),
    "ur wrist": ("ur10e", (0.3, -0.9, 0.8, 0.2, 0.0, -0.4), None),
    "ur stretched": ("ur10e", (0.3, -0.9, 0.0, 0.2, 0.7, -0.4), None),
    "panda at zero": ("panda", (0.0,) * 8, None),
    "iiwa at zero": ("iiwa14", (0.0,) * 7, None),
}


@pytest.mark.parametrize("which", SINGULAR)
def test_the_exact_answer_at_singularities(which: str) -> None:
    name, q, free = SINGULAR[which]
    robot = arm(name)
    values = np.array(q)
    T = robot.forward_kinematics(values, frame_of(robot))
    s = solved(robot, values, T, q0=values)
    assert s.solved
    reached = robot.forward_kinematics(s.q[s.valid], frame_of(robot))
    assert np.abs(reached - T).max() < 1e-10
    if free is not None:
        assert np.abs(s.best - values).max() < 1e-7, "a joint that is free stays where q0 has it"


def test_the_shoulder_over_its_own_axis() -> None:
    """With the wrist centre on the first axis every shoulder angle will do: that of q0 is taken."""
    robot = arm("lecture_6r")
    # wrist centre at height sqrt(0.5) above the first axis
    elbow = math.acos((0.5 - 0.36 - 0.25) / 0.6)
    q = np.array([0.8, 0.0, elbow, 0.3, 0.7, 0.2])
    q[1] = math.pi / 2 - math.atan2(0.5 * math.sin(elbow), 0.6 + 0.5 * math.cos(elbow))
    T = robot.forward_kinematics(q)
    s = sy.inverse_kinematics(robot, T, q0=q)
    assert np.abs(robot.forward_kinematics(s.q[s.valid]) - T).max() < 1e-10
    assert np.abs(s.best - q).max() < 1e-6


def test_a_frame_in_the_middle_and_joints_off_the_way(rng: np.random.Generator) -> None:
    """Joints that do not move the frame stay where q0 has them."""
    robot = arm("panda")
    q0 = np.full(robot.n, 0.01)
    q, T = poses_of(robot, rng, 20)
    s = solved(robot, q, T, q0=q0)
    assert (s.q[s.valid][:, 7] == 0.01).all()


def test_limits_that_exclude_every_solution_are_named() -> None:
    robot = arm("puma560")
    s = sy.inverse_kinematics(robot, robot.forward_kinematics([0.1, -2.0, 2.0, 0.3, 1.9, 0.2]))
    assert not s.solved
    assert s.status.startswith(
        "no solution within the joint limits: of 8 solutions that reach the pose, joint3 in 8"
    )
    robot = arm("elbow_6r")
    poses = robot.forward_kinematics(np.random.default_rng(0).uniform(-np.pi, np.pi, (400, 6)))
    many = sy.inverse_kinematics(robot, poses)
    four = np.flatnonzero(~many.solved & ((many.code == 1.0).sum(axis=1) == 4))[0]
    assert "of 4 solutions that reach the pose" in sy.inverse_kinematics(robot, poses[four]).status


def test_a_grid_of_the_free_joint_is_each_of_its_values(rng: np.random.Generator) -> None:
    robot = arm("iiwa14")
    T = poses_of(robot, rng, 6)[1]
    grid = np.linspace(-1.0, 1.0, 5)
    s = sy.inverse_kinematics(robot, T, free=grid)
    assert s.q.shape == (6, 40, 7)
    assert s.free.shape == (6, 5, 1)
    assert sy.inverse_kinematics(robot, T[0], free=0.5).status.endswith(
        "by closed form at joint3 = 0.5"
    )
    for i, value in enumerate(grid):
        one = sy.inverse_kinematics(robot, T, free={"joint3": value})
        np.testing.assert_array_equal(s.q[:, 8 * i : 8 * i + 8], one.q)
        assert (one.q[one.valid][:, 2] == value).all()
        assert one.free.shape == (6, 1, 1)
        np.testing.assert_array_equal(one.q, sy.inverse_kinematics(robot, T, free=float(value)).q)
        assert s.branches[8 * i] == f"joint3[{i}] {one.branches[0]}"


def test_the_free_joint_is_chosen_near_q0_where_there_is_a_solution(
    rng: np.random.Generator,
) -> None:
    robot = arm("panda")
    q, T = poses_of(robot, rng, 200)
    s = sy.inverse_kinematics(robot, T, frame_of(robot))
    assert s.free_joints == ("panda_joint7",)
    assert s.solved.all()
    near = sy.inverse_kinematics(robot, T, frame_of(robot), q0=q)
    assert near.solved.all()
    np.testing.assert_allclose(near.free[:, 0, 0], q[:, 6], atol=1e-15)


NUMERICAL = ("panda", "xarm7", "iiwa14", "ur5", "scara")


@pytest.mark.parametrize("name", NUMERICAL)
def test_the_numerical_solver_solves_what_is_reachable(name: str, rng: np.random.Generator) -> None:
    robot = arm(name)
    T = poses_of(robot, rng, 400)[1]
    s = sy.inverse_kinematics(robot, T, frame_of(robot), method="numerical")
    assert s.solved.mean() >= 0.995
    q = s.best[s.solved]
    assert np.abs(robot.forward_kinematics(q, frame_of(robot)) - T[s.solved]).max() < 1e-8
    low, high = np.array([[limits.lower, limits.upper] for limits in robot.tree.limits]).T
    assert ((q >= low) & (q <= high)).all()


def test_a_warm_start_stays_on_its_branch(rng: np.random.Generator) -> None:
    """Along a path each pose starts at the last position.

    Joints move as little as the path does.
    """
    robot = arm("panda")
    t = np.linspace(0.0, 1.0, 60)[:, None]
    ends = np.array(
        [[0.1, 0.3, 0.2, -1.8, 0.4, 1.9, 0.3, 0.02], [0.5, 0.5, -0.1, -1.4, 0.2, 2.2, 0.8, 0.02]]
    )
    path = robot.forward_kinematics(ends[0] + t * (ends[1] - ends[0]), frame_of(robot))
    q = ends[0]
    for pose in path:
        after = sy.inverse_kinematics(robot, pose, frame_of(robot), q0=q, method="numerical").best
        assert np.abs(after - q).max() < 0.05
        q = after


def test_redundancy_is_spent_on_the_preferred_position(rng: np.random.Generator) -> None:
    """Where no limit is in the way, what is left of q0 - q can only be had by moving the frame.

    It lies in the range of J^T.
    """
    robot = arm("iiwa14")
    q = rng.uniform(-1.0, 1.0, (50, 7))
    T, q0 = robot.forward_kinematics(q), q + rng.uniform(-0.2, 0.2, q.shape)
    s = sy.inverse_kinematics(robot, T, q0=q0, method="numerical")
    assert s.solved.all()
    assert np.abs(robot.forward_kinematics(s.best) - T).max() < 1e-8
    J = robot.jacobian(s.best)
    missing = q0 - s.best
    remaining = missing - (np.linalg.pinv(J) @ J @ missing[..., None])[..., 0]
    assert np.median(np.abs(remaining).max(axis=-1)) < 1e-3
    assert (np.linalg.norm(missing, axis=1) <= np.linalg.norm(q0 - q, axis=1) + 1e-6).mean() > 0.95


@pytest.mark.parametrize("joint", ["joint1", "joint2", "joint5", "joint6", "joint7"])
def test_another_joint_of_a_redundant_arm_may_be_held(joint: str, rng: np.random.Generator) -> None:
    robot = arm("iiwa14")
    q, T = poses_of(robot, rng, 50)
    s = sy.inverse_kinematics(robot, T, free={joint: q[:, [robot.joint_names.index(joint)]]})
    assert s.free_joints == (joint,)
    pose, branch = np.nonzero(s.valid)
    assert np.abs(robot.forward_kinematics(s.q[pose, branch]) - T[pose]).max() < 1e-10
    away = (
        np.where(s.valid[..., None], same_turn(s.q, q[:, None]), np.inf).max(axis=-1).min(axis=-1)
    )
    assert away.max() < 1e-6


@pytest.mark.parametrize(
    ("name", "free"), [("ur5", None), ("iiwa14", 0.5), ("iiwa14", {"joint3": 0.5})]
)
def test_the_same_question_twice(name: str, free: object, rng: np.random.Generator) -> None:
    """A pose asked for again takes a shorter way.

    The answer, its words and the errors are the same.
    """
    robot = arm(name)
    T = robot.forward_kinematics(rng.uniform(-1.0, 1.0, (2, robot.n)), robot.end_effector)
    first, again, of_many = (
        sy.inverse_kinematics(robot, pose, free=free) for pose in (T[0], T[0], T)
    )
    np.testing.assert_array_equal(first.q, again.q)
    np.testing.assert_array_equal(of_many.q[0], again.q)
    np.testing.assert_array_equal(first.q0, again.q0)
    assert (first.status, first.branches, first.free_joints) == (
        again.status,
        again.branches,
        again.free_joints,
    )
    assert first.free is None or first.free.shape == again.free.shape == (1, 1)
    far = T[0].copy()
    far[:3, 3] = 50.0
    assert "out of reach" in sy.inverse_kinematics(robot, far, free=free).status
    for bad in (np.full((4, 4), np.nan), 2.0 * T[0]):
        with pytest.raises(sy.CallError, match="pose"):
            sy.inverse_kinematics(robot, bad, free=free)


def test_a_question_is_the_same_only_if_its_free_value_is_a_number_too() -> None:
    robot = arm("iiwa14")
    pose = robot.forward_kinematics(np.full(7, 0.4), frame_of(robot))
    assert sy.inverse_kinematics(robot, pose, frame_of(robot), free=1.0).valid.any()
    for other in (True, {analytic(robot, frame_of(robot), None).fixed[0]: True}):
        with pytest.raises(sy.SteelyardError, match="free"):
            sy.inverse_kinematics(robot, pose, frame_of(robot), free=other)
