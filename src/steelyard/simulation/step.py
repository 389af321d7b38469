"""One step of a simulation as one kernel: controller, forward dynamics and integrator in one graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..algebra.scalar import Scalar, where
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.forward.aba import aba
from ..dynamics.forward.by_crba import forward_by_crba
from ..dynamics.joint_torques import friction_torque
from ..kernels import cost, customised, kernel_of
from ..kernels.algorithms import require_mass
from ..mechanism.tree import Tree
from ..robot import Robot
from . import controllers
from .controllers import Controller
from .dry_friction import Sides, dry_joints, held_dynamics, sides, turned_round
from .free_base import free_accelerations, rates_of_position, unit_quaternion
from .integrators import advanced

Scalars = Sequence[Scalar]
Forward = Callable[[Tree, Scalars, Scalars, Scalars], list[Scalar]]


@dataclass(frozen=True)
class Setup:
    """What a step is made of: the robot, the method, the kind of control ("none", "held" torques, or a controller), saturation."""

    robot: Robot
    method: str
    control: str
    controller: Controller | None = None
    saturated: bool = False
    free: bool = False  # nothing holds the base

    @property
    def key(self) -> tuple[Any, ...]:
        """All that the kernel depends on."""
        law = self.controller
        model = "" if law is None else (law.model or self.robot).fingerprint
        gains = 0 if law is None else len(law.gains(self.robot.n))
        name = "" if law is None else f"{type(law).__module__}.{type(law).__qualname__}"
        return (self.robot.fingerprint, "simulate", self.method, self.control, name, model, gains, self.saturated, self.free)

    def operands(self) -> tuple[list[Operand], list[Operand]]:
        """h, q, qd, the books (work and heat so far [J]) and what the control takes; q, qd, books after it, and the torque that acted."""
        n = self.robot.n
        state = [Operand("q", (n,), "[rad|m]"), Operand("qd", (n,), "[rad/s|m/s]"), Operand("books", (2,), "[J]")]
        state += [Operand("pose", (7,), "[m, -]"), Operand("twist", (6,), "[m/s, rad/s]")] if self.free else []
        taken = [Operand("h", (), "[s]"), *state]
        if self.control == "held":
            taken.append(Operand("tau", (n,), "[N m|N]"))
        if self.controller is not None:
            taken += [Operand("wanted", (3, n), "[rad|m, ...]"), Operand("gains", (len(self.controller.gains(n)),), "")]
        return taken, [*state, Operand("tau", (n,), "[N m|N]")]

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """What a step takes after h, by name."""
        return {operand.name: value for operand, value in zip(self.operands()[0][1:], values, strict=True)}


def rubs(tree: Tree) -> bool:
    """Whether a tree has friction or known torques, whose work is counted."""
    return any(not use.row.inertial for use in tree.joint_terms)


def step_kernel(setup: Setup) -> Kernel:
    """The kernel of a step: (h, q, qd, books, ...) -> (q, qd, books, tau)."""
    return _kernel(setup, "step", partial(step_program, setup))


def _kernel(setup: Setup, what: str, make: Callable[[], Program]) -> Kernel:
    """The kernel of a program. One with a controller from elsewhere is traced anew, since no key tells what its law depends on."""
    if setup.controller is not None and type(setup.controller).__module__ != controllers.__name__:
        return Kernel(make())
    return kernel_of((*setup.key, what), make, Path(__file__).parent)


def law_kernel(setup: Setup) -> Kernel:
    """The kernel of a controller alone: (q, qd, wanted, gains) -> tau."""
    taken = [operand for operand in setup.operands()[0] if operand.name in ("q", "qd", "wanted", "gains")]

    def law(*values: Any) -> list[Scalar]:
        return torques(setup, {operand.name: value for operand, value in zip(taken, values, strict=True)})

    return _kernel(setup, "control", partial(trace, "control", law, taken, [Operand("tau", (setup.robot.n,))]))


def step_program(setup: Setup) -> Program:
    """The shortest program of a step, of those by the mass matrix and by articulated bodies, on the tree and on the customised one."""
    tree = setup.robot.tree
    require_mass(tree, "free_forward_dynamics" if setup.free else "simulate")
    taken, given = setup.operands()
    ways: list[Forward | None] = [None] if setup.free or dry_joints(tree) else [forward_by_crba, *([aba] if tree.stands_alone else [])]
    forms = [tree] if setup.free else [tree, customised(tree)]  # a base that moves feels frames and shared inertias
    made = [trace("simulate", partial(_step, setup, form, way), taken, given) for form in forms for way in ways]
    return min(made, key=cost)


def _step(setup: Setup, tree: Tree, way: Forward | None, h: Scalar, *values: Any) -> Any:
    """The step on expressions. Torques are those at its beginning, held to its end, as a digital controller holds them."""
    at = setup.named(values)
    q, qd, books, pose, twist = at["q"], at["qd"], at["books"], at.get("pose", ()), at.get("twist", ())
    tau, n, heats = torques(setup, at), tree.n, rubs(tree)
    found = sides(tree, q, qd, tau) if way is None and not setup.free else Sides([None] * n)

    def rates(x: Scalars, u: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        if setup.free:
            accelerations = free_accelerations(tree, x, u, tau)
        elif way is None:
            accelerations, friction = held_dynamics(tree, x, u, tau, found)
            return accelerations, [power(friction, u)]
        else:
            accelerations = way(tree, x, u, tau)
        return accelerations, [power(friction_torque(tree, u[:n], x[:n]), u[:n])] if heats else []

    x, u, heat = advanced(setup.method, rates, [*q, *pose], [*qd, *twist], h, partial(rates_of_position, n))
    after, more = turned_round(tree, x, u, qd, found, h) if way is None and not setup.free else (u, 0.0)
    moved = [a - b for a, b in zip(x[:n], q, strict=True)]
    kept = [books[0] + power(tau, moved), books[1] + (heat[0] + more if heat else more)]
    return x[:n], after[:n], kept, *([[*x[n : n + 3], *unit_quaternion(x[n + 3 :])], after[n:]] if setup.free else []), tau


def torques(setup: Setup, at: Mapping[str, Any]) -> list[Scalar]:
    """What the drives give: the controller's torques, within their limits if they are to be."""
    return _saturated(setup, _commanded(setup, at))


def _commanded(setup: Setup, at: Mapping[str, Any]) -> list[Scalar]:
    law = setup.controller
    if law is not None:
        return law.law((law.model or setup.robot).tree, at["q"], at["qd"], at["wanted"], at["gains"])
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


def power(tau: Scalars, qd: Scalars) -> Scalar:
    """tau . qd."""
    total: Scalar = 0.0
    for a, b in zip(tau, qd, strict=True):
        total = total + a * b
    return total
