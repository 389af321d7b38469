"""Motions of a frame in space.

Straight lines and arcs, and the joint motions that follow them through the inverse kinematics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import instance, numbers, one_of, real_number
from ...checks.states import States
from ...errors import CallError, ProblemError, require_robot
from ...floating_point import default_errstate
from ..inverse_kinematics.rates import joint_acceleration, joint_velocity
from ..inverse_kinematics.solve import inverse_kinematics
from .point_to_point import PROFILES, Profile
from .trajectory import Trajectory, grid, trajectory
from .trajectory_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from ...robot import Robot

Array = NDArray[np.float64]
EXACT = {"singular": THRESHOLDS.path_singular, "damping": THRESHOLDS.path_damping}


class PoseStates(NamedTuple):
    """pose (N, 4, 4); twist (N, 6).

    Velocity [m/s] and angular velocity [rad/s]; their rates (N, 6), all in the base frame.
    """

    pose: Array
    twist: Array
    acceleration: Array


@dataclass(frozen=True, eq=False, repr=False)
class PoseTrajectory:
    """A motion of a frame over `seconds` from rest to rest.

    `motion` gives it at times t (N,) [s], which count from its start.
    """

    seconds: float
    motion: Callable[[ArrayLike], PoseStates]

    def __repr__(self) -> str:
        ends = self.motion([0.0, self.seconds]).pose[:, :3, 3]
        return (
            f"PoseTrajectory({self.seconds:g} s, from {np.round(ends[0], 4).tolist()} to"
            f" {np.round(ends[1], 4).tolist()} m)"
        )


def line(
    start: ArrayLike,
    end: ArrayLike,
    seconds: float | None = None,
    profile: str = "quintic",
    *,
    speed: float | None = None,
    turning: float | None = None,
) -> PoseTrajectory:
    """Return a straight line between two poses (4, 4), turning about one fixed axis.

    It takes `seconds` [s], or the shortest time of this profile within limits of `speed` [m/s]
    and `turning` [rad/s]. Siciliano et al. 2009, section 4.3.2.
    """
    first, last = require_pose("line: start", start), require_pose("line: end", end)
    across = last[:3, 3] - first[:3, 3]

    def place(s: Array) -> tuple[Array, Array, Array]:
        ones = np.ones_like(s)[:, None]
        return first[:3, 3] + s[:, None] * across, ones * across, 0 * ones * across

    return _along_curve(
        "line", place, float(np.linalg.norm(across)), first, last, seconds, profile, speed, turning
    )


def arc(
    start: ArrayLike,
    via: ArrayLike,
    end: ArrayLike,
    seconds: float | None = None,
    profile: str = "quintic",
    *,
    speed: float | None = None,
    turning: float | None = None,
) -> PoseTrajectory:
    """Return the circular arc from one pose (4, 4) through a point `via` (3,) [m] to another.

    Orientation and limits are as for `line`.

    Siciliano et al. 2009, section 4.3.2 (circular path).
    """
    first, last, middle = (
        require_pose("arc: start", start),
        require_pose("arc: end", end),
        numbers("arc: via", via),
    )
    if middle.shape != (3,) or not np.all(np.isfinite(middle)):
        raise CallError(f"arc: via has shape {middle.shape}; expected a point (3,) [m]")
    centre, u, v, angle = _circle(first[:3, 3], middle, last[:3, 3])

    def place(s: Array) -> tuple[Array, Array, Array]:
        c, sine = np.cos(s * angle)[:, None], np.sin(s * angle)[:, None]
        return (
            centre + c * u + sine * v,
            angle * (c * v - sine * u),
            -(angle**2) * (c * u + sine * v),
        )

    return _along_curve(
        "arc",
        place,
        angle * float(np.linalg.norm(u)),
        first,
        last,
        seconds,
        profile,
        speed,
        turning,
    )


@default_errstate
def follow(
    robot: Robot,
    path: PoseTrajectory,
    frame: str | None = None,
    q0: ArrayLike | None = None,
    rate: float = 500.0,
) -> Trajectory:
    """Return the joint motion that moves a frame along a path.

    The frame is the end-effector by default. The motion starts at the solution nearest to q0
    (n,).

    T(q(t)) = path(t), J qd = twist, J qdd = acceleration - dJ/dt qd, of least square where the arm
    is redundant. Each sample on the grid of `rate` [Hz] is found from the one before it, so that
    the motion stays on its branch. Raises ProblemError where the path leaves the reach, the limits,
    or passes through a singularity. Siciliano et al. 2009, section 3.7 (inverse kinematics
    algorithms).
    """
    require_robot(robot, "follow")
    poses = instance("follow: path", path, PoseTrajectory, "line(...) and arc(...) return one")
    name = robot.end_effector if frame is None else frame
    every = max(real_number("follow: rate", rate, 1e-6, unit="Hz"), 1 / poses.seconds)
    t = np.append(grid(poses.seconds, every), poses.seconds)
    states = poses.motion(t)
    points = np.array(
        _track_path(robot, name, t, states, _start_position(robot, states.pose[0], name, q0))
    )
    _require_limits(robot, t, points)

    def motion(s: ArrayLike) -> States:
        times = np.clip(np.asarray(s, dtype=float), 0.0, poses.seconds)
        target = poses.motion(times)
        guess = np.column_stack([np.interp(times, t, column) for column in points.T])
        q, error = solve_poses(robot, name, target.pose, guess)
        if error.max(initial=0.0) > 1e3 * THRESHOLDS.pose_error:
            raise ProblemError(
                f"follow: at {times[np.argmax(error)]:g} s the pose is missed by {error.max():.2g};"
                " take a larger rate"
            )
        qd = joint_velocity(robot, q, target.twist, name, **EXACT)
        return States(q, qd, joint_acceleration(robot, q, qd, target.acceleration, name, **EXACT))

    return trajectory(motion, poses.seconds, every, robot.joint_names)


def solve_poses(robot: Robot, frame: str, pose: Array, q: Array) -> tuple[Array, Array]:
    """Solve for positions (N, n) near q at poses (N, 4, 4) by Newton's method.

    Returns positions and residual errors (N,) [m|rad].
    """
    for _ in range(THRESHOLDS.pose_steps):
        error = pose_difference(np.asarray(robot.forward_kinematics(q, frame)), pose)
        size = np.abs(error).max(axis=-1)
        if np.all(size < THRESHOLDS.pose_error):
            break
        q = q + joint_velocity(robot, q, error, frame, **EXACT)
    return q, size


def pose_difference(here: Array, there: Array) -> Array:
    """Return the twist (N, 6) [m, rad] that leads from one pose to another in one second."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(
        there[..., :3, :3] @ np.swapaxes(here[..., :3, :3], -1, -2)
    ).as_rotvec()
    return np.concatenate([there[..., :3, 3] - here[..., :3, 3], turn], axis=-1)


