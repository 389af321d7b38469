"""Simulation of robots with loops: closed initial states, drive torques, adaptive method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..algebra.scalar import Scalar, Scalars, dot
from ..dynamics.joint_torques import friction_torque
from ..errors import CallError, ProblemError
from ..kernels.loops import as_drive_torques, reduced_equations
from ..mechanism.tree import Tree
from ..robot import Robot
from .dry_friction import (
    Equations,
    FrictionSides,
    apply_reversal_impulses,
    apply_stop_impulses,
    dry_joints,
    locked_dynamics,
)
from .simulation_thresholds import THRESHOLDS
from .state import State

Array = NDArray[np.float64]


def drive_torques(robot: Robot, q: Scalars, tau: list[Scalar]) -> list[Scalar]:
    """Return a controller's torques of all joints as equivalent torques of the drives."""
    if len(robot.tree.driven) == robot.n:
        return tau
    tree = robot.closed_tree if robot.tree.loops else robot.tree
    return as_drive_torques(
        tree, q, tau, bool(tree.loops) and robot.loop_structure.case != "underactuated"
    )


def independent_tree(tree: Tree) -> Tree:
    """Return a tree of the independent coordinates, with friction and limits but without bodies.

    A tree without loops is returned as it is.
    """
    if not tree.loops:
        return tree
    independent = tree.independent
    return Tree(
        bodies=(),
        coordinates=tuple(tree.coordinates[c] for c in independent),
        gravity=tree.gravity,
        terms=tuple(tree.terms[c] for c in independent),
        frames={},
        limits=tuple(tree.limits[c] for c in independent),
    )


def independent_entries(tree: Tree, x: Scalars) -> list[Scalar]:
    """Return the entries of the independent coordinates; all of a tree without loops."""
    return [x[c] for c in tree.independent] if tree.loops else list(x)


def closed_locked_dynamics(
    tree: Tree, sides: FrictionSides, q: Scalars, qd: Scalars, tau: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """Return accelerations and friction torques of all joints, n each.

    Independent joints have dry friction on the given sides.
    """
    M, rhs, N, gamma = reduced_equations(tree, q, qd, tau)
    y, rates = independent_entries(tree, q), independent_entries(tree, qd)
    accelerations, dry = locked_dynamics(independent_tree(tree), Equations(M, rhs), sides, y, rates)
    friction = friction_torque(tree.without_friction(tree.independent), qd, q)
    for c, x in zip(tree.independent, dry, strict=True):
        friction[c] = friction[c] + x
    return [dot(row, accelerations) + g for row, g in zip(N, gamma, strict=True)], friction


def closed_impulses(
    tree: Tree,
    before: Scalars,
    sides: FrictionSides,
    h: Scalar,
    q: Scalars,
    qd: Scalars,
    restitution: Scalars | None,
) -> tuple[list[Scalar], Scalar]:
    """Return velocities, n, after impulses of reversals and stops, and their heat [J]."""
    independent, (M, _, N, _) = (
        independent_tree(tree),
        reduced_equations(tree, q, qd, [0.0] * tree.n),
    )
    y, rates = independent_entries(tree, q), independent_entries(tree, qd)
    rates, heat = apply_reversal_impulses(independent, M, y, rates, before, sides, h)
    rates, more = (
        apply_stop_impulses(independent, M, y, rates, sides, restitution)
        if restitution is not None
        else (rates, 0.0)
    )
    return [dot(row, rates) for row in N], heat + more


def require_independent_friction(robot: Robot) -> None:
    """Raise CallError where dependent joints have dry friction: only independent joints stick."""
    tree = robot.closed_tree
    if any("load" in use.row.reads for use in tree.joint_terms):
        raise CallError(
            "simulate: friction that grows with the load cannot be combined with loops; remove the"
            " load term from the friction"
        )
    for c in dry_joints(tree):
        if c not in tree.independent:
            free = ", ".join(tree.coordinates[k] for k in tree.independent)
            raise CallError(
                f"simulate: joint {tree.coordinates[c]!r} has dry friction, and with loops only"
                f" independent joints can stick: {free}; give its friction a width [rad/s|m/s],"
                " with_friction(width=...)"
            )


def closed_start(robot: Robot, state: State[Array]) -> State[Array]:
    """Return the state with the nearest closed positions and velocities.

    Runs that cannot be closed are not finite; raises ProblemError if none can.
    """
    assembly = robot.assembly(state.q)
    if assembly.closed.size and not np.any(assembly.closed):
        raise ProblemError(f"simulate: q0: {assembly.status}")
    q, qd = np.where(assembly.closed[..., None], assembly.q, np.nan), np.array(state.qd)
    if np.any(qd):
        qd[assembly.closed] = robot.consistent_velocity(q[assembly.closed], qd[assembly.closed])
    return replace(state, q=q, qd=qd)


def integrated_closed(
    robot: Robot,
    torque: Callable[[float, Array, Array], Array],
    q0: Array,
    qd0: Array,
    t: Array,
    tolerance: float = 1e-11,
) -> tuple[Array, Array, Array]:
    """Return q, qd (T, n), and work and heat [J] (T, 2) at times t [s], by DOP853.

    Samples are projected onto closed states. Hairer, Lubich and Wanner, "Geometric
    Numerical Integration", 2nd ed., section IV.4 (projection methods).
    """
    from scipy.integrate import solve_ivp

    n = robot.n

    def rate(s: float, y: Array) -> Array:
        q, qd = y[:n], y[n : 2 * n]
        tau = torque(s, q, qd)
        qdd = robot.constrained_forward_dynamics(q, qd, tau)[0]
        return np.concatenate([qd, qdd, [tau @ qd, robot.friction_torque(qd, q) @ qd]])

    out = np.full((len(t), 2 * n + 2), np.nan)
    out[0] = np.concatenate([q0, qd0, [0.0, 0.0]])
    for first in range(0, len(t) - 1, THRESHOLDS.samples_per_call):
        last = min(first + THRESHOLDS.samples_per_call, len(t) - 1)
        span, times = (float(t[first]), float(t[last])), t[first + 1 : last + 1]
        solved = solve_ivp(rate, span, out[first], "DOP853", times, rtol=tolerance, atol=tolerance)
        if solved.status < 0 or not np.all(np.isfinite(solved.y)):
            raise ProblemError(
                f"simulate: the adaptive method stopped at {t[first]:g} s: {solved.message}"
            )
        rows = out[first + 1 : last + 1]
        rows[:] = solved.y.T
        rows[:, :n] = robot.assemble(rows[:, :n])
        rows[:, n : 2 * n] = robot.consistent_velocity(rows[:, :n], rows[:, n : 2 * n])
    return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
