"""Preparation of a log for filters.

Samples are sorted in time, repeats dropped, short gaps interpolated, long ones kept. Each step adds
a remark.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..log import Log
from ..segments import is_uniform
from ..signal_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
FALLING = (
    "The time stamps fall from sample to sample: the samples were put in the order of their stamps."
)
# logs that `clean` returned, which are immutable, with their `max_gap`
_cleaned: WeakKeyDictionary[Log, float] = WeakKeyDictionary()


def clean(log: Log, max_gap: float = THRESHOLDS.gap_ratio) -> Log:
    """Return a log with increasing times and finite numbers; each repair adds a remark.

    Holes of up to `max_gap` median steps are filled by monotone cubic interpolation; longer ones
    stay and divide log.segments. A clock that starts over raises LogError. A log that is the result
    of this function is returned as it is. Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980),
    p. 238.
    """
    if _cleaned.get(log) == max_gap:
        return log
    for step in (drop_timeless, sort_by_time, drop_repeats):
        log = step(log)
    log = fill_samples(fill_numbers(log, max_gap), max_gap)
    _cleaned[log] = max_gap
    return log


def is_measured(value: Array) -> Mask:
    """Return where numbers are finite and not larger than any measurement."""
    return np.isfinite(value) & (np.abs(value) <= THRESHOLDS.largest_number)


def drop_timeless(log: Log) -> Log:
    """Drop the samples whose time is not finite."""
    good = is_measured(log.t)
    if good.all():
        return log
    if good.sum() < 2:
        raise LogError(f"{log.where}fewer than two of the {log.N} time stamps are finite numbers")
    return log[good].remarked(f"{np.sum(~good)} samples without a finite time stamp were dropped.")


def sort_by_time(log: Log) -> Log:
    """Sort samples that are slightly out of order in time.

    Raise LogError if the clock starts over.
    """
    step = np.diff(log.t)
    back = np.flatnonzero(step < 0)
    if not len(back):
        return log
    typical = np.median(np.abs(step[step != 0])) if np.any(step) else 0.0
    worst = back[np.argmin(step[back])]
    if -step[worst] > THRESHOLDS.gap_ratio * typical:
        raise LogError(
            f"{log.where}the clock goes back by {-step[worst]:.6g} s at sample {worst + 1} (from"
            f" {log.t[worst]:.6g} s): two runs in one file? Split it there, or give the column of"
            " another clock"
        )
    remark = (
        FALLING
        if len(back) > 0.9 * len(step)
        else f"{len(back)} samples came out of order in time and were sorted."
    )
    return log[np.argsort(log.t, kind="stable")].remarked(remark)


def drop_repeats(log: Log) -> Log:
    """Keep the first sample of each time stamp."""
    step = np.diff(log.t)
    typical = float(np.median(step[step > 0])) if np.any(step > 0) else 0.0
    fresh = np.concatenate([[True], step > THRESHOLDS.equal_stamps * typical])
    if fresh.all():
        return log
    if fresh.sum() < 2:
        raise LogError(
            f"{log.where}all {log.N} samples carry the same time stamp, {log.t[0]:.6g} s"
        )
    return log[fresh].remarked(
        f"{np.sum(~fresh)} samples with a repeated time stamp were dropped, the first of each kept."
    )


def fill_numbers(log: Log, max_gap: float) -> Log:
    """Interpolate short runs of NaN and infinity; drop samples in long runs and at the ends.

    Slow signals are interpolated throughout.
    """
    drop, count = np.zeros(log.N, bool), 0
    filled: dict[str, Array] = {}
    for name in log.signals:
        value = getattr(log, name)
        bad = ~is_measured(value)
        if not bad.any():
            continue
        columns, row = value.reshape(log.N, -1).copy(), log.schema[name]
        for label, x, holes in zip(
            row.column_labels(value, log.labels), columns.T, bad.reshape(log.N, -1).T, strict=True
        ):
            # a second encoder, or the like, that some joints do not have
            if row.beside and holes.all() and not bad.all():
                continue
            if np.sum(~holes) < 2:
                of = f" of {label}" if label else ""
                raise LogError(
                    f"{log.where}{name}{of} holds no numbers: {np.sum(holes)} of {log.N} are NaN or"
                    " infinite"
                )
            short = holes if row.slow else short_runs(holes, log.t, max_gap * log.dt)
            t, known, missing = log.t[~holes], x[~holes], log.t[short]
            x[short] = np.interp(missing, t, known) if row.slow else interpolate(t, known, missing)
            count += int(short.sum())
            drop |= holes & ~short
        filled[name] = columns.reshape(value.shape)
    if not filled:
        return log
    remarks = [f"{count} numbers that were NaN or infinite were interpolated."] if count else []
    remarks += (
        [f"{drop.sum()} samples in long runs of NaN or infinity were dropped."]
        if drop.any()
        else []
    )
    if np.sum(~drop) < 2:
        raise LogError(f"{log.where}no two samples are left without NaN or infinity")
    return log.replace(**filled)[~drop].remarked(*remarks)


def short_runs(bad: Mask, t: Array, longest: float) -> Mask:
    """Return the bad samples in runs between good ones at most `longest` [s] apart."""
    good = np.flatnonzero(~bad)
    before = np.searchsorted(good, np.arange(len(bad)), side="right") - 1
    inside = bad & (before >= 0) & (before < len(good) - 1)
    previous, right = (
        good[np.clip(before, 0, len(good) - 1)],
        good[np.clip(before + 1, 0, len(good) - 1)],
    )
    return inside & (t[right] - t[previous] <= longest * 1.0001)


def fill_samples(log: Log, max_gap: float) -> Log:
    """Interpolate the dropped samples of an otherwise regular log.

    The measured rows stay as they are.
    """
    if log.N < 5 or is_uniform(log.t):
        return log
    step = np.diff(log.t) / log.dt
    regular = np.abs(step - np.round(step)) < 0.02
    holes = np.flatnonzero(regular & (step > 1.5) & (step <= max_gap))
    if not len(holes) or np.mean(regular) < 0.99:
        return log
    count = np.round(step[holes]).astype(int) - 1
    new = np.concatenate(
        [
            np.linspace(log.t[i], log.t[i + 1], c + 2)[1:-1]
            for i, c in zip(holes, count, strict=True)
        ]
    )
    index = np.searchsorted(log.t, new)
    parts = {
        name: np.insert(x, index, interpolate(log.t, x, new), axis=0)
        for name in log.signals
        for x in [getattr(log, name)]
    }
    remark = f"{len(new)} dropped samples in {len(holes)} places were filled in by interpolation."
    return log.plain().replace(t=np.insert(log.t, index, new), **parts).remarked(remark)


def interpolate(t: Array, x: Array, times: Array) -> Array:
    """Return x(t) at other times by monotone cubic interpolation."""
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(t, x, axis=0)(times))