def _along_curve(
    what: str,
    curve: Callable[[Array], tuple[Array, Array, Array]],
    length: float,
    first: Array,
    last: Array,
    seconds: float | None,
    profile: str,
    speed: float | None,
    turning: float | None,
) -> PoseTrajectory:
    """Build the motion along a curve of s in [0, 1], turning between two orientations.

    `curve` returns position and its two derivatives by s.
    """
    from scipy.spatial.transform import Rotation

    chosen = PROFILES[str(one_of(f"{what}: profile", profile, tuple(PROFILES)))]
    turn = pose_difference(first[None], last[None])[0, 3:]
    time = _duration(
        what,
        chosen,
        {"speed": (length, speed), "turning": (float(np.linalg.norm(turn)), turning)},
        seconds,
    )

    def motion(t: ArrayLike) -> PoseStates:
        s, v, a = chosen.function(np.clip(np.asarray(t, dtype=float) / time, 0.0, 1.0))
        v, a = v / time, a / time**2
        p, dp, ddp = curve(s)
        pose = np.zeros((len(s), 4, 4))
        pose[:, :3, :3] = Rotation.from_rotvec(s[:, None] * turn).as_matrix() @ first[:3, :3]
        pose[:, :3, 3], pose[:, 3, 3] = p, 1.0
        linear = v[:, None] * dp, a[:, None] * dp + v[:, None] ** 2 * ddp
        return PoseStates(
            pose, *(np.hstack([x, y[:, None] * turn]) for x, y in zip(linear, (v, a), strict=True))
        )

    return PoseTrajectory(time, motion)


