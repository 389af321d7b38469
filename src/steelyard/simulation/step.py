"""One step of a simulation as one kernel: controller, forward dynamics and integrator in one graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ..algebra.scalar import Scalar, Scalars, dot, where
from ..compiler.ir.program import Operand, Program, repeated, trace
from ..compiler.ir.schedule import longest_first
from ..compiler.render.llvm.module import BUDGET
from ..compiler.runtime.kernel import Kernel
from ..dynamics.crba import mass_matrix
from ..dynamics.forward.aba import aba
from ..dynamics.forward.by_crba import forward_by_crba
from ..dynamics.forward.free_base import free_mass_matrix
from ..dynamics.joint_torques import friction_torque
from ..kernels import cost, customised, kernel_of
from ..kernels.algorithms import require_mass
from ..kernels.loops import closed_state, constrained_acceleration, reduced_equations
from ..mechanism.parameter_vector import with_scalars
from ..mechanism.tree import Tree
from .drives import Actuation, actuated
from .dry_friction import Equations, Sides, equations, held_dynamics, sides, struck, turned_round
from .free_base import (
    free_accelerations,
    free_closed_accelerations,
    in_world,
    own_equations,
    own_twist,
    rates_of_position,
    unit_quaternion,
    world_twist,
)
from .integrators import RATES, advanced
from .loops import at_independent, by_drives, closed_impulses, held_closed, leading
from .setup import Setup

Step = Callable[..., Any]
Forward = Callable[[Tree, Scalars, Scalars, Scalars], list[Scalar]]


def rubs(tree: Tree) -> bool:
    """Whether a tree has friction or known torques, whose work is counted."""
    return any(not use.row.inertial for use in tree.joint_terms)


def step_kernel(setup: Setup) -> Kernel:
    """The kernel of steps: (h, q, qd, books, ..., count) -> (q, qd, books, ..., tau), tau that of the last one.

    The state stays in registers over `count` steps; a kernel of a program so long that it is split takes no count, and one step.
    """
    return kernel_of(steps_program, setup.traced())


def steps_program(setup: Setup) -> Program:
    """Return the program of steps."""
    made = step_program(setup)
    return made if len(made.steps) > BUDGET else repeated(longest_first(made), [operand.name for operand in made.outputs[:-1]])


def packed_kernel(setup: Setup) -> Kernel:
    """The kernel of a step with the whole state in one array: (h, x, tau, ...) -> x."""
    return kernel_of(packed_program, setup.traced())


def packed_program(setup: Setup) -> Program:
    """Return the program of a step with the whole state in one array."""
    taken, whole, rest = packed_operands(setup)
    return step_program(setup, partial(packed_state, setup), [taken, whole, *rest], [whole])


def packed_operands(setup: Setup) -> tuple[Operand, Operand, list[Operand]]:
    """h, the whole state x, and what else a step takes."""
    taken, given = setup.operands()
    return taken[0], Operand("x", (sum(operand.size for operand in given[:-1]),)), taken[len(given) :]


def packed_state(setup: Setup, way: Step, h: Scalar, x: Scalars, *values: Any) -> list[Scalar]:
    """The whole state after a step, as one list."""
    return packed_step(setup, way, h, x, *values)[0]


def packed_step(setup: Setup, way: Step, h: Scalar, x: Scalars, *values: Any) -> tuple[list[Scalar], list[Scalar]]:
    """The whole state after a step, as one list, and the torque of its beginning."""
    cuts = list(accumulate((operand.size for operand in setup.operands()[1][:-1]), initial=0))
    made = way(h, *(x[a:b] for a, b in pairwise(cuts)), *values)
    return [value for part in made[:-1] for value in part], list(made[-1])


def law_kernel(setup: Setup) -> Kernel:
    """The kernel of a controller alone: (q, qd, wanted, gains) -> tau."""
    return kernel_of(law_program, setup.traced())


def law_program(setup: Setup) -> Program:
    """Return the program of a controller alone."""
    taken = [operand for operand in setup.operands()[0] if operand.name in ("q", "qd", "wanted", "gains", "parameters")]

    def law(*values: Any) -> list[Scalar]:
        return torques(setup, {operand.name: value for operand, value in zip(taken, values, strict=True)})

    return trace("control", law, taken, [Operand("tau", (setup.robot.n,))])


def step_program(
    setup: Setup, form: Callable[..., Any] | None = None, taken: Sequence[Operand] = (), given: Sequence[Operand] = ()
) -> Program:
    """The shortest program of a step, of those by the mass matrix and by articulated bodies, on the tree and on the customised one.

    `form(step, ...)` computes `given` from `taken`; by default a step as it is.
    """
    tree = setup.plant.closed_tree if setup.robot.tree.loops else setup.plant.tree
    require_mass(tree, "free_forward_dynamics" if setup.free else "simulate")
    ways: list[Forward | None] = [None] if setup.free or setup.holds else [forward_by_crba, *([aba] if tree.stands_alone else [])]
    ways = [constrained_acceleration] if tree.loops and not setup.free else ways
    plain = setup.free or setup.parametric  # a base that moves feels frames and shared inertias; those of parameters are not known yet
    trees = [tree] if plain else [tree, customised(tree)]
    steps = [partial(step, setup, each, way) for each in trees for way in ways]
    if form is None:
        return min((trace("simulate", one, *setup.operands()) for one in steps), key=cost)
    return min((trace("simulate", partial(form, one), taken, given) for one in steps), key=cost)


class Places(NamedTuple):
    """Where the parts of a state are among the positions x and the velocities u that are integrated: joints, base, drives."""

    n: int
    base: int  # 1 of a free base, else 0

    def positions(self, x: Scalars) -> tuple[Scalars, Scalars, Scalars]:
        """q, the pose of a free base, positions of the drives."""
        end = self.n + 7 * self.base
        return x[: self.n], x[self.n : end], x[end:]

    def velocities(self, u: Scalars) -> tuple[Scalars, Scalars, Scalars]:
        """qd, the twist of a free base, velocities of the drives."""
        end = self.n + 6 * self.base
        return u[: self.n], u[self.n : end], u[end:]


def step(setup: Setup, tree: Tree, way: Forward | None, h: Scalar, *values: Any) -> Any:
    """The step on expressions. Torques are those at its beginning, held to its end, as a digital controller holds them."""
    at, places = setup.named(values), Places(tree.n, int(setup.free))
    tree = with_scalars(tree, at["parameters"]) if setup.parametric else tree
    command = torques(setup, at)
    inner = split_drive(setup, at)
    lead = leading(tree)
    found = Sides([None] * lead.n, [0.0] * lead.n)
    if setup.holds:
        first = at_joints(setup, command, at, at["q"], at["qd"], *inner)
        given = _equations(tree, at["q"], at.get("pose", ()), at["qd"], at.get("twist", ()), first.tau)
        found = sides(lead, given, at_independent(tree, at["q"]), at_independent(tree, at["qd"]), setup.stops)

    def rates(x: Scalars, u: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        (q, pose, drive_x), (qd, twist, drive_v) = places.positions(x), places.velocities(u)
        acting = at_joints(setup, command, at, q, qd, drive_x, drive_v)
        if setup.holds and tree.loops:
            accelerations, friction = held_closed(tree, found, q, qd, acting.tau)
        elif setup.holds:
            own, friction = held_dynamics(tree, _equations(tree, q, pose, qd, twist, acting.tau), found, q, qd)
            accelerations = in_world(tree, pose, own) if setup.free else own
        else:
            alone = free_closed_accelerations if tree.loops else free_accelerations
            accelerations = alone(tree, q, pose, qd, twist, acting.tau) if way is None else way(tree, q, qd, acting.tau)
            friction = friction_torque(tree, qd, q) if rubs(tree) else []
        heat = acting.heat + (dot(friction, qd) if friction else 0.0)
        return [*accelerations, *acting.velocity_rates], [heat, *([] if setup.drive is None else [acting.work])]

    def moves(x: Scalars, u: Scalars) -> list[Scalar]:
        (q, pose, drive_x), (qd, twist, drive_v) = places.positions(x), places.velocities(u)
        acting = at_joints(setup, command, at, q, qd, drive_x, drive_v)
        return [*rates_of_position(tree.n, [*q, *pose], [*qd, *twist]), *acting.position_rates]

    start = [*at["q"], *at.get("pose", ()), *inner[0]], [*at["qd"], *at.get("twist", ()), *inner[1]]
    x, u, gained = advanced(setup.method, rates, *start, h, moves)
    (q, pose, drive_x), (qd, twist, drive_v) = places.positions(x), places.velocities(u)
    if tree.loops:
        q, closed = closed_state(tree, q, qd, precise=setup.method == "euler")
        qd = qd if setup.holds else closed  # where joints may stick, the independent ones lead: one that rests has no velocity at all
    qd, twist, lost = _after_impulses(setup, tree, at, found, h, q, pose, qd, twist) if setup.holds else (qd, twist, 0.0)
    work = dot(command, [a - b for a, b in zip(q, at["q"], strict=True)]) if setup.drive is None else gained[1]
    books = [at["books"][0] + work, at["books"][1] + (gained[0] + lost)]
    pose = pose if setup.method == RATES or not setup.free else [*pose[:3], *unit_quaternion(pose[3:])]
    base = [pose, twist] if setup.free else []
    drive = [] if setup.drive is None else [[*drive_x, *drive_v]]
    return q, qd, books, *base, *drive, *learned(setup, at, h), command


def _equations(tree: Tree, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars, tau: Scalars) -> Equations:
    """The equations of motion without friction; with a pose those of a free base, in its own frame."""
    if tree.loops:
        return Equations(*reduced_equations(tree, q, qd, tau)[:2])
    return Equations(*own_equations(tree, q, pose, qd, twist, tau)) if pose else equations(tree, q, qd, tau)


def _after_impulses(
    setup: Setup, tree: Tree, at: Mapping[str, Any], found: Sides, h: Scalar, q: Scalars, pose: Scalars, qd: Scalars, twist: Scalars
) -> tuple[Scalars, Scalars, Scalar]:
    """qd and twist at the end of a step after the impulses of joints that turned round or struck their stops, and their heat [J]."""
    if tree.loops:
        restitution = at_independent(tree, at["stops"]) if setup.stops else None
        after, heat = closed_impulses(tree, at_independent(tree, at["qd"]), found, h, q, qd, restitution)
        return after, twist, heat
    M = free_mass_matrix(tree, q) if setup.free else mass_matrix(tree, q)
    u, more = turned_round(tree, M, q, [*(own_twist(pose, twist) if setup.free else ()), *qd], at["qd"], found, h)
    u, lost = struck(tree, M, q, u, found, at["stops"]) if setup.stops else (u, 0.0)
    return u[-tree.n :], world_twist(pose, u[:6]) if setup.free else twist, more + lost


def at_joints(setup: Setup, command: Scalars, at: Mapping[str, Any], q: Scalars, qd: Scalars, x: Scalars, v: Scalars) -> Actuation:
    """What reaches the joints of a commanded torque; x and v are positions and velocities of the drives."""
    return actuated(setup.drive, setup.robot.tree.driven, command, q, qd, x, v, at.get("drive numbers", ()))


def split_drive(setup: Setup, at: Mapping[str, Any]) -> tuple[Scalars, Scalars]:
    """Positions and velocities of the drives."""
    if setup.drive is None:
        return (), ()
    cut = setup.drive.kinds[0] * setup.robot.n
    return at["drive"][:cut], at["drive"][cut:]


def learned(setup: Setup, at: Mapping[str, Any], h: Scalar) -> list[list[Scalar]]:
    """What a controller keeps, after a step of h [s] at the rates of its beginning; none where it keeps nothing."""
    law: Any = setup.controller
    if not setup.memory:
        return []
    tree = law.model.tree if law.model is not None else own_tree(setup, at)
    rates = law.memory_rate(tree, at["q"], at["qd"], at["wanted"], at["gains"], at["memory"])
    return [[a + h * b for a, b in zip(at["memory"], rates, strict=True)]]


def own_tree(setup: Setup, at: Mapping[str, Any]) -> Tree:
    """The robot's tree, with the parameters that the step is given if it is given any."""
    return with_scalars(setup.robot.tree, at["parameters"]) if setup.parametric else setup.robot.tree


def torques(setup: Setup, at: Mapping[str, Any]) -> list[Scalar]:
    """What the drives give: the controller's torques, within their limits if they are to be."""
    return _saturated(setup, _commanded(setup, at))


def _commanded(setup: Setup, at: Mapping[str, Any]) -> list[Scalar]:
    law = setup.controller
    if law is not None:
        memory = (at["memory"],) if setup.memory else ()
        tree = law.model.tree if law.model is not None else own_tree(setup, at)
        tau = law.law(tree, at["q"], at["qd"], at["wanted"], at["gains"], *memory)
        return by_drives(setup.robot, at["q"], tau)
    return list(at["tau"]) if setup.control == "held" else [0.0] * setup.robot.n


def _saturated(setup: Setup, tau: list[Scalar]) -> list[Scalar]:
    """Torques within the limits of the drives."""
    if not setup.saturated:
        return tau
    made = []
    for x, limit in zip(tau, setup.robot.tree.limits, strict=True):
        e = limit.effort
        made.append(x if e == float("inf") else where(x > e, e, where(x < -e, -e, x)))
    return made
