"""Exact derivatives of a run.

Forward: to the initial state and the robot's parameters. Backward: of one number, by the adjoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.scalar import Scalar, Scalars
from ..arguments import numbers
from ..compiler.ir.differentiate import derivative, gradient, graph_jacobian, substitute
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.forward.by_crba import forward_by_crba
from ..errors import CallError
from ..floating_point import default_errstate
from ..kernels import kernel_of
from ..kernels.algorithms import require_mass
from ..kernels.loops import closed_state, constrained_acceleration
from ..mechanism.parameter_vector import parameters as parameter_values
from ..mechanism.parameter_vector import with_scalars
from ..mechanism.tree import Tree
from ..option_groups.simulation import StepOptions
from ..robot import Robot
from .control import Control
from .controllers.controller import Controller
from .options import SimulationKeywords, SimulationOptions
from .run import Run
from .simulate import simulate, simulation_options, simulation_problem
from .state import State
from .step import packed_kernel, packed_operands, packed_step
from .step import step as simulation_step
from .step_model import StepModel
from .time_stepping import SimulationProblem

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
# operand number of the nodes that stand for parameters while a program is traced
_PARAMETERS = 3_000_000


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of (q, qd) at every sample of a run.

    Parameters
    ----------
    run : the differentiated `Run`
    state : derivatives to (q0, qd0) (..., T, 2 n, 2 n)
    parameters : derivatives to the parameters (..., T, 2 n, p)
    parameter_names : names such as link3.m; with elastic drives of the link side
    torque : derivatives of the commanded torques to the parameters (..., T, n, p)
    """

    run: Run
    state: Array
    parameters: Array
    parameter_names: tuple[str, ...]
    torque: Array


@dataclass(frozen=True, eq=False)
class RunGradient:
    """Derivatives of one number of a run to q0 and qd0 (..., n) and to the parameters (..., p)."""

    run: Run
    q0: Array
    qd0: Array
    parameters: Array
    parameter_names: tuple[str, ...]


@default_errstate
def sensitivities(
    robot: Robot,
    controller: Controller | ArrayLike | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    seconds: float = 1.0,
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
    parameters: ArrayLike | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    options: SimulationOptions | None = None,
    **keywords: Unpack[SimulationKeywords],
) -> Sensitivities:
    """Differentiate a run with respect to its initial state and the robot's parameters.

    Each step is differentiated as it is computed, x' = f(x, pi): dx' = df/dx dx + df/dpi dpi. These
    are the derivatives of the simulated run, not of the motion that it approximates. The
    controller's own model is constant; with `parameters` a controller without a model changes with
    the robot. A Python function cannot be differentiated. With loops, a change of q0 or qd0 is
    projected onto closed states. Where a joint sticks, breaks loose or strikes a stop, derivatives
    belong to the simulated steps. Hairer, Norsett and Wanner, "Solving Ordinary Differential
    Equations I", section II.4 (internal differentiation).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    controller : as of `simulate`, except Python functions.
    q0, qd0 : (..., n) initial positions [rad|m] and velocities [rad/s|m/s].
    seconds, step, method, every, parameters, progress, options : as of `simulate`; method
        "adaptive" cannot be differentiated.

    Returns
    -------
    A `Sensitivities`.
    """
    steps = StepOptions(seconds=seconds, step=step, method=method, every=every)
    chosen = simulation_options(options, keywords)
    problem = _differentiable_problem(robot, controller, q0, qd0, parameters, steps, chosen)
    run = simulate(
        robot,
        controller,
        q0,
        qd0,
        seconds,
        step,
        method,
        every,
        parameters,
        progress=progress,
        options=chosen,
    )
    names = problem.model.plant.parameter_names
    first = _first_tangents(problem, len(names))
    directions = np.vstack([np.zeros((2 * robot.n, len(names))), np.eye(len(names))])
    x0 = np.concatenate(problem.state.parts(), axis=-1)
    states, torque = (
        np.swapaxes(tangents, -1, -2) for tangents in _forward(problem, x0, first, directions)
    )
    start = 2 * robot.n
    return Sensitivities(
        run=run,
        state=states[..., :start],
        parameters=states[..., start:],
        parameter_names=names,
        torque=torque[..., start:],
    )


