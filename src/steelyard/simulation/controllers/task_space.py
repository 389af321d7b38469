"""Control laws in the space that a frame moves in, each written once over scalars: operational space and impedance."""

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
from ...dynamics.forward.by_crba import factorise, solve
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


class _InSpace:
    """A frame that follows a PoseTrajectory or holds a pose (4, 4): by default the end-effector, and where it is at q = 0."""

    reference: Any
    frame: str | None

    def bound(self, robot: Robot) -> Any:
        """The same with the name of its frame; raises CallError where there is no such one, or no single end."""
        tree_of = getattr(self, "model", None) or robot
        name = tree_of.end_effector if self.frame is None else instance(f"{type(self).__name__}: frame", self.frame, str)
        tree_of.tree.frame(name)
        return replace(self, frame=name)  # type: ignore[type-var]

    def wanted_shape(self, n: int) -> tuple[int, ...]:
        """Position, rotation by rows, twist, acceleration of the frame."""
        return (24,)

    def wanted(self, robot: Robot, t: Array) -> Array:
        """What is wanted of the frame at times t [s], (T, 24), or (1, 24) of a pose that is held."""
        if isinstance(self.reference, PoseTrajectory):
            end = self.reference.seconds
            pose, twist, acceleration = self.reference.motion(np.clip(t, 0.0, end))
            moving = (t <= end)[:, None]
            rest = np.where(moving, twist, 0.0), np.where(moving, acceleration, 0.0)
        else:
            pose = self._held(robot)[None]
            rest = np.zeros((1, 6)), np.zeros((1, 6))
        return np.hstack([pose[:, :3, 3], pose[:, :3, :3].reshape(-1, 9), *rest])

    def _held(self, robot: Robot) -> Array:
        if self.reference is None:
            return np.asarray(robot.forward_kinematics(np.zeros(robot.n), self.frame))
        return require_pose(f"{type(self).__name__}: the reference, if it is no PoseTrajectory,", self.reference)


@dataclass(frozen=True)
class Space:
    """The frame's errors and its mechanics at a state."""

    error: list[Scalar]  # position [m], then rotation [rad], in the base frame
    rate: list[Scalar]  # of the twist wanted minus the twist
    wanted: Scalars  # acceleration
    drift: list[Scalar]  # dJ/dt qd
    J: list[list[Scalar]]
    inertia: list[list[Scalar]]  # Lambda = (J M^-1 J^T)^-1
    solved: list[list[Scalar]]  # rows of J M^-1


def space(tree: Tree, q: Scalars, qd: Scalars, wanted: Scalars, frame: str) -> Space:
    """What a law in space needs. The error of rotation is half the sum of the cross products of the axes: sin(angle) about the axis.

    Luh, Walker and Paul 1980b, eq. (21); Khatib 1987.
    """
    pose, J = forward_kinematics(tree, q, frame), jacobian(tree, q, frame)
    R = wanted[3:12]
    axes = zip(v3.transpose(pose.R), v3.transpose((v3.vector(R), v3.vector(R[3:]), v3.vector(R[6:]))), strict=True)
    turn = v3.scale(0.5, v3.total(v3.cross(a, b) for a, b in axes))
    rate = [a - dot(row, qd) for a, row in zip(wanted[12:18], J, strict=True)]
    drift = [dot(row, qd) for row in jacobian_rate(tree, q, qd, frame)]
    factors = factorise(mass_matrix(tree, q))
    solved = [solve(factors, row) for row in J]
    inertia = generalised_inverse([[dot(a, b) for b in solved] for a in J])
    return Space([*v3.sub(v3.vector(wanted), pose.p), *turn], rate, wanted[18:24], drift, J, inertia, solved)


@dataclass(frozen=True, eq=False)
class OperationalSpace(_InSpace):
    """tau = J^T Lambda (a_r + kd rate + kp error - dJ/dt qd) + C qd + g + friction - N^T resting qd. kp [1/s2], kd [1/s], one or six.

    The frame obeys error'' + kd error' + kp error = 0 as far as it can move. `resting` [N m s/rad|N s/m] damps what is free of the task
    in a redundant arm: N^T torques do not reach the frame. Khatib 1987, eq. (20) and (51).
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
        """kp, kd, resting, (12 + n,)."""
        return np.concatenate([*(spread_gain(self, k, 6, DIRECTIONS) for k in ("kp", "kd")), spread_gain(self, "resting", n, "joints")])

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Any, gains: Scalars, *memory: Scalars) -> list[Scalar]:
        at = space(tree, q, qd, wanted, str(self.frame))
        terms = zip(at.wanted, gains[:6], at.error, gains[6:12], at.rate, at.drift, strict=True)
        force = _times(at.inertia, [a + p * e + d * v - b for a, p, e, d, v, b in terms])
        return _joint_torques(tree, q, qd, at, force, gains[12:])


@dataclass(frozen=True, eq=False)
class Impedance(_InSpace):
    """tau = J^T (Lambda (a_r - dJ/dt qd) + stiffness error + damping rate) + C qd + g + friction - N^T resting qd.

    The frame answers a force f as its own inertia on a spring and a damper: Lambda error'' + damping error' + stiffness error = -f.
    stiffness [N/m, N m/rad] and damping [N s/m, N m s/rad] are one or six. Hogan 1985; Ott 2008, section 3.2 (without shaping of inertia).
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
        """stiffness, damping, resting, (12 + n,)."""
        rows = (spread_gain(self, k, 6, DIRECTIONS) for k in ("stiffness", "damping"))
        return np.concatenate([*rows, spread_gain(self, "resting", n, "joints")])

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Any, gains: Scalars, *memory: Scalars) -> list[Scalar]:
        at = space(tree, q, qd, wanted, str(self.frame))
        inertial = _times(at.inertia, [a - b for a, b in zip(at.wanted, at.drift, strict=True)])
        springs = zip(inertial, gains[:6], at.error, gains[6:12], at.rate, strict=True)
        return _joint_torques(tree, q, qd, at, [f + k * e + d * v for f, k, e, d, v in springs], gains[12:])


def _joint_torques(tree: Tree, q: Scalars, qd: Scalars, at: Space, force: Scalars, resting: Scalars) -> list[Scalar]:
    """J^T force + C qd + g + friction - N^T (resting qd), N^T = 1 - J^T Lambda J M^-1."""
    slowed = [-d * v for d, v in zip(resting, qd, strict=True)]
    felt = _times(at.inertia, [dot(row, slowed) for row in at.solved])
    inner = inverse_dynamics(tree, q, qd, [0.0] * tree.n)
    columns = zip(*at.J, strict=True)
    return [
        dot(column, [a - b for a, b in zip(force, felt, strict=True)]) + b + s for column, b, s in zip(columns, inner, slowed, strict=True)
    ]


def _times(rows: Sequence[Scalars], x: Scalars) -> list[Scalar]:
    return [dot(row, x) for row in rows]
