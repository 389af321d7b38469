"""Samples: a log that is checked, cleaned and smoothed, with the rows in use marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...errors import CallError, LogError
from ...robot import Robot
from ...signals.log import Log
from ...signals.resample import without_delay
from ...signals.schema import Payload
from ...signals.segments import split
from .samples_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Samples:
    """States and torques (N, n) of one log in the robot's joint order.

    `keep` (N, n) marks the rows in use, None means all.

    `errors` (3, W, n) are errors of q, qd and qdd as the noise of the log may have left them, for
    the W samples in the middle. `temperature` (N, n) [degC] is the temperature of each joint, None
    if the log has none. `payload_torque` (N, n) [N m|N] is the part of the torque that moves and
    holds the log's known payload; None without one. `payload` is a payload of which only a part is
    known: `payload_torque` has its torque. `base` (N, 9) is the base's motion, None at rest.
    Where the base's wrench was measured, `tau` (N, 6) has it [N, N m]. `measured` (N, n) are the
    positions as measured, `command` the commanded ones (M, n) with the times (M,) of the whole
    log. Where q, qd and qdd come from a simulated motion, `smoothed` (N, 3, n) has what the
    smoother made of the measured positions. `period` [s] is the period of a motion that was
    averaged over its periods, None for others. `measured_qd` and `measured_tau` (N, n) are the
    signals of the log before smoothing, delay and drift are taken out; `measured_qd` is None where
    the log has no velocities. `disturbed` (N,) marks samples in which an external force acts, None
    without one: they have no rows.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    keep: NDArray[np.bool_] | None = None
    remarks: tuple[str, ...] = ()
    source: str = ""
    payload_torque: Array | None = None
    payload: Payload | None = None
    errors: Array | None = None
    temperature: Array | None = None
    base: Array | None = None
    measured: Array | None = None
    command: tuple[Array, Array | None] | None = None
    smoothed: Array | None = None
    period: float | None = None
    measured_qd: Array | None = None
    measured_tau: Array | None = None
    disturbed: NDArray[np.bool_] | None = None

    @property
    def N(self) -> int:
        return len(self.t)

    @property
    def dt(self) -> float:
        """The time between samples, their median [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def states(self) -> tuple[Array, ...]:
        """q, qd, qdd and, where the base moves, its motion: what torques depend on."""
        return self.q, self.qd, self.qdd, *(() if self.base is None else (self.base,))

    @property
    def middle(self) -> slice:
        """The samples that `errors` belong to."""
        start = (self.N - min(self.N, THRESHOLDS.state_error_samples)) // 2
        return slice(start, start + min(self.N, THRESHOLDS.state_error_samples))

    def part(self, index: slice | NDArray[np.intp]) -> Samples:
        """Return the samples of a slice, or of some numbers."""
        names: tuple[str, ...] = (
            "t",
            "q",
            "qd",
            "qdd",
            "tau",
            "keep",
            "payload_torque",
            "temperature",
            "base",
            "measured",
            "smoothed",
        )
        names += ("measured_qd", "measured_tau", "disturbed")
        present = {
            name: value[index] for name in names if (value := getattr(self, name)) is not None
        }
        return replace(self, **present, errors=None)

    def without_rows(self, disturbed: NDArray[np.bool_]) -> Samples:
        """Return these samples without the rows in which an external force acts, marked (N,)."""
        undisturbed = np.broadcast_to(~disturbed[:, None], self.tau.shape)
        keep = undisturbed if self.keep is None else self.keep & undisturbed
        return replace(self, keep=keep, disturbed=disturbed)

    def with_every_row(self) -> Samples:
        """Return these samples with all rows but those in which an external force acts."""
        every = replace(self, keep=None)
        return every if self.disturbed is None else every.without_rows(self.disturbed)

    def torque(self, function: Callable[..., Array]) -> Array:
        """Return the torque (N, n) of a function of the states, payload torque included.

        Where the function has a method `along`, it takes the samples in order of time.
        """
        along = getattr(function, "along", None)
        tau = function(*self.states) if along is None else along(self.t, *self.states)
        return tau if self.payload_torque is None else tau + self.payload_torque

    def advanced(self, delay: Array) -> Samples:
        """Return these samples with the torque moved forward in time by `delay` (n,) [s]."""
        if not np.any(delay):
            return self
        if np.max(np.abs(delay)) >= THRESHOLDS.longest_delay * (self.t[-1] - self.t[0]):
            raise CallError(
                f"a delay of {np.max(np.abs(delay)):g} s is not below half the length of the log,"
                f" {self.t[-1] - self.t[0]:g} s"
            )
        tau = np.concatenate(
            [without_delay(self.t[part], self.tau[part], delay) for part in split(self.t)]
        )
        return replace(self, tau=tau)


def joined(parts: Sequence[Array]) -> Array:
    """Return arrays (N, ...) one after the other; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def state_arrays(n: int, *arrays: ArrayLike) -> tuple[Array, ...]:
    """Return q, qd and qdd as arrays of one shape (..., n)."""
    states = tuple(numbers(name, a) for name, a in zip(("q", "qd", "qdd"), arrays, strict=True))
    for array in states:
        if array.ndim == 0 or array.shape[-1] != n or array.shape != states[0].shape:
            raise CallError(
                f"q, qd and qdd must all be (..., {n}); found"
                f" {', '.join(str(a.shape) for a in states)}"
            )
    return states


