"""Events at which joints come to rest, break loose, reach their stops or leave them.

Between events the equations are smooth.
"""

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
from .dry_friction import (
    FrictionSides,
    apply_stop_impulses,
    breakaway_torques,
    dry_joints,
    equations,
    friction_sides,
    locked_dynamics,
    required_friction,
    stop_joints,
)
from .simulation_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Torque = Callable[[float, Array, Array], Array]
"""(t, q, qd) -> tau [N m|N], (n,)."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """Kernels of locked joints at a state, of rates while they stay locked, and of impacts."""

    sides: Kernel  # q, qd, tau -> side, stopped
    rates: Kernel  # q, qd, tau, side, stopped -> qdd, heat [W], load, pressed
    strike: Kernel  # q, qd, side, stopped, restitution -> qd, heat [J]


def kernels(robot: Robot, stops: bool) -> Kernels:
    """Return the kernels of a robot."""
    require_mass(robot.tree, "simulate")
    tree = robot.tree
    return Kernels(
        kernel_of(sides_program, tree, stops),
        kernel_of(rates_program, tree),
        kernel_of(strike_program, tree),
    )


def operands(tree: Tree, names: str) -> list[Operand]:
    """Return operands by name: one number per joint, but a single one for heat [J|W]."""
    return [Operand(name, () if name == "heat" else (tree.n,)) for name in names.split()]


def sides_program(tree: Tree, stops: bool) -> Program:
    """Return the program of the friction sides and stopped joints."""
    function = partial(_sides, stops, customised(tree))
    return trace("simulate", function, operands(tree, "q qd tau"), operands(tree, "side stopped"))


def rates_program(tree: Tree) -> Program:
    """Return the program of the rates while joints are locked."""
    inputs = operands(tree, "q qd tau side stopped")
    outputs = operands(tree, "qdd heat load pressed")
    return trace("simulate", partial(_rates, customised(tree)), inputs, outputs)


def strike_program(tree: Tree) -> Program:
    """Return the program of joints that strike their stops."""
    inputs = operands(tree, "q qd side stopped restitution")
    outputs = operands(tree, "qd heat")
    return trace("simulate", partial(_strike, customised(tree)), inputs, outputs)


def _sides(stops: bool, tree: Tree, q: Any, qd: Any, tau: Any) -> tuple[list[Any], list[Any]]:
    """Return friction sides and stopped joints as numbers."""
    sides = friction_sides(tree, equations(tree, q, qd, tau), q, qd, stops)
    return [0.0 if x is None else x for x in sides.side], sides.stopped


def _friction_sides(tree: Tree, side: Any, stopped: Any) -> FrictionSides:
    """Return friction sides from numbers."""
    dry = dry_joints(tree)
    return FrictionSides([side[c] if c in dry else None for c in range(tree.n)], list(stopped))


def _rates(tree: Tree, q: Any, qd: Any, tau: Any, side: Any, stopped: Any) -> Any:
    """Return accelerations, heat [W], friction loads and stop loads.

    The load of a locked joint's friction is from -1 to 1, relative to the breakaway
    torque. The load of a stop is the torque beyond the breakaway torque [N m|N].
    """
    sides, motion = _friction_sides(tree, side, stopped), equations(tree, q, qd, tau)
    qdd, friction = locked_dynamics(tree, motion, sides, q, qd)
    must, dry = required_friction(tree, motion, sides, q, qd), dry_joints(tree)
    low, high = breakaway_torques(tree, q, qd)
    load = [
        (2.0 * x - b - a) / (b - a) if c in dry else 0.0
        for c, (a, b, x) in enumerate(zip(low, high, must, strict=True))
    ]
    pressed = [
        where(q[c] >= limit.upper, must[c] - low[c], high[c] - must[c])
        for c, limit in enumerate(tree.limits)
    ]
    return qdd, dot(friction, qd), load, pressed


def _strike(tree: Tree, q: Any, qd: Any, side: Any, stopped: Any, restitution: Any) -> Any:
    """Return velocities after impacts at stops, and the heat [J]."""
    sides = _friction_sides(tree, side, stopped)
    return apply_stop_impulses(tree, mass_matrix(tree, q), q, qd, sides, restitution)


class JointEvent(NamedTuple):
    """Event of a joint: kind "friction", or "reaches" or "leaves" a stop.

    `function` of time and state falls to zero; `side` is 1 for an upper, -1 for a lower stop.
    """

    kind: str
    joint: int
    function: Any
    side: float = 0.0


@dataclass(frozen=True, eq=False)
class Piece:
    """Equations of motion between two events.

    `side` and `stopped` (n,) are the friction sides; a state is q, qd, work and heat so far.
    """

    robot: Robot
    kernels: Kernels
    torque: Torque
    side: Array
    stopped: Array
    stops: bool

    def split(self, y: Array) -> tuple[Array, Array]:
        """Return q and qd of a state."""
        n = self.robot.n
        return y[:n], y[n : 2 * n]

    def rates_at(self, s: float, y: Array) -> Any:
        """Return accelerations, heat [W], friction loads and stop loads."""
        q, qd = self.split(y)
        return self.kernels.rates(q, qd, self.torque(s, q, qd), self.side, self.stopped)

    def rate(self, s: float, y: Array) -> Array:
        """Return the rate of a state."""
        q, qd = self.split(y)
        tau = self.torque(s, q, qd)
        qdd, heat, *_ = self.kernels.rates(q, qd, tau, self.side, self.stopped)
        return np.concatenate([qd, qdd, [tau @ qd, heat]])

    @property
    def has_locked_joints(self) -> bool:
        """Whether some joint is locked."""
        return any(self.side[c] == 0.0 for c in dry_joints(self.robot.tree)) or bool(
            self.stopped.any()
        )

    def events(self) -> list[JointEvent]:
        """Return the events that may end the piece."""
        events = [
            JointEvent("friction", c, self._friction(c))
            for c in dry_joints(self.robot.tree)
            if not self.stopped[c]
        ]
        for c in stop_joints(self.robot.tree) if self.stops else ():
            if self.stopped[c]:
                events.append(
                    JointEvent("leaves", c, lambda s, y, c=c: float(self.rates_at(s, y)[3][c]))
                )
            else:
                limit = self.robot.tree.limits[c]
                events.append(
                    JointEvent(
                        "reaches",
                        c,
                        lambda s, y, c=c, end=limit.upper + THRESHOLDS.stop_slack: (
                            end - float(y[c])
                        ),
                        1.0,
                    )
                )
                events.append(
                    JointEvent(
                        "reaches",
                        c,
                        lambda s, y, c=c, end=limit.lower - THRESHOLDS.stop_slack: (
                            float(y[c]) - end
                        ),
                        -1.0,
                    )
                )
        for event in events:
            event.function.terminal, event.function.direction = True, -1.0
        return [
            event for event in events if event.kind != "reaches" or np.isfinite(self._end(event))
        ]

    def _friction(self, c: int) -> Callable[[float, Array], float]:
        """Return the speed of a moving joint, or the friction reserve of a locked one."""
        side, n = float(self.side[c]), self.robot.n
        return (
            (lambda s, y: side * float(y[n + c]))
            if side
            else (lambda s, y: 1.0 - abs(float(self.rates_at(s, y)[2][c])))
        )

    def _end(self, event: JointEvent) -> float:
        """Return the position of the stop of an event."""
        limit = self.robot.tree.limits[event.joint]
        return float(limit.upper if event.side > 0 else limit.lower)

    def after(self, event: JointEvent, now: float, state: Array) -> Array:
        """Return the state after an event.

        A joint that came to rest has zero velocity; one that breaks loose or leaves a stop has
        the velocity `creep_velocity`.
        """
        c, k, state = event.joint, self.robot.n + event.joint, np.array(state)
        if event.kind == "reaches":
            state[c] = self._end(event)
        elif event.kind == "leaves":
            state[k] = (
                -2.0 * THRESHOLDS.creep_velocity
                if state[c] >= self.robot.tree.limits[c].upper
                else 2.0 * THRESHOLDS.creep_velocity
            )
        elif self.side[c]:
            state[k] = 0.0
        else:
            state[k] = THRESHOLDS.creep_velocity * np.sign(self.rates_at(now, state)[2][c])
        return state


def smooth_piece(
    robot: Robot, programs: Kernels, torque: Torque, now: float, state: Array, stops: bool
) -> Piece:
    """Return the piece that begins at a state, with consistent friction sides.

    Joints that leave rest accelerate to their side; friction and stops can lock the others.
    Releasing a joint may push another one back. The first joint that contradicts its side changes
    it, until none does. Murty 1974, "Note on a Bard-type scheme for solving the complementarity
    problem" (least index).
    """
    n = robot.n
    q, qd = state[:n], state[n : 2 * n]
    tau = torque(now, q, qd)
    side, stopped = (np.array(x) for x in programs.sides(q, qd, tau))
    resting = [c for c in dry_joints(robot.tree) if qd[c] == 0.0 and not stopped[c]]
    for _ in range(THRESHOLDS.side_change_limit):
        qdd, _, load, _ = programs.rates(q, qd, tau, side, stopped)
        wrong = [c for c in resting if (side[c] * qdd[c] <= 0.0 if side[c] else abs(load[c]) > 1.0)]
        if not wrong:
            break
        side[wrong[0]] = 0.0 if side[wrong[0]] else np.sign(load[wrong[0]])
    return Piece(
        robot=robot, kernels=programs, torque=torque, side=side, stopped=stopped, stops=stops
    )


def after_stops(
    robot: Robot, programs: Kernels, torque: Torque, now: float, state: Array, restitution: Array
) -> Array:
    """Return the state after impacts of joints at their stops, with velocities and heat."""
    n, state = robot.n, np.array(state)
    q, qd = state[:n].copy(), state[n : 2 * n]
    out = np.zeros(n)
    for c in stop_joints(robot.tree):
        limit = robot.tree.limits[c]
        out[c] = (
            1.0
            if q[c] >= limit.upper and qd[c] > 0
            else -1.0
            if q[c] <= limit.lower and qd[c] < 0
            else 0.0
        )
    if not out.any():
        return state
    side, stopped = programs.sides(q, qd, torque(now, q, qd))
    # an impact is detected beyond the stop
    q[out > 0], q[out < 0] = np.nextafter(q[out > 0], np.inf), np.nextafter(q[out < 0], -np.inf)
    after, heat = programs.strike(q, qd, side, stopped, restitution)
    state[n : 2 * n], state[-1] = after, state[-1] + heat
    return state
