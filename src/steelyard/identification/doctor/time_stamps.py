"""Time stamps: jitter, dropped samples and duplicated stamps.

Their steps and the smoothness of the positions distinguish them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.cleaning import FALLING, sort_by_time
from ...signals.log import Log
from ...signals.signal_thresholds import THRESHOLDS as SIGNAL_THRESHOLDS
from .doctor_thresholds import THRESHOLDS
from .finding import Finding

Array = NDArray[np.float64]
UNITS = {1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}


@dataclass(frozen=True)
class Stamps:
    """Properties of the time stamps of a log.

    interval : median step [s]; repeated : share of stamps that repeat the previous one; missing :
    share of missing samples; jitter : standard deviation of a stamp over the interval
    """

    interval: float
    repeated: float
    missing: float
    jitter: float


def read_stamps(t: Array) -> Stamps:
    """Return the properties of time stamps t [s] (N,); gaps separate several runs."""
    step = np.diff(t)
    interval = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    short = step[step <= SIGNAL_THRESHOLDS.gap_ratio * interval] / interval
    spread = short[(short > 0) & (short < 1.999)] - 1.0
    odd = float(np.mean(np.abs(spread) > THRESHOLDS.irregular_step)) if len(spread) else 0.0
    jitter = float(np.std(spread)) / np.sqrt(2.0) if odd > THRESHOLDS.irregular_share else 0.0
    missing = (float(np.sum(short)) - len(short)) / max(len(t), 1)
    return Stamps(interval, float(np.mean(step == 0)), max(0.0, missing), jitter)


def stamp_findings(log: Log) -> tuple[tuple[Finding, ...], bool]:
    """Return the findings on time stamps, and whether evenly spaced stamps are better."""
    t = log.t[np.isfinite(log.t)]
    if len(t) < THRESHOLDS.least_stamps or not np.any(np.diff(t) > 0):
        return (), False
    stamps = read_stamps(t)
    findings, even = [], False
    if (
        stamps.jitter > THRESHOLDS.least_jitter
        and stamps.missing < THRESHOLDS.most_missing_of_jitter
    ):
        wrong = stamps_are_wrong(log)
        even = wrong
        findings.append(jitter_finding(stamps, wrong))
    if stamps.repeated > THRESHOLDS.least_stamp_share:
        complete = stamps.missing < THRESHOLDS.complete_ratio * stamps.repeated
        even = even or complete
        findings.append(repeat_finding(stamps, complete, log.N))
    if stamps.missing > THRESHOLDS.least_stamp_share and not (
        stamps.repeated > THRESHOLDS.least_stamp_share and even
    ):
        even = False
        findings.append(drop_finding(stamps, log.N))
    return tuple(findings), even


def unit_finding(log: Log) -> tuple[tuple[Finding, ...], float]:
    """Return the finding on stamps that are not seconds, and the length of their unit [s].

    Nothing and 1 if they are.
    """
    step = np.diff(log.t[np.isfinite(log.t)])
    interval = float(np.median(step[step > 0])) if np.any(step > 0) else 0.0
    if len(step) < THRESHOLDS.least_stamps or interval <= THRESHOLDS.longest_interval:
        return (), 1.0
    unit = next(
        (unit for unit in UNITS if interval * unit <= THRESHOLDS.longest_interval), min(UNITS)
    )
    sentence = (
        f"The time stamps are in {UNITS[unit]}: in seconds, the interval would be"
        f" {interval:.4g} s, too long to show a motion."
    )
    return (Finding("clock", (), sentence, 0.99, f"correction.clock = {unit:g}"),), unit


def runs_backwards(log: Log) -> bool:
    """Return whether the time stamps fell from sample to sample.

    The last sample comes first, or the clock runs backwards.
    """
    return (
        bool(np.any(np.diff(log.t) < 0))
        and FALLING in sort_by_time(log[np.isfinite(log.t)]).remarks
    )


def reverse_time(log: Log) -> Log:
    """Return the log with a clock that runs the other way."""
    return log.replace(t=-log.t)


def backwards_finding(gain: float) -> Finding:
    """Return the finding on a clock that runs backwards, with `gain` [nats] of evidence."""
    why = f"in their order, friction would drive the joints (evidence against it: {gain:.0f} nats)"
    return Finding(
        "clock",
        (),
        f"The time stamps run backwards: {why}.",
        1 / (1 + np.exp(-min(gain, 50.0))),
        "correction.clock = -1",
    )


def jitter_finding(stamps: Stamps, wrong: bool) -> Finding:
    """Return the finding on stamps that scatter."""
    sentence = (
        f"Time stamps have a jitter of {stamps.jitter:.0%} of the interval of"
        f" {1e3 * stamps.interval:.4g} ms"
    )
    if wrong:
        why = (
            "positions are smoother with evenly spaced samples, so the stamps are wrong, not the"
            " sampling"
        )
        return Finding(
            fault="jitter",
            joints=(),
            sentence=f"{sentence}: {why}.",
            probability=0.99,
            fix="correction.regular = true",
            severity="remark",
        )
    return Finding(
        fault="jitter",
        joints=(),
        sentence=f"{sentence}: the sampling is uneven; the smoother uses the stamps as they are.",
        probability=0.9,
        fix="",
        severity="remark",
    )


def repeat_finding(stamps: Stamps, complete: bool, N: int) -> Finding:
    """Return the finding on stamps that repeat the one before."""
    sentence = f"{stamps.repeated:.1%} of {N} time stamps repeat the previous one"
    if complete:
        return Finding(
            fault="duplicated stamps",
            joints=(),
            sentence=f"{sentence}; no sample is missing, so the stamps are wrong.",
            probability=0.99,
            fix="correction.regular = true",
            severity="remark",
        )
    return Finding(
        fault="duplicated stamps",
        joints=(),
        sentence=f"{sentence}; the first sample of each is kept.",
        probability=0.99,
        fix="",
        severity="remark",
    )


def drop_finding(stamps: Stamps, N: int) -> Finding:
    """Return the finding on samples that are missing."""
    sentence = (
        f"About {stamps.missing:.1%} of {N} samples are missing: steps are whole multiples of"
        f" {1e3 * stamps.interval:.4g} ms"
    )
    return Finding(
        fault="dropped samples",
        joints=(),
        sentence=f"{sentence}. Short gaps are interpolated when the log is read.",
        probability=0.99,
        fix="",
        severity="remark",
    )


def stamps_are_wrong(log: Log) -> bool:
    """Return whether positions are smoother over evenly spaced times than over the stamps."""
    t, q = log.t[: THRESHOLDS.roughness_samples], log.q[: THRESHOLDS.roughness_samples]
    by_stamp, by_count = (
        np.nanmedian(np.abs(roughness(x, q)), axis=0) for x in (t, np.arange(len(t), dtype=float))
    )
    moved = by_stamp > 0
    return bool(
        np.any(moved) and np.median(by_count[moved] / by_stamp[moved]) < THRESHOLDS.roughness_ratio
    )


def roughness(t: Array, q: Array) -> Array:
    """Return q minus the cubic interpolation of its four neighbours, (N - 4, n)."""
    near = np.stack([t[k : len(t) - 4 + k] for k in (0, 1, 3, 4)], axis=1)
    middle = t[2:-2]
    value = np.zeros((len(middle), q.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i, k in enumerate((0, 1, 3, 4)):
            others = [j for j in range(4) if j != i]
            weight = np.prod(
                [(middle - near[:, j]) / (near[:, i] - near[:, j]) for j in others], axis=0
            )
            value += weight[:, None] * q[k : len(q) - 4 + k]
        return np.asarray(q[2:-2] - value)
