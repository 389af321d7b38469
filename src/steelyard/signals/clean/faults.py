"""Faults of a log, in sentences.

Time stamps, missing numbers, units, joints that never moved, constant torques, wrong velocities.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..log import Log
from ..segments import split
from ..signal_thresholds import THRESHOLDS
from .delay import estimate_delay

Array = NDArray[np.float64]


def find_faults(log: Log) -> tuple[str, ...]:
    """Return a sentence for each fault of the log, with the joint, sample or time."""
    checks = (
        time_faults,
        missing_numbers,
        wrong_units,
        still_joints,
        silent_torques,
        stale_samples,
        wrong_velocities,
    )
    return tuple(sentence for check in checks for sentence in check(log))


def time_faults(log: Log) -> Iterator[str]:
    """Yield faults of time stamps: missing, repeated, out of order, far apart."""
    bad = np.flatnonzero(~np.isfinite(log.t))
    if len(bad):
        yield f"{len(bad)} time stamps are not finite, the first at sample {bad[0]}."
    with np.errstate(invalid="ignore"):
        step = np.diff(log.t)
    twice, back = np.flatnonzero(step == 0), np.flatnonzero(step < 0)
    if len(twice):
        yield (
            f"{len(twice)} time stamps are repeated, the first at sample {twice[0] + 1} (t ="
            f" {log.t[twice[0]]:.6g} s)."
        )
    if len(back):
        i = back[0]
        yield (
            f"Time goes backwards {len(back)} times, first at sample {i + 1}: {log.t[i]:.6g} s,"
            f" then {log.t[i + 1]:.6g} s."
        )
    long = np.flatnonzero(step > 1.5 * log.dt) if log.N > 2 else np.array([], int)
    gaps = long[step[long] > THRESHOLDS.gap_ratio * log.dt]
    if len(long) > len(gaps):
        yield (
            f"{len(long) - len(gaps)} times samples were dropped, the first after t ="
            f" {log.t[np.setdiff1d(long, gaps)[0]]:.6g} s."
        )
    if len(gaps):
        yield (
            f"{len(gaps)} gaps in time, the longest {step[gaps].max():.4g} s, the first after t ="
            f" {log.t[gaps[0]]:.6g} s."
        )


def missing_numbers(log: Log) -> Iterator[str]:
    """Yield columns with NaN or infinity."""
    for name in log.signals:
        value = getattr(log, name)
        labels = log.schema[name].column_labels(value, log.labels)
        for label, bad in zip(labels, ~np.isfinite(value.reshape(log.N, -1).T), strict=True):
            rows = np.flatnonzero(bad)
            if len(rows):
                of = f"{name} of {label}" if label else name
                yield (
                    f"{of} is not a number in {len(rows)} samples, the first {rows[0]} (t ="
                    f" {log.t[rows[0]]:.6g} s)."
                )


def wrong_units(log: Log) -> Iterator[str]:
    """Yield angles beyond two turns: degrees, or motor angles."""
    reach = np.nanmax(np.abs(np.nan_to_num(log.q, posinf=0.0, neginf=0.0)), axis=0, initial=0.0)
    far = np.flatnonzero(reach > THRESHOLDS.degrees_position)
    if len(far):
        names = ", ".join(f"{log.labels[j]} ({reach[j]:.4g})" for j in far)
        yield (
            f"q reaches beyond two turns: {names}. Degrees instead of radians (angle = 'deg'), or"
            " motor angles (give the gear ratios)?"
        )


def still_joints(log: Log) -> Iterator[str]:
    """Yield joints that never moved."""
    span = np.array(
        [
            np.ptp(column[np.isfinite(column)]) if np.isfinite(column).any() else np.inf
            for column in log.q.T
        ]
    )
    still = [
        log.labels[j]
        for j in np.flatnonzero(span <= 1e-6 * max(1.0, float(np.min(span, initial=1.0))))
    ]
    if len(still) == log.n:
        yield "The robot never moved: nothing but its weight at one pose can be seen in this log."
    elif still:
        yield f"Never moved: {', '.join(still)}."


def silent_torques(log: Log) -> Iterator[str]:
    """Yield torques or currents that are zero or constant."""
    for name in ("tau", "current"):
        value = getattr(log, name)
        if value is None:
            continue
        zero = [log.labels[j] for j in range(log.n) if not np.any(np.nan_to_num(value[:, j]))]
        flat = [
            log.labels[j]
            for j in range(log.n)
            if log.labels[j] not in zero and is_flat(value[:, j])
        ]
        if zero:
            yield f"{name} is zero throughout for {', '.join(zero)}."
        mostly = [
            log.labels[j]
            for j in range(log.n)
            if log.labels[j] not in zero and np.mean(value[:, j] == 0) > 0.5
        ]
        if mostly:
            yield (
                f"{name} is exactly zero in more than half of the samples for {', '.join(mostly)}."
            )
        if flat and log.N > 1:
            yield f"{name} never changes for {', '.join(flat)}."
    if log.tau is None:
        yield (
            "There is no torque in this log."
            if log.current is None
            else "There are currents but no torques: give the torque constants."
        )


def is_flat(column: Array) -> bool:
    """Return whether all finite numbers of a column are the same."""
    for part in (column[: THRESHOLDS.constant_samples], column):  # most columns change soon
        finite = part[np.isfinite(part)]
        if np.any(finite != finite[:1]):
            return False
    return len(finite) > 0


def stale_samples(log: Log) -> Iterator[str]:
    """Yield whether positions are logged faster than they are measured."""
    change = np.flatnonzero(np.any(log.q[1:] != log.q[:-1], axis=1))
    runs = np.diff(change)
    runs = runs[runs <= 50]  # longer ones are a robot at rest
    if len(runs) > 20 and np.median(runs) >= 2:
        times = int(np.median(runs))
        yield (
            f"Every position is repeated {times} times: logged at {log.rate:.4g} Hz, measured at"
            f" about {log.rate / times:.4g} Hz."
        )


def wrong_velocities(log: Log) -> Iterator[str]:
    """Yield velocities that are not the derivative of the position.

    They fit qd(t) = a dq/dt(t - d) with a far from 1, or a delay d.
    """
    if (
        log.qd is None
        or log.N < 20
        or not all(np.all(np.isfinite(x)) for x in (log.t, log.q, log.qd))
        or np.any(np.diff(log.t) <= 0)
    ):
        return
    part = max(split(log.t), key=lambda s: s.stop - s.start)
    part = slice(part.start, part.stop, max(1, (part.stop - part.start) // 4096))
    t, qd = log.t[part], log.qd[part]
    rates = np.gradient(log.q[part], t, axis=0)
    for j in range(log.n):
        power = float(qd[:, j] @ qd[:, j])
        ratio = float(qd[:, j] @ rates[:, j]) / power if power > 0 else 1.0
        # dq/dt over qd and not the inverse: the noise of the differences averages out in the
        # numerator and is not squared.
        if abs(ratio - 1.0) > 0.05:
            yield f"qd of {log.labels[j]} does not fit its position: dq/dt is {ratio:.3g} times qd."
        delay = velocity_delay(rates[:, j], qd[:, j], float(np.median(np.diff(t))))
        if delay:
            yield f"qd of {log.labels[j]} is {delay:.3g} s late against its position."


def contradicts_positions(log: Log) -> bool:
    """Return whether a velocity follows the derivative of its position, but scaled or late.

    Velocities of unordered states, which no differences of positions show, contradict nothing.
    """
    return log.qd is not None and any(wrong_velocities(log)) and correlates_with_positions(log)


def correlates_with_positions(log: Log) -> bool:
    """Return whether the velocities of all moving joints correlate with differences of positions.

    Of the longest stretch without gaps.
    """
    assert log.qd is not None
    part = max(split(log.t), key=lambda s: s.stop - s.start)
    rates, qd = np.gradient(log.q[part], log.t[part], axis=0), log.qd[part]
    products = np.abs(np.sum(rates * qd, axis=0))
    sizes = np.linalg.norm(rates, axis=0) * np.linalg.norm(qd, axis=0)
    return bool(np.all(products >= THRESHOLDS.least_correlation * sizes))


def velocity_delay(rates: Array, qd: Array, dt: float) -> float:
    """Return the delay [s] of qd against dq/dt; 0 if below a sample or if qd changes by < 5 %."""
    most = min(0.5, len(qd) * dt / 10)
    if len(qd) < 100 or np.ptp(qd) == 0 or np.ptp(rates) == 0:
        return 0.0
    estimate = estimate_delay(rates, qd, dt, most)
    delay = float(estimate.seconds[0])
    harm = abs(delay) * np.std(np.gradient(qd, dt)) / np.std(qd)
    return delay if estimate.correlation[0] > 0.5 and abs(delay) > dt and harm > 0.05 else 0.0
