"""View: a thinned log that hypotheses are tried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....signals.segments import split
from ...samples.decimation import decimated
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
    parts = [thinned(s, part, factor) for s in samples for part in split(s.t)]
    parts = [part for part in parts if len(part[0]) >= SHORTEST] or parts
    total = sum(len(part[0]) for part in parts)
    parts = windows(parts, most, total) if total > 1.2 * most else parts
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


def thinned(samples: Samples, part: slice, factor: int) -> tuple[Array, ...]:
    """Return t, q, qd, qdd, tau, the share in use and the payload's torque of one stretch, low-passed, one row in `factor` kept."""
    count = -(-(part.stop - part.start) // factor)
    use = np.ones(samples.q.shape) if samples.keep is None else samples.keep.astype(float)
    load = np.zeros(samples.q.shape) if samples.payload_torque is None else samples.payload_torque
    kept = [decimated(x[part], factor, 0, count) for x in (samples.q, samples.qd, samples.qdd, samples.tau, use, load)]
    return (samples.t[part][::factor], *kept)


def windows(parts: Sequence[tuple[Array, ...]], most: int, total: int) -> list[tuple[Array, ...]]:
    """Return windows of an equal share of each part, about `most` rows in all."""
    made: list[tuple[Array, ...]] = []
    for part in parts:
        rows = len(part[0])
        count = max(1, round(WINDOWS * rows / total))
        length = max(SHORTEST, int(most * rows / total / count))
        starts = np.sort((np.arange(count) + 0.5) * GOLDEN % 1.0 * max(rows - length, 0)).astype(int)
        made += [tuple(x[start : start + length] for x in part) for start in starts]
    return made
