"""Simulation with steps of their own length: DOP853 between the instants where a joint comes to rest, or breaks loose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..errors import ProblemError
from ..kernels import customised, kernel_of
from ..kernels.algorithms import require_mass
from ..mechanism.tree import Tree
from ..robot import Robot
from .dry_friction import CREEP, Sides, breakaway, dry_joints, equations, held_dynamics, needed, sides

Array = NDArray[np.float64]
Torque = Callable[[float, Array, Array], Array]
"""(t, q, qd) -> tau [N m|N], (n,)."""
MOST_EVENTS = 100_000
MOST_RATES = 20_000  # evaluations within one step of the plan: more are needed only by a motion that diverges
MOST_CHANGES = 1000  # of sides at one instant


def patient(torque: Torque, step: float) -> Torque:
    """The same torques; raises ProblemError where a step [s] of time takes more evaluations than a motion that stays finite needs."""
    since, count = -1.0, 0

    def counted(t: float, q: Array, qd: Array) -> Array:
        nonlocal since, count
        if not since <= t <= since + step:
            since, count = t, 0
        count += 1
        if count > MOST_RATES:
            fastest = float(np.abs(qd).max())
            raise ProblemError(
                f"simulate: the adaptive method needs ever shorter steps at {t:g} s, where a joint moves at {fastest:.3g} rad/s or m/s: "
                "the motion diverges; look at the controller's gains, or take 'rk4' for what is only stiff"
            )
        return torque(t, q, qd)

    return counted


@dataclass(frozen=True, eq=False)
class Kernels:
    """Sides at a state, and rates on given sides with what the held joints' friction must bear and can bear."""

    sides: Kernel  # q, qd, tau -> side
    rates: Kernel  # q, qd, tau, side -> qdd, heat [W], borne


def kernels(robot: Robot) -> Kernels:
    """The two kernels of a robot."""
    require_mass(robot.tree, "simulate")
    n = robot.n
    q, qd, tau, side = (Operand(name, (n,), unit) for name, unit in (("q", "[rad|m]"), ("qd", "[1/s]"), ("tau", "[N m|N]"), ("side", "")))
    given = [Operand("qdd", (n,)), Operand("heat", ()), Operand("borne", (n,))]
    return Kernels(_kernel(robot, "sides", _sides, [q, qd, tau], [side]), _kernel(robot, "rates", _rates, [q, qd, tau, side], given))


def _kernel(robot: Robot, name: str, function: Any, taken: list[Operand], given: list[Operand]) -> Kernel:
    def make() -> Program:
        return trace("simulate", partial(function, customised(robot.tree)), taken, given)

    return kernel_of((robot.fingerprint, "simulate", name), make, Path(__file__).parent)


def _sides(tree: Tree, q: Any, qd: Any, tau: Any) -> list[Any]:
    return [0.0 if x is None else x for x in sides(tree, equations(tree, q, qd, tau), q, qd).side]


def _rates(tree: Tree, q: Any, qd: Any, tau: Any, side: Any) -> Any:
    """Accelerations, the heat of friction [W], and what each held joint's friction bears, from -1 to 1 of what it can."""
    dry = dry_joints(tree)
    found = Sides([side[c] if c in dry else None for c in range(tree.n)], [0.0] * tree.n)
    given = equations(tree, q, qd, tau)
    qdd, friction = held_dynamics(tree, given, found, q, qd)
    must = needed(tree, given, found, q, qd)
    borne = [
        (2.0 * x - b - a) / (b - a) if c in dry else 0.0 for c, (a, b, x) in enumerate(zip(*breakaway(tree, q, qd), must, strict=True))
    ]
    heat: Any = 0.0
    for a, b in zip(friction, qd, strict=True):
        heat = heat + a * b
    return qdd, heat, borne