@default_errstate
def run_gradient(
    robot: Robot,
    weights: ArrayLike | Callable[[Run], ArrayLike],
    controller: Controller | ArrayLike | None = None,
    q0: ArrayLike | None = None,
    qd0: ArrayLike | None = None,
    seconds: float = 1.0,
    step: float = 1e-3,
    method: str = "rk4",
    every: int = 1,
    parameters: ArrayLike | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    **keywords: Unpack[SimulationKeywords],
) -> RunGradient:
    """Compute the gradient of one number J of a run by one backward pass.

    lambda = (df/dx)^T lambda' + weights, dJ/dpi = sum (df/dpi)^T lambda'. The cost does not depend
    on the number of parameters. Griewank and Walther, "Evaluating Derivatives", 2nd ed., chapter 3
    (reverse mode).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    weights : dJ/d(q, qd) at every sample (..., T, 2 n), or a function of the run that returns them,
        such as lambda run: 2 (x - measured).
    controller : as of `simulate`, except Python functions.
    q0, qd0 : (..., n) initial positions [rad|m] and velocities [rad/s|m/s].
    seconds, step, method, every, parameters, progress : as of `simulate`; method "adaptive" cannot
        be differentiated.

    Returns
    -------
    A `RunGradient`.
    """
    steps = StepOptions(seconds=seconds, step=step, method=method, every=every)
    chosen = simulation_options(None, keywords)
    problem = _differentiable_problem(robot, controller, q0, qd0, parameters, steps, chosen)
    run = simulate(
        robot,
        controller,
        q0,
        qd0,
        seconds,
        step,
        method,
        every,
        parameters,
        progress=progress,
        options=chosen,
    )
    values = numbers("run_gradient: weights", weights(run) if callable(weights) else weights)
    shape = (*run.q.shape[:-1], 2 * robot.n)
    if values.shape != shape or not np.all(np.isfinite(values)):
        raise CallError(
            f"run_gradient: weights have shape {values.shape}; expected finite numbers {shape},"
            " dJ/d(q, qd) at every sample"
        )
    adjoint, gradient_of_parameters = _backward(problem, values)
    n, start = robot.n, _to_start(problem, adjoint)
    return RunGradient(
        run=run,
        q0=start[..., :n],
        qd0=start[..., n:],
        parameters=gradient_of_parameters,
        parameter_names=problem.model.plant.parameter_names,
    )


def _differentiable_problem(
    robot: Robot,
    controller: Any,
    q0: ArrayLike | None,
    qd0: ArrayLike | None,
    parameters: ArrayLike | None,
    steps: StepOptions,
    options: SimulationOptions,
) -> SimulationProblem:
    """Check the arguments of `simulate`; raise CallError for a run without derivatives."""
    problem = simulation_problem(robot, controller, q0, qd0, parameters, steps, options)
    if problem.control.function is not None:
        raise CallError(
            "sensitivities: a Python function cannot be differentiated; use a controller of"
            " steelyard.simulation, or torques"
        )
    if steps.method == "adaptive":
        raise CallError(
            "sensitivities: the adaptive method cannot be differentiated; use method='rk4', 'rk8'"
            " or 'euler'"
        )
    return problem


