"""View: a thinned log that hypotheses are tried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....signals.segments import split
from ...samples.decimation import REACH, decimated
from ...samples.samples import Samples

Array = NDArray[np.float64]
MOST = 1500  # rows: enough for every fault, and a few milliseconds for each trial
WINDOWS = 16  # into which the rows of a long log are divided
SHORTEST = 8  # rows of a stretch without gaps
PER_PERIOD = 50.0  # rows within a period of the fastest motion: friction that turns round must not be smeared over many of them
GOLDEN = (5**0.5 - 1) / 2  # of the log between a window and the next: no period of a motion is as far from all of its multiples
MODEL_ERROR = 3.0  # times the frequency of the motion at which errors of a model vary


@dataclass(frozen=True, eq=False)
class View:
    """A thinned log: t [s] (N,), q, qd, qdd [rad|m, ...], tau [N m|N], each (N, n), and the stretches that have no gap.

    `keep` (N, n) marks the torques that are to be explained, `payload` (N, n) [N m|N] is the part of a known payload. `fastest` is the
    frequency below which 95 % of the motion's power lies, in periods per row.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    keep: NDArray[np.bool_]
    payload: Array
    stretches: tuple[slice, ...]
    fastest: float

    @property
    def N(self) -> int:
        return len(self.t)

    @property
    def n(self) -> int:
        return int(self.q.shape[1])

    @property
    def band(self) -> float:
        """The part of all frequencies at which errors of a model vary: they depend on the motion, and vary a few times as fast as it."""
        return float(np.clip(2 * MODEL_ERROR * self.fastest, 0.01, 1.0))

    def independent(self, residual: Array) -> Array:
        """Return the independent rows per row of each joint (n,), from residuals (N, n): as many as white noise of their density has.

        The density is that of the band in which errors of a model lie. Residuals that lie there alone have as many independent rows as
        the band is wide; white noise has all.
        """
        part = max(self.stretches, key=lambda s: s.stop - s.start)
        power = np.abs(np.fft.rfft(residual[part], axis=0)) ** 2
        low = np.sum(power[: max(2, round(self.band * len(power)))], axis=0) / np.maximum(np.sum(power, axis=0), 1e-300)
        return np.asarray(np.clip(self.band / np.maximum(low, 1e-12), self.band, 1.0))


def view_of(samples: Sequence[Samples], most: int = MOST) -> View:
    """Return about `most` rows of the samples, low-passed before they are thinned; of long logs some windows, spread over all."""
    quickest = max(fastest(s.qd) for s in samples)
    total = sum(s.N for s in samples)
    factor = max(1, min(-(-total // most), int(1 / (PER_PERIOD * max(quickest, 1e-6)))))
    stretches = [(s, part, -(-(part.stop - part.start) // factor)) for s in samples for part in split(s.t)]
    stretches = [each for each in stretches if each[2] >= SHORTEST] or stretches
    total = sum(rows for _, _, rows in stretches)
    share = most / total if total > 1.2 * most else 1.0
    parts = [thinned(s, part, factor, window) for s, part, rows in stretches for window in windows(rows, share, total)]
    edges = np.cumsum([0, *(len(part[0]) for part in parts)]).tolist()
    t, q, qd, qdd, tau, keep, payload = (np.concatenate([part[k] for part in parts]) for k in range(7))
    return View(t, q, qd, qdd, tau, keep > 0.99, payload, tuple(slice(a, b) for a, b in pairwise(edges)), quickest * factor)


def fastest(qd: Array, share: float = 0.95) -> float:
    """Return the frequency, in periods per sample, below which a share of the power of the velocities (N, n) lies."""
    part = qd[: 1 << 16]
    still = (part - part.mean(axis=0)) * np.hanning(len(part))[:, None]
    power = np.sum(
        np.abs(np.fft.rfft(still / np.maximum(still.std(axis=0), 0.05 * max(float(still.std(axis=0).max()), 1e-12)), axis=0)) ** 2, axis=1
    )
    return float(np.searchsorted(np.cumsum(power) / max(float(power.sum()), 1e-300), share)) / len(part)


def thinned(samples: Samples, part: slice, factor: int, window: slice) -> tuple[Array, ...]:
    """Return t, q, qd, qdd, tau, the share in use and the payload's torque of one stretch, low-passed, one row in `factor` kept.

    `window` says which of these rows are wanted.
    """
    start, stop = part.start + window.start * factor, min(part.start + window.stop * factor, part.stop)
    first, last = max(start - REACH * factor, part.start), min(stop + REACH * factor, part.stop)
    there, count = samples.part(slice(first, last)), window.stop - window.start
    use = np.ones(there.q.shape) if there.keep is None else there.keep.astype(float)
    load = np.zeros(there.q.shape) if there.payload_torque is None else there.payload_torque
    kept = [decimated(x, factor, start - first, count) for x in (there.q, there.qd, there.qdd, there.tau, use, load)]
    return (samples.t[start:stop:factor], *kept)


def windows(rows: int, share: float, total: int) -> list[slice]:
    """Return windows that hold a share of the rows of a stretch, as many as it has of WINDOWS in `total` rows; for a share of 1, all."""
    if share >= 1.0:
        return [slice(0, rows)]
    count = max(1, round(WINDOWS * rows / total))
    length = min(rows, max(SHORTEST, int(share * rows / count)))
    starts = np.sort((np.arange(count) + 0.5) * GOLDEN % 1.0 * (rows - length)).astype(int)
    return [slice(int(start), int(start) + length) for start in starts]