def finite_part(signal: Array | None, used: slice | NDArray[np.bool_]) -> Array | None:
    """Return the samples in use of a signal (N, n).

    None without the signal, or if numbers are missing.
    """
    return None if signal is None or not np.all(np.isfinite(signal[used])) else signal[used]


def slice_of(used: NDArray[np.bool_]) -> slice | NDArray[np.bool_]:
    """Return marks (N,) as a slice where those in use are in one piece.

    It takes parts of arrays without a copy.
    """
    first, last = int(np.argmax(used)), len(used) - int(np.argmax(used[::-1]))
    return slice(first, last) if used[first:last].all() else used


def at_rest(
    q: Array, qd: Array, qdd: Array, still: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """Return states (N, n) with standing joints at their mean position and zero rates."""
    if not still.any():
        return q, qd, qdd
    return np.where(still, q.mean(axis=0), q), np.where(still, 0.0, qd), np.where(still, 0.0, qdd)


def commanded(log: Log) -> Array | None:
    """Return the commanded positions of a log, (M, n).

    None if it has none, or if some are missing.
    """
    return (
        None if log.reference is None or not np.all(np.isfinite(log.reference)) else log.reference
    )


def temperature(log: Log, used: slice | NDArray[np.bool_]) -> Array | None:
    """Return the temperature of each joint at the samples in use, (N, n) [degC].

    None if the log has none, or if some are missing.
    """
    if log.temperature is None or not np.all(np.isfinite(log.temperature)):
        return None
    each = log.temperature if log.temperature.ndim == 2 else log.temperature[:, None]
    return np.broadcast_to(each, log.q.shape)[used]


def payload_torque(
    robot: Robot, payload: Payload, q: Array, qd: Array, qdd: Array, base: Array | None = None
) -> Array:
    """Return the torque (N, n) [N m|N] that the known part of a payload adds.

    Inverse dynamics of its inertia alone, on the body that carries it. An unknown centre counts as
    the origin of the frame, an unknown inertia as zero.

    Raises CallError for a frame that does not exist or does not move.
    """
    added = np.zeros(len(robot.parameters))
    inner = 10 * len(robot.tree.bodies)
    com = payload.com or (0.0, 0.0, 0.0)
    inertia = 0.0 if payload.inertia is None else payload.inertia
    loaded = robot.with_payload(payload.mass, com, inertia, payload.frame)
    added[:inner] = (loaded.parameters - robot.parameters)[:inner]
    return robot.inverse_dynamics(q, qd, qdd, base=base, parameters=added)


def require_log(log: object) -> None:
    """Raise LogError if this is not a Log, such as the path of one."""
    if not isinstance(log, Log):
        raise LogError(
            f"expected a Log, not {type(log).__name__}; read one with read_log(path, robot), or"
            " make one with Log(t=, q=, tau=)"
        )


def list_of_logs(log: Any) -> list[Log]:
    """Return one or more logs, given alone or by any iterable, as a list.

    LogError if there is none.
    """
    several = (
        isinstance(log, Iterable)
        and not isinstance(log, (Log, str, bytes, Mapping, np.ndarray))
        and not isinstance(log, type)
    )
    logs = list(log) if several else [log]
    if not logs:
        raise LogError("there is no log to identify from; expected a Log or several of them")
    return logs


def require_enough(log: Log) -> None:
    """Raise LogError if a log has too few samples."""
    if log.N < THRESHOLDS.least_samples:
        raise LogError(
            f"{log.where}{log.N} samples are too few to identify from; expected at least"
            f" {THRESHOLDS.least_samples}"
        )


def require_numbers(log: Log) -> None:
    """Raise LogError if a log has too few samples, or a joint without any number in q or tau."""
    require_enough(log)
    for signal, values in (("q", log.q), ("tau", log.tau)):
        if values is not None and (
            empty := [
                name
                for name, x in zip(log.labels, values.T, strict=True)
                if not (np.isfinite(x[:1]).any() or np.isfinite(x).any())
            ]
        ):
            raise LogError(
                f"{log.where}{signal} has no number in any of the {log.N} samples of"
                f" {', '.join(empty)}"
            )
    for signal in ("t", "q", "qd", "qdd", "tau"):
        values = getattr(log, signal)
        if values is not None and (most := largest(values)) > THRESHOLDS.largest_signal:
            unit = log.schema[signal].unit
            raise LogError(
                f"{log.where}{signal} reaches {most:.3g}; expected less than"
                f" {THRESHOLDS.largest_signal:.0e} {unit}:"
                " in which unit is it?"
            )
    if 0 < log.dt < THRESHOLDS.shortest_step:
        raise LogError(
            f"{log.where}the time step is {log.dt:.3g} s; expected at least"
            f" {THRESHOLDS.shortest_step:g} s: in"
            " which unit is the time?"
        )


def largest(values: Array) -> float:
    """Return the largest absolute value of all finite numbers, 0 without one."""
    most = max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))
    return (
        most
        if np.isfinite(most)
        else float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    )


