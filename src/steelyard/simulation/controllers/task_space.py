"""Task-space control laws over scalars: operational space and impedance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, dot
from ...arguments import instance
from ...dynamics.crba import mass_matrix
from ...dynamics.forward.by_crba import factorise, solve_factored
from ...dynamics.kinematics import forward_kinematics, jacobian, jacobian_rate
from ...dynamics.operational_space import generalised_inverse
from ...dynamics.rnea import inverse_dynamics
from ...mechanism.tree import Tree
from ...motion import PoseTrajectory
from ...motion.trajectories.cartesian import require_pose
from ...robot import Robot
from .controller import check_gains, spread_gain

Array = NDArray[np.float64]
DIRECTIONS = "directions x, y, z, rx, ry, rz"


class _FrameController:
    """Controller of a frame, by default the end-effector.

    Follows a PoseTrajectory or holds a pose (4, 4), by default the one at q = 0.
    """

    reference: Any
    frame: str | None

    def bound(self, robot: Robot) -> Any:
        """Return the controller with its frame's name; raise CallError for an unknown frame."""
        tree_of = getattr(self, "model", None) or robot
        name = (
            tree_of.end_effector
            if self.frame is None
            else instance(f"{type(self).__name__}: frame", self.frame, str)
        )
        tree_of.tree.frame(name)
        return replace(self, frame=name)  # type: ignore[type-var]

    def reference_shape(self, n: int) -> tuple[int, ...]:
        """Return the shape of position, rotation by rows, twist and acceleration of the frame."""
        return (24,)

    def reference_at(self, robot: Robot, t: Array) -> Array:
        """Return the frame's reference at times t [s]: (T, 24), (1, 24) for a constant pose."""
        if isinstance(self.reference, PoseTrajectory):
            end = self.reference.seconds
            pose, twist, acceleration = self.reference.motion(np.clip(t, 0.0, end))
            moving = (t <= end)[:, None]
            rest = np.where(moving, twist, 0.0), np.where(moving, acceleration, 0.0)
        else:
            pose = self._constant_pose(robot)[None]
            rest = np.zeros((1, 6)), np.zeros((1, 6))
        return np.hstack([pose[:, :3, 3], pose[:, :3, :3].reshape(-1, 9), *rest])

    def _constant_pose(self, robot: Robot) -> Array:
        """Return the pose (4, 4) to hold."""
        if self.reference is None:
            return np.asarray(robot.forward_kinematics(np.zeros(robot.n), self.frame))
        return require_pose(
            f"{type(self).__name__}: the reference, if it is not a PoseTrajectory,", self.reference
        )


@dataclass(frozen=True)
class TaskState:
    """Errors, Jacobian and task-space inertia of a frame at a state."""

    error: list[Scalar]  # position [m], then rotation [rad], in the base frame
    rate: list[Scalar]  # reference twist minus twist
    acceleration: Scalars  # of the reference
    drift: list[Scalar]  # dJ/dt qd
    J: list[list[Scalar]]
    inertia: list[list[Scalar]]  # Lambda = (J M^-1 J^T)^-1
    solved: list[list[Scalar]]  # rows of J M^-1


def task_state(tree: Tree, q: Scalars, qd: Scalars, reference: Scalars, frame: str) -> TaskState:
    """Compute errors, Jacobian and task-space inertia of a frame.

    The rotation error is half the sum of the cross products of the axes: sin(angle) about the axis.
    Luh, Walker and Paul 1980b, eq. (21); Khatib 1987.
    """
    pose, J = forward_kinematics(tree, q, frame), jacobian(tree, q, frame)
    R = reference[3:12]
    axes = zip(
        v3.transpose(pose.R),
        v3.transpose((v3.vector(R), v3.vector(R[3:]), v3.vector(R[6:]))),
        strict=True,
    )
    turn = v3.scale(0.5, v3.total(v3.cross(a, b) for a, b in axes))
    rate = [a - dot(row, qd) for a, row in zip(reference[12:18], J, strict=True)]
    drift = [dot(row, qd) for row in jacobian_rate(tree, q, qd, frame)]
    factors = factorise(mass_matrix(tree, q))
    solved = [solve_factored(factors, row) for row in J]
    inertia = generalised_inverse([[dot(a, b) for b in solved] for a in J])
    return TaskState(
        error=[*v3.sub(v3.vector(reference), pose.p), *turn],
        rate=rate,
        acceleration=reference[18:24],
        drift=drift,
        J=J,
        inertia=inertia,
        solved=solved,
    )


