"""Static segments of a log, each reduced to one sample of mean position and torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ...identification.samples.samples import Samples, require_log, require_numbers
from ...robot import Robot
from ...signals.clean import clean
from ...signals.log import Log
from .payload_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StaticSegments:
    """Mean positions and torques (k, n) of k rests, with the direction (k, n) of the last motion.

    Directions are -1, 1, or 0 if unknown.
    """

    q: Array
    tau: Array
    side: Array
    source: str = ""

    @property
    def samples(self) -> Samples:
        """The rests as samples without velocity and acceleration."""
        still = np.zeros_like(self.q)
        return Samples(
            np.arange(len(self.q), dtype=float), self.q, still, still, self.tau, source=self.source
        )


def static_segments(robot: Robot, log: Log) -> StaticSegments:
    """Return the rests of a log in the robot's joint order.

    LogError with fewer than three rests or without torques.
    """
    require_log(log)
    log = log.reordered(robot)
    if log.tau is None:
        raise LogError(f"{log.where}the log has no torque; expected a column of torques per joint")
    if log.dt >= THRESHOLDS.separate_interval:
        return _require_segments(
            log, StaticSegments(*_require_finite(log), np.zeros_like(log.q), log.source)
        )
    require_numbers(log)
    log = clean(log)
    assert log.tau is not None
    parts = _rests(log)
    q, tau = (
        np.array([x[part].mean(axis=0) for part in parts]).reshape(-1, log.n)
        for x in (log.q, log.tau)
    )
    return _require_segments(
        log,
        StaticSegments(
            q, tau, np.array([_side(log, part) for part in parts]).reshape(-1, log.n), log.source
        ),
    )


def is_static(log: Log) -> bool:
    """Return whether the robot rests in every sample, or samples are too far apart for a motion."""
    return (
        bool(log.qd is not None and not np.any(np.abs(log.qd) > THRESHOLDS.resting_speed))
        or log.dt >= THRESHOLDS.separate_interval
    )


def _require_finite(log: Log) -> tuple[Array, Array]:
    assert log.tau is not None
    for name, x in (("q", log.q), ("tau", log.tau)):
        if not np.all(np.isfinite(x)):
            raise LogError(
                f"{log.where}{name} holds NaN or infinity in"
                f" {int(np.sum(~np.isfinite(x).all(axis=1)))} of {log.N} poses"
            )
    return log.q, log.tau


def _require_segments(log: Log, segments: StaticSegments) -> StaticSegments:
    if len(segments.q) < THRESHOLDS.least_poses:
        raise LogError(
            f"{log.where}the robot rests {len(segments.q)} times; expected at least"
            f" {THRESHOLDS.least_poses} poses"
            " to identify a load"
        )
    return segments


def _rests(log: Log) -> list[slice]:
    """Return the segments in which every joint rests, without their first `settling_time` [s]."""
    w = max(1, round(THRESHOLDS.velocity_window / log.dt))
    after, before = np.minimum(np.arange(log.N) + w, log.N - 1), np.maximum(np.arange(log.N) - w, 0)
    speed = (
        np.abs(log.q[after] - log.q[before])
        / np.maximum(log.t[after] - log.t[before], 1e-12)[:, None]
    )
    rest = np.concatenate([[False], np.all(speed <= THRESHOLDS.resting_speed, axis=1), [False]])
    edges = np.flatnonzero(np.diff(rest.astype(int))).reshape(-1, 2)
    lead = round(THRESHOLDS.settling_time / log.dt)
    return [slice(int(a) + (lead if a else 0), int(b)) for a, b in edges if b - a > lead + w]


def _side(log: Log, part: slice) -> Array:
    """Return the direction in which each joint moved before a rest, (n,)."""
    first = max(
        0, part.start - round((THRESHOLDS.settling_time + THRESHOLDS.approach_time) / log.dt)
    )
    step = log.q[part].mean(axis=0) - log.q[first]
    return np.where(np.abs(step) > THRESHOLDS.least_approach, np.sign(step), 0.0)
