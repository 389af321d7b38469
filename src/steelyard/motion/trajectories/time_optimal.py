"""Time-optimal motion along a path within limits of torque, velocity and acceleration."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, per_joint, real_number, whole_number
from ...errors import CallError, ProblemError, refuse_loops, require_robot
from ...floating_point import default_errstate
from ...kernels import customised
from ...mechanism.tree import Tree
from .cartesian import PoseTrajectory, follow
from .reachability import Constraints, fastest
from .timed_path import Path, TimedPath
from .trajectory import Trajectory, trajectory
from .trajectory_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from ...robot import Robot

Array = NDArray[np.float64]


class PathLimits(NamedTuple):
    """Limits per joint (n,) of |tau| [N m|N], |qd| [rad/s|m/s] and |qdd| [rad/s2|m/s2].

    Infinite where there are none.
    """

    torque: Array
    velocity: Array
    acceleration: Array

    @property
    def finite(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which joints have a limit of torque, and which one of acceleration, (n,) each."""
        return np.isfinite(self.torque), np.isfinite(self.acceleration)


@default_errstate
def time_optimal(
    robot: Robot,
    path: Trajectory | PoseTrajectory | ArrayLike,
    torque: Any = None,
    velocity: Any = None,
    acceleration: Any = None,
    *,
    frame: str | None = None,
    q0: ArrayLike | None = None,
    points: int = 500,
    rate: float = 1000.0,
) -> Trajectory:
    """Return the fastest motion along a path from rest to rest within limits.

    |tau| <= torque, |qd| <= velocity and |qdd| <= acceleration hold at every instant.

    With u = s'', x = s'^2 torques are a u + b x + c; u is constant on each interval of a grid. The
    limits hold at every instant, by bounds over each interval. Bobrow, Dubowsky and Gibson 1985;
    Pham and Pham 2018 (reachability analysis).

    Parameters
    ----------
    path : positions (K, n) [rad|m] that a spline goes through, the positions of a Trajectory, or a
        PoseTrajectory of `frame`.
    torque : limits [N m|N], one for all joints, one each, or by name; the robot's own by default.
    velocity : limits [rad/s|m/s]; the robot's own by default.
    acceleration : limits [rad/s2|m/s2]; none by default.
    frame : the frame that follows a PoseTrajectory.
    q0 : position near which it begins, (n,) [rad|m].
    points : number of intervals of the grid.
    rate : samples per second [Hz].

    Returns
    -------
    Trajectory
    """
    require_robot(robot, "time_optimal")
    refuse_loops(robot, "time_optimal", "open them (without_loops) for the limits of the tree")
    real_number("time_optimal: rate", rate, 1e-6, unit="Hz")
    line = joint_path(robot, path, frame, q0)
    s = line.grid(whole_number("time_optimal: points", points, 2))
    options = {"torque": torque, "velocity": velocity, "acceleration": acceleration}
    limits = PathLimits(*(_limit(robot, name, value) for name, value in options.items()))
    if not any(np.isfinite(limit).any() for limit in limits):
        raise CallError(
            "time_optimal: no joint has a limit, so that no motion is the fastest; give torque,"
            " velocity or acceleration"
        )
    motion = within_limits(robot, line, s, limits)
    seconds = float(motion.t[-1])
    # a grid that ends at the end
    return trajectory(motion, seconds, math.ceil(rate * seconds) / seconds, robot.joint_names)


def within_limits(robot: Robot, path: Path, s: Array, limits: PathLimits) -> TimedPath:
    """Return the fastest motion over a grid that keeps the limits at every instant.

    Limits hold at grid points first. Where a bound between them is above a limit, the limit of that
    interval is lowered by the excess, and all speeds are computed again. Later rounds lower the
    limits of all intervals.
    """
    profile = fastest(_constraints(robot, path, s, limits, np.zeros(len(s))), s)
    for _ in range(
        THRESHOLDS.friction_rounds
        if any(not use.row.inertial for use in robot.tree.joint_terms)
        else 0
    ):
        before = profile.x
        profile = fastest(_constraints(robot, path, s, limits, before), s)
        if np.abs(profile.x - before).max() <= 1e-6 * profile.x.max():
            break
    usage = LimitUsage(robot, limits)
    for i in range(THRESHOLDS.lowering_rounds):
        motion = TimedPath(path, s, profile.x)
        excess, speed = usage.of(motion)
        if max(excess.max(initial=0.0), speed.max(initial=0.0)) <= 1.0 + THRESHOLDS.excess_rounding:
            return motion
        excess = (
            np.full_like(excess, excess.max(initial=1.0))
            if i >= THRESHOLDS.local_rounds
            else excess
        )
        lowered = profile.limits
        scale = lowered.scale * np.where(
            excess > 1.0,
            1.0 + THRESHOLDS.lowering_factor * (excess - 1.0) + THRESHOLDS.least_lowering * 2**i,
            1.0,
        )
        passed = np.maximum(1.0, np.maximum(np.append(speed, 0.0), np.append(0.0, speed)))
        most = np.where(
            passed > 1.0,
            np.minimum(lowered.most, profile.x / passed**2 / (1.0 + THRESHOLDS.least_lowering)),
            lowered.most,
        )
        profile = fastest(replace(lowered, scale=scale, most=most), s, profile)
    raise ProblemError(
        "time_optimal: no motion was found that keeps the limits between grid points; more points"
        " may help"
    )


