"""Numerical inverse kinematics: damped Gauss-Newton steps, batched over poses and starts.

A step is one kernel: pose error, Jacobian, and the solution of the damped normal equations. Joints
on a limit that would leave it stay there. Redundancy is used to approach a preferred position.
Poses that have converged leave the batch; the others start again elsewhere. Loop closures are
errors like pose errors. Levenberg 1944; Sugihara, IEEE Transactions on Robotics 27 (2011), for a
damping that follows the error.
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
from ...dynamics.forward.by_crba import factorise, solve_factored
from ...dynamics.kinematics import forward_kinematics, jacobian
from ...floating_point import default_errstate
from ...kernels import kernel_of
from ...kernels.loops import ClosureTerms, closure_terms
from ...mechanism.tree import Tree
from .inverse_kinematics_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def pose_error(
    tree: Tree, q: Scalars, R_goal: Any, p_goal: Vector, frame: str
) -> tuple[Vector, Vector]:
    """Compute the pose error in the base frame.

    p_goal - p [m], and the rotation vector of R_goal R^T [rad].
    """
    R, p = forward_kinematics(tree, q, frame)
    E = v3.matmul(R_goal, v3.transpose(R))
    sine = (E[2][1] - E[1][2], E[0][2] - E[2][0], E[1][0] - E[0][1])  # 2 sin(angle) times the axis
    size2 = v3.dot(sine, sine)
    small = size2 < 1e-24
    size = sqrt(where(small, 1.0, size2))
    angle = atan2(size, E[0][0] + E[1][1] + E[2][2] - 1.0)
    return v3.sub(p_goal, p), v3.scale(where(small, 0.5, angle / size), sine)


def ik_step(
    tree: Tree,
    q: Scalars,
    pose: Any,
    preferred: Scalars,
    gain: Scalar,
    frame: str,
    fixed: Sequence[int] = (),
) -> tuple[list[Scalar], list[Scalar]]:
    """Compute the next position, with some joints fixed, and the current error (m, rad).

    dq = z + J^T (J J^T + damping)^-1 (e - J z), z = gain (preferred - q), with more joints than
    errors; else (J^T J + damping)^-1 J^T e. The first error of a robot with loops counts how far
    they are open, too.
    """
    R_goal, p_goal = tuple(tuple(row[:3]) for row in pose[:3]), tuple(row[3] for row in pose[:3])
    v, w = pose_error(tree, q, R_goal, v3.vector(p_goal), frame)
    loops = closure_terms(tree, q, [0.0] * tree.n) if tree.loops else ClosureTerms([], [], [])
    e = [*v, *w, *(-THRESHOLDS.closure_weight * x for x in loops.phi)]
    J = _free_jacobian(
        tree,
        q,
        [
            *jacobian(tree, q, frame),
            *([THRESHOLDS.closure_weight * x for x in row] for row in loops.Phi),
        ],
        e,
        fixed,
    )
    away2 = v3.dot(v, v) + dot(loops.phi, loops.phi) if tree.loops else v3.dot(v, v)
    damping = THRESHOLDS.error_damping * (away2 + v3.dot(w, w)) + THRESHOLDS.least_damping
    if tree.n > len(e):
        z = [gain * (a - b) for a, b in zip(preferred, q, strict=True)]
        rest = [x - dot(row, z) for x, row in zip(e, J, strict=True)]
        y = solve_factored(factorise(_gram(J, damping)), rest)
        dq = [a + dot([row[i] for row in J], y) for i, a in enumerate(z)]
    else:
        columns = [[row[i] for row in J] for i in range(tree.n)]
        dq = solve_factored(
            factorise(_gram(columns, damping)), [dot(column, e) for column in columns]
        )
    return _limited(tree, q, dq), [sqrt(away2), sqrt(v3.dot(w, w))]


def _free_jacobian(
    tree: Tree, q: Scalars, J: Sequence[Sequence[Scalar]], e: Scalars, fixed: Sequence[int]
) -> list[list[Scalar]]:
    """Return the Jacobian without columns of joints that are fixed or pressed against a limit."""
    columns = []
    for i, limits in enumerate(tree.limits):
        column = [row[i] for row in J]
        pull = dot(column, e)
        free: Scalar = 0.0 if i in fixed else 1.0
        if math.isfinite(limits.upper):
            free = free * where(q[i] >= limits.upper, where(pull > 0.0, 0.0, 1.0), 1.0)
        if math.isfinite(limits.lower):
            free = free * where(q[i] <= limits.lower, where(pull < 0.0, 0.0, 1.0), 1.0)
        columns.append([free * x for x in column])
    return [list(row) for row in zip(*columns, strict=True)]


def _limited(tree: Tree, q: Scalars, dq: Scalars) -> list[Scalar]:
    """Return q + dq, shortened to the longest step and clipped to the limits."""
    largest: Scalar = THRESHOLDS.longest_step
    for x in dq:
        size = where(x < 0.0, -x, x)
        largest = where(size > largest, size, largest)
    scale, result = THRESHOLDS.longest_step / largest, []
    for x, d, limits in zip(q, dq, tree.limits, strict=True):
        y = x + scale * d
        if math.isfinite(limits.upper):
            y = where(y > limits.upper, limits.upper, y)
        if math.isfinite(limits.lower):
            y = where(y < limits.lower, limits.lower, y)
        result.append(y)
    return result


def _gram(rows: Sequence[Scalars], damping: Scalar) -> list[list[Scalar]]:
    """Return the lower triangle of rows rows^T + damping 1."""
    return [
        [dot(a, b) + (damping if i == j else 0.0) for j, b in enumerate(rows[: i + 1])]
        for i, a in enumerate(rows)
    ]


@lru_cache(maxsize=64)
def ik_step_kernel(robot: Any, frame: str, fixed: tuple[int, ...] = ()) -> Kernel:
    """Return the compiled step: q, pose, preferred, gain -> q, error (2)."""
    return kernel_of(
        ik_step_program, robot.closed_tree if robot.tree.loops else robot.tree, frame, fixed
    )


def ik_step_program(tree: Tree, frame: str, fixed: tuple[int, ...]) -> Program:
    """Return the program of the step."""
    inputs = [
        Operand("q", (tree.n,), "[rad|m]"),
        Operand("pose", (4, 4), "[-|m]"),
        Operand("preferred", (tree.n,), "[rad|m]"),
        Operand("gain", (), "[-]"),
    ]
    outputs = [Operand("next", (tree.n,), "[rad|m]"), Operand("error", (2,), "[m, rad]")]
    return trace(
        "inverse_kinematics_step",
        lambda q, pose, preferred, gain: ik_step(tree, q, pose, preferred, gain, frame, fixed),
        inputs,
        outputs,
    )


class NumericalSolution(NamedTuple):
    """The best position (N, n) for each pose, with its position [m] and angle error [rad] (N,)."""

    q: Array
    distance: Array
    angle: Array

    @property
    def reached(self) -> NDArray[np.bool_]:
        return (self.distance <= THRESHOLDS.accuracy) & (self.angle <= THRESHOLDS.accuracy)


@default_errstate
def search_position(
    robot: Any,
    frame: str,
    pose: Array,
    q0: Array,
    rounds: int = THRESHOLDS.rounds,
    steps: int = THRESHOLDS.steps,
) -> NumericalSolution:
    """Search the position nearest to a solution for each pose (N, 4, 4).

    It starts at q0 (N, n), then in rounds at new positions within the limits.
    """
    kernel = ik_step_kernel(robot, frame)
    best = NumericalSolution(q0.copy(), np.full(len(pose), np.inf), np.full(len(pose), np.inf))
    for first in range(0, len(pose), THRESHOLDS.chunk_poses):
        part = slice(first, first + THRESHOLDS.chunk_poses)
        _search(
            robot,
            frame,
            kernel,
            pose[part],
            NumericalSolution(*(column[part] for column in best)),
            rounds,
            steps,
        )
    return best


def _search(
    robot: Any,
    frame: str,
    kernel: Kernel,
    pose: Array,
    best: NumericalSolution,
    rounds: int,
    steps: int,
) -> None:
    rng = np.random.default_rng(0)
    active = np.arange(len(pose))
    index, q = active, best.q.copy()
    for _ in range(rounds):
        _descend(kernel, index, q, pose, best, steps)
        active = active[~best.reached[active]]
        if not len(active):
            return
        index, q = _starts(robot, frame, pose, active, rng)


def _starts(
    robot: Any, frame: str, pose: Array, active: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.intp], Array]:
    """Return the random positions nearest to each active pose.

    One for each, or several where few poses remain.
    """
    low, high = joint_range(robot.tree)
    tried = (
        rng.permutation(_closed_starts(robot))[: THRESHOLDS.tried_positions]
        if robot.tree.loops
        else rng.uniform(low, high, (THRESHOLDS.tried_positions, robot.n))
    )
    there, goal = robot.forward_kinematics(tried, frame), pose[active]
    nearness = 2.0 * goal[:, :3, 3] @ there[:, :3, 3].T - (there[:, :3, 3] ** 2).sum(axis=1)
    nearness += (
        THRESHOLDS.rotation_weight
        * goal[:, :3, :3].reshape(-1, 9)
        @ there[:, :3, :3].reshape(-1, 9).T
    )
    count = min(THRESHOLDS.tried_positions // 2, max(1, THRESHOLDS.parallel_starts // len(active)))
    if count == 1:
        return active, tried[np.argmax(nearness, axis=1)]
    chosen = np.argpartition(nearness, THRESHOLDS.tried_positions - count, axis=1)[
        :, THRESHOLDS.tried_positions - count :
    ]
    return np.repeat(active, count), tried[chosen.ravel()]


@lru_cache(maxsize=8)
def _closed_starts(robot: Any) -> Array:
    """Return start positions of a robot with loops, closed where possible."""
    return np.asarray(
        robot.assembly(
            np.random.default_rng(0).uniform(
                *joint_range(robot.tree), (4 * THRESHOLDS.tried_positions, robot.n)
            )
        ).q
    )


def _descend(
    kernel: Kernel,
    index: NDArray[np.intp],
    q: Array,
    pose: Array,
    best: NumericalSolution,
    steps: int,
) -> None:
    """Step from q for the poses `index`, and store improvements in `best`.

    Converged poses leave the batch.
    """
    goal = pose[index]
    for left_over in reversed(range(steps)):
        after, error = kernel(q, goal, q, 0.0)
        done = (error[:, 0] <= THRESHOLDS.accuracy) & (error[:, 1] <= THRESHOLDS.accuracy)
        count = np.count_nonzero(done)
        # to take out a few costs more than to step them on
        if count > THRESHOLDS.leaving_share * len(index) or (count and not left_over):
            _store(best, index[done], q[done], error[done])
            remaining = ~done
            index, goal, q, after, error = (
                index[remaining],
                goal[remaining],
                q[remaining],
                after[remaining],
                error[remaining],
            )
            if not len(index):
                return
        before, q = q, after
    total = error.sum(axis=1)
    better = np.flatnonzero(total < best.distance[index] + best.angle[index])
    better = better[np.argsort(-total[better])]  # of several starts the best is written last
    _store(best, index[better], before[better], error[better])


def _store(best: NumericalSolution, index: NDArray[np.intp], q: Array, error: Array) -> None:
    best.q[index], best.distance[index], best.angle[index] = q, error[:, 0], error[:, 1]


def move_towards_preferred(
    robot: Any, frame: str, pose: Array, solution: NumericalSolution, preferred: Array
) -> NumericalSolution:
    """Move solutions in the null space towards a preferred position (N, n).

    Solutions that would lose the pose stay.

    Liegeois 1977: dq = J^+ e + gain (1 - J^+ J) (preferred - q).
    """
    kernel, index = ik_step_kernel(robot, frame), np.flatnonzero(solution.reached)
    q, goal, to = solution.q[index], pose[index], preferred[index]
    for gain in (THRESHOLDS.preference_gain,) * THRESHOLDS.preference_steps + (0.0,) * 4:
        q, _ = kernel(q, goal, to, gain)
    _, error = kernel(q, goal, to, 0.0)
    nearer = ((q - to) ** 2).sum(axis=1) < ((solution.q[index] - to) ** 2).sum(axis=1)
    improved = (error <= THRESHOLDS.accuracy).all(axis=1) & nearer
    _store(solution, index[improved], q[improved], error[improved])
    return solution


def polish(robot: Any, frame: str, pose: Array, q: Array, fixed: tuple[int, ...]) -> Array:
    """Refine approximate solutions (N, n) of poses (N, 4, 4); NaN where that fails.

    Joints `fixed` do not move.
    """
    kernel = ik_step_kernel(robot, frame, fixed)
    for _ in range(THRESHOLDS.polishing_steps):
        q, _ = kernel(q, pose, q, 0.0)
    _, error = kernel(q, pose, q, 0.0)
    return np.where((error <= 0.1 * THRESHOLDS.accuracy).all(axis=1)[:, None], q, np.nan)


def close_loops(
    robot: Any, frame: str, pose: Array, solution: NumericalSolution
) -> NumericalSolution:
    """Close the loops of solutions to rounding.

    Solutions take a few more steps; other positions move to the nearest closed configuration.
    """
    kernel, q = ik_step_kernel(robot, frame), solution.q.copy()
    for _ in range(4):
        q, error = kernel(q, pose, q, 0.0)
    better = solution.reached & (error <= THRESHOLDS.accuracy).all(axis=1)
    _store(solution, np.flatnonzero(better), q[better], error[better])
    index = np.flatnonzero(~solution.reached & np.isfinite(solution.q).all(axis=1))
    if len(index):
        q = robot.assembly(solution.q[index]).q
        _store(solution, index, q, kernel(q, pose[index], q, 0.0)[1])
    return solution


def joint_range(tree: Tree) -> tuple[Array, Array]:
    """Return the joint limits, at most half a turn or a metre each way."""
    widest = np.ones(tree.n)
    for body in tree.bodies:
        widest[body.coordinate] = math.pi if body.kind == "revolute" else 1.0
    lower, upper = (
        np.array([getattr(limits, side) for limits in tree.limits]) for side in ("lower", "upper")
    )
    low, high = np.maximum(lower, -widest), np.minimum(upper, widest)
    return np.where(low <= high, low, lower), np.where(low <= high, high, upper)
