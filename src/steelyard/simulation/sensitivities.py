"""Exact derivatives of a run: forward, to its start and to the robot's parameters; backward, of one number by the adjoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.scalar import Scalar, Scalars
from ..arguments import numbers
from ..compiler.ir.differentiate import derivative, gradient, jacobian, substitute
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.forward.by_crba import forward_by_crba
from ..errors import CallError
from ..floating_point import default_errstate
from ..kernels import kernel_of
from ..kernels.algorithms import require_mass
from ..kernels.loops import closed_state, constrained_acceleration
from ..mechanism.parameter_vector import parameters, with_scalars
from ..mechanism.tree import Tree
from ..robot import Robot
from .control import Control
from .run import Run
from .setup import Setup
from .simulate import Prepared, prepared, simulate
from .step import packed_kernel, packed_operands, packed_step, step

Array = NDArray[np.float64]
_PARAMETERS = 3_000_000  # operand number of the nodes that stand for parameters while a program is made


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of (q, qd) at every sample of a `run`: to (q0, qd0), (..., T, 2 n, 2 n), and to parameters, (..., T, 2 n, p).

    `torque` (..., T, n, p) has those of the commanded torques to the parameters. `parameter_names` are those of the parameters, such as
    link3.m; with elastic drives those of the links' side.
    """

    run: Run
    state: Array
    parameters: Array
    parameter_names: tuple[str, ...]
    torque: Array


@dataclass(frozen=True, eq=False)
class RunGradient:
    """The derivatives of one number of a `run`: to q0 and qd0, (..., n), and to the parameters, (..., p)."""

    run: Run
    q0: Array
    qd0: Array
    parameters: Array
    parameter_names: tuple[str, ...]


@default_errstate
def sensitivities(
    robot: Robot, controller: Any = None, q0: ArrayLike | None = None, qd0: ArrayLike | None = None, **options: Any
) -> Sensitivities:
    """How a run changes with its start and with the parameters of the robot; `options` are the further arguments of `simulate`.

    Each step is differentiated as it is computed, x' = f(x, pi): dx' = df/dx dx + df/dpi dpi, so that these are the derivatives of the
    simulated run, not of the motion that it approximates. The controller's own model stays; with `parameters` a controller without one
    changes as the robot does. A Python function cannot be differentiated.
    With loops, a change of q0 or qd0 is that of the closed start nearest to it.
    Where a joint sticks, breaks loose or strikes a stop, they are those of the steps as they fall.
    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.4 (internal differentiation).
    """
    made = _prepared(robot, controller, q0, qd0, options)
    run = simulate(robot, controller, q0, qd0, **options)
    names = made.setup.plant.parameter_names
    first, turned = _first_tangents(made, len(names)), np.vstack([np.zeros((2 * robot.n, len(names))), np.eye(len(names))])
    both, torque = (np.swapaxes(kept, -1, -2) for kept in _forward(made, np.concatenate(made.state, axis=-1), first, turned))
    start = 2 * robot.n
    return Sensitivities(run, both[..., :start], both[..., start:], names, torque[..., start:])


@default_errstate
def run_gradient(
    robot: Robot,
    weights: ArrayLike | Callable[[Run], ArrayLike],
    controller: Any = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    **options: Any,
) -> RunGradient:
    """The gradient of one number J of a run by one pass backward, whatever the number of parameters.

    weights: dJ/d(q, qd) at every sample, (..., T, 2 n), or a function of the run that gives them, such as lambda run: 2 (x - measured).
    `options` are the further arguments of `simulate`. lambda = (df/dx)^T lambda' + weights, dJ/dpi = sum (df/dpi)^T lambda'.
    Griewank and Walther, "Evaluating Derivatives", 2nd ed., chapter 3 (reverse mode).
    """
    made = _prepared(robot, controller, q0, qd0, options)
    run = simulate(robot, controller, q0, qd0, **options)
    given = numbers("run_gradient: weights", weights(run) if callable(weights) else weights)
    shape = (*run.q.shape[:-1], 2 * robot.n)
    if given.shape != shape or not np.all(np.isfinite(given)):
        raise CallError(f"run_gradient: weights have shape {given.shape}; expected finite numbers {shape}, dJ/d(q, qd) at every sample")
    bar, pbar = _backward(made, given)
    n, names = robot.n, made.setup.plant.parameter_names
    start = _to_start(made, bar)
    return RunGradient(run, start[..., :n], start[..., n:], pbar, names)


