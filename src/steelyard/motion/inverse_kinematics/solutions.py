"""Solutions of inverse kinematics by branch, with their validity and status sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...errors import CallError
from .analytic import OUTSIDE, UNREACHED, VALID, analytic
from .inverse_kinematics_thresholds import THRESHOLDS
from .numerical import NumericalSolution, search_position

Array = NDArray[np.float64]


class Context(NamedTuple):
    """What solutions share: robot, frame, method, names of the k branches, and fixed joints."""

    robot: Any
    frame: str
    method: str
    branches: tuple[str, ...]
    free_joints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Solutions:
    """Solutions of inverse kinematics for poses (..., 4, 4).

    `q` (..., k, n) [rad|m] has NaN where `valid` (..., k) is False; `branches` are the k names;
    `method` names the solver. `free` (..., g, joints) are the positions at which the joints
    `free_joints` were fixed, one after another in the branches. `code` (..., k) is 2 for a valid
    branch, 1 for one that reaches the pose outside the joint limits, 0 for one that does not reach
    it. `fault` (...) is the distance of a matrix from a pose.
    """

    result: tuple[Array, Array, Array]  # q, code, fault
    # pose, q0, context, fixed positions, numerical solution
    query: tuple[Array, Array, Context, Array | None, NumericalSolution | None]

    def __init__(
        self,
        result: tuple[Array, Array, Array],
        query: tuple[Array, Array, Context, Array | None, NumericalSolution | None],
    ) -> None:
        # straight into it: a frozen field takes a tenth of a microsecond, of which a call has few
        fields = self.__dict__
        fields["result"], fields["query"] = result, query

    @property
    def q(self) -> Array:
        return self.result[0]

    @property
    def code(self) -> Array:
        return self.result[1]

    @property
    def fault(self) -> Array:
        return self.result[2]

    @property
    def pose(self) -> Array:
        return self.query[0]

    @property
    def q0(self) -> Array:
        return self.query[1]

    @property
    def context(self) -> Context:
        return self.query[2]

    @property
    def fixed(self) -> Array | None:
        return self.query[3]

    @property
    def search_result(self) -> NumericalSolution | None:
        return self.query[4]

    @property
    def branches(self) -> tuple[str, ...]:
        return self.context.branches

    @property
    def method(self) -> str:
        return self.context.method

    @property
    def free_joints(self) -> tuple[str, ...]:
        return self.context.free_joints

    @property
    def free(self) -> Array | None:
        """Positions of the fixed joints, (..., g, joints); None without fixed joints."""
        if self.fixed is None:
            return None
        positions = np.atleast_2d(self.fixed)
        return np.broadcast_to(positions, (*self.pose.shape[:-2], *positions.shape[-2:]))

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """Which branches reach the pose within the joint limits, (..., k)."""
        return self.code == VALID

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Which poses have a solution, (...)."""
        return np.asarray(self.valid.any(axis=-1))

    @property
    def count(self) -> NDArray[np.int64]:
        """How many solutions each pose has, (...)."""
        return np.asarray(self.valid.sum(axis=-1))

    @property
    def best(self) -> Array:
        """The solution nearest to q0 for each pose, (..., n); NaN where there is none."""
        away = np.abs(self.q - self.q0[..., None, :]).sum(axis=-1)
        index = np.argmin(np.where(self.valid, away, np.inf), axis=-1)
        return np.asarray(np.take_along_axis(self.q, index[..., None, None], axis=-2)[..., 0, :])

    @cached_property
    def nearest(self) -> NumericalSolution:
        """For each pose the position whose pose is nearest, with its distance [m] and angle [rad].

        Zero where there is a solution.

        Where there is none it minimises distance^2 + angle^2 within the limits, from a dozen
        starts: the best of what it finds.
        """
        shape, n = self.solved.shape, self.q.shape[-1]
        q, distance, angle = (
            self.best.reshape(-1, n).copy(),
            np.zeros(self.solved.size),
            np.zeros(self.solved.size),
        )
        open_ = np.flatnonzero(~self.solved.ravel() & self.proper.ravel())
        (
            q[np.flatnonzero(~self.proper.ravel())],
            distance[~self.proper.ravel()],
            angle[~self.proper.ravel()],
        ) = (np.nan, np.nan, np.nan)
        if len(open_):
            poses, starts = (
                self.pose.reshape(-1, 4, 4)[open_],
                np.broadcast_to(self.q0, (*shape, n)).reshape(-1, n)[open_],
            )
            nearest = (
                self.search_result
                if self.search_result is not None
                else search_position(
                    self.context.robot,
                    self.context.frame,
                    poses,
                    starts,
                    *THRESHOLDS.nearest_effort,
                )
            )
            picked = open_ if self.search_result is not None else slice(None)
            q[open_], distance[open_], angle[open_] = (
                nearest.q[picked],
                nearest.distance[picked],
                nearest.angle[picked],
            )
        return NumericalSolution(
            q.reshape(*shape, n), distance.reshape(shape), angle.reshape(shape)
        )

    @property
    def proper(self) -> NDArray[np.bool_]:
        """Which of the given matrices are poses, (...)."""
        return np.asarray(self.fault <= THRESHOLDS.pose_tolerance)

    @cached_property
    def status(self) -> str:
        """What was found, and why not where nothing was, in a sentence."""
        return _of_one(self) if self.solved.ndim == 0 else _of_many(self)

    def __repr__(self) -> str:
        return f"Solutions({self.status})"