def _first_tangents(problem: SimulationProblem, p: int) -> Array:
    """Return tangents of the whole initial state (..., 2 n + p, N).

    One row for each of q0, qd0 and the p parameters.
    """
    model, state, n = problem.model, problem.state, problem.model.robot.n
    first = _closed_tangents(problem) if model.robot.tree.loops else np.eye(2 * n)
    dq, dqd = first[..., :n], first[..., n:]

    def zeros(part: Array | None) -> Array | None:
        return None if part is None else np.zeros((*first.shape[:-1], part.shape[-1]))

    tangents: State[Any] = State(
        q=dq,
        qd=dqd,
        energy=zeros(state.energy),
        base_pose=zeros(state.base_pose),
        base_twist=zeros(state.base_twist),
        # linear in both
        drive=None if model.drive is None else model.drive.start(model.robot, dq, dqd),
        memory=zeros(state.memory),
        presliding=zeros(state.presliding),
    )
    rows = np.concatenate(tangents.parts(), axis=-1)
    return np.concatenate([rows, np.zeros((*rows.shape[:-2], p, rows.shape[-1]))], axis=-2)


def _closed_tangents(problem: SimulationProblem) -> Array:
    """Return derivatives of the closed initial state (..., 2 n, 2 n), a row per q0 and qd0."""
    kernel = kernel_of(closed_start_program, problem.model.robot.closed_tree)
    return np.asarray(kernel(problem.state.q, problem.state.qd))


def closed_start_program(tree: Tree) -> Program:
    """Return the program of the derivatives of the nearest closed state to q and qd."""
    n = tree.n

    def make(q: Any, qd: Any) -> list[list[Scalar]]:
        q_closed, qd_closed = closed_state(tree, q, qd, precise=True)
        rows = graph_jacobian([*q_closed, *qd_closed], [*q, *qd])
        return [list(column) for column in zip(*rows, strict=True)]

    return trace(
        "start",
        make,
        [Operand("q", (n,)), Operand("qd", (n,))],
        [Operand("tangents", (2 * n, 2 * n))],
    )


def _to_start(problem: SimulationProblem, adjoint: Array) -> Array:
    """Return the adjoint of (q0, qd0) (..., 2 n) from the adjoint of the whole initial state."""
    return np.einsum("...i,...ji->...j", adjoint, _first_tangents(problem, 0))


def _forward(problem: SimulationProblem, x: Array, dx: Array, dpi: Array) -> tuple[Array, Array]:
    """Return tangents of (q, qd) (..., T, 2 n + p, 2 n) and torques (..., T, 2 n + p, n)."""
    schedule, control, m = problem.schedule, problem.control, 2 * problem.model.robot.n
    call = tangent_kernel(problem.model).ufunc
    x, dx = x[..., None, :], np.broadcast_to(dx, (*x.shape[:-1], *dx.shape[-2:]))
    states, torques = [dx[..., :m]], []
    for k in range(schedule.steps):
        x, dx, dtau = call(schedule.step, x, *_inputs(control, k), dx, dpi)
        x = x[..., :1, :]
        if k % schedule.every == 0:
            torques.append(dtau)
        if (k + 1) % schedule.every == 0 or k + 1 == schedule.steps:
            states.append(dx[..., :m])
    return np.stack(states, axis=-3), np.stack([*torques, dtau], axis=-3)


def _backward(problem: SimulationProblem, weights: Array) -> tuple[Array, Array]:
    """Return adjoints of the whole initial state (..., N) and of the parameters (..., p)."""
    model, schedule, control, _ = problem
    m = 2 * model.robot.n
    forward, backward = packed_kernel(model).ufunc, adjoint_kernel(model).ufunc
    path = [np.concatenate(problem.state.parts(), axis=-1)]
    for k in range(schedule.steps - 1):
        path.append(forward(schedule.step, path[-1], *_inputs(control, k)))
    rows = {int(k): i for i, k in enumerate(schedule.recorded)}
    adjoint = np.zeros_like(path[0])
    adjoint[..., :m] = weights[..., -1, :]
    total = np.zeros((*adjoint.shape[:-1], len(model.plant.parameters)))
    for k in reversed(range(schedule.steps)):
        adjoint, share = backward(schedule.step, path[k], *_inputs(control, k), adjoint)
        total = total + share
        if k in rows:
            adjoint[..., :m] += weights[..., rows[k], :]
    return adjoint, total


