"""Time stamps: jitter against dropped samples against duplicated stamps, told apart by their steps and by how smooth the positions are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.cleaning import FALLING, sort_by_time
from ...signals.log import Log
from ...signals.segments import GAP
from .finding import Finding

Array = NDArray[np.float64]
LEAST_JITTER = 0.08  # standard deviation of a stamp, over the interval
ODD = 0.02  # of the interval by which a step differs from it that jitters
MANY_ODD = 0.2  # of the steps, from which stamps jitter
MOST_MISSING = 0.5  # of the samples, up to which steps are those of jitter
COMPLETE = 0.5  # samples missing for each stamp that is repeated, up to which none is missing
LEAST_SHARE = 0.01  # of the samples that are missing or have the stamp of another
FEWEST = 50  # samples
LONGEST = 0.5  # [s] between samples of a log that shows a motion; more are another unit
UNITS = {1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}
MOST = 50_000  # samples that are looked at
CLEARLY = 0.8  # ratio of roughness that tells which times are the true ones


@dataclass(frozen=True)
class Stamps:
    """The steps of a log's time stamps: the interval [s], the share of stamps that repeat the one before, that of samples which are
    missing, and the standard deviation of a stamp over the interval.
    """

    interval: float
    repeated: float
    missing: float
    jitter: float


def read_stamps(t: Array) -> Stamps:
    """Return what the steps of t [s] (N,) show; gaps count as several runs."""
    step = np.diff(t)
    interval = float(np.median(step[step > 0])) if np.any(step > 0) else 1.0
    short = step[step <= GAP * interval] / interval
    spread = short[(short > 0) & (short < 1.999)] - 1.0
    odd = float(np.mean(np.abs(spread) > ODD)) if len(spread) else 0.0
    jitter = float(np.std(spread)) / np.sqrt(2.0) if odd > MANY_ODD else 0.0
    missing = (float(np.sum(short)) - len(short)) / max(len(t), 1)
    return Stamps(interval, float(np.mean(step == 0)), max(0.0, missing), jitter)


def stamp_findings(log: Log) -> tuple[tuple[Finding, ...], bool]:
    """Return the findings on the time stamps of a log, and whether evenly spaced stamps would be better."""
    t = log.t[np.isfinite(log.t)]
    if len(t) < FEWEST or not np.any(np.diff(t) > 0):
        return (), False
    stamps = read_stamps(t)
    found, even = [], False
    if stamps.jitter > LEAST_JITTER and stamps.missing < MOST_MISSING:
        wrong = stamps_are_wrong(log)
        even = wrong
        found.append(jitter_finding(stamps, wrong))
    if stamps.repeated > LEAST_SHARE:
        complete = stamps.missing < COMPLETE * stamps.repeated
        even = even or complete
        found.append(repeat_finding(stamps, complete, log.N))
    if stamps.missing > LEAST_SHARE and not (stamps.repeated > LEAST_SHARE and even):
        even = False
        found.append(drop_finding(stamps, log.N))
    return tuple(found), even


def unit_finding(log: Log) -> tuple[tuple[Finding, ...], float]:
    """Return the finding on stamps that are no seconds, and what one unit of them is [s]; nothing and 1 if they are."""
    step = np.diff(log.t[np.isfinite(log.t)])
    interval = float(np.median(step[step > 0])) if np.any(step > 0) else 0.0
    if len(step) < FEWEST or interval <= LONGEST:
        return (), 1.0
    unit = next((unit for unit in UNITS if interval * unit <= LONGEST), min(UNITS))
    sentence = f"The time stamps are in {UNITS[unit]}: as seconds, samples would be {interval:.4g} s apart, too far to show a motion."
    return (Finding("clock", (), sentence, 0.99, f"correction.clock = {unit:g}"),), unit


def run_down(log: Log) -> bool:
    """Return whether the time stamps fell from sample to sample: the last sample comes first, or the clock runs backwards."""
    return bool(np.any(np.diff(log.t) < 0)) and FALLING in sort_by_time(log[np.isfinite(log.t)]).remarks


def turned_round(log: Log) -> Log:
    """Return the log with a clock that runs the other way."""
    return log.replace(t=-log.t)


def backwards_finding(gain: float) -> Finding:
    """Return the finding on a clock that runs backwards, which `gain` [nats] of evidence speak for."""
    why = f"sorted by them the joints would be driven by their friction, which {gain:.0f} nats of evidence speak against"
    return Finding("clock", (), f"The time stamps run backwards: {why}.", 1 / (1 + np.exp(-min(gain, 50.0))), "correction.clock = -1")


def jitter_finding(stamps: Stamps, wrong: bool) -> Finding:
    """Return the finding on stamps that scatter."""
    sentence = f"Time stamps scatter by {stamps.jitter:.0%} of the interval of {1e3 * stamps.interval:.4g} ms"
    if wrong:
        why = "the positions are smoother if samples are taken as evenly spaced, so that the stamps are wrong and not the sampling"
        return Finding("jitter", (), f"{sentence}: {why}.", 0.99, "correction.regular = true", "remark")
    return Finding("jitter", (), f"{sentence}: the sampling is uneven; the smoother works at the stamps as they are.", 0.9, "", "remark")


def repeat_finding(stamps: Stamps, complete: bool, N: int) -> Finding:
    """Return the finding on stamps that repeat the one before."""
    sentence = f"{stamps.repeated:.1%} of {N} time stamps repeat the one before"
    if complete:
        return Finding(
            "duplicated stamps",
            (),
            f"{sentence}; no sample is missing, so that the stamps are wrong.",
            0.99,
            "correction.regular = true",
            "remark",
        )
    return Finding("duplicated stamps", (), f"{sentence}; the first sample of each is kept.", 0.99, "", "remark")


def drop_finding(stamps: Stamps, N: int) -> Finding:
    """Return the finding on samples that are missing."""
    sentence = f"About {stamps.missing:.1%} of {N} samples are missing: steps are whole multiples of {1e3 * stamps.interval:.4g} ms"
    return Finding("dropped samples", (), f"{sentence}. Short holes are interpolated when the log is read.", 0.99, "", "remark")


def stamps_are_wrong(log: Log) -> bool:
    """Return whether positions are smoother over evenly spaced times than over the stamps."""
    t, q = log.t[:MOST], log.q[:MOST]
    by_stamp, by_count = (np.nanmedian(np.abs(roughness(x, q)), axis=0) for x in (t, np.arange(len(t), dtype=float)))
    moved = by_stamp > 0
    return bool(np.any(moved) and np.median(by_count[moved] / by_stamp[moved]) < CLEARLY)


def roughness(t: Array, q: Array) -> Array:
    """Return q minus the value that its four neighbours lead to by a cubic through them, (N - 4, n)."""
    near = np.stack([t[k : len(t) - 4 + k] for k in (0, 1, 3, 4)], axis=1)
    at = t[2:-2]
    value = np.zeros((len(at), q.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i, k in enumerate((0, 1, 3, 4)):
            others = [j for j in range(4) if j != i]
            weight = np.prod([(at - near[:, j]) / (near[:, i] - near[:, j]) for j in others], axis=0)
            value += weight[:, None] * q[k : len(q) - 4 + k]
        return np.asarray(q[2:-2] - value)