def require_poses(s: Solutions) -> Solutions:
    """Remove solutions of matrices that are not poses; CallError if none is a pose."""
    fault = s.result[2]
    if fault.ndim == 0 and fault <= THRESHOLDS.pose_tolerance:
        return s
    proper = s.fault <= THRESHOLDS.pose_tolerance
    if s.fault.ndim and (proper.all() or not s.fault.size):
        return s
    if proper.any():
        code = np.where(proper[..., None], s.code, UNREACHED)
        return Solutions((np.where(proper[..., None, None], s.q, np.nan), code, s.fault), s.query)
    finite = np.isfinite(s.pose).all()
    what = (
        f"is off a rotation and the last row 0 0 0 1 by {np.nanmin(s.fault):.3g}"
        if finite
        else "contains NaN or infinity"
    )
    raise CallError(
        f"pose {what}; expected homogeneous matrices [R, p; 0, 1] with a rotation R (R R^T = 1, det"
        " R = 1)"
    )


def _of_one(s: Solutions) -> str:
    if s.solved:
        return f"{_counted(int(s.count), 'solution')} by {s.method}{_at_free(s)}"
    if (s.code == OUTSIDE).any():
        return f"no solution within the joint limits{_at_free(s)}: {_offenders(s)}"
    near = s.nearest
    if s.search_result is not None and s.fixed is None and (beyond := _beyond_limits(s)):
        return f"no solution within the joint limits: beyond them {beyond} would reach the pose"
    if near.distance <= THRESHOLDS.limit_rounding and near.angle <= THRESHOLDS.limit_rounding:
        return (
            f"no solution{_at_free(s)}; other positions of {', '.join(s.free_joints)} reach the"
            " pose"
        )
    return (
        f"no solution{_at_free(s)}: the pose is out of reach; the nearest pose found is"
        f" {near.distance:.3g} m and {near.angle:.3g} rad away"
    )


def _of_many(s: Solutions) -> str:
    solved, total = int(s.solved.sum()), s.solved.size
    parts = [f"{solved} of {_counted(total, 'pose')} solved by {s.method}{_at_free(s)}"]
    bad = ~s.proper
    limited = ~s.solved & ~bad & (s.code == OUTSIDE).any(axis=-1)
    away = ~s.solved & ~bad & ~limited
    if away.any():
        distance = np.where(away, s.nearest.distance + s.nearest.angle, -1.0)
        worst = np.unravel_index(int(np.argmax(distance)), distance.shape)
        size = f"{s.nearest.distance[worst]:.3g} m and {s.nearest.angle[worst]:.3g} rad"
        parts.append(
            f"{int(away.sum())} out of reach, pose {_index(worst)} the furthest: the nearest pose"
            f" found is {size} away"
        )
    if limited.any():
        parts.append(
            f"{int(limited.sum())} reached only outside the joint limits, first pose"
            f" {_index(np.argwhere(limited)[0])}"
        )
    if bad.any():
        parts.append(
            f"{_counted(int(bad.sum()), 'matrix', 'matrices')} that are not poses, first pose"
            f" {_index(np.argwhere(bad)[0])}"
        )
    return "; ".join(parts)


def _beyond_limits(s: Solutions) -> str:
    """Return the joints that exceed their limits in a solution without limits; "" if none."""
    robot = s.context.robot
    free = tuple(
        replace(joint, limits=replace(joint.limits, lower=-np.inf, upper=np.inf))
        for joint in robot.mechanism.joints
    )
    solution = search_position(
        type(robot)(replace(robot.mechanism, joints=free)),
        s.context.frame,
        s.pose[None],
        np.atleast_2d(s.q0),
    )
    if not solution.reached[0]:
        return ""
    lower, upper = (
        np.array([getattr(limits, side) for limits in robot.tree.limits])
        for side in ("lower", "upper")
    )
    passed = [
        f"{name} at {x:.4g}"
        for name, x, low, high in zip(robot.joint_names, solution.q[0], lower, upper, strict=True)
        if not low - THRESHOLDS.limit_rounding <= x <= high + THRESHOLDS.limit_rounding
    ]
    return ", ".join(passed)


def _offenders(s: Solutions) -> str:
    """Return the joints that exceed their limits, with the number of solutions."""
    unlimited = analytic(s.context.robot, s.context.frame, s.free_joints or None, False)
    assert unlimited is not None
    start = s.q0 if s.free is None else unlimited.start(s.q0, s.free)
    with np.errstate(all="ignore"):
        q, code, _ = unlimited.kernel.ufunc(s.pose, start)
    q = q.reshape(-1, q.shape[-1])[code.ravel() > OUTSIDE]
    lower, upper = (
        np.array([getattr(limits, side) for limits in s.context.robot.tree.limits])
        for side in ("lower", "upper")
    )
    beyond = (q < lower - THRESHOLDS.limit_rounding) | (q > upper + THRESHOLDS.limit_rounding)
    counts = Counter(
        {
            name: int(n)
            for name, n in zip(s.context.robot.joint_names, beyond.sum(axis=0), strict=True)
            if n
        }
    )
    listed = ", ".join(f"{name} in {n}" for name, n in counts.most_common())
    return f"of {_counted(len(q), 'solution')} that reach the pose, {listed} exceed their limits"


def _at_free(s: Solutions) -> str:
    if s.free is None:
        return ""
    if s.free.size > len(s.free_joints):
        return f" over {_counted(s.free.shape[-2], 'position')} of {', '.join(s.free_joints)}"
    return " at " + ", ".join(
        f"{name} = {value:.4g}" for name, value in zip(s.free_joints, s.free.ravel(), strict=True)
    )


def _counted(count: int, what: str, many: str = "") -> str:
    return f"{count} {what}" if count == 1 else f"{count} {many or what + 's'}"


def _index(indices: Any) -> str:
    return ", ".join(str(int(i)) for i in indices)