def _inputs(control: Control, k: int) -> tuple[Any, ...]:
    """Return the inputs of step k after the state, for control that does not read the state."""
    return control.step_inputs(k, 0.0, np.empty(0), np.empty(0))


def tangent_kernel(model: StepModel) -> Kernel:
    """Return the kernel of a step and its tangent: (h, x, ..., dx, dpi) -> (x', dx', dtau).

    tau is the torque at the beginning of the step.
    """
    return kernel_of(tangent_program, model.traced())


def tangent_program(model: StepModel) -> Program:
    """Return the program of a step and its tangent."""
    h, whole, inputs = packed_operands(model)
    p = len(model.plant.parameters)
    operands = [h, whole, *inputs, Operand("dx", whole.shape), Operand("dpi", (p,))]

    def make(h: Scalar, x: Any, *values: Any) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        *inner, dx, dpi = values
        y, tau, pi = _traced(model, h, x, inner)
        changes = derivative(
            [*y, *tau], {**dict(zip(x, dx, strict=True)), **dict(zip(pi, dpi, strict=True))}
        )
        nodes, N = _with_parameters(model, [*y, *changes], pi), len(y)
        return nodes[:N], nodes[N : 2 * N], nodes[2 * N :]

    outputs = [whole, Operand("dx", whole.shape), Operand("dtau", (model.robot.n,))]
    return trace("tangent", make, operands, outputs)


def adjoint_kernel(model: StepModel) -> Kernel:
    """Return the kernel of a step backward: (h, x, ..., bar) -> (bar of x, bar of the parameters).

    The input bar is the adjoint of the state after the step.
    """
    return kernel_of(adjoint_program, model.traced())


def adjoint_program(model: StepModel) -> Program:
    """Return the program of a step backward."""
    h, whole, inputs = packed_operands(model)
    p = len(model.plant.parameters)

    def make(h: Scalar, x: Any, *values: Any) -> tuple[list[Scalar], list[Scalar]]:
        *inner, bar = values
        y, _, pi = _traced(model, h, x, inner)
        total: Any = 0.0
        for a, b in zip(y, bar, strict=True):
            total = total + a * b
        nodes = _with_parameters(model, gradient(total, [*x, *pi]), pi)
        return nodes[: len(x)], nodes[len(x) :]

    outputs = [Operand("bar", whole.shape), Operand("pi", (p,))]
    return trace("adjoint", make, [h, whole, *inputs, Operand("bar", whole.shape)], outputs)


def _traced(
    model: StepModel, h: Scalar, x: Any, values: Scalars
) -> tuple[list[Scalar], list[Scalar], list[Any]]:
    """Return the state after a step, the torque of its beginning and the parameters, on nodes.

    The parameters are the kernel's input where it has one, else nodes that stand for the plant's.
    """
    tree = model.plant.closed_tree if model.robot.tree.loops else model.plant.tree
    require_mass(tree, "simulate")
    forward = (
        None
        if model.free_base or model.may_lock
        else constrained_acceleration
        if tree.loops
        else forward_by_crba
    )
    if model.parametric:
        one_step = partial(simulation_step, model, tree, forward)
        return *packed_step(model, one_step, h, x, *values), list(values[-1])
    graph = x[0].graph
    pi = [graph.input(_PARAMETERS, k) for k in range(len(parameter_values(tree)))]
    one_step = partial(simulation_step, model, with_scalars(tree, pi), forward)
    return *packed_step(model, one_step, h, x, *values), pi


def _with_parameters(model: StepModel, nodes: list[Any], pi: list[Any]) -> list[Any]:
    """Substitute the plant's parameters for `pi`, unless the kernel takes parameters."""
    if model.parametric:
        return nodes
    return substitute(nodes, dict(zip(pi, parameter_values(model.plant.tree), strict=True)))
