"""One simulation step as one kernel: controller, forward dynamics and integrator in one graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ..algebra.scalar import Scalar, Scalars, dot, where
from ..compiler.ir.program import Operand, Program, repeat, trace
from ..compiler.ir.schedule import order_by_critical_path
from ..compiler.render.llvm.module import BUDGET
from ..compiler.runtime.kernel import Kernel
from ..dynamics.crba import mass_matrix
from ..dynamics.forward.aba import aba
from ..dynamics.forward.by_crba import forward_by_crba
from ..dynamics.forward.free_base import free_mass_matrix
from ..dynamics.joint_torques import friction_torque, presliding_state
from ..kernels import cost, customised, kernel_of
from ..kernels.algorithms import require_mass
from ..kernels.loops import closed_state, constrained_acceleration, reduced_equations
from ..mechanism.parameter_vector import with_scalars
from ..mechanism.tree import Tree
from .drives import Actuation, actuated
from .dry_friction import (
    Equations,
    FrictionSides,
    apply_reversal_impulses,
    apply_stop_impulses,
    equations,
    friction_sides,
    locked_dynamics,
)
from .free_base import (
    free_accelerations,
    free_closed_accelerations,
    free_equations_of_motion,
    in_world,
    rates_of_position,
    to_base_axes,
    to_world_axes,
    unit_quaternion,
)
from .integrators import RATES, integrate_step
from .loops import (
    closed_impulses,
    closed_locked_dynamics,
    drive_torques,
    independent_entries,
    independent_tree,
)
from .state import State, StepInputs
from .step_model import StepModel

Step = Callable[..., tuple[State[Any], list[Scalar]]]
"""(h, *values) -> the state after a step of h [s], and the torque commanded at its beginning."""
Forward = Callable[[Tree, Scalars, Scalars, Scalars], list[Scalar]]


def has_dissipation(tree: Tree) -> bool:
    """Return whether a tree has friction or known torques, whose work counts as heat."""
    return any(not use.row.inertial for use in tree.joint_terms)


def step_kernel(model: StepModel) -> Kernel:
    """Return the kernel of steps: (h, state, inputs, count) -> (state, tau of the last step).

    The state stays in registers over `count` steps. A program that is too
    long for one function has no `count` and takes one step.
    """
    return kernel_of(steps_program, model.traced())


def steps_program(model: StepModel) -> Program:
    """Return the program of steps."""
    program = step_program(model)
    if len(program.steps) > BUDGET:
        return program
    return repeat(
        order_by_critical_path(program), [operand.name for operand in program.outputs[:-1]]
    )


def packed_kernel(model: StepModel) -> Kernel:
    """Return the kernel of a step with the whole state in one array: (h, x, inputs) -> x."""
    return kernel_of(packed_program, model.traced())


def packed_program(model: StepModel) -> Program:
    """Return the program of a step with the whole state in one array."""
    h, whole, inputs = packed_operands(model)
    return step_program(model, partial(packed_state, model), [h, whole, *inputs], [whole])


def packed_operands(model: StepModel) -> tuple[Operand, Operand, list[Operand]]:
    """Return h, the whole state x, and the further inputs of a step."""
    inputs, outputs = model.operands()
    whole = Operand("x", (sum(operand.size for operand in outputs[:-1]),))
    return inputs[0], whole, inputs[len(outputs) :]


def packed_state(
    model: StepModel, one_step: Step, h: Scalar, x: Scalars, *values: Any
) -> list[Scalar]:
    """Return the whole state after a step as one list."""
    return packed_step(model, one_step, h, x, *values)[0]


def packed_step(
    model: StepModel, one_step: Step, h: Scalar, x: Scalars, *values: Any
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the whole state after a step as one list, and the torque of its beginning."""
    sizes = (operand.size for operand in model.state_operands().parts())
    cuts = list(accumulate(sizes, initial=0))
    state, command = one_step(h, *(x[a:b] for a, b in pairwise(cuts)), *values)
    return [value for part in state.parts() for value in part], list(command)


