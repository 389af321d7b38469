"""Redundant arms: choice of the fixed joints' positions, and numerical solution of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import numbers
from ...dynamics.kinematics import carriers, find_frame
from ...errors import CallError
from ...floating_point import default_errstate
from .analytic import VALID
from .ik_problem import IkProblem
from .inverse_kinematics_thresholds import THRESHOLDS
from .numerical import NumericalSolution, joint_range, search_position
from .solutions import Array, Solutions


@default_errstate
def with_free_joints(setup: IkProblem, pose: Array, start: Array, free: Any) -> Solutions:
    """Return the solutions over the positions of the fixed joints.

    Parameters
    ----------
    setup : closed form of a robot, with at least one held joint
    pose : poses (..., 4, 4)
    start : preferred positions (n,) or (..., n) [rad|m]
    free : positions of the held joints as the caller gave them, or None to choose them
    """
    closed = setup.closed
    assert closed is not None
    if free is None:
        s = _nearest_on_grid(setup, pose, start)
        return solve_missing(setup, s) if setup.complete else s
    values = (
        [free[name] for name in closed.fixed if name in free]
        if isinstance(free, Mapping)
        else [free]
    )
    if len(values) != len(closed.fixed):
        names = ", ".join(closed.fixed)
        raise CallError(
            f"free: {len(closed.fixed)} joints are free, {names}; expected a dict with the position"
            " of each"
        )
    return _solve_at(setup, pose, start, _positions(closed.fixed, values, pose.shape[:-2]))


def solve_missing(setup: IkProblem, s: Solutions) -> Solutions:
    """Solve numerically the poses without a solution.

    The closed form is evaluated again with the fixed joints where the numerical solution has them.
    Where it still has no valid branch (a pose on the boundary of the workspace, or an arm with
    rounded angles near a singularity), the numerical solution is the first branch. Poses farther
    away than the stretched arm are not searched.
    """
    robot, frame, n = setup.context.robot, setup.context.frame, s.q.shape[-1]
    missing = ~s.solved.ravel() & s.proper.ravel()
    if not missing.any():
        return s
    within = _within_reach(robot, frame, s.pose.reshape(-1, 4, 4))
    unsolved = np.flatnonzero(missing & within)
    if not len(unsolved):
        return s
    batch = s.solved.shape
    poses = s.pose.reshape(-1, 4, 4)[unsolved]
    starts = np.broadcast_to(s.q0, (*batch, n)).reshape(-1, n)[unsolved]
    result = keep_others(robot, frame, search_position(robot, frame, poses, starts), starts)
    q, code = s.q.reshape(-1, *s.q.shape[-2:]).copy(), s.code.reshape(-1, s.code.shape[-1]).copy()
    fixed = None if s.fixed is None else np.array(s.fixed).reshape(-1, *s.fixed.shape[-2:])
    reached = np.flatnonzero(result.reached)
    index = unsolved[reached]
    if len(index) and fixed is not None:
        assert setup.closed is not None
        fixed[index] = result.q[reached][:, None, list(setup.closed.indices)]
        q[index], code[index], _ = _solve_at(
            setup, poses[reached], starts[reached], fixed[index]
        ).result
    missed = (code[index] != VALID).all(axis=-1)
    q[index[missed], 0], code[index[missed], 0] = result.q[reached[missed]], VALID
    nearest = None
    if not (missing & ~within).any():
        nearest = NumericalSolution(
            np.full((s.solved.size, n), np.nan), *np.zeros((2, s.solved.size))
        )
        for column, values in zip(nearest, result, strict=True):
            column[unsolved] = values
    fixed = None if fixed is None or s.fixed is None else fixed.reshape(s.fixed.shape)
    return Solutions(
        (q.reshape(s.q.shape), code.reshape(s.code.shape), s.fault), (*s.query[:3], fixed, nearest)
    )


def _within_reach(robot: Any, frame: str, pose: Array) -> NDArray[np.bool_]:
    """Return which poses (N, 4, 4) are within the total link length of the first joint."""
    tree = robot.tree
    body, offset = find_frame(tree, frame)
    first, *rest = chain = [tree.bodies[i] for i in carriers(tree, body)]
    length = math.hypot(*offset.p) + sum(math.hypot(*link.placement.p) for link in rest)
    for link in chain:
        if link.kind == "prismatic":
            limits = tree.limits[link.coordinate]
            travel = max(abs(limits.lower), abs(limits.upper))
            length += abs(link.multiplier) * travel + abs(link.offset)
    return (
        np.linalg.norm(pose[:, :3, 3] - first.placement.p, axis=1)
        <= length + THRESHOLDS.limit_rounding
    )


def keep_others(
    robot: Any, frame: str, result: NumericalSolution, start: Array
) -> NumericalSolution:
    """Put the joints that do not move the frame back to their preferred positions (N, n)."""
    if not robot.tree.loops:
        moving = [
            robot.tree.bodies[i].coordinate
            for i in carriers(robot.tree, find_frame(robot.tree, frame)[0])
        ]
        others = np.setdiff1d(np.arange(robot.n), moving)
        result.q[:, others] = start[:, others]
    return result


def _solve_at(setup: IkProblem, pose: Array, start: Array, positions: Array) -> Solutions:
    """Return the solutions at positions (..., g, joints) of the fixed joints."""
    assert setup.closed is not None
    q, code, fault = setup.call(
        pose[..., None, :, :], setup.closed.start(start[..., None, :], positions)
    )
    names, joints, count = setup.context.branches, setup.context.free_joints, positions.shape[-2]
    shape = (*pose.shape[:-2], count * len(names))
    positions = np.broadcast_to(positions, (*pose.shape[:-2], *positions.shape[-2:]))
    first = joints[0] if len(joints) == 1 else "free"
    names = (
        names
        if count == 1
        else tuple(f"{first}[{i}] {name}" for i in range(count) for name in names)
    )
    context = setup.context._replace(branches=names)
    arrays = q.reshape(*shape, q.shape[-1]), code.reshape(shape), fault[..., 0]
    return Solutions(arrays, (pose, start, context, positions, None))


def _positions(names: tuple[str, ...], values: Sequence[Any], batch: tuple[int, ...]) -> Array:
    """Return the positions of the fixed joints as an array (..., g, joints)."""
    arrays = [
        numbers(f"free position of {name}", value)
        for name, value in zip(names, values, strict=True)
    ]
    arrays = [array[None] if array.ndim == 0 else array for array in arrays]
    for name, array in zip(names, arrays, strict=True):
        if not np.isfinite(array).all():
            raise CallError(
                f"free position of {name} contains NaN or infinity; expected positions [rad|m]"
            )
    try:
        grid = np.stack(np.broadcast_arrays(*arrays), axis=-1)
        np.broadcast_shapes((*batch, 1), grid.shape[:-1])
        if grid.ndim - 2 > len(batch):
            raise ValueError
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        expected = f"one position, a grid (g,), or one for each pose, {(*batch, 'g')}"
        raise CallError(f"free has shape {shapes}; expected {expected}") from None
    return grid


def _nearest_on_grid(setup: IkProblem, pose: Array, start: Array) -> Solutions:
    """Fix the free joints at the grid position with a solution nearest to the preferred one."""
    robot, joints, batch = setup.context.robot, setup.context.free_joints, pose.shape[:-2]
    columns = [robot.joint_names.index(name) for name in joints]
    low, high = (side[columns] for side in joint_range(robot.tree))
    preferred = np.minimum(np.maximum(start[..., columns], low), high)
    first = _solve_at(setup, pose, start, preferred[..., None, :])
    unsolved = np.flatnonzero(~first.solved.ravel() & first.proper.ravel())
    if not len(unsolved):
        return first
    flat, starts = (
        pose.reshape(-1, 4, 4),
        np.broadcast_to(start, (*batch, robot.n)).reshape(-1, robot.n),
    )
    centre = np.broadcast_to(preferred, (*batch, len(columns))).reshape(-1, len(columns))
    chosen = centre.copy()
    for fraction in (
        sign * i / (THRESHOLDS.free_positions - 1)
        for i in range(1, THRESHOLDS.free_positions)
        for sign in (1.0, -1.0)
    ):
        position = centre[unsolved] + fraction * (high - low)
        inside = ((position >= low) & (position <= high)).all(axis=1)
        tried: NDArray[np.intp] = unsolved[inside]
        if len(tried):
            solved = _solve_at(
                setup, flat[tried], starts[tried], position[inside][:, None, :]
            ).solved
            chosen[tried[solved]] = position[inside][solved]
            unsolved = np.setdiff1d(unsolved, tried[solved], assume_unique=True)
        if not len(unsolved):
            break
    return _solve_at(setup, pose, start, chosen.reshape(*batch, 1, len(columns)))
