"""Instants at which joints come to rest, break loose, reach their stops or leave them; between them the equations are smooth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..algebra.scalar import dot, where
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.crba import mass_matrix
from ..kernels import customised, kernel_of
from ..kernels.algorithms import require_mass
from ..mechanism.tree import Tree
from ..robot import Robot
from .dry_friction import CREEP, Sides, breakaway, dry_joints, equations, held_dynamics, needed, sides, stop_joints, struck

Array = NDArray[np.float64]
Torque = Callable[[float, Array, Array], Array]
"""(t, q, qd) -> tau [N m|N], (n,)."""
MOST_CHANGES = 1000  # of sides at one instant
SLACK = 1e-12  # rad|m: how far beyond its stop a joint is found to strike it, so that one that leaves it has not struck it again


@dataclass(frozen=True, eq=False)
class Kernels:
    """Which joints friction and stops hold at a state, rates while they do, and what happens to joints that strike their stops."""

    sides: Kernel  # q, qd, tau -> side, stopped
    rates: Kernel  # q, qd, tau, side, stopped -> qdd, heat [W], borne, pressed
    strike: Kernel  # q, qd, side, stopped, restitution -> qd, heat [J]


def kernels(robot: Robot, stops: bool) -> Kernels:
    """The kernels of a robot."""
    require_mass(robot.tree, "simulate")
    tree = robot.tree
    return Kernels(kernel_of(sides_program, tree, stops), kernel_of(rates_program, tree), kernel_of(strike_program, tree))


def operands(tree: Tree, names: str) -> list[Operand]:
    """Return operands by name: a number for every joint, but one for heat [J|W]."""
    return [Operand(name, () if name == "heat" else (tree.n,)) for name in names.split()]


def sides_program(tree: Tree, stops: bool) -> Program:
    """Return the program of the sides on which friction and stops hold joints."""
    function = partial(_sides, stops, customised(tree))
    return trace("simulate", function, operands(tree, "q qd tau"), operands(tree, "side stopped"))


def rates_program(tree: Tree) -> Program:
    """Return the program of the rates while joints are held."""
    taken, given = operands(tree, "q qd tau side stopped"), operands(tree, "qdd heat borne pressed")
    return trace("simulate", partial(_rates, customised(tree)), taken, given)


def strike_program(tree: Tree) -> Program:
    """Return the program of joints that strike their stops."""
    taken, given = operands(tree, "q qd side stopped restitution"), operands(tree, "qd heat")
    return trace("simulate", partial(_strike, customised(tree)), taken, given)


def _sides(stops: bool, tree: Tree, q: Any, qd: Any, tau: Any) -> tuple[list[Any], list[Any]]:
    found = sides(tree, equations(tree, q, qd, tau), q, qd, stops)
    return [0.0 if x is None else x for x in found.side], found.stopped


def _found(tree: Tree, side: Any, stopped: Any) -> Sides:
    dry = dry_joints(tree)
    return Sides([side[c] if c in dry else None for c in range(tree.n)], list(stopped))


def _rates(tree: Tree, q: Any, qd: Any, tau: Any, side: Any, stopped: Any) -> Any:
    """Accelerations, the heat of friction [W], what each held joint's friction bears, from -1 to 1 of what it can, and how much more than
    friction alone could bear each joint is pressed against its stop [N m|N].
    """
    found, given = _found(tree, side, stopped), equations(tree, q, qd, tau)
    qdd, friction = held_dynamics(tree, given, found, q, qd)
    must, dry = needed(tree, given, found, q, qd), dry_joints(tree)
    low, high = breakaway(tree, q, qd)
    borne = [(2.0 * x - b - a) / (b - a) if c in dry else 0.0 for c, (a, b, x) in enumerate(zip(low, high, must, strict=True))]
    pressed = [where(q[c] >= limit.upper, must[c] - low[c], high[c] - must[c]) for c, limit in enumerate(tree.limits)]
    return qdd, dot(friction, qd), borne, pressed


def _strike(tree: Tree, q: Any, qd: Any, side: Any, stopped: Any, restitution: Any) -> Any:
    return struck(tree, mass_matrix(tree, q), q, qd, _found(tree, side, stopped), restitution)


class Switch(NamedTuple):
    """`kind` is "friction", "reaches" or "leaves" (a stop); `function` of time and state falls to zero; `way` is 1 for an upper stop."""

    kind: str
    joint: int
    function: Any
    way: float = 0.0


@dataclass(frozen=True, eq=False)
class Piece:
    """The equations between two events. `side` and `stopped` (n,) say what holds each joint; a state is q, qd, work and heat so far."""

    robot: Robot
    kernels: Kernels
    torque: Torque
    side: Array
    stopped: Array
    stops: bool

    def split(self, y: Array) -> tuple[Array, Array]:
        """q and qd of a state."""
        n = self.robot.n
        return y[:n], y[n : 2 * n]

    def at(self, s: float, y: Array) -> Any:
        """Accelerations, heat [W], what held joints bear and how they are pressed."""
        q, qd = self.split(y)
        return self.kernels.rates(q, qd, self.torque(s, q, qd), self.side, self.stopped)

    def rate(self, s: float, y: Array) -> Array:
        """The rate of a state."""
        q, qd = self.split(y)
        tau = self.torque(s, q, qd)
        qdd, heat, *_ = self.kernels.rates(q, qd, tau, self.side, self.stopped)
        return np.concatenate([qd, qdd, [tau @ qd, heat]])

    @property
    def holds(self) -> bool:
        """Whether some joint is held."""
        return any(self.side[c] == 0.0 for c in dry_joints(self.robot.tree)) or bool(self.stopped.any())

    def events(self) -> list[Switch]:
        """What may end the piece."""
        made = [Switch("friction", c, self._friction(c)) for c in dry_joints(self.robot.tree) if not self.stopped[c]]
        for c in stop_joints(self.robot.tree) if self.stops else ():
            if self.stopped[c]:
                made.append(Switch("leaves", c, lambda s, y, c=c: float(self.at(s, y)[3][c])))
            else:
                limit = self.robot.tree.limits[c]
                made.append(Switch("reaches", c, lambda s, y, c=c, end=limit.upper + SLACK: end - float(y[c]), 1.0))
                made.append(Switch("reaches", c, lambda s, y, c=c, end=limit.lower - SLACK: float(y[c]) - end, -1.0))
        for event in made:
            event.function.terminal, event.function.direction = True, -1.0
        return [event for event in made if event.kind != "reaches" or np.isfinite(self._end(event))]

    def _friction(self, c: int) -> Callable[[float, Array], float]:
        """The velocity of a joint while it moves, the friction that is left while it is held."""
        way, n = float(self.side[c]), self.robot.n
        return (lambda s, y: way * float(y[n + c])) if way else (lambda s, y: 1.0 - abs(float(self.at(s, y)[2][c])))

    def _end(self, event: Switch) -> float:
        limit = self.robot.tree.limits[event.joint]
        return float(limit.upper if event.way > 0 else limit.lower)

    def after(self, event: Switch, now: float, state: Array) -> Array:
        """The state at an event: a joint that came to rest is at rest exactly, one that breaks loose or leaves a stop creeps away."""
        c, k, state = event.joint, self.robot.n + event.joint, np.array(state)
        if event.kind == "reaches":
            state[c] = self._end(event)
        elif event.kind == "leaves":
            state[k] = -2.0 * CREEP if state[c] >= self.robot.tree.limits[c].upper else 2.0 * CREEP
        elif self.side[c]:
            state[k] = 0.0
        else:
            state[k] = CREEP * np.sign(self.at(now, state)[2][c])
        return state


def settled(robot: Robot, found: Kernels, torque: Torque, now: float, state: Array, stops: bool) -> Piece:
    """The piece that begins at a state: joints which leave rest accelerate to their own side, and friction and stops can hold the others.

    Releasing a joint may push another one back. The first joint that contradicts its side changes it, until none does.
    Murty 1974, "Note on a Bard-type scheme for solving the complementarity problem" (least index).
    """
    n = robot.n
    q, qd = state[:n], state[n : 2 * n]
    tau = torque(now, q, qd)
    side, stopped = (np.array(x) for x in found.sides(q, qd, tau))
    resting = [c for c in dry_joints(robot.tree) if qd[c] == 0.0 and not stopped[c]]
    for _ in range(MOST_CHANGES):
        qdd, _, borne, _ = found.rates(q, qd, tau, side, stopped)
        wrong = [c for c in resting if (side[c] * qdd[c] <= 0.0 if side[c] else abs(borne[c]) > 1.0)]
        if not wrong:
            break
        side[wrong[0]] = 0.0 if side[wrong[0]] else np.sign(borne[wrong[0]])
    return Piece(robot, found, torque, side, stopped, stops)


def after_stops(robot: Robot, found: Kernels, torque: Torque, now: float, state: Array, restitution: Array) -> Array:
    """The state after joints at their stops that move on have struck them: velocities of all joints, and the heat of it."""
    n, state = robot.n, np.array(state)
    q, qd = state[:n].copy(), state[n : 2 * n]
    out = np.zeros(n)
    for c in stop_joints(robot.tree):
        limit = robot.tree.limits[c]
        out[c] = 1.0 if q[c] >= limit.upper and qd[c] > 0 else -1.0 if q[c] <= limit.lower and qd[c] < 0 else 0.0
    if not out.any():
        return state
    side, stopped = found.sides(q, qd, torque(now, q, qd))
    q[out > 0], q[out < 0] = np.nextafter(q[out > 0], np.inf), np.nextafter(q[out < 0], -np.inf)  # beyond is what a strike is known by
    after, heat = found.strike(q, qd, side, stopped, restitution)
    state[n : 2 * n], state[-1] = after, state[-1] + heat
    return state
