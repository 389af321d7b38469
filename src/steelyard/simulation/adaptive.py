"""Simulation with steps of their own length: DOP853 between the instants where joints come to rest, break loose or meet their stops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError
from ..robot import Robot
from .switching import Torque, after_stops, kernels, settled

Array = NDArray[np.float64]
MOST_EVENTS = 100_000
MOST_RATES = 20_000  # evaluations within one step of the plan: more are needed only by a motion that diverges


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


def integrated(
    robot: Robot,
    torque: Torque,
    q0: Array,
    qd0: Array,
    t: Array,
    longest: float,
    restitution: Array | None = None,
    tolerance: float = 1e-11,
) -> tuple[Array, Array, Array]:
    """q, qd (T, n), and work and heat [J] (T, 2) at times t [s]. `longest` is a step [s] while a joint is held.

    Between events the equations are smooth. An event is a joint that comes to rest, or whose friction can no longer hold it; with
    restitution (n,) also one that reaches its stop or leaves it. Then what holds the joints is found anew.
    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", section II.5 (DOP853) and II.6 (switching).
    """
    from scipy.integrate import solve_ivp

    stops = restitution is not None
    found, n = kernels(robot, stops), robot.n
    out = np.full((len(t), 2 * n + 2), np.nan)
    state, now, row = np.concatenate([q0, qd0, [0.0, 0.0]]), float(t[0]), 0
    for _ in range(MOST_EVENTS):
        state = state if restitution is None else after_stops(robot, found, torque, now, state, restitution)
        piece = settled(robot, found, torque, now, state, stops)
        events, wanted = piece.events(), t[row:]
        most, span, given = longest if piece.holds else np.inf, (now, float(t[-1])), wanted[wanted >= now]
        functions = [event.function for event in events]
        solved = solve_ivp(piece.rate, span, state, "DOP853", given, events=functions, rtol=tolerance, atol=tolerance, max_step=most)
        if solved.status < 0:
            raise ProblemError(f"simulate: the adaptive method stopped at {now:g} s: {solved.message}")
        if len(solved.t):  # else the event came before the next sample
            out[row : row + len(solved.t)] = solved.y.T
        row += len(solved.t)
        if solved.status == 0 or row == len(t):
            return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
        k = next(i for i, times in enumerate(solved.t_events) if len(times))
        now = float(solved.t_events[k][0])
        state = piece.after(events[k], now, solved.y_events[k][0])
    raise ProblemError(f"simulate: more than {MOST_EVENTS} times a joint came to rest or broke loose; is the friction meant to be so?")


def integrated_whole(rates: Callable[[float, Array], Array], start: Array, t: Array, tolerance: float = 1e-11) -> Array:
    """Whole states (T, N) at times t [s] from one at the start (N,), of equations without switches: free bases and drives."""
    from scipy.integrate import solve_ivp

    solved = solve_ivp(rates, (float(t[0]), float(t[-1])), start, "DOP853", t, rtol=tolerance, atol=tolerance)
    if solved.status < 0:
        raise ProblemError(f"simulate: the adaptive method stopped at {solved.t[-1] if len(solved.t) else t[0]:g} s: {solved.message}")
    return np.asarray(solved.y.T)
