"""A log made ready: checked, cleaned, smoothed, its torque moved by the delay, rows to leave out marked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from ...signals.resample import advanced
from ...signals.segments import split
from ...signals.smooth import butterworth
from ...signals.smooth.smoothed import fit_smoother
from .options import Options

Array = NDArray[np.float64]
UNSURE = 1.2  # times the usual standard deviation of the acceleration
LEAST = 10  # samples: fewer cannot be smoothed, let alone identified from


@dataclass(frozen=True, eq=False)
class Samples:
    """States and torques (N, n) of one log in the robot's joint order; `keep` (N, n) marks the rows in use, None for all."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    keep: NDArray[np.bool_] | None = None
    remarks: tuple[str, ...] = ()
    source: str = ""

    @property
    def N(self) -> int:
        return len(self.t)

    def part(self, index: slice) -> Samples:
        """Some of the samples."""
        keep = None if self.keep is None else self.keep[index]
        return replace(self, t=self.t[index], q=self.q[index], qd=self.qd[index], qdd=self.qdd[index], tau=self.tau[index], keep=keep)

    def advanced(self, delay: Array) -> Samples:
        """With the torque as it would be without its delay (n,) [s]."""
        if not np.any(delay):
            return self
        tau = np.concatenate([advanced(self.t[part], self.tau[part], delay) for part in split(self.t)])
        return replace(self, tau=tau)


def prepare(robot: Robot, log: Log, options: Options) -> Samples:
    """The samples of a log, ready for the regressor."""
    if not isinstance(log, Log):
        raise LogError(f"expected a Log, not {type(log).__name__}; read one with read_log(path, robot), or make one with Log(t=, q=, tau=)")
    log = log.reordered(robot)
    require(log)
    refuse_degrees(robot, log)
    log = clean(log)
    if log.N < LEAST:
        raise LogError(f"{log.where}{log.N} samples are too few to identify from; expected at least {LEAST}")
    (q, qd, qdd), sure = smoothed(log, options)
    assert log.tau is not None
    t, tau = log.t, log.tau
    if not sure.all():
        t, q, qd, qdd, tau = (x[sure] for x in (t, q, qd, qdd, tau))
    return Samples(t, q, qd, qdd, tau, keep_rows(robot, qd, options), log.remarks, log.source)


def require(log: Log) -> None:
    """Raise LogError where the torque is missing or the log too short to tell anything."""
    if log.tau is None:
        hint = "it has currents: give the torque constants" if log.current is not None else "expected a column of torques per joint"
        raise LogError(f"{log.where}the log has no torque; {hint}")
    if log.N < LEAST:
        raise LogError(f"{log.where}{log.N} samples are too few to identify from; expected at least {LEAST}")
    dead = [name for j, name in enumerate(log.labels) if not np.any(np.nan_to_num(log.tau[:, j]))]
    if len(dead) == log.n:
        raise LogError(f"{log.where}the torque is zero throughout for every joint: {', '.join(dead)}")
    with np.errstate(invalid="ignore"):
        span = np.nanmax(log.q, axis=0) - np.nanmin(log.q, axis=0)
    if not np.any(span > 1e-9):
        raise LogError(f"{log.where}the robot never moved: q is the same in all {log.N} samples, so that nothing can be identified")


def refuse_degrees(robot: Robot, log: Log) -> None:
    """Raise LogError where joints that turn go far beyond what joints can: degrees, or motor angles."""
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


def smoothed(log: Log, options: Options) -> tuple[tuple[Array, Array, Array], NDArray[np.bool_]]:
    """q, qd, qdd, each (N, n), by the way that was chosen, and which samples they can be relied on for, (N,).

    At the ends of a stretch no neighbours tell the acceleration: what the smoother itself is unsure of is left out.
    """
    every = np.ones(log.N, bool)
    way = options.smoothing
    if way == "auto":
        way = None if log.qd is not None and log.qdd is not None else "kalman"
    if way is None:
        if log.qd is None or log.qdd is None:
            raise LogError(f"{log.where}smoothing=None needs qd and qdd in the log; it has {', '.join(log.signals)}")
        return (log.q, log.qd, log.qdd), every
    if way == "butterworth":
        assert options.cutoff is not None
        made = butterworth(log, options.cutoff)
        if made.N != log.N:
            raise LogError(f"{log.where}the sampling is not uniform: resample the log first (log.resampled), or use smoothing='kalman'")
        assert made.qd is not None
        assert made.qdd is not None
        return (made.q, made.qd, made.qdd), every
    states, spread = kalman(log)
    sure = np.all(spread <= UNSURE**2 * np.median(spread, axis=0), axis=1)
    return (states[0], states[1], states[2]), sure if sure.sum() > 0.5 * log.N else every


def kalman(log: Log) -> tuple[Array, Array]:
    """Return q, qd, qdd (3, N, n) by the Kalman smoother and the variance of qdd (N, n); the full covariance is not kept."""
    smoother, qd, _ = fit_smoother(log)
    states, variance = np.empty((3, log.N, log.n)), np.empty((log.N, log.n))
    for part, x, P in smoother.parts(log.t, log.q, qd):
        states[:, part] = x.transpose(2, 0, 1)
        variance[part] = P[:, :, 2, 2]
    return states, variance


def keep_rows(robot: Robot, qd: Array, options: Options) -> NDArray[np.bool_] | None:
    """Which rows are fast enough for their joint's mask."""
    if not options.mask:
        return None
    least = np.zeros(robot.n)
    for name, value in options.mask:
        least[robot.joint_names.index(name)] = value
    return np.asarray(np.abs(qd) >= least)
