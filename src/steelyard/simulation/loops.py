"""Simulation of robots with loops: closed states at the start, what drives give in the place of all joints, the adaptive method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..algebra.scalar import Scalar, Scalars, dot
from ..dynamics.joint_torques import friction_torque
from ..errors import CallError, ProblemError
from ..kernels.loops import as_drive_torques, reduced_equations
from ..mechanism.tree import Tree
from ..robot import Robot
from .dry_friction import Equations, Sides, dry_joints, held_dynamics, struck, turned_round

Array = NDArray[np.float64]
PIECE = 50  # samples between which the adaptive method is not interrupted


def by_drives(robot: Robot, q: Scalars, tau: list[Scalar]) -> list[Scalar]:
    """A controller's torques as the drives can give them: with loops those of all joints have their equal at the drives."""
    if len(robot.tree.driven) == robot.n:
        return tau
    tree = robot.closed_tree if robot.tree.loops else robot.tree
    return as_drive_torques(tree, q, tau, bool(tree.loops) and robot.loop_structure.case != "underactuated")


def leading(tree: Tree) -> Tree:
    """The independent coordinates of a tree with loops by themselves, with their friction and limits, without bodies; else the tree."""
    if not tree.loops:
        return tree
    at = tree.independent
    names, terms, limits = tuple(tree.coordinates[c] for c in at), tuple(tree.terms[c] for c in at), tuple(tree.limits[c] for c in at)
    return Tree((), names, tree.gravity, terms, {}, limits)


def at_independent(tree: Tree, x: Scalars) -> list[Scalar]:
    """The entries of the independent coordinates; of a tree without loops all."""
    return [x[c] for c in tree.independent] if tree.loops else list(x)


def held_closed(tree: Tree, found: Sides, q: Scalars, qd: Scalars, tau: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations with friction of the independent joints on given sides, and the friction torques of all joints, n each."""
    made, y, rates = reduced_equations(tree, q, qd, tau), at_independent(tree, q), at_independent(tree, qd)
    own, rubbing = held_dynamics(leading(tree), Equations(made.M, made.left), found, y, rates)
    friction = friction_torque(tree.without_friction(tree.independent), qd, q)
    for c, x in zip(tree.independent, rubbing, strict=True):
        friction[c] = friction[c] + x
    return [dot(row, own) + g for row, g in zip(made.N, made.gamma, strict=True)], friction


def closed_impulses(
    tree: Tree, before: Scalars, found: Sides, h: Scalar, q: Scalars, qd: Scalars, restitution: Scalars | None
) -> tuple[list[Scalar], Scalar]:
    """Velocities, n, at the end of a step after independent joints turned round or struck their stops, and the heat of that [J]."""
    lead, made = leading(tree), reduced_equations(tree, q, qd, [0.0] * tree.n)
    y, rates = at_independent(tree, q), at_independent(tree, qd)
    rates, heat = turned_round(lead, made.M, y, rates, before, found, h)
    rates, more = struck(lead, made.M, y, rates, found, restitution) if restitution is not None else (rates, 0.0)
    return [dot(row, rates) for row in made.N], heat + more


def require_leading(robot: Robot) -> None:
    """Raise CallError where dry friction is at joints that others determine: only independent joints stick."""
    tree = robot.closed_tree
    if any("load" in use.row.reads for use in tree.joint_terms):
        raise CallError("simulate: friction that grows with the load and loops do not go together; take the load out of the friction")
    for c in dry_joints(tree):
        if c not in tree.independent:
            free = ", ".join(tree.coordinates[k] for k in tree.independent)
            raise CallError(
                f"simulate: joint {tree.coordinates[c]!r} has dry friction, and with loops only independent joints can stick: {free}; "
                "give its friction a width [rad/s|m/s], with_friction(width=...)"
            )


def closed_start(robot: Robot, state: tuple[Array, ...]) -> tuple[Array, ...]:
    """The state with the nearest closed positions and velocities. Runs that cannot be closed are not finite; if none can, ProblemError."""
    found = robot.assembly(state[0])
    if found.closed.size and not np.any(found.closed):
        raise ProblemError(f"simulate: q0: {found.status}")
    q, qd = np.where(found.closed[..., None], found.q, np.nan), np.array(state[1])
    if np.any(qd):
        qd[found.closed] = robot.consistent_velocity(q[found.closed], qd[found.closed])
    return (q, qd, *state[2:])


def integrated_closed(
    robot: Robot, torque: Callable[[float, Array, Array], Array], q0: Array, qd0: Array, t: Array, tolerance: float = 1e-11
) -> tuple[Array, Array, Array]:
    """q, qd (T, n), and work and heat [J] (T, 2) at times t [s], by DOP853; samples are the nearest closed states.

    Hairer, Lubich and Wanner, "Geometric Numerical Integration", 2nd ed., section IV.4 (projection methods).
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
    for first in range(0, len(t) - 1, PIECE):
        last = min(first + PIECE, len(t) - 1)
        span, wanted = (float(t[first]), float(t[last])), t[first + 1 : last + 1]
        solved = solve_ivp(rate, span, out[first], "DOP853", wanted, rtol=tolerance, atol=tolerance)
        if solved.status < 0 or not np.all(np.isfinite(solved.y)):
            raise ProblemError(f"simulate: the adaptive method stopped at {t[first]:g} s: {solved.message}")
        rows = out[first + 1 : last + 1]
        rows[:] = solved.y.T
        rows[:, :n] = robot.assemble(rows[:, :n])
        rows[:, n : 2 * n] = robot.consistent_velocity(rows[:, :n], rows[:, n : 2 * n])
    return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