def require(log: Log) -> None:
    """Raise LogError if the torque is missing or zero, the log is too short, or nothing moves."""
    if log.tau is None:
        hint = (
            "it has currents: give the torque constants of the motors, torque_constant of a"
            " mapping's [transmission], or identify them with drive_gains='all' from logs with and"
            " without a payload of known mass"
            if log.current is not None
            else "expected a column of torques per joint"
        )
        raise LogError(
            f"{log.where}the log has no torque; {hint}, or base_wrench, what a force plate under"
            " the robot measured"
        )
    require_numbers(log)
    dead = [
        name
        for j, name in enumerate(log.labels)
        if not np.any(np.abs(np.nan_to_num(log.tau[:, j])) > THRESHOLDS.smallest_torque)
    ]
    if len(dead) == log.n:
        raise LogError(
            f"{log.where}the torque is zero throughout for every joint: {', '.join(dead)}"
        )
    with np.errstate(invalid="ignore"):
        span = np.nanmax(log.q, axis=0) - np.nanmin(log.q, axis=0)
    if not np.any(span > THRESHOLDS.still_range):
        raise LogError(
            f"{log.where}the robot never moved: q is the same in all {log.N} samples, so that"
            " nothing can be identified"
        )


def logged_base_motion(robot: Robot, log: Log) -> Array | None:
    """Return the motion of the base (N, 9), None where it rests as the robot describes it.

    LogError for numbers that are none.
    """
    if log.base is None:
        return None
    require_finite(log, "base")
    tilted = np.linalg.norm(log.base[:, :3].mean(axis=0) + robot.gravity) > THRESHOLDS.moving_base
    if not tilted and not np.any(log.base.std(axis=0) > THRESHOLDS.moving_base):
        return None
    if robot.tree.loops or any("load" in use.row.reads for use in robot.tree.joint_terms):
        what = "loops" if robot.tree.loops else "friction that grows with the load"
        raise LogError(
            f"{log.where}the base moves, and a robot with {what} is identified on a base at rest"
            " alone"
        )
    return log.base


