"""Effort channels: without a sign, computed from the position command, or coarsely quantised.

These faults show in the signals; rigid-body dynamics cannot explain such efforts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ...signals.log import Log
from .channels import is_dead
from .doctor_thresholds import THRESHOLDS
from .finding import Finding

Array = NDArray[np.float64]
MEASURED_EFFORT = (
    "a log of measured torques or signed currents, or identify from position commands"
    " (log.reference without tau); no mapping can restore it"
)


def unsigned_efforts(robot: Robot, log: Log) -> Iterator[Finding]:
    """Yield a finding on efforts without sign: magnitudes of currents or torques.

    No sample is negative (or none positive) and some are near zero, although the joint moves both
    ways and its effort must change sign: gravity does, gravity is negligible and friction
    reverses, or the effort touches zero again and again without crossing it. Where the efforts of
    all joints have one sign, several joints that move both ways are enough.
    """
    assert log.tau is not None
    used = [
        j for j in range(log.n) if np.any(np.isfinite(log.tau[:, j])) and not is_dead(log.tau[:, j])
    ]
    if log.N < THRESHOLDS.least_stamps or not used:
        return
    unsigned = [j for j in used if has_one_sign(log.tau[:, j]) and reaches_zero(log.tau[:, j])]
    both_ways = [j for j in unsigned if moves_both_ways(log.q[:, j])]
    changes = sign_changes(robot, log)
    expected = [j for j in both_ways if j in changes or touches_zero(log.tau[:, j])]
    every = len(unsigned) == len(used)
    if not (expected or (every and len(used) >= THRESHOLDS.least_unsigned_joints)):
        return
    lowest = min(float(np.nanmin(np.abs(log.tau[:, j]))) for j in unsigned)
    moving = [log.labels[j] for j in (expected or both_ways or unsigned)]
    which = "any joint" if every else ", ".join(log.labels[j] for j in expected)
    sentence = (
        f"The effort has no sign: no sample of {which} is on the other side of zero (least"
        f" magnitude {lowest:.3g}), although {', '.join(moving)}"
        f" {'reverses' if len(moving) == 1 else 'reverse'}."
    )
    joints = () if every else tuple(log.labels[j] for j in expected)
    confidence = 0.99 if every and len(used) > 1 else 0.95
    yield Finding("effort without sign", joints, sentence, confidence, MEASURED_EFFORT)


def has_one_sign(tau: Array) -> bool:
    """Return whether no sample of an effort (N,) is negative, or none positive."""
    finite = tau[np.isfinite(tau)]
    return bool(np.all(finite >= 0) or np.all(finite <= 0))


def reaches_zero(tau: Array) -> bool:
    """Return whether an effort (N,) comes near zero, as a magnitude does where its sign changes."""
    size = np.abs(tau[np.isfinite(tau)])
    return bool(size.min() <= THRESHOLDS.unsigned_least * size.max())


def touches_zero(tau: Array) -> bool:
    """Return whether an effort (N,) of one sign comes back from zero again and again.

    A signed effort would cross zero there. Stretches at exactly zero, as of drives that are off,
    do not count.
    """
    size = np.abs(tau[np.isfinite(tau)])
    near = (size <= THRESHOLDS.touched_zero * size.max()) & (size > 0.0)
    return int(np.sum(np.diff(near.astype(int)) == 1)) >= THRESHOLDS.least_touches


def moves_both_ways(q: Array) -> bool:
    """Return whether a position (N,) covers a relevant path in both directions."""
    step = np.diff(q[np.isfinite(q)])
    forth, back = float(np.sum(step[step > 0])), float(-np.sum(step[step < 0]))
    return min(forth, back) > THRESHOLDS.standing and min(forth, back) > (
        THRESHOLDS.reversed_path * (forth + back)
    )


def sign_changes(robot: Robot, log: Log) -> set[int]:
    """Return the joints whose torque changes sign if gravity is roughly as described.

    Gravity changes sign along the motion, or it is negligible beside other joints' gravity: then
    friction and inertia decide the sign.
    """
    rows = log.q[:: max(1, log.N // THRESHOLDS.gravity_rows)]
    gravity = robot.gravity_torque(rows[np.all(np.isfinite(rows), axis=1)])
    if not len(gravity):
        return set()
    largest = np.max(np.abs(gravity), axis=0)
    negligible = largest <= THRESHOLDS.negligible_gravity * float(largest.max(initial=0.0))
    side = THRESHOLDS.relevant_gravity * largest
    both = np.minimum(np.mean(gravity > side, axis=0), np.mean(gravity < -side, axis=0))
    return set(np.flatnonzero(negligible | (both > THRESHOLDS.reversed_path)).tolist())


def commanded_efforts(log: Log) -> Iterator[Finding]:
    """Yield a finding on efforts that are functions of the position and its command.

    tau = a (q_ref - q) + b to within the resolution of the effort, or tau = a sin q + b cos q + c:
    the output of a position controller or of gravity compensation. Friction and inertia, which
    every measured torque contains, are missing.
    """
    assert log.tau is not None
    joints = [
        log.labels[j]
        for j in range(log.n)
        if np.all(np.isfinite(log.tau[:, j]))
        and not is_dead(log.tau[:, j])
        and is_commanded(log, j)
    ]
    if joints:
        source = "the position error" if log.reference is not None else "the position"
        sentence = (
            f"The effort of {', '.join(joints)} is a function of {source} alone, without friction"
            " and inertia: it is a command, not a measured torque."
        )
        yield Finding("effort is the command", tuple(joints), sentence, 0.95, MEASURED_EFFORT)


def is_commanded(log: Log, j: int) -> bool:
    """Return whether the effort of a joint is a function of its position and command alone.

    The function explains all but a small residual, and neither friction nor inertia explains any
    of that residual.
    """
    assert log.tau is not None
    tau, q = log.tau[:, j], log.q[:, j]
    if log.N < THRESHOLDS.least_stamps or not moves_both_ways(q):
        return False
    if log.reference is not None:
        columns = [log.reference[:, j] - q]
    elif np.ptp(q) > THRESHOLDS.least_command_range:
        columns = [np.sin(q), np.cos(q)]
    else:
        return False
    size = max(1, log.N // THRESHOLDS.command_rows)
    t, torque, position, *laws = (block_means(x, size) for x in (log.t, tau, q, *columns))
    command = np.stack([np.ones_like(t), *laws], axis=1)
    if not np.all(np.isfinite(command)) or np.any(np.diff(t) <= 0):
        return False
    speed = np.gradient(position, t)
    usual = max(float(np.sqrt(np.mean(speed**2))), 1e-12)
    mechanics = (np.tanh(speed / (0.1 * usual)), speed, np.gradient(speed, t))
    alone = unexplained(command, torque)
    beside = unexplained(np.column_stack([command, *mechanics]), torque)
    return (
        alone <= THRESHOLDS.command_residual * float(np.std(torque))
        and beside >= (1.0 - THRESHOLDS.command_mechanics) * alone
    )


def block_means(x: Array, size: int) -> Array:
    """Return the means of consecutive blocks of `size` samples of x (N,)."""
    whole = len(x) // size * size
    return np.asarray(x[:whole].reshape(-1, size).mean(axis=1))


def unexplained(X: Array, y: Array) -> float:
    """Return the standard deviation of what the columns X (N, k) leave of y (N,)."""
    scale = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    return float(np.std(y - X @ (np.linalg.lstsq(X / scale, y, rcond=1e-10)[0] / scale)))


def quantised_efforts(log: Log) -> Iterator[Finding]:
    """Yield a remark on efforts whose resolution is a relevant part of their variation."""
    assert log.tau is not None
    for name, tau in zip(log.labels, log.tau.T, strict=True):
        step, spread = quantum(tau), float(np.nanstd(tau))
        if not is_dead(tau) and step > THRESHOLDS.coarse_effort * spread > 0:
            sentence = (
                f"The effort of {name} is quantised in steps of {step:.3g} N m|N,"
                f" {step / spread:.0%} of its standard deviation."
            )
            yield Finding(
                fault="quantised effort",
                joints=(name,),
                sentence=sentence,
                probability=0.98,
                fix="a finer resolution of the effort channel; no mapping can restore it",
                severity="remark",
            )


def quantum(x: Array) -> float:
    """Return the step of which all values (N,) are multiples, 0 if there is none.

    The values repeat: on average each occurs several times, at distances that are whole steps.
    """
    finite = x[np.isfinite(x)]
    values = np.unique(finite)
    if len(values) < 3 or len(finite) < THRESHOLDS.least_repeats * len(values):
        return 0.0
    step = float(np.min(np.diff(values)))
    multiples = (values - values[0]) / step
    off = np.abs(multiples - np.rint(multiples)) / np.maximum(multiples, 1.0)
    return step if float(np.max(off)) < THRESHOLDS.quantum_tolerance else 0.0
