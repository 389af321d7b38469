"""Task inertia, inverse and null space, manipulability, analytic Jacobian, centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.rotation import to_rpy
from tests.laws.dynamics.law import TASK, close, law
from tests.reference import rate
from tests.zoo import Case, case


def tip(x: Case) -> str:
    return x.robot.frame_names[-1]


def moved(x: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """J, M^-1 J^T and J M^-1 J^T at the last frame, by NumPy."""
    J = x.robot.jacobian(x.q, tip(x))
    solved = np.linalg.solve(x.robot.mass_matrix(x.q), J.swapaxes(-1, -2))
    return J, solved, J @ solved


def same(a: np.ndarray, b: np.ndarray) -> None:
    close(a, b, 1e-8)


@law("task_inertia", without=("no inertia",))
def test_task_inertia_inverts_the_mobility_of_the_frame(name: str) -> None:
    x = case(name)
    _, _, A = moved(x)
    inertia = x.robot.task_inertia(x.q, tip(x))
    same(inertia @ A @ inertia, inertia)
    same(A @ inertia @ A, A)
    same(inertia, inertia.swapaxes(-1, -2))


@law("dynamically_consistent_inverse", "task_inertia", without=("no inertia",))
def test_the_consistent_inverse_is_that_of_least_kinetic_energy(name: str) -> None:
    x = case(name)
    J, solved, _ = moved(x)
    inverse = x.robot.dynamically_consistent_inverse(x.q, tip(x))
    same(inverse, solved @ x.robot.task_inertia(x.q, tip(x)))
    same(J @ inverse @ J, J)


@law("nullspace_projector", without=("no inertia",))
def test_what_the_projector_leaves_neither_moves_nor_pushes_the_frame(name: str) -> None:
    x = case(name)
    J, solved, _ = moved(x)
    N = x.robot.nullspace_projector(x.q, tip(x))
    same(N @ N, N)
    same(J @ N, np.zeros_like(J))
    same(N @ solved, np.zeros_like(solved))


@law("manipulability")
def test_manipulability_is_the_product_of_the_singular_values(name: str) -> None:
    x = case(name)
    J = x.robot.jacobian(x.q, tip(x))
    J = J[..., np.abs(J).max(axis=(0, 1)) > 0.0]
    expected = np.prod(np.linalg.svd(J, compute_uv=False), axis=-1)
    np.testing.assert_allclose(x.robot.manipulability(x.q, tip(x)), expected, rtol=1e-6, atol=1e-9)


@law("analytic_jacobian", "jacobian")
def test_analytic_jacobian_gives_the_rates_of_roll_pitch_and_yaw(name: str) -> None:
    x = case(name)

    def along(s: float) -> np.ndarray:
        T = x.robot.forward_kinematics(x.q + s * x.qd, tip(x))
        angles = np.array([to_rpy([list(map(float, row)) for row in pose[:3, :3]]) for pose in T])
        return np.concatenate([T[:, :3, 3], angles], axis=1)

    product = np.einsum("...ij,...j->...i", x.robot.analytic_jacobian(x.q, tip(x)), x.qd)
    step = 1e-6
    change = along(step) - along(-step)
    change[:, 3:] = (change[:, 3:] + np.pi) % (2 * np.pi) - np.pi
    close(product, change / (2 * step), 1e-6)


@law("center_of_mass", "potential_energy")
def test_weight_acts_at_the_centre_of_mass(name: str) -> None:
    x = case(name)
    mass = sum(body.inertia.m for body in x.robot.tree.bodies)
    heavy = x.robot.with_gravity((1.0, -2.0, 3.0))
    close(-mass * x.robot.center_of_mass(x.q) @ heavy.gravity, heavy.potential_energy(x.q))


@law("com_jacobian", "center_of_mass")
def test_com_jacobian_gives_the_velocity_of_the_centre_of_mass(name: str) -> None:
    x = case(name)
    product = np.einsum("...ij,...j->...i", x.robot.com_jacobian(x.q), x.qd)
    close(product, rate(lambda s: x.robot.center_of_mass(x.q + s * x.qd)))


def test_few_joints_give_the_inertia_of_the_first_directions() -> None:
    """Four joints move link4.

    X, y, z and rx are independent, and their inertia is that of the four alone.
    """
    robot = sy.load("elbow_6r")
    q = np.array([0.3, 0.9, -0.4, 0.2, 0.7, 0.1])
    for frame, count in (("link4", 4), ("tool", 6)):
        J, M = robot.jacobian(q, frame)[:count], robot.mass_matrix(q)
        inertia = robot.task_inertia(q, frame)
        np.testing.assert_allclose(
            inertia[:count, :count], np.linalg.inv(J @ np.linalg.inv(M) @ J.T), rtol=1e-8, atol=1e-8
        )
        assert not inertia[count:].any()


def test_at_a_singularity_a_direction_drops_out() -> None:
    """With a stretched wrist no joint turns the tool about one axis.

    The inertia stays finite and the others keep theirs.
    """
    robot = sy.load("elbow_6r")
    q = np.array([0.3, 0.2, -0.4, 0.2, 0.0, 0.1])
    inertia = robot.task_inertia(q)
    assert np.isfinite(inertia).all()
    assert np.linalg.matrix_rank(inertia, tol=1e-9 * np.abs(inertia).max()) == 5
    assert robot.manipulability(q) < 1e-8


@law(*TASK, having="no inertia", refuses=True)
def test_a_joint_that_moves_no_mass_is_named(name: str) -> None:
    """Nothing opposes its motion: the task has no inertia either."""
    x = case(name)
    for algorithm in TASK:
        with pytest.raises(sy.ModelError, match="no mass moves with"):
            getattr(x.robot, algorithm)(x.q, tip(x))


@pytest.mark.parametrize(
    "name",
    ["task_inertia", "dynamically_consistent_inverse", "nullspace_projector", "manipulability"],
)
def test_what_is_not_a_number_stays(name: str) -> None:
    robot = sy.load("elbow_6r")
    assert np.isnan(getattr(robot, name)(np.full(6, np.nan), "tool")).all()


def test_inertias_next_to_a_singularity_are_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    """The wrist is nearly stretched: the inertia about one axis grows as 1 / angle^2."""
    robot = sy.load("elbow_6r")
    q = np.tile([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], (5, 1))
    regular = robot.task_inertia(q)
    assert not recwarn
    singular = q.copy()
    singular[:2, 4] = 5e-5
    for near, count in ((singular[:1], "1 of 1"), (singular, "2 of 5"), (singular[0], "1 of 1")):
        for _ in range(2):  # the second call takes the short path
            with pytest.warns(
                sy.SteelyardWarning,
                match=f"task_inertia: {count} configurations are near a singularity",
            ) as caught:
                robot.task_inertia(near)
            assert caught[0].filename == __file__
    np.testing.assert_array_equal(robot.task_inertia(q), regular)
