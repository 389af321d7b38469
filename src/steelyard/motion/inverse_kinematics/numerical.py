"""The numerical solver: damped Gauss-Newton steps on the compiled forward kinematics and Jacobian, many poses and starts side by side.

A step is one kernel: pose error, Jacobian, the damped normal equations and their solution, joints that lie on a limit and would leave it
kept there, and the rest of the motion (redundancy) drawn towards a preferred position. What has converged leaves the batch; what has not
starts again elsewhere. Closures of loops are errors like those of the pose.
Levenberg 1944; Sugihara, IEEE Transactions on Robotics 27 (2011), for a damping that follows the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, atan2, dot, sqrt, where
from ...algebra.vector import Vector
from ...compiler.ir.program import Operand, Program, trace
from ...compiler.runtime.kernel import Kernel
from ...dynamics.forward.by_crba import factorise, solve
from ...dynamics.kinematics import forward_kinematics, jacobian
from ...floating_point import default_errstate
from ...kernels import kernel_of
from ...kernels.loops import ClosureTerms, closure_terms
from ...mechanism.tree import Tree

Array = NDArray[np.float64]
ACCURACY = 1e-9  # [m and rad] a pose is reached within this
STEPS = 16  # from one start
ROUNDS = 60  # of starts, for a pose that may be in reach
TRIED = 64  # random positions of which a round starts at the nearest
SIDE_BY_SIDE = 256  # starts in a round where few poses are left
CHUNK = 16384  # poses that are worked on together
POLISHED = 8  # steps from a solution of an arm that is nearly the same
DRAWN, GAIN = 30, 0.25  # steps towards the wanted position, and how much of the way each goes
LEAVING = 0.2  # of the poses must have converged before those leave the batch
LONGEST = 1.0  # [rad|m] a step of a joint
_DAMPING = 0.02  # times the square of the error
_LEAST_DAMPING = 1e-14
SHUT = 30.0  # weight of closures beside the pose, so that the nearest position to a pose that is out of reach is nearly closed
_ROTATION = 0.3  # [m2] weight of rotations beside distances where starts are compared


def pose_error(tree: Tree, q: Scalars, R_goal: Any, p_goal: Vector, frame: str) -> tuple[Vector, Vector]:
    """What is missing to a pose, in the base frame: p_goal - p [m], and the rotation vector of R_goal R^T [rad]."""
    R, p = forward_kinematics(tree, q, frame)
    E = v3.matmul(R_goal, v3.transpose(R))
    sine = (E[2][1] - E[1][2], E[0][2] - E[2][0], E[1][0] - E[0][1])  # 2 sin(angle) times the axis
    size2 = v3.dot(sine, sine)
    small = size2 < 1e-24
    size = sqrt(where(small, 1.0, size2))
    angle = atan2(size, E[0][0] + E[1][1] + E[2][2] - 1.0)
    return v3.sub(p_goal, p), v3.scale(where(small, 0.5, angle / size), sine)


def step(
    tree: Tree, q: Scalars, pose: Any, wanted: Scalars, gain: Scalar, frame: str, held: Sequence[int] = ()
) -> tuple[list[Scalar], list[Scalar]]:
    """The next position, with some joints held, and the error (m, rad) of the present one.

    dq = z + J^T (J J^T + damping)^-1 (e - J z), z = gain (wanted - q), with more joints than errors; else (J^T J + damping)^-1 J^T e.
    The first error of a robot with loops counts how far they are open, too.
    """
    R_goal, p_goal = tuple(tuple(row[:3]) for row in pose[:3]), tuple(row[3] for row in pose[:3])
    v, w = pose_error(tree, q, R_goal, v3.vector(p_goal), frame)
    loops = closure_terms(tree, q, [0.0] * tree.n) if tree.loops else ClosureTerms([], [], [])
    e = [*v, *w, *(-SHUT * x for x in loops.phi)]
    J = _free(tree, q, [*jacobian(tree, q, frame), *([SHUT * x for x in row] for row in loops.Phi)], e, held)
    away2 = v3.dot(v, v) + dot(loops.phi, loops.phi) if tree.loops else v3.dot(v, v)
    damping = _DAMPING * (away2 + v3.dot(w, w)) + _LEAST_DAMPING
    if tree.n > len(e):
        z = [gain * (a - b) for a, b in zip(wanted, q, strict=True)]
        rest = [x - dot(row, z) for x, row in zip(e, J, strict=True)]
        y = solve(factorise(_gram(J, damping)), rest)
        dq = [a + dot([row[i] for row in J], y) for i, a in enumerate(z)]
    else:
        columns = [[row[i] for row in J] for i in range(tree.n)]
        dq = solve(factorise(_gram(columns, damping)), [dot(column, e) for column in columns])
    return _limited(tree, q, dq), [sqrt(away2), sqrt(v3.dot(w, w))]


def _free(tree: Tree, q: Scalars, J: Sequence[Sequence[Scalar]], e: Scalars, held: Sequence[int]) -> list[list[Scalar]]:
    """The Jacobian without the columns of joints that are held, or lie on a limit and would pass it."""
    columns = []
    for i, limits in enumerate(tree.limits):
        column = [row[i] for row in J]
        pull = dot(column, e)
        free: Scalar = 0.0 if i in held else 1.0
        if math.isfinite(limits.upper):
            free = free * where(q[i] >= limits.upper, where(pull > 0.0, 0.0, 1.0), 1.0)
        if math.isfinite(limits.lower):
            free = free * where(q[i] <= limits.lower, where(pull < 0.0, 0.0, 1.0), 1.0)
        columns.append([free * x for x in column])
    return [list(row) for row in zip(*columns, strict=True)]


def _limited(tree: Tree, q: Scalars, dq: Scalars) -> list[Scalar]:
    """q + dq, shortened to the longest step and kept within the limits."""
    largest: Scalar = LONGEST
    for x in dq:
        size = where(x < 0.0, -x, x)
        largest = where(size > largest, size, largest)
    scale, result = LONGEST / largest, []
    for x, d, limits in zip(q, dq, tree.limits, strict=True):
        y = x + scale * d
        if math.isfinite(limits.upper):
            y = where(y > limits.upper, limits.upper, y)
        if math.isfinite(limits.lower):
            y = where(y < limits.lower, limits.lower, y)
        result.append(y)
    return result


def _gram(rows: Sequence[Scalars], damping: Scalar) -> list[list[Scalar]]:
    """The lower triangle of rows rows^T + damping 1."""
    return [[dot(a, b) + (damping if i == j else 0.0) for j, b in enumerate(rows[: i + 1])] for i, a in enumerate(rows)]


@lru_cache(maxsize=64)
def step_kernel(robot: Any, frame: str, held: tuple[int, ...] = ()) -> Kernel:
    """The compiled step: q, pose, wanted, gain -> q, error (2)."""
    return kernel_of(step_program, robot.closed_tree if robot.tree.loops else robot.tree, frame, held)


def step_program(tree: Tree, frame: str, held: tuple[int, ...]) -> Program:
    """Return the program of the step."""
    inputs = [
        Operand("q", (tree.n,), "[rad|m]"),
        Operand("pose", (4, 4), "[-|m]"),
        Operand("wanted", (tree.n,), "[rad|m]"),
        Operand("gain", (), "[-]"),
    ]
    outputs = [Operand("next", (tree.n,), "[rad|m]"), Operand("error", (2,), "[m, rad]")]
    return trace("inverse_kinematics_step", lambda q, pose, wanted, gain: step(tree, q, pose, wanted, gain, frame, held), inputs, outputs)


class Found(NamedTuple):
    """The best position found for each pose, (N, n), and how far its pose is from the wanted one, (N,) [m] and [rad]."""

    q: Array
    distance: Array
    angle: Array

    @property
    def reached(self) -> NDArray[np.bool_]:
        return (self.distance <= ACCURACY) & (self.angle <= ACCURACY)


@default_errstate
def search(robot: Any, frame: str, pose: Array, q0: Array, rounds: int = ROUNDS, steps: int = STEPS) -> Found:
    """The position nearest to a solution for each pose (N, 4, 4): from q0 (N, n), then in rounds from new starts within the limits."""
    kernel = step_kernel(robot, frame)
    best = Found(q0.copy(), np.full(len(pose), np.inf), np.full(len(pose), np.inf))
    for first in range(0, len(pose), CHUNK):
        part = slice(first, first + CHUNK)
        _search(robot, frame, kernel, pose[part], Found(*(column[part] for column in best)), rounds, steps)
    return best


def _search(robot: Any, frame: str, kernel: Kernel, pose: Array, best: Found, rounds: int, steps: int) -> None:
    rng = np.random.default_rng(0)
    active = np.arange(len(pose))
    at, q = active, best.q.copy()
    for _ in range(rounds):
        _descend(kernel, at, q, pose, best, steps)
        active = active[~best.reached[active]]
        if not len(active):
            return
        at, q = _starts(robot, frame, pose, active, rng)


def _starts(robot: Any, frame: str, pose: Array, active: NDArray[np.intp], rng: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
    """For each active pose, of some random positions those that come nearest to it: one, or several where few poses are left."""
    low, high = joint_range(robot.tree)
    tried = rng.permutation(_closed(robot))[:TRIED] if robot.tree.loops else rng.uniform(low, high, (TRIED, robot.n))
    there, goal = robot.forward_kinematics(tried, frame), pose[active]
    nearness = 2.0 * goal[:, :3, 3] @ there[:, :3, 3].T - (there[:, :3, 3] ** 2).sum(axis=1)
    nearness += _ROTATION * goal[:, :3, :3].reshape(-1, 9) @ there[:, :3, :3].reshape(-1, 9).T
    count = min(TRIED // 2, max(1, SIDE_BY_SIDE // len(active)))
    if count == 1:
        return active, tried[np.argmax(nearness, axis=1)]
    chosen = np.argpartition(nearness, TRIED - count, axis=1)[:, TRIED - count :]
    return np.repeat(active, count), tried[chosen.ravel()]


@lru_cache(maxsize=8)
def _closed(robot: Any) -> Array:
    """Positions of a robot with loops to start from, closed where they can be."""
    return np.asarray(robot.assembly(np.random.default_rng(0).uniform(*joint_range(robot.tree), (4 * TRIED, robot.n))).q)


def _descend(kernel: Kernel, at: NDArray[np.intp], q: Array, pose: Array, best: Found, steps: int) -> None:
    """Step from q for the poses `at`, and keep in `best` what is better than what is there. Converged poses leave the batch."""
    goal = pose[at]
    for left_over in reversed(range(steps)):
        after, error = kernel(q, goal, q, 0.0)
        done = (error[:, 0] <= ACCURACY) & (error[:, 1] <= ACCURACY)
        count = np.count_nonzero(done)
        if count > LEAVING * len(at) or (count and not left_over):  # to take out a few costs more than to step them on
            _keep(best, at[done], q[done], error[done])
            left = ~done
            at, goal, q, after, error = at[left], goal[left], q[left], after[left], error[left]
            if not len(at):
                return
        before, q = q, after
    total = error.sum(axis=1)
    better = np.flatnonzero(total < best.distance[at] + best.angle[at])
    better = better[np.argsort(-total[better])]  # of several starts the best is written last
    _keep(best, at[better], before[better], error[better])


def _keep(best: Found, at: NDArray[np.intp], q: Array, error: Array) -> None:
    best.q[at], best.distance[at], best.angle[at] = q, error[:, 0], error[:, 1]


def draw_nearer(robot: Any, frame: str, pose: Array, found: Found, wanted: Array) -> Found:
    """The same solutions moved along what redundancy leaves free, towards a wanted position (N, n); those that would lose the pose stay.

    Liegeois 1977: dq = J^+ e + gain (1 - J^+ J) (wanted - q).
    """
    kernel, at = step_kernel(robot, frame), np.flatnonzero(found.reached)
    q, goal, to = found.q[at], pose[at], wanted[at]
    for gain in (GAIN,) * DRAWN + (0.0,) * 4:
        q, _ = kernel(q, goal, to, gain)
    _, error = kernel(q, goal, to, 0.0)
    nearer = ((q - to) ** 2).sum(axis=1) < ((found.q[at] - to) ** 2).sum(axis=1)
    kept = (error <= ACCURACY).all(axis=1) & nearer
    _keep(found, at[kept], q[kept], error[kept])
    return found


def polish(robot: Any, frame: str, pose: Array, q: Array, held: tuple[int, ...]) -> Array:
    """Solutions (N, n) that nearly reach poses (N, 4, 4) brought there by a few steps, joints `held` kept; NaN where that fails."""
    kernel = step_kernel(robot, frame, held)
    for _ in range(POLISHED):
        q, _ = kernel(q, pose, q, 0.0)
    _, error = kernel(q, pose, q, 0.0)
    return np.where((error <= 0.1 * ACCURACY).all(axis=1)[:, None], q, np.nan)


def shut(robot: Any, frame: str, pose: Array, found: Found) -> Found:
    """The same for a robot with loops, closed to rounding: solutions by a few more steps, others at the nearest closed configuration."""
    kernel, q = step_kernel(robot, frame), found.q.copy()
    for _ in range(4):
        q, error = kernel(q, pose, q, 0.0)
    better = found.reached & (error <= ACCURACY).all(axis=1)
    _keep(found, np.flatnonzero(better), q[better], error[better])
    at = np.flatnonzero(~found.reached & np.isfinite(found.q).all(axis=1))
    if len(at):
        q = robot.assembly(found.q[at]).q
        _keep(found, at, q, kernel(q, pose[at], q, 0.0)[1])
    return found


def joint_range(tree: Tree) -> tuple[Array, Array]:
    """Limits of all joints, at most half a turn or a metre each way where there are none."""
    widest = np.ones(tree.n)
    for body in tree.bodies:
        widest[body.coordinate] = math.pi if body.kind == "revolute" else 1.0
    lower, upper = (np.array([getattr(limits, side) for limits in tree.limits]) for side in ("lower", "upper"))
    low, high = np.maximum(lower, -widest), np.minimum(upper, widest)
    return np.where(low <= high, low, lower), np.where(low <= high, high, upper)