class LimitUsage:
    """Bounds of what every interval of a motion uses of its limits.

    Torque bounds take most of the time, so they are not computed again for intervals whose speeds
    did not change since the last motion on the same grid.
    """

    def __init__(self, robot: Robot, limits: PathLimits) -> None:
        self.limits = limits
        self.tree: Tree | None = customised(robot.tree) if limits.finite[0].any() else None
        self.x: Array | None = None
        self.torque: Array = np.zeros((0, robot.n))

    def of(self, motion: TimedPath) -> tuple[Array, Array]:
        """Return the used share of torque and acceleration (N, m) and velocity limits (N,)."""
        limits, (bound, some) = self.limits, self.limits.finite
        torque = self._torque(motion) / limits.torque
        ratio = [torque[:, bound], (motion.acceleration_bounds() / limits.acceleration)[:, some]]
        return np.hstack(ratio), np.max(motion.velocity_bounds() / limits.velocity, axis=1)

    def _torque(self, motion: TimedPath) -> Array:
        """Return torque bounds of every interval, (N, n) [N m|N]; zero without limits of torque."""
        x, before = motion.x, self.x
        if before is None:
            self.torque, new = np.zeros((len(x) - 1, self.torque.shape[1])), np.arange(len(x) - 1)
        else:
            new = np.flatnonzero((x[:-1] != before[:-1]) | (x[1:] != before[1:]))
        if self.tree is not None and len(new):
            self.torque[new] = motion.torque_bounds(self.tree, self.limits.torque, new)
        self.x = x
        return self.torque


def joint_path(robot: Robot, path: Any, frame: str | None, q0: ArrayLike | None) -> Path:
    """Return the path through positions or poses.

    Raises CallError where it is not a path of the robot's joints.
    """
    from scipy.interpolate import PPoly, make_interp_spline

    if isinstance(path, PoseTrajectory):
        path = follow(robot, path, frame, q0, rate=max(100.0, 200.0 / path.seconds))
    q = np.asarray(path.q) if isinstance(path, Trajectory) else numbers("time_optimal: path", path)
    if q.ndim != 2 or q.shape[1:] != (robot.n,) or not np.all(np.isfinite(q)):
        expected = f"finite positions (K, {robot.n}), a Trajectory or a PoseTrajectory"
        raise CallError(
            f"time_optimal: path has shape {q.shape}; expected {expected}:"
            f" {', '.join(robot.joint_names)}"
        )
    q = q[:: max(1, len(q) // 200)] if isinstance(path, Trajectory) else q
    steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
    q = np.concatenate([q[:1], q[1:][steps > THRESHOLDS.least_distance]])
    if len(q) < 2:
        raise CallError(
            "time_optimal: the path has no length; expected at least two positions that differ"
        )
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    # no corner: it could not be passed with finite acceleration
    order = {2: 1, 3: 2, 4: 3, 5: 3}.get(len(q), 5)
    spline = make_interp_spline(s, q, order)
    knots = np.unique(spline.t)
    pieces = [spline(knots[:-1], nu) / math.factorial(nu) for nu in reversed(range(order + 1))]
    return Path(PPoly(np.array(pieces), knots), float(s[-1]))


def _constraints(robot: Robot, path: Path, s: Array, limits: PathLimits, x: Array) -> Constraints:
    """Return the limits along a path; viscous friction is that at the speeds sqrt(x) (N + 1,)."""
    q, d, dd = path.derivatives(s)
    still, smooth = np.zeros_like(q), robot.without_friction()
    weight = smooth.inverse_dynamics(q, still, still)
    a, b = smooth.inverse_dynamics(q, still, d) - weight, smooth.inverse_dynamics(q, d, dd) - weight
    speed = np.maximum(np.sqrt(x), THRESHOLDS.slow_path_speed)[:, None] * d
    friction = robot.inverse_dynamics(q, speed, still) - smooth.inverse_dynamics(q, speed, still)
    bound, some = limits.finite
    u, v, c = (
        np.hstack([t[:, bound], k[:, some]])
        for t, k in ((a, d), (b, dd), (weight + friction, still))
    )
    high = np.broadcast_to(
        np.concatenate([limits.torque[bound], limits.acceleration[some]]), c.shape
    )
    with np.errstate(divide="ignore"):
        most = np.min((limits.velocity / np.abs(d)) ** 2, axis=1)
    scale = np.ones((len(s) - 1, c.shape[1]))
    return Constraints(a=u, b=v, c=c, high=high, most=most, scale=scale)


def _limit(robot: Robot, name: str, value: Any) -> Array:
    """Return a limit of every joint, (n,), infinite where there is none."""
    if value is None:
        field = {"torque": "effort", "velocity": "velocity"}.get(name)
        return np.array([getattr(limit, field) if field else np.inf for limit in robot.tree.limits])
    limit = per_joint(f"time_optimal: {name}", value, robot.joint_names, 0.0)
    if np.any(limit <= 0):
        raise CallError(
            f"time_optimal: {name} of {robot.joint_names[int(np.argmin(limit))]!r} must be above"
            " zero"
        )
    return limit