def _prepared(robot: Robot, controller: Any, q0: Any, qd0: Any, options: dict[str, Any]) -> Prepared:
    """The arguments of `simulate`, checked; raises CallError for a run that cannot be differentiated."""
    given = signature(simulate).bind(robot, controller, q0, qd0, **options)
    given.apply_defaults()
    made = prepared(**{name: value for name, value in given.arguments.items() if name != "progress"})
    if made.control.function is not None:
        raise CallError("sensitivities: a Python function cannot be differentiated; take a controller of steelyard.simulation, or torques")
    if given.arguments["method"] == "adaptive":
        raise CallError("sensitivities: the adaptive method has steps of its own; take 'rk4', 'rk8' or 'euler'")
    return made


def _first_tangents(made: Prepared, p: int) -> Array:
    """Tangents of the whole state at the start, one row for each of q0, qd0 and the parameters, (..., 2 n + p, N)."""
    n, setup = made.setup.robot.n, made.setup
    first = _closed_tangents(made) if setup.robot.tree.loops else np.eye(2 * n)
    dq, dqd = first[..., :n], first[..., n:]
    zeros = [np.zeros((*first.shape[:-1], x.shape[-1])) for x in made.state[2 : 5 if setup.free else 3]]
    drives = [] if setup.drive is None else [setup.drive.start(setup.robot, dq, dqd)]  # linear in both
    kept = [np.zeros((*first.shape[:-1], setup.memory))] if setup.memory else []
    rows = np.concatenate([dq, dqd, *zeros, *drives, *kept], axis=-1)
    return np.concatenate([rows, np.zeros((*rows.shape[:-2], p, rows.shape[-1]))], axis=-2)


def _closed_tangents(made: Prepared) -> Array:
    """How the closed start changes with q0 and qd0, (..., 2 n, 2 n), a row for each: projections onto what keeps the loops closed."""
    return np.asarray(kernel_of(closed_start_program, made.setup.robot.closed_tree)(*made.state[:2]))


def closed_start_program(tree: Tree) -> Program:
    """Return the program of the derivatives of the closed state nearest to (q, qd) with respect to both."""
    n = tree.n

    def make(q: Any, qd: Any) -> list[list[Scalar]]:
        q_closed, qd_closed = closed_state(tree, q, qd, precise=True)
        rows = jacobian([*q_closed, *qd_closed], [*q, *qd])
        return [list(column) for column in zip(*rows, strict=True)]

    return trace("start", make, [Operand("q", (n,)), Operand("qd", (n,))], [Operand("tangents", (2 * n, 2 * n))])


def _to_start(made: Prepared, bar: Array) -> Array:
    """The adjoint of (q0, qd0), (..., 2 n), from that of the whole state at the start: the transpose of its first tangents."""
    return np.einsum("...i,...ji->...j", bar, _first_tangents(made, 0))


def _forward(made: Prepared, x: Array, dx: Array, dpi: Array) -> tuple[Array, Array]:
    """Tangents of (q, qd) at all samples, (..., T, 2 n + p, 2 n), and of the torques, (..., T, 2 n + p, n); of the last as recorded."""
    call, plan, control, m = tangent_kernel(made.setup).ufunc, made.plan, made.control, 2 * made.setup.robot.n
    x, dx = x[..., None, :], np.broadcast_to(dx, (*x.shape[:-1], *dx.shape[-2:]))
    kept, torques = [dx[..., :m]], []
    for k in range(plan.steps):
        x, dx, dtau = call(plan.step, x, *_rest(control, k), dx, dpi)
        x = x[..., :1, :]
        if k % plan.every == 0:
            torques.append(dtau)
        if (k + 1) % plan.every == 0 or k + 1 == plan.steps:
            kept.append(dx[..., :m])
    return np.stack(kept, axis=-3), np.stack([*torques, dtau], axis=-3)


