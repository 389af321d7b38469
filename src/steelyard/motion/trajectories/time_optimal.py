"""The fastest motion along a path within limits of torque, velocity and acceleration: backward and forward passes over the phase plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, per_joint, real_number, whole_number
from ...checks.states import States
from ...errors import CallError, ProblemError, refuse_loops, require_robot
from .cartesian import PoseTrajectory, follow
from .trajectory import Trajectory, trajectory

if TYPE_CHECKING:
    from ...robot import Robot

Array = NDArray[np.float64]
FEWEST = 1e-9  # [rad|m] distance from which a further point of a path counts
SLOW = 1e-6  # [1/s] speed along the path at which Coulomb friction has its sign
ROUNDS = 6  # of viscous friction, which depends on the speed that is looked for
TINY = 1e-12  # beside the largest coefficient of the acceleration, one that counts as zero


@dataclass(frozen=True, eq=False)
class Path:
    """q(s) and its derivatives to s, the length of the polygon through the points [rad|m], as a spline of order 5."""

    curve: Any
    length: float

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """q, dq/ds, d2q/ds2, each (N, n)."""
        return self.curve(s), self.curve(s, 1), self.curve(s, 2)


@dataclass(frozen=True, eq=False)
class Constraints:
    """|a u + b x + c| <= high at every grid point, all (N + 1, m): u = s'' and x = s'^2; and x <= most, (N + 1,)."""

    a: Array
    b: Array
    c: Array
    high: Array
    most: Array


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
    """The fastest motion along a path from rest to rest within |tau| <= torque, |qd| <= velocity, |qdd| <= acceleration.

    path: positions (K, n) [rad|m] that a spline goes through, the positions of a Trajectory, or a PoseTrajectory that `frame` follows from
    q0. Limits are one for all joints, one each, or by name; by default torque and velocity are the robot's own, of joints that have them.
    With u = s'', x = s'^2 torques are a u + b x + c: on each of `points` intervals u is constant, and limits hold at both its ends.
    Bobrow, Dubowsky and Gibson 1985; Pham and Pham 2018 (reachability analysis).
    """
    require_robot(robot, "time_optimal")
    refuse_loops(robot, "time_optimal", "open them (without_loops) for the limits of the tree")
    real_number("time_optimal: rate", rate, 1e-6, unit="Hz")
    way = path_of(robot, path, frame, q0)
    s = np.linspace(0.0, way.length, whole_number("time_optimal: points", points, 2) + 1)
    limits = [_limits(robot, name, given) for name, given in (("torque", torque), ("velocity", velocity), ("acceleration", acceleration))]
    if not any(np.isfinite(x).any() for x in limits):
        raise CallError("time_optimal: no joint has a limit, so that no motion is the fastest; give torque, velocity or acceleration")
    x = np.zeros(len(s))
    for _ in range(ROUNDS if any(not use.row.inertial for use in robot.tree.joint_terms) else 1):
        before, x = x, fastest(constraints(robot, way, s, x, *limits), s)
        if np.abs(x - before).max() <= 1e-6 * x.max():
            break
    return _timed(way, s, x, rate, robot.joint_names)


