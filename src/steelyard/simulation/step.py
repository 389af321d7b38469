"""One step of a simulation as one kernel: controller, forward dynamics and integrator in one graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    @property
    def key(self) -> tuple[Any, ...]:
        """All that the kernel depends on."""
        law = self.controller
        model = "" if law is None else (law.model or self.robot).fingerprint
        gains = 0 if law is None else len(law.gains(self.robot.n))
        name = "" if law is None else f"{type(law).__module__}.{type(law).__qualname__}"
        return (self.robot.fingerprint, "simulate", self.method, self.control, name, model, gains, self.saturated)

    def operands(self) -> tuple[list[Operand], list[Operand]]:
        """h, q, qd, the books (work and heat so far [J]) and what the control takes; q, qd, books after it, and the torque that acted."""
        n = self.robot.n
        state = [Operand("q", (n,), "[rad|m]"), Operand("qd", (n,), "[rad/s|m/s]"), Operand("books", (2,), "[J]")]
        taken = [Operand("h", (), "[s]"), *state]
        if self.control == "held":
            taken.append(Operand("tau", (n,), "[N m|N]"))
        if self.controller is not None:
            taken += [Operand("wanted", (3, n), "[rad|m, ...]"), Operand("gains", (len(self.controller.gains(n)),), "")]
        return taken, [*state, Operand("tau", (n,), "[N m|N]")]


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
    (_, q, qd, _, *control), _ = setup.operands()

    def make() -> Program:
        return trace("control", lambda *state: _saturated(setup, _torques(setup, *state)), [q, qd, *control], [Operand("tau", q.shape)])

    return _kernel(setup, "control", make)


def step_program(setup: Setup) -> Program:
    """The shortest program of a step, of those by the mass matrix and by articulated bodies, on the tree and on the customised one."""
    tree = setup.robot.tree
    require_mass(tree, "simulate")
    ways: list[Forward | None] = [None] if dry_joints(tree) else [forward_by_crba, *([aba] if tree.stands_alone else [])]
    taken, given = setup.operands()
    made = [trace("simulate", partial(_step, setup, form, way), taken, given) for form in (tree, customised(tree)) for way in ways]
    return min(made, key=cost)


def _step(setup: Setup, tree: Tree, way: Forward | None, h: Scalar, q: Scalars, qd: Scalars, books: Scalars, *control: Any) -> Any:
    """The step on expressions. Torques are those at its beginning, held to its end, as a digital controller holds them."""
    tau = _saturated(setup, _torques(setup, q, qd, *control))
    found = sides(tree, q, qd, tau) if way is None else Sides([None] * tree.n)
    heats = rubs(tree)

    def rates(where_: Scalars, speed: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        if way is None:
            qdd, friction = held_dynamics(tree, where_, speed, tau, found)
        else:
            qdd, friction = way(tree, where_, speed, tau), friction_torque(tree, speed, where_) if heats else []
        return qdd, [_power(friction, speed)] if heats else []

    q_after, qd_after, heat = advanced(setup.method, rates, q, qd, h)
    if way is None:
        qd_after, more = turned_round(tree, q_after, qd_after, qd, found, h)
        heat = [heat[0] + more]
    moved = [a - b for a, b in zip(q_after, q, strict=True)]
    return q_after, qd_after, [books[0] + _power(tau, moved), *(b + x for b, x in zip(books[1:], heat or [0.0], strict=True))], tau


def _torques(setup: Setup, q: Scalars, qd: Scalars, *control: Any) -> list[Scalar]:
    if setup.controller is not None:
        wanted, gains = control
        return setup.controller.law((setup.controller.model or setup.robot).tree, q, qd, wanted, gains)
    return list(control[0]) if setup.control == "held" else [0.0] * setup.robot.n


def _saturated(setup: Setup, tau: list[Scalar]) -> list[Scalar]:
    """Torques within the limits of the drives."""
    if not setup.saturated:
        return tau
    made = []
    for x, limit in zip(tau, setup.robot.tree.limits, strict=True):
        e = limit.effort
        made.append(x if e == float("inf") else where(x > e, e, where(x < -e, -e, x)))
    return made


def _power(tau: Scalars, qd: Scalars) -> Scalar:
    """tau . qd."""
    total: Scalar = 0.0
    for a, b in zip(tau, qd, strict=True):
        total = total + a * b
    return total