def _duration(
    what: str,
    profile: Profile,
    limits: dict[str, tuple[float, float | None]],
    seconds: float | None,
) -> float:
    """Return the stated duration [s], or the shortest within the limits."""
    if seconds is not None:
        time = real_number(f"{what}: seconds", seconds, unit="s")
    else:
        stated = {
            name: real_number(f"{what}: {name}", limit)
            for name, (_, limit) in limits.items()
            if limit is not None
        }
        if not stated or min(stated.values()) <= 0:
            raise CallError(
                f"{what}: give seconds, or positive limits of speed [m/s] or turning [rad/s] from"
                " which the time follows"
            )
        time = max(limits[name][0] * profile.velocity / limit for name, limit in stated.items())
    if time <= 0:
        raise CallError(
            f"{what}: the time is {time:g} s; expected a positive one, and an end that is not the"
            " start"
        )
    return time


def require_pose(what: str, value: ArrayLike) -> Array:
    """Return a pose (4, 4); CallError if it is not a pose."""
    pose = numbers(what, value)
    if pose.shape != (4, 4) or not np.all(np.isfinite(pose)):
        raise CallError(
            f"{what} has shape {pose.shape}; expected a finite pose (4, 4), [R, p; 0, 1]"
        )
    R = pose[:3, :3]
    if (
        np.abs(R @ R.T - np.eye(3)).max() > THRESHOLDS.rotation_error
        or np.linalg.det(R) < 0
        or np.abs(pose[3] - [0, 0, 0, 1]).max() > THRESHOLDS.rotation_error
    ):
        raise CallError(
            f"{what} is not a pose: its upper left 3 x 3 must be a rotation, its last row 0 0 0 1"
        )
    return pose


def _circle(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array, float]:
    """Return centre, two perpendicular radii, the first to a, and the angle from a via b to c."""
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    square = float(normal @ normal)
    if square <= 1e-12 * float(ab @ ab) * float(ac @ ac) or square == 0.0:
        raise CallError("arc: the three points lie on a line or coincide; a line(...) joins them")
    centre = a + (float(ac @ ac) * np.cross(normal, ab) + float(ab @ ab) * np.cross(ac, normal)) / (
        2 * square
    )
    u = a - centre
    v = np.cross(normal / np.sqrt(square), u)
    angle = float(np.arctan2((c - centre) @ v, (c - centre) @ u)) % (2 * np.pi)
    return centre, u, v, angle


def _start_position(robot: Robot, pose: Array, frame: str, q0: ArrayLike | None) -> Array:
    """Return the solution nearest to q0 at the start of a path."""
    solutions = inverse_kinematics(robot, pose, frame, q0)
    if not np.any(solutions.valid):
        raise ProblemError(f"follow: the start of the path has no solution: {solutions.status}")
    q = solutions.q[solutions.valid]
    preferred = np.zeros(robot.n) if q0 is None else numbers("follow: q0", q0)
    return np.asarray(q[np.argmin(np.linalg.norm(q - preferred, axis=1))])


def _track_path(robot: Robot, frame: str, t: Array, path: PoseStates, q: Array) -> list[Array]:
    """Return the positions at all samples, each solved from the one before."""
    positions, last = [], float(t[0])
    for now, pose, twist in zip(t.tolist(), path.pose, path.twist, strict=True):
        guess = q + (now - last) * joint_velocity(robot, q, twist, frame, **EXACT)
        there, error = solve_poses(robot, frame, pose[None], guess[None])
        if error[0] > THRESHOLDS.pose_error:
            raise ProblemError(
                f"follow: at {now:.4g} s of {t[-1]:.4g} s the pose is missed by {error[0]:.2g}"
                " m|rad: the path leaves the reach of the arm, or passes through a singularity;"
                " begin on another branch (q0), or move the path"
            )
        q, last = there[0], now
        positions.append(q)
    return positions


def _require_limits(robot: Robot, t: Array, q: Array) -> None:
    """Raise ProblemError for the first joint that leaves its limits."""
    for j, (name, limit) in enumerate(zip(robot.joint_names, robot.tree.limits, strict=True)):
        out = (q[:, j] < limit.lower - 1e-9) | (q[:, j] > limit.upper + 1e-9)
        if out.any():
            raise ProblemError(
                f"follow: at {t[np.argmax(out)]:.4g} s joint {name!r} is at"
                f" {q[np.argmax(out), j]:.4g}, beyond its limits {limit.lower:.4g} to"
                f" {limit.upper:.4g}; begin on another branch (q0), or move the path"
            )