def _backward(made: Prepared, weights: Array) -> tuple[Array, Array]:
    """Adjoints of the whole state at the start (..., N) and of the parameters (..., p)."""
    setup, plan, control, m = made.setup, made.plan, made.control, 2 * made.setup.robot.n
    forward, backward = packed_kernel(setup).ufunc, adjoint_kernel(setup).ufunc
    path = [np.concatenate(made.state, axis=-1)]
    for k in range(plan.steps - 1):
        path.append(forward(plan.step, path[-1], *_rest(control, k)))
    rows = {int(k): i for i, k in enumerate(plan.kept)}
    bar = np.zeros_like(path[0])
    bar[..., :m] = weights[..., -1, :]
    total = np.zeros((*bar.shape[:-1], len(setup.plant.parameters)))
    for k in reversed(range(plan.steps)):
        bar, share = backward(plan.step, path[k], *_rest(control, k), bar)
        total = total + share
        if k in rows:
            bar[..., :m] += weights[..., rows[k], :]
    return bar, total


def _rest(control: Control, k: int) -> tuple[Any, ...]:
    """What a step takes beside the state."""
    return control.at(k, 0.0, np.empty(0), np.empty(0))


def tangent_kernel(setup: Setup) -> Kernel:
    """The kernel of a step and of a change of it: (h, x, ..., dx, dpi) -> (x', dx', dtau), tau that of its beginning."""
    return kernel_of(tangent_program, setup.traced())


def tangent_program(setup: Setup) -> Program:
    """Return the program of a step and of a change of it."""
    h, whole, rest = packed_operands(setup)
    p = len(setup.plant.parameters)
    taken = [h, whole, *rest, Operand("dx", whole.shape), Operand("dpi", (p,))]

    def make(h: Scalar, x: Any, *values: Any) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        *inner, dx, dpi = values
        y, tau, pi = _traced(setup, h, x, inner)
        changes = derivative([*y, *tau], {**dict(zip(x, dx, strict=True)), **dict(zip(pi, dpi, strict=True))})
        made, N = _numbers_for(setup, [*y, *changes], pi), len(y)
        return made[:N], made[N : 2 * N], made[2 * N :]

    given = [whole, Operand("dx", whole.shape), Operand("dtau", (setup.robot.n,))]
    return trace("tangent", make, taken, given)


def adjoint_kernel(setup: Setup) -> Kernel:
    """The kernel of a step backward: (h, x, ..., bar) -> (bar of x, bar of the parameters), bar being of the state after it."""
    return kernel_of(adjoint_program, setup.traced())


def adjoint_program(setup: Setup) -> Program:
    """Return the program of a step backward."""
    h, whole, rest = packed_operands(setup)
    p = len(setup.plant.parameters)

    def make(h: Scalar, x: Any, *values: Any) -> tuple[list[Scalar], list[Scalar]]:
        *inner, bar = values
        y, _, pi = _traced(setup, h, x, inner)
        total: Any = 0.0
        for a, b in zip(y, bar, strict=True):
            total = total + a * b
        found = _numbers_for(setup, gradient(total, [*x, *pi]), pi)
        return found[: len(x)], found[len(x) :]

    given = [Operand("bar", whole.shape), Operand("pi", (p,))]
    return trace("adjoint", make, [h, whole, *rest, Operand("bar", whole.shape)], given)


def _traced(setup: Setup, h: Scalar, x: Any, rest: Scalars) -> tuple[list[Scalar], list[Scalar], list[Any]]:
    """The state after a step and the torque of its beginning on nodes, with nodes in the place of the plant's parameters.

    They are the kernel's own where it takes parameters.
    """
    tree = setup.plant.closed_tree if setup.robot.tree.loops else setup.plant.tree
    require_mass(tree, "simulate")
    way = None if setup.free or setup.holds else constrained_acceleration if tree.loops else forward_by_crba
    if setup.parametric:
        return *packed_step(setup, partial(step, setup, tree, way), h, x, *rest), list(rest[-1])
    graph = x[0].graph
    pi = [graph.input(_PARAMETERS, k) for k in range(len(parameters(tree)))]
    return *packed_step(setup, partial(step, setup, with_scalars(tree, pi), way), h, x, *rest), pi


def _numbers_for(setup: Setup, nodes: list[Any], pi: list[Any]) -> list[Any]:
    """The nodes with the plant's parameters in the place of `pi`; as they are where the kernel takes parameters."""
    return nodes if setup.parametric else substitute(nodes, dict(zip(pi, parameters(setup.plant.tree), strict=True)))