def integrated(
    robot: Robot, torque: Torque, q0: Array, qd0: Array, t: Array, longest: float, tolerance: float = 1e-11
) -> tuple[Array, Array, Array]:
    """q, qd (T, n), and work and heat [J] (T, 2) at times t [s]. `longest` is a step [s] while a joint is held.

    Between events the equations are smooth. An event is a joint that comes to rest, or whose friction can no longer hold it; then the sides
    are found anew. Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.5 (DOP853) and II.6 (switching).
    """
    from scipy.integrate import solve_ivp

    both, n, dry = kernels(robot), robot.n, dry_joints(robot.tree)
    out = np.full((len(t), 2 * n + 2), np.nan)
    state, now, row = np.concatenate([q0, qd0, [0.0, 0.0]]), float(t[0]), 0
    for _ in range(MOST_EVENTS):
        side = _settled(both, state[:n], state[n : 2 * n], torque(now, state[:n], state[n : 2 * n]), dry)

        def rate(s: float, y: Array, side: Array = side) -> Array:
            tau = torque(s, y[:n], y[n : 2 * n])
            qdd, heat, _ = both.rates(y[:n], y[n : 2 * n], tau, side)
            return np.concatenate([y[n : 2 * n], qdd, [tau @ y[n : 2 * n], heat]])

        events = [_event(both, torque, n, c, side) for c in dry]
        wanted = t[row:]
        most = longest if any(side[c] == 0.0 for c in dry) else np.inf
        span, given = (now, float(t[-1])), wanted[wanted >= now]
        solved = solve_ivp(rate, span, state, "DOP853", given, events=events, rtol=tolerance, atol=tolerance, max_step=most)
        if solved.status < 0:
            raise ProblemError(f"simulate: the adaptive method stopped at {now:g} s: {solved.message}")
        if len(solved.t):  # else the event came before the next sample
            out[row : row + len(solved.t)] = solved.y.T
        row += len(solved.t)
        if solved.status == 0 or row == len(t):
            return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
        now, state = _after(both, torque, solved, dry, n, side)
    raise ProblemError(f"simulate: more than {MOST_EVENTS} times a joint came to rest or broke loose; is the friction meant to be so?")


def integrated_whole(rates: Callable[[float, Array], Array], start: Array, t: Array, tolerance: float = 1e-11) -> Array:
    """Whole states (T, N) at times t [s] from one at the start (N,), of equations without switches: free bases and drives."""
    from scipy.integrate import solve_ivp

    solved = solve_ivp(rates, (float(t[0]), float(t[-1])), start, "DOP853", t, rtol=tolerance, atol=tolerance)
    if solved.status < 0:
        raise ProblemError(f"simulate: the adaptive method stopped at {solved.t[-1] if len(solved.t) else t[0]:g} s: {solved.message}")
    return np.asarray(solved.y.T)


def _settled(both: Kernels, q: Array, qd: Array, tau: Array, dry: tuple[int, ...]) -> Array:
    """The side of every joint, (n,), such that joints which leave rest accelerate to their own side, and friction can hold the others.

    Releasing a joint may push another one back. The first joint that contradicts its side changes it, until none does.
    Murty 1974, "Note on a Bard-type scheme for solving the complementarity problem" (least index).
    """
    side = np.array(both.sides(q, qd, tau))
    for _ in range(MOST_CHANGES):
        qdd, _, borne = both.rates(q, qd, tau, side)
        resting = [c for c in dry if qd[c] == 0.0]
        wrong = [c for c in resting if (side[c] * qdd[c] <= 0.0 if side[c] else abs(borne[c]) > 1.0)]
        if not wrong:
            break
        side[wrong[0]] = 0.0 if side[wrong[0]] else np.sign(borne[wrong[0]])
    return side


def _event(both: Kernels, torque: Torque, n: int, c: int, side: Array) -> Any:
    """The switching function of a joint, which ends the piece where it falls to zero: its velocity while it moves, the friction that is
    left while it is held.
    """
    way = float(side[c])

    def held(s: float, y: Array) -> float:
        return 1.0 - abs(float(both.rates(y[:n], y[n : 2 * n], torque(s, y[:n], y[n : 2 * n]), side)[2][c]))

    def moving(s: float, y: Array) -> float:
        return way * float(y[n + c])

    function: Any = moving if way else held
    function.terminal, function.direction = True, -1.0
    return function


def _after(both: Kernels, torque: Torque, solved: Any, dry: tuple[int, ...], n: int, side: Array) -> tuple[float, Array]:
    """Time and state at the event: a joint that came to rest is at rest exactly, one that broke loose creeps where it is pushed to."""
    k = next(i for i, times in enumerate(solved.t_events) if len(times))
    now, state, c = float(solved.t_events[k][0]), np.array(solved.y_events[k][0]), dry[k]
    if side[c]:
        state[n + c] = 0.0
    else:
        q, qd = state[:n], state[n : 2 * n]
        state[n + c] = CREEP * np.sign(both.rates(q, qd, torque(now, q, qd), side)[2][c])
    return now, state