def path_of(robot: Robot, given: Any, frame: str | None, q0: ArrayLike | None) -> Path:
    """The path through what is given; raises CallError where it is no path of the robot's joints."""
    from scipy.interpolate import make_interp_spline

    made = follow(robot, given, frame, q0, rate=max(100.0, 200.0 / given.seconds)) if isinstance(given, PoseTrajectory) else given
    q = np.asarray(made.q) if isinstance(made, Trajectory) else numbers("time_optimal: path", made)
    if q.ndim != 2 or q.shape[1:] != (robot.n,) or not np.all(np.isfinite(q)):
        expected = f"finite positions (K, {robot.n}), a Trajectory or a PoseTrajectory"
        raise CallError(f"time_optimal: path has shape {q.shape}; expected {expected}: {', '.join(robot.joint_names)}")
    q = q[:: max(1, len(q) // 200)] if isinstance(made, Trajectory) else q
    steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
    q = np.concatenate([q[:1], q[1:][steps > FEWEST]])
    if len(q) < 2:
        raise CallError("time_optimal: the path has no length; expected at least two positions that differ")
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    order = min(5, len(q) - 1)
    return Path(make_interp_spline(s, q, order if order % 2 else order - 1), float(s[-1]))


def constraints(robot: Robot, path: Path, s: Array, x: Array, torque: Array, velocity: Array, acceleration: Array) -> Constraints:
    """The limits along a path; viscous friction is that at the speeds sqrt(x) (N + 1,)."""
    q, d, dd = path.at(s)
    still, smooth = np.zeros_like(q), robot.without_friction()
    weight = smooth.inverse_dynamics(q, still, still)
    a, b = smooth.inverse_dynamics(q, still, d) - weight, smooth.inverse_dynamics(q, d, dd) - weight
    speed = np.maximum(np.sqrt(x), SLOW)[:, None] * d
    rubbing = robot.inverse_dynamics(q, speed, still) - smooth.inverse_dynamics(q, speed, still)
    bound, some = np.isfinite(torque), np.isfinite(acceleration)
    u, v, c = (np.hstack([t[:, bound], k[:, some]]) for t, k in ((a, d), (b, dd), (weight + rubbing, still)))
    high = np.broadcast_to(np.concatenate([torque[bound], acceleration[some]]), c.shape)
    with np.errstate(divide="ignore"):
        most = np.min((velocity / np.abs(d)) ** 2, axis=1)
    return Constraints(u, v, c, high, most)


def fastest(limits: Constraints, s: Array) -> Array:
    """x = s'^2 at the grid points of the fastest motion, (N + 1,), zero at both ends.

    Backward: the speeds from which the end can be reached. Forward: the largest acceleration that stays among them.
    """
    step, N = s[1] - s[0], len(s) - 1
    lines = [_lines(limits, i, step) for i in range(N)]
    low, high = np.zeros(N + 1), np.zeros(N + 1)
    for i in reversed(range(N)):
        low[i], high[i] = _feasible(*_with_next(*lines[i], low[i + 1], high[i + 1], step), limits.most[i])
        if low[i] > high[i] or (i == 0 and low[0] > 0.0):
            part = s[i] / s[-1]
            raise ProblemError(
                f"time_optimal: at {part:.1%} of the path no speed keeps the limits: do the torques hold the robot's weight there? "
                "Larger limits, another path, or more points may help"
            )
    x = np.zeros(N + 1)
    for i in range(N):
        slope, offset = _with_next(*lines[i], low[i + 1], high[i + 1], step)[1]
        x[i + 1] = np.clip(x[i] + 2 * step * np.min(slope * x[i] + offset), low[i + 1], high[i + 1])
    return x


Lines = tuple[Array, Array]
"""u <= slope x + offset (upper ones), or u >= slope x + offset (lower ones)."""


def _lines(limits: Constraints, i: int, step: float) -> tuple[Lines, Lines, Lines]:
    """Lower and upper bounds of u on an interval as lines over x, and bounds slope x + offset <= 0 that have no u.

    At the end of the interval x is x + 2 step u.
    """
    a = np.concatenate([limits.a[i], limits.a[i + 1] + 2 * step * limits.b[i + 1]])
    b, c, high = (np.concatenate([x[i], x[i + 1]]) for x in (limits.b, limits.c, limits.high))
    a, b, c = np.concatenate([a, -a]), np.concatenate([b, -b]), np.concatenate([c - high, -c - high])  # a u + b x + c <= 0
    free = np.abs(a) <= TINY * max(1.0, float(np.abs(a).max(initial=0.0)))
    up, down = ~free & (a > 0), ~free & (a < 0)
    return (-b[down] / a[down], -c[down] / a[down]), (-b[up] / a[up], -c[up] / a[up]), (b[free], c[free])


def _with_next(lower: Lines, upper: Lines, flat: Lines, low: float, high: float, step: float) -> tuple[Lines, Lines, Lines]:
    """The same bounds with low <= x + 2 step u <= high."""
    slope = -1.0 / (2 * step)
    below = np.append(lower[0], slope), np.append(lower[1], -slope * low)
    return below, (np.append(upper[0], slope), np.append(upper[1], -slope * high)), flat


def _feasible(lower: Lines, upper: Lines, flat: Lines, most: float) -> tuple[float, float]:
    """The least and the largest x >= 0 for which some u is within all bounds: every lower line is below every upper one."""
    slope = np.concatenate([(lower[0][:, None] - upper[0]).ravel(), flat[0]])
    offset = np.concatenate([(lower[1][:, None] - upper[1]).ravel(), flat[1]])  # slope x + offset <= 0
    rising, falling = slope > 1e-14, slope < -1e-14
    if np.any(offset[~rising & ~falling] > 1e-9):
        return 1.0, 0.0
    high = min(float(np.min(-offset[rising] / slope[rising], initial=np.inf)), most)
    return float(np.max(-offset[falling] / slope[falling], initial=0.0)), high


def _timed(path: Path, s: Array, x: Array, rate: float, names: tuple[str, ...]) -> Trajectory:
    """The motion with s'' constant on each interval."""
    step, speed = s[1] - s[0], np.sqrt(np.maximum(x, 0.0))
    u = np.diff(x) / (2 * step)
    t = np.concatenate([[0.0], np.cumsum(2 * step / (speed[:-1] + speed[1:]))])

    def motion(times: ArrayLike) -> States:
        at = np.clip(np.asarray(times, dtype=float), 0.0, t[-1])
        i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(u) - 1)
        after = at - t[i]
        where, v = s[i] + speed[i] * after + 0.5 * u[i] * after**2, speed[i] + u[i] * after
        q, d, dd = path.at(where)
        return States(q, d * v[:, None], d * u[i][:, None] + dd * (v**2)[:, None])

    return trajectory(motion, float(t[-1]), math.ceil(rate * float(t[-1])) / float(t[-1]), names)  # a grid that ends at the end


def _limits(robot: Robot, name: str, given: Any) -> Array:
    """A limit of every joint, (n,), infinite where there is none."""
    if given is None:
        own = {"torque": "effort", "velocity": "velocity"}.get(name)
        return np.array([getattr(limit, own) if own else np.inf for limit in robot.tree.limits])
    made = per_joint(f"time_optimal: {name}", given, robot.joint_names, 0.0)
    if np.any(made <= 0):
        raise CallError(f"time_optimal: {name} of {robot.joint_names[int(np.argmin(made))]!r} must be above zero")
    return made