def flat_step(one_step: Step, h: Scalar, *values: Any) -> tuple[Any, ...]:
    """Return the parts of the state after a step, then the torque, as a kernel returns them."""
    state, command = one_step(h, *values)
    return *state.parts(), command


def law_kernel(model: StepModel) -> Kernel:
    """Return the kernel of a controller alone: (q, qd, reference, gains) -> tau."""
    return kernel_of(law_program, model.traced())


def law_program(model: StepModel) -> Program:
    """Return the program of a controller alone."""
    state, inputs = model.state_operands(), model.input_operands()
    inputs = StepInputs(
        reference=inputs.reference, gains=inputs.gains, parameters=inputs.parameters
    )

    def law(q: Any, qd: Any, *values: Any) -> list[Scalar]:
        return torques(model, State(q=q, qd=qd, energy=[]), inputs.with_parts(values))

    operands = [state.q, state.qd, *inputs.parts()]
    return trace("control", law, operands, [Operand("tau", (model.robot.n,))])


def step_program(
    model: StepModel,
    form: Callable[..., Any] = flat_step,
    inputs: Sequence[Operand] = (),
    outputs: Sequence[Operand] = (),
) -> Program:
    """Return the shortest program of a step.

    Candidates are the mass matrix and articulated bodies, on the tree and on the customised one.
    `form(step, ...)` computes `outputs` from `inputs`; by default the model's outputs and inputs.
    """
    tree = model.plant.closed_tree if model.robot.tree.loops else model.plant.tree
    require_mass(tree, "free_forward_dynamics" if model.free_base else "simulate")
    candidates: list[Forward | None] = (
        [None]
        if model.free_base or model.may_lock
        else [forward_by_crba, *([aba] if tree.is_uncoupled else [])]
    )
    if tree.loops and not model.free_base:
        candidates = [constrained_acceleration]
    # a moving base is affected by frames and shared inertias; inputs are not known while tracing
    plain = model.free_base or model.parametric
    trees = [tree] if plain else [tree, customised(tree)]
    steps = [partial(step, model, each, forward) for each in trees for forward in candidates]
    if not inputs:
        inputs, outputs = model.operands()
    return min((trace("simulate", partial(form, one), inputs, outputs) for one in steps), key=cost)


class CoordinateLayout(NamedTuple):
    """Order of joints, base and drives in the integrated positions x and velocities u."""

    n: int
    base: int  # 1 of a free base, else 0

    def positions(self, x: Scalars) -> tuple[Scalars, Scalars, Scalars]:
        """Return q, the pose of a free base, and the positions of the drives."""
        end = self.n + 7 * self.base
        return x[: self.n], x[self.n : end], x[end:]

    def velocities(self, u: Scalars) -> tuple[Scalars, Scalars, Scalars]:
        """Return qd, the twist of a free base, and the velocities of the drives."""
        end = self.n + 6 * self.base
        return u[: self.n], u[self.n : end], u[end:]


