"""Samples: a log that is checked, cleaned and smoothed, with the rows in use marked; `Preparation` has the suggest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import any_of, brief, is_real, per_joint, whole_number
from ...errors import CallError, LogError
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from ...signals.resample import advanced
from ...signals.schema import Payload
from ...signals.segments import split
from ...signals.smooth import butterworth
from ...signals.smooth.smoothed import fit_smoother

Array = NDArray[np.float64]
SMOOTHING = ("auto", "kalman", "butterworth", None)
MOST_UNCERTAIN = 1.2  # times the median standard deviation of the acceleration
FEWEST = 10  # samples


@dataclass(frozen=True)
class Preparation:
    """How logs become samples.

    smoothing: 'kalman' (noise levels by maximum likelihood), 'butterworth' (needs `cutoff` [Hz]), None (the log has qd and qdd), or
    'auto': None where the log has qd and qdd, Kalman otherwise. decimate: low-pass torque and regressor and keep one sample in so many;
    1 keeps all, None takes the rate that the motion needs. mask: least |qd| [rad/s|m/s] of the rows in use. delay: seconds by which the
    torque lags, or 'estimate'. Both are one number, one per joint, or joint -> number.
    """

    smoothing: str | None = "auto"
    cutoff: float | None = None
    decimate: int | None = None
    mask: Mapping[str, float] | Sequence[float] | float | None = None
    delay: str | float | Sequence[float] | Mapping[str, float] = "estimate"

    def __post_init__(self) -> None:
        any_of("smoothing", self.smoothing, SMOOTHING)
        if self.smoothing == "butterworth" and self.cutoff is None:
            raise CallError("smoothing='butterworth' needs cutoff= [Hz]")
        if self.cutoff is not None and not (is_real(self.cutoff) and 0 < self.cutoff < np.inf):
            raise CallError(f"cutoff must be a positive number, not {brief(self.cutoff)} Hz")
        if self.cutoff is not None and self.smoothing != "butterworth":
            raise CallError(
                f"cutoff={self.cutoff:g} would be ignored: smoothing={self.smoothing!r} has no cut-off; "
                "give smoothing='butterworth' with it, or leave it out"
            )
        if self.decimate is not None:
            object.__setattr__(self, "decimate", whole_number("decimate", self.decimate, 1, 1e6))
        if isinstance(self.delay, str) and self.delay != "estimate":
            raise CallError(f"delay must be 'estimate' or seconds, not {self.delay!r}")

    def least_speeds(self, joint_names: Sequence[str]) -> Array | None:
        """The mask as one speed per joint, (n,) [rad/s|m/s]; None without a mask."""
        return None if self.mask is None else per_joint("mask", self.mask, joint_names, 0.0, "rad/s|m/s")

    def given_delay(self, joint_names: Sequence[str]) -> Array | None:
        """The delay of each joint's torque, (n,) [s]; None if it is to be estimated."""
        return None if isinstance(self.delay, str) else per_joint("delay", self.delay, joint_names, unit="s")


@dataclass(frozen=True, eq=False)
class Samples:
    """States and torques (N, n) of one log in the robot's joint order; `keep` (N, n) marks the rows in use, None means all.

    `payload_torque` (N, n) [N m|N] is the part of the torque that moves and holds the log's known payload; None without one.
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

    @property
    def N(self) -> int:
        return len(self.t)

    def part(self, index: slice) -> Samples:
        """The samples of a slice."""
        names = ("t", "q", "qd", "qdd", "tau", "keep", "payload_torque")
        return replace(self, **{name: value[index] for name in names if (value := getattr(self, name)) is not None})

    def torque(self, function: Callable[[Array, Array, Array], Array]) -> Array:
        """The torque (N, n) that a function (q, qd, qdd) -> torque of the robot gives for these samples, with that of the payload."""
        tau = function(self.q, self.qd, self.qdd)
        return tau if self.payload_torque is None else tau + self.payload_torque

    def advanced(self, delay: Array) -> Samples:
        """These samples with the torque moved forward in time by `delay` (n,) [s]."""
        if not np.any(delay):
            return self
        if np.max(np.abs(delay)) >= 0.5 * (self.t[-1] - self.t[0]):
            raise CallError(f"a delay of {np.max(np.abs(delay)):g} s is not below half the length of the log, {self.t[-1] - self.t[0]:g} s")
        tau = np.concatenate([advanced(self.t[part], self.tau[part], delay) for part in split(self.t)])
        return replace(self, tau=tau)


def prepare(robot: Robot, log: Log, options: Preparation) -> Samples:
    """Return the samples of a log: joints in the robot's order, cleaned, smoothed, masked."""
    require_log(log)
    least = options.least_speeds(robot.joint_names)
    log = log.reordered(robot)
    require(log)
    refuse_degrees(robot, log)
    log = clean(log)
    if log.N < FEWEST:
        raise LogError(f"{log.where}{log.N} samples are too few to identify from; expected at least {FEWEST}")
    (q, qd, qdd), sure = smoothed(log, options)
    assert log.tau is not None
    t, tau = log.t, log.tau
    if not sure.all():
        t, q, qd, qdd, tau = (x[sure] for x in (t, q, qd, qdd, tau))
    keep = None if least is None else np.abs(qd) >= least
    if log.payload is None:
        return Samples(t, q, qd, qdd, tau, keep, log.remarks, log.source)
    try:
        carried = payload_torque(robot, log.payload, q, qd, qdd)
    except CallError as error:
        raise LogError(f"{log.where}its payload: {error}") from None
    weight = f"{log.payload.mass:.4g} kg"
    note = f"{log.where or 'A log: '}the torque of its payload, {weight}, was taken out; the result is the robot without it."
    return Samples(t, q, qd, qdd, tau, keep, (*log.remarks, note), log.source, carried)