@dataclass(frozen=True, eq=False)
class OperationalSpace(_FrameController):
    """Operational-space control of a frame: kp [1/s2], kd [1/s], one or six each.

    tau = J^T Lambda (a_r + kd rate + kp error - dJ/dt qd) + C qd + g + friction - N^T resting qd.
    The frame obeys error'' + kd error' + kp error = 0 within its mobility. `resting`
    [N m s/rad|N s/m] damps the null-space motion of a redundant arm. Khatib 1987, eq. (20) and
    (51).
    """

    reference: PoseTrajectory | ArrayLike | None = None
    kp: ArrayLike = 0.0
    kd: ArrayLike = 0.0
    frame: str | None = None
    resting: ArrayLike = 0.0
    model: Robot | None = None
    kernel_inputs: ClassVar[tuple[str, ...]] = ("reference", "kp", "kd", "resting")

    def __post_init__(self) -> None:
        check_gains(self, "kp", "kd", "resting")

    def gains(self, n: int) -> Array:
        """Return kp, kd, resting (12 + n,)."""
        return np.concatenate(
            [
                *(spread_gain(self, k, 6, DIRECTIONS) for k in ("kp", "kd")),
                spread_gain(self, "resting", n, "joints"),
            ]
        )

    def law(
        self, tree: Tree, q: Scalars, qd: Scalars, reference: Any, gains: Scalars, *memory: Scalars
    ) -> list[Scalar]:
        task = task_state(tree, q, qd, reference, str(self.frame))
        terms = zip(
            task.acceleration,
            gains[:6],
            task.error,
            gains[6:12],
            task.rate,
            task.drift,
            strict=True,
        )
        force = _times(task.inertia, [a + p * e + d * v - b for a, p, e, d, v, b in terms])
        return _joint_torques(tree, q, qd, task, force, gains[12:])


@dataclass(frozen=True, eq=False)
class Impedance(_FrameController):
    """Impedance control of a frame: stiffness [N/m, N m/rad], damping [N s/m, N m s/rad].

    tau = J^T (Lambda (a_r - dJ/dt qd) + stiffness error + damping rate) + C qd + g + friction
    - N^T resting qd. Under a force f the frame obeys Lambda error'' + damping error' +
    stiffness error = -f. stiffness and damping are one or six numbers. Hogan 1985; Ott 2008,
    section 3.2 (without shaping of inertia).
    """

    reference: PoseTrajectory | ArrayLike | None = None
    stiffness: ArrayLike = 0.0
    damping: ArrayLike = 0.0
    frame: str | None = None
    resting: ArrayLike = 0.0
    model: Robot | None = None
    kernel_inputs: ClassVar[tuple[str, ...]] = ("reference", "stiffness", "damping", "resting")

    def __post_init__(self) -> None:
        check_gains(self, "stiffness", "damping", "resting")

    def gains(self, n: int) -> Array:
        """Return stiffness, damping, resting (12 + n,)."""
        rows = (spread_gain(self, k, 6, DIRECTIONS) for k in ("stiffness", "damping"))
        return np.concatenate([*rows, spread_gain(self, "resting", n, "joints")])

    def law(
        self, tree: Tree, q: Scalars, qd: Scalars, reference: Any, gains: Scalars, *memory: Scalars
    ) -> list[Scalar]:
        task = task_state(tree, q, qd, reference, str(self.frame))
        inertial = _times(
            task.inertia, [a - b for a, b in zip(task.acceleration, task.drift, strict=True)]
        )
        springs = zip(inertial, gains[:6], task.error, gains[6:12], task.rate, strict=True)
        return _joint_torques(
            tree, q, qd, task, [f + k * e + d * v for f, k, e, d, v in springs], gains[12:]
        )


def _joint_torques(
    tree: Tree, q: Scalars, qd: Scalars, task: TaskState, force: Scalars, resting: Scalars
) -> list[Scalar]:
    """Return J^T force + C qd + g + friction - N^T (resting qd), N^T = 1 - J^T Lambda J M^-1."""
    slowed = [-d * v for d, v in zip(resting, qd, strict=True)]
    felt = _times(task.inertia, [dot(row, slowed) for row in task.solved])
    inner = inverse_dynamics(tree, q, qd, [0.0] * tree.n)
    columns = zip(*task.J, strict=True)
    return [
        dot(column, [a - b for a, b in zip(force, felt, strict=True)]) + b + s
        for column, b, s in zip(columns, inner, slowed, strict=True)
    ]


def _times(rows: Sequence[Scalars], x: Scalars) -> list[Scalar]:
    """Return the product of a matrix and a vector."""
    return [dot(row, x) for row in rows]