def step(
    model: StepModel, tree: Tree, forward: Forward | None, h: Scalar, *values: Any
) -> tuple[State[Any], list[Scalar]]:
    """Return the state after a step of h [s] on scalars, and the commanded torque.

    Torques are those at the beginning of the step, held to its end by a digital controller.
    Presliding states follow from the displacement since the beginning of the step.
    """
    (state, inputs), layout = model.unpack(values), CoordinateLayout(tree.n, int(model.free_base))
    tree = tree if inputs.parameters is None else with_scalars(tree, inputs.parameters)
    pose0, twist0 = state.base_pose or (), state.base_twist or ()
    command = torques(model, state, inputs)
    drive0 = split_drive(model, state)
    sides = _friction_sides(model, with_presliding(tree, state, state.q), state, inputs, command)

    def rates(x: Scalars, u: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        (q, pose, drive_x), (qd, twist, drive_v) = layout.positions(x), layout.velocities(u)
        acting = joint_actuation(model, inputs, command, q, qd, drive_x, drive_v)
        there = with_presliding(tree, state, q)
        if model.may_lock and tree.loops:
            accelerations, friction = closed_locked_dynamics(there, sides, q, qd, acting.tau)
        elif model.may_lock:
            motion = _equations(there, q, pose, qd, twist, acting.tau)
            accelerations, friction = locked_dynamics(there, motion, sides, q, qd)
            if model.free_base:
                accelerations = in_world(there, pose, accelerations)
        else:
            free = free_closed_accelerations if tree.loops else free_accelerations
            accelerations = (
                free(there, q, pose, qd, twist, acting.tau)
                if forward is None
                else forward(there, q, qd, acting.tau)
            )
            friction = friction_torque(there, qd, q) if has_dissipation(there) else []
        heat = acting.heat + (dot(friction, qd) if friction else 0.0)
        work = [] if model.drive is None else [acting.work]
        return [*accelerations, *acting.velocity_rates], [heat, *work]

    def position_rates(x: Scalars, u: Scalars) -> list[Scalar]:
        (q, pose, drive_x), (qd, twist, drive_v) = layout.positions(x), layout.velocities(u)
        acting = joint_actuation(model, inputs, command, q, qd, drive_x, drive_v)
        return [*rates_of_position(tree.n, [*q, *pose], [*qd, *twist]), *acting.position_rates]

    start = [*state.q, *pose0, *drive0[0]], [*state.qd, *twist0, *drive0[1]]
    x, u, gained = integrate_step(model.method, rates, *start, h, position_rates)
    (q, pose, drive_x), (qd, twist, drive_v) = layout.positions(x), layout.velocities(u)
    if tree.loops:
        q, closed = closed_state(tree, q, qd, precise=model.method == "euler")
        # where joints may stick, independent velocities decide: a joint at rest has exactly zero
        qd = qd if model.may_lock else closed
    end = State(q=q, qd=qd, energy=[], base_pose=pose, base_twist=twist)
    qd, twist, lost = (
        _after_impulses(model, with_presliding(tree, state, q), state, inputs, sides, h, end)
        if model.may_lock
        else (qd, twist, 0.0)
    )
    work = (
        dot(command, [a - b for a, b in zip(q, state.q, strict=True)])
        if model.drive is None
        else gained[1]
    )
    if model.free_base and model.method != RATES:
        pose = [*pose[:3], *unit_quaternion(pose[3:])]
    after = State(
        q=q,
        qd=qd,
        energy=[state.energy[0] + work, state.energy[1] + (gained[0] + lost)],
        base_pose=pose if model.free_base else None,
        base_twist=twist if model.free_base else None,
        drive=None if model.drive is None else [*drive_x, *drive_v],
        memory=integrated_memory(model, state, inputs, h),
        presliding=list(with_presliding(tree, state, q).memory) if state.presliding else None,
    )
    return after, command


def with_presliding(tree: Tree, start: State[Any], q: Scalars) -> Tree:
    """Return the tree with the presliding states at positions q of a step from a state."""
    if not start.presliding:
        return tree
    displacements = [a - b for a, b in zip(q, start.q, strict=True)]
    return replace(tree, memory=tuple(presliding_state(tree, start.presliding, displacements)))


def _friction_sides(
    model: StepModel, tree: Tree, state: State[Any], inputs: StepInputs[Any], command: Scalars
) -> FrictionSides:
    """Return which joints friction and stops hold at the beginning of a step."""
    independent = independent_tree(tree)
    if not model.may_lock:
        return FrictionSides([None] * independent.n, [0.0] * independent.n)
    acting = joint_actuation(model, inputs, command, state.q, state.qd, *split_drive(model, state))
    pose, twist = state.base_pose or (), state.base_twist or ()
    motion = _equations(tree, state.q, pose, state.qd, twist, acting.tau)
    q, qd = independent_entries(tree, state.q), independent_entries(tree, state.qd)
    return friction_sides(independent, motion, q, qd, model.stops)


def _equations(
    tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars
) -> Equations:
    """Return the equations of motion without friction; with a pose, of a free base."""
    if tree.loops:
        return Equations(*reduced_equations(tree, q, qd, tau)[:2])
    if pose:
        return Equations(*free_equations_of_motion(tree, q, pose, qd, twist, tau))
    return equations(tree, q, qd, tau)


def _after_impulses(
    model: StepModel,
    tree: Tree,
    start: State[Any],
    inputs: StepInputs[Any],
    sides: FrictionSides,
    h: Scalar,
    end: State[Any],
) -> tuple[Scalars, Scalars, Scalar]:
    """Return qd and twist after impulses of reversals and stops, and their heat [J]."""
    q, qd, restitution = end.q, end.qd, inputs.restitution
    pose, twist = end.base_pose or (), end.base_twist or ()
    if tree.loops:
        before = independent_entries(tree, start.qd)
        stops = None if restitution is None else independent_entries(tree, restitution)
        after, heat = closed_impulses(tree, before, sides, h, q, qd, stops)
        return after, twist, heat
    M = free_mass_matrix(tree, q) if model.free_base else mass_matrix(tree, q)
    u = [*(to_base_axes(pose, twist) if model.free_base else ()), *qd]
    u, heat = apply_reversal_impulses(tree, M, q, u, start.qd, sides, h)
    u, lost = (
        (u, 0.0) if restitution is None else apply_stop_impulses(tree, M, q, u, sides, restitution)
    )
    return u[-tree.n :], to_world_axes(pose, u[:6]) if model.free_base else twist, heat + lost


def joint_actuation(
    model: StepModel,
    inputs: StepInputs[Any],
    command: Scalars,
    q: Scalars,
    qd: Scalars,
    x: Scalars,
    v: Scalars,
) -> Actuation:
    """Return the torques that reach the joints; x and v are the state of the drives."""
    constants = inputs.drive_constants or ()
    return actuated(model.drive, model.robot.tree.driven, command, q, qd, x, v, constants)


def split_drive(model: StepModel, state: State[Any]) -> tuple[Scalars, Scalars]:
    """Return positions and velocities of the drives."""
    if model.drive is None or state.drive is None:
        return (), ()
    cut = model.drive.kinds[0] * model.robot.n
    return state.drive[:cut], state.drive[cut:]


def integrated_memory(
    model: StepModel, state: State[Any], inputs: StepInputs[Any], h: Scalar
) -> list[Scalar] | None:
    """Return the controller's memory after an Euler step of h [s], None without memory."""
    law: Any = model.controller
    if state.memory is None:
        return None
    tree = _law_tree(model, inputs)
    rates = law.memory_rate(tree, state.q, state.qd, inputs.reference, inputs.gains, state.memory)
    return [a + h * b for a, b in zip(state.memory, rates, strict=True)]


def _law_tree(model: StepModel, inputs: StepInputs[Any]) -> Tree:
    """Return the tree of the controller's model, or the robot's with the parameters of the step."""
    law = model.controller
    if law is not None and law.model is not None:
        return law.model.tree
    tree = model.robot.tree
    return tree if inputs.parameters is None else with_scalars(tree, inputs.parameters)


def torques(model: StepModel, state: State[Any], inputs: StepInputs[Any]) -> list[Scalar]:
    """Return the commanded torques, within the effort limits where the model saturates."""
    return _saturated(model, _commanded(model, state, inputs))


def _commanded(model: StepModel, state: State[Any], inputs: StepInputs[Any]) -> list[Scalar]:
    """Return the torques of the controller, else constant torques of the inputs, else zero."""
    law = model.controller
    if law is not None:
        memory = (state.memory,) if model.memory_size else ()
        tree = _law_tree(model, inputs)
        tau = law.law(tree, state.q, state.qd, inputs.reference, inputs.gains or (), *memory)
        return drive_torques(model.robot, state.q, tau)
    return [0.0] * model.robot.n if inputs.tau is None else list(inputs.tau)


def _saturated(model: StepModel, tau: list[Scalar]) -> list[Scalar]:
    """Return torques within the effort limits."""
    if not model.saturated:
        return tau
    limited = []
    for x, limit in zip(tau, model.robot.tree.limits, strict=True):
        e = limit.effort
        limited.append(x if e == float("inf") else where(x > e, e, where(x < -e, -e, x)))
    return limited