def payload_torque(robot: Robot, payload: Payload, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the torque (N, n) [N m|N] that a payload adds: inverse dynamics of its inertia alone, on the body that carries it.

    Raises CallError for a frame that does not exist or does not move.
    """
    added = np.zeros(len(robot.parameters))
    inner = 10 * len(robot.tree.bodies)
    loaded = robot.with_payload(payload.mass, payload.com, payload.inertia, payload.frame)
    added[:inner] = (loaded.parameters - robot.parameters)[:inner]
    return robot.inverse_dynamics(q, qd, qdd, parameters=added)


def require_log(log: object) -> None:
    """Raise LogError if this is not a Log, such as the path of one."""
    if not isinstance(log, Log):
        raise LogError(f"expected a Log, not {type(log).__name__}; read one with read_log(path, robot), or make one with Log(t=, q=, tau=)")


def list_of_logs(log: Any) -> list[Log]:
    """Return one or more logs, given alone or by any iterable, as a list; LogError if there is none."""
    several = isinstance(log, Iterable) and not isinstance(log, (Log, str, bytes, Mapping, np.ndarray)) and not isinstance(log, type)
    logs = list(log) if several else [log]
    if not logs:
        raise LogError("there is no log to identify from; expected a Log or several of them")
    return logs


def require_numbers(log: Log) -> None:
    """Raise LogError if a log has too few samples, or a joint without any number in q or tau."""
    if log.N < FEWEST:
        raise LogError(f"{log.where}{log.N} samples are too few to identify from; expected at least {FEWEST}")
    for signal, values in (("q", log.q), ("tau", log.tau)):
        if values is not None and (empty := [name for name, x in zip(log.labels, values.T, strict=True) if not np.isfinite(x).any()]):
            raise LogError(f"{log.where}{signal} has no number in any of the {log.N} samples of {', '.join(empty)}")


def require(log: Log) -> None:
    """Raise LogError if the torque is missing or zero, the log is too short, or nothing moves."""
    if log.tau is None:
        hint = "it has currents: give the torque constants" if log.current is not None else "expected a column of torques per joint"
        raise LogError(f"{log.where}the log has no torque; {hint}")
    require_numbers(log)
    dead = [name for j, name in enumerate(log.labels) if not np.any(np.nan_to_num(log.tau[:, j]))]
    if len(dead) == log.n:
        raise LogError(f"{log.where}the torque is zero throughout for every joint: {', '.join(dead)}")
    with np.errstate(invalid="ignore"):
        span = np.nanmax(log.q, axis=0) - np.nanmin(log.q, axis=0)
    if not np.any(span > 1e-9):
        raise LogError(f"{log.where}the robot never moved: q is the same in all {log.N} samples, so that nothing can be identified")


def refuse_degrees(robot: Robot, log: Log) -> None:
    """Raise LogError if most revolute joints go far beyond their limits: q is in degrees, or at the motors."""
    reach = np.nanmax(np.abs(log.q), axis=0)
    turning = {body.coordinate for body in robot.tree.bodies if body.kind == "revolute"}
    limits = robot.tree.limits or (None,) * robot.n
    far = []
    for j in sorted(turning):
        limit = limits[j]
        most = max(abs(limit.lower), abs(limit.upper)) if limit is not None else np.inf
        if reach[j] > (max(2 * most, 2 * np.pi) if np.isfinite(most) else 6 * np.pi):
            far.append(f"{robot.joint_names[j]} reaches {reach[j]:.4g}")
    if len(far) > 0.5 * len(turning):
        raise LogError(f"{log.where}q looks like degrees or motor angles, not radians at the joints: {', '.join(far)}")


def smoothed(log: Log, options: Preparation) -> tuple[tuple[Array, Array, Array], NDArray[np.bool_]]:
    """Return q, qd, qdd, each (N, n), and the samples (N,) whose acceleration is certain enough to use.

    The smoother's own variance of the acceleration decides: it grows at the ends of a stretch, where neighbours are missing.
    """
    every = np.ones(log.N, bool)
    method = options.smoothing
    if method == "auto":
        method = None if log.qd is not None and log.qdd is not None else "kalman"
    if method is None:
        if log.qd is None or log.qdd is None:
            raise LogError(f"{log.where}smoothing=None needs qd and qdd in the log; it has {', '.join(log.signals)}")
        return (log.q, log.qd, log.qdd), every
    if method == "butterworth":
        assert options.cutoff is not None
        made = butterworth(log, options.cutoff)
        if made.N != log.N:
            raise LogError(f"{log.where}the sampling is not uniform: resample the log first (log.resampled), or use smoothing='kalman'")
        assert made.qd is not None
        assert made.qdd is not None
        return (made.q, made.qd, made.qdd), every
    states, variance = kalman(log)
    sure = np.all(variance <= MOST_UNCERTAIN**2 * np.median(variance, axis=0), axis=1)
    return (states[0], states[1], states[2]), sure if sure.sum() > 0.5 * log.N else every


def kalman(log: Log) -> tuple[Array, Array]:
    """Return q, qd, qdd (3, N, n) by the Kalman smoother and the variance of qdd (N, n); the full covariance is not kept."""
    smoother, qd, _ = fit_smoother(log)
    states, variance = np.empty((3, log.N, log.n)), np.empty((log.N, log.n))
    for part, x, P in smoother.parts(log.t, log.q, qd):
        states[:, part] = x.transpose(2, 0, 1)
        variance[part] = P[:, :, 2, 2]
    return states, variance