def require_finite(log: Log, name: str) -> None:
    """Raise LogError for a signal that holds NaN or infinity."""
    value = getattr(log, name)
    if not np.all(np.isfinite(value)):
        raise LogError(
            f"{log.where}{name} holds NaN or infinity in"
            f" {int(np.sum(~np.isfinite(value).all(axis=1)))} samples"
        )


def refuse_degrees(robot: Robot, log: Log) -> None:
    """Raise LogError if most revolute joints go far beyond their limits.

    Q is in degrees, or at the motors.
    """
    if far := far_positions(robot, log):
        raise LogError(
            f"{log.where}q looks like degrees or motor angles, not radians at the joints:"
            f" {', '.join(far)}"
        )


def far_positions(robot: Robot, log: Log) -> tuple[str, ...]:
    """Return how far joints exceed their limits, if most revolute joints do; () otherwise."""
    reach = np.nanmax(np.abs(log.q), axis=0)
    turning = {body.coordinate for body in robot.tree.bodies if body.kind == "revolute"}
    limits = robot.tree.limits or (None,) * robot.n
    far = []
    for j in sorted(turning):
        limit = limits[j]
        limited = limit is not None and limit.lower < limit.upper
        most = max(abs(limit.lower), abs(limit.upper)) if limit is not None and limited else np.inf
        if (
            reach[j] > THRESHOLDS.far_ratio * max(most, np.pi)
            if np.isfinite(most)
            else reach[j] > THRESHOLDS.far_half_turns * np.pi and not spins(log, j)
        ):
            far.append(f"{robot.joint_names[j]} reaches {reach[j]:.4g}")
    return tuple(far) if len(far) > THRESHOLDS.far_share * len(turning) else ()


def spins(log: Log, joint: int) -> bool:
    """Return whether a joint turns many times, as a pendulum does.

    Its velocity is then the derivative of its position, at a plausible speed: positions beyond a
    turn are in radians.
    """
    if log.qd is None:
        return False
    speed, rate = log.qd[:, joint], np.gradient(log.q[:, joint], log.t)
    use = np.isfinite(speed) & np.isfinite(rate)
    gain = float(rate[use] @ speed[use]) / max(float(rate[use] @ rate[use]), 1e-300)
    return (
        abs(gain - 1.0) <= THRESHOLDS.velocity_agreement
        and float(np.max(np.abs(speed[use]), initial=0.0)) <= THRESHOLDS.fastest_spin
    )


def shuffled_states(
    samples: Sequence[Samples], count: int, least_speed: float = 0.0
) -> tuple[Array, Array, Array]:
    """Return states (count, n) that take each joint's q, qd and qdd from another sample.

    `least_speed` is the share of its largest speed that a joint has at least.
    """
    rng = np.random.default_rng(0)
    q, qd, qdd = (joined([getattr(s, name) for s in samples]) for name in ("q", "qd", "qdd"))
    joints, rows = np.arange(q.shape[1]), rng.integers(len(q), size=(count, q.shape[1]))
    if least_speed > 0.0:
        speed = np.abs(qd)
        moving = [np.flatnonzero(x >= least_speed * x.max()) for x in speed.T]
        rows = np.stack([rng.choice(each, count) for each in moving], axis=1)
    return q[rows, joints], qd[rows, joints], qdd[rows, joints]
