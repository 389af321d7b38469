"""Make a log fit for filters: order in time, no repeats, short holes filled, long ones left as gaps. Everything done is said."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..log import Log
from .segments import GAP, is_uniform

Array = NDArray[np.float64]


def clean(log: Log, max_gap: float = GAP) -> Log:
    """A log whose times increase and whose numbers are finite, with a remark for each thing that was done.

    Holes of up to `max_gap` median steps are filled by monotone cubic interpolation; longer ones stay and divide log.segments.
    A clock that starts over raises LogError. Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980), p. 238.
    """
    for step in (drop_timeless, in_order, once_each):
        log = step(log)
    log = fill_numbers(log, max_gap)
    return fill_samples(log, max_gap)


def drop_timeless(log: Log) -> Log:
    """Without the samples whose time is not finite."""
    good = np.isfinite(log.t)
    if good.all():
        return log
    if good.sum() < 2:
        raise LogError(f"{log.where}fewer than two of the {log.N} time stamps are finite numbers")
    return log[good].remarked(f"{np.sum(~good)} samples without a finite time stamp were dropped.")


def in_order(log: Log) -> Log:
    """Sorted by time where messages came out of order; a clock that starts over is an error."""
    step = np.diff(log.t)
    back = np.flatnonzero(step < 0)
    if not len(back):
        return log
    typical = np.median(np.abs(step[step != 0])) if np.any(step) else 0.0
    worst = back[np.argmin(step[back])]
    if -step[worst] > GAP * typical:
        raise LogError(
            f"{log.where}the clock goes back by {-step[worst]:.6g} s at sample {worst + 1} (from {log.t[worst]:.6g} s): "
            "two runs in one file? Split it there, or give the column of another clock"
        )
    return log[np.argsort(log.t, kind="stable")].remarked(f"{len(back)} samples came out of order in time and were sorted.")


def once_each(log: Log) -> Log:
    """Without the samples whose time stamp was there already: the first one of each is kept."""
    fresh = np.concatenate([[True], np.diff(log.t) > 0])
    if fresh.all():
        return log
    if fresh.sum() < 2:
        raise LogError(f"{log.where}all {log.N} samples carry the same time stamp, {log.t[0]:.6g} s")
    return log[fresh].remarked(f"{np.sum(~fresh)} samples with a repeated time stamp were dropped, the first of each kept.")


def fill_numbers(log: Log, max_gap: float) -> Log:
    """NaN and infinity: short runs interpolated, samples in long runs and at the ends dropped."""
    drop = np.zeros(log.N, bool)
    filled: dict[str, Array] = {}
    count = 0
    for name in log.signals:
        value = getattr(log, name)
        bad = ~np.isfinite(value)
        if not bad.any():
            continue
        hopeless = np.flatnonzero(np.sum(~bad, axis=0) < 2)
        if len(hopeless):
            raise LogError(
                f"{log.where}{name} of {log.labels[hopeless[0]]} holds no numbers: "
                f"{np.sum(bad[:, hopeless[0]])} of {log.N} are NaN or infinite"
            )
        value = value.copy()
        for j in np.flatnonzero(bad.any(axis=0)):
            short = short_runs(bad[:, j], log.t, max_gap * log.dt)
            good = ~bad[:, j]
            value[short, j] = interpolate(log.t[good], value[good, j], log.t[short])
            count += int(short.sum())
            drop |= bad[:, j] & ~short
        filled[name] = value
    if not filled:
        return log
    said = [f"{count} numbers that were NaN or infinite were interpolated."] if count else []
    said += [f"{drop.sum()} samples in long runs of NaN or infinity were dropped."] if drop.any() else []
    if np.sum(~drop) < 2:
        raise LogError(f"{log.where}no two samples are left without NaN or infinity")
    return log.replace(**filled)[~drop].remarked(*said)


def short_runs(bad: NDArray[np.bool_], t: Array, longest: float) -> NDArray[np.bool_]:
    """The bad samples in runs that are bounded by good ones not further apart than `longest` [s]."""
    good = np.flatnonzero(~bad)
    before = np.searchsorted(good, np.arange(len(bad)), side="right") - 1
    inside = bad & (before >= 0) & (before < len(good) - 1)
    left, right = good[np.clip(before, 0, len(good) - 1)], good[np.clip(before + 1, 0, len(good) - 1)]
    return inside & (t[right] - t[left] <= longest * 1.0001)


def fill_samples(log: Log, max_gap: float) -> Log:
    """Dropped samples of an otherwise regular log put back by interpolation."""
    if log.N < 5 or is_uniform(log.t):
        return log
    step = np.diff(log.t) / log.dt
    regular = np.abs(step - np.round(step)) < 0.02
    holes = np.flatnonzero(regular & (step > 1.5) & (step <= max_gap))
    if not len(holes) or np.mean(regular) < 0.99:
        return log
    count = np.round(step[holes]).astype(int) - 1
    new = np.concatenate([np.linspace(log.t[i], log.t[i + 1], c + 2)[1:-1] for i, c in zip(holes, count, strict=True)])
    t = np.sort(np.concatenate([log.t, new]))
    where = np.searchsorted(t, new)
    parts = {name: put_in(log.t, getattr(log, name), t, where) for name in log.signals}
    return log.replace(t=t, **parts).remarked(f"{len(new)} dropped samples in {len(holes)} places were filled in by interpolation.")


def put_in(t_old: Array, x: Array, t: Array, where: NDArray[np.intp]) -> Array:
    """x (N, n) on the longer time t, with interpolated rows at `where`; the measured rows stay as they are."""
    result = np.empty((len(t), x.shape[1]))
    kept = np.ones(len(t), bool)
    kept[where] = False
    result[kept] = x
    result[where] = interpolate(t_old, x, t[where])
    return result


def interpolate(t: Array, x: Array, at: Array) -> Array:
    """Monotone cubic interpolation of x(t) at other times."""
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(t, x, axis=0)(at))
