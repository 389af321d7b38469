"""Adaptive integration: DOP853 between the events at which joints stick, slip or strike stops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError
from ..robot import Robot
from .simulation_thresholds import THRESHOLDS
from .switching import Torque, after_stops, kernels, smooth_piece

Array = NDArray[np.float64]


def with_evaluation_limit(torque: Torque, step: float) -> Torque:
    """Return the torque function with a limit on its evaluations within a step [s].

    Raises ProblemError beyond `evaluation_limit` evaluations, which only a diverging motion needs.
    """
    since, count = -1.0, 0

    def counted(t: float, q: Array, qd: Array) -> Array:
        nonlocal since, count
        if not since <= t <= since + step:
            since, count = t, 0
        count += 1
        if count > THRESHOLDS.evaluation_limit:
            fastest = float(np.abs(qd).max())
            raise ProblemError(
                f"simulate: the adaptive method needs ever shorter steps at {t:g} s, where a joint"
                f" moves at {fastest:.3g} rad/s or m/s: the motion diverges; check the"
                " controller's gains, or use method='rk4' for a stiff model"
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
    """Return q, qd (T, n), and work and heat [J] (T, 2) at times t [s].

    `longest` limits the step [s] while a joint is locked. Between events the equations are smooth.
    Events are joints that come to rest or break loose; with restitution (n,) also joints that reach
    or leave a stop. After an event locked joints are determined again. Hairer, Norsett and Wanner,
    "Solving Ordinary Differential Equations I", section II.5 (DOP853) and II.6 (switching).
    """
    from scipy.integrate import solve_ivp

    stops = restitution is not None
    programs, n = kernels(robot, stops), robot.n
    out = np.full((len(t), 2 * n + 2), np.nan)
    state, now, row = np.concatenate([q0, qd0, [0.0, 0.0]]), float(t[0]), 0
    for _ in range(THRESHOLDS.event_limit):
        state = (
            state
            if restitution is None
            else after_stops(robot, programs, torque, now, state, restitution)
        )
        piece = smooth_piece(robot, programs, torque, now, state, stops)
        events, remaining = piece.events(), t[row:]
        functions = [event.function for event in events]
        solved = solve_ivp(
            piece.rate,
            (now, float(t[-1])),
            state,
            "DOP853",
            remaining[remaining >= now],
            events=functions,
            rtol=tolerance,
            atol=tolerance,
            max_step=longest if piece.has_locked_joints else np.inf,
        )
        if solved.status < 0:
            raise ProblemError(
                f"simulate: the adaptive method stopped at {now:g} s: {solved.message}"
            )
        if len(solved.t):  # else the event came before the next sample
            out[row : row + len(solved.t)] = solved.y.T
        row += len(solved.t)
        if solved.status == 0 or row == len(t):
            return out[:, :n], out[:, n : 2 * n], out[:, 2 * n :]
        k = next(i for i, times in enumerate(solved.t_events) if len(times))
        now = float(solved.t_events[k][0])
        state = piece.after(events[k], now, solved.y_events[k][0])
    raise ProblemError(
        f"simulate: joints came to rest or broke loose more than"
        f" {THRESHOLDS.event_limit} times; check the friction parameters, or use method='rk4'"
    )


def integrated_smooth(
    rates: Callable[[float, Array], Array], start: Array, t: Array, tolerance: float = 1e-11
) -> Array:
    """Return whole states (T, N) at times t [s] from the initial one (N,), without events."""
    from scipy.integrate import solve_ivp

    solved = solve_ivp(
        rates, (float(t[0]), float(t[-1])), start, "DOP853", t, rtol=tolerance, atol=tolerance
    )
    if solved.status < 0:
        raise ProblemError(
            f"simulate: the adaptive method stopped at {solved.t[-1] if len(solved.t) else t[0]:g}"
            f" s: {solved.message}"
        )
    return np.asarray(solved.y.T)
