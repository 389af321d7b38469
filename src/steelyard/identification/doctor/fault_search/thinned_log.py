"""ThinnedLog: a thinned log that hypotheses are tried on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfiltfilt

from ....signals.segments import split
from ...samples.decimation import decimated
from ...samples.samples import Samples
from ...samples.samples_thresholds import THRESHOLDS as SAMPLES_THRESHOLDS
from ..doctor_thresholds import THRESHOLDS

Array = NDArray[np.float64]
# of the log between a window and the next: no period of a motion is as far from all of its
# multiples
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class ThinnedLog:
    """A decimated log: t [s] (N,), q, qd, qdd, tau (N, n), and its stretches without gaps.

    `keep` (N, n) marks the torques that are to be explained, `payload` (N, n) [N m|N] is the part
    of a known payload. `motion_frequency` is the frequency below which 95 % of the motion's power
    lies, in
    periods per row.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    keep: NDArray[np.bool_]
    payload: Array
    stretches: tuple[slice, ...]
    motion_frequency: float

    @property
    def N(self) -> int:
        return len(self.t)

    @property
    def n(self) -> int:
        return int(self.q.shape[1])

    @property
    def band(self) -> float:
        """The share of all frequencies at which model errors vary.

        Model errors depend on the motion and vary a few times as fast.
        """
        return float(np.clip(2 * THRESHOLDS.model_error_band * self.motion_frequency, 0.01, 1.0))

    def model_band(self, clock: float = 1.0) -> float:
        """Return the frequency [Hz] up to which model errors vary, for a factor of the clock."""
        interval = clock * float(np.median(np.diff(self.t)))
        return THRESHOLDS.model_error_band * self.motion_frequency / max(interval, 1e-300)

    def low_pass(self, cutoff: float, order: int) -> Callable[[Array], Array]:
        """Return a zero-phase Butterworth filter [Hz] of signals (N, k), stretch by stretch."""

        def filtered(x: Array) -> Array:
            y = np.array(x)
            for part in self.stretches:
                rows = part.stop - part.start
                rate = (rows - 1) / max(float(self.t[part.stop - 1] - self.t[part.start]), 1e-300)
                share = 2 * cutoff / rate
                if rows > 3 and share < THRESHOLDS.widest_band:
                    section = butter(order, share, output="sos")
                    pad = min(rows - 1, int(3 / share))
                    y[part] = sosfiltfilt(section, x[part], axis=0, padlen=pad)
            return y

        return filtered

    def independent(self, residual: Array, used: NDArray[np.bool_]) -> Array:
        """Return the number of independent rows per row of each joint, (n,), from residuals (N, n).

        Residuals are interpolated where rows are not in use (`used` (N, n)): steps at the ends of a
        rest have a wide spectrum.

        It is the number for white noise with the residuals' spectral density in the band of model
        errors. Residuals within that band alone have as many independent rows as the band is wide;
        white noise has all.
        """
        part = max(self.stretches, key=lambda s: s.stop - s.start)
        rows = np.arange(part.stop - part.start)
        filled = np.stack(
            [
                np.interp(rows, rows[use], e[use]) if np.any(use) else e
                for e, use in zip(residual[part].T, used[part].T, strict=True)
            ],
            axis=1,
        )
        power = np.abs(np.fft.rfft(filled, axis=0)) ** 2
        low = np.sum(power[: max(2, round(self.band * len(power)))], axis=0) / np.maximum(
            np.sum(power, axis=0), 1e-300
        )
        return np.asarray(np.clip(self.band / np.maximum(low, 1e-12), self.band, 1.0))


def thin_log(samples: Sequence[Samples], most: int = THRESHOLDS.most_rows) -> ThinnedLog:
    """Return about `most` rows of the samples, low-passed before they are thinned.

    Of long logs some windows, spread over all.
    """
    quickest = max(motion_frequency(s.qd) for s in samples)
    total = sum(s.N for s in samples)
    factor = max(
        1, min(-(-total // most), int(1 / (THRESHOLDS.rows_per_period * max(quickest, 1e-6))))
    )
    stretches = [
        (s, part, -(-(part.stop - part.start) // factor)) for s in samples for part in split(s.t)
    ]
    stretches = [each for each in stretches if each[2] >= THRESHOLDS.least_stretch] or stretches
    total = sum(rows for _, _, rows in stretches)
    share = most / total if total > 1.2 * most else 1.0
    parts = [
        thin_stretch(s, part, factor, window)
        for s, part, rows in stretches
        for window in windows(rows, share, total)
    ]
    edges = np.cumsum([0, *(len(part[0]) for part in parts)]).tolist()
    t, q, qd, qdd, tau, keep, payload = (
        np.concatenate([part[k] for part in parts]) for k in range(7)
    )
    return ThinnedLog(
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        keep=keep > 0.99,
        payload=payload,
        stretches=tuple(slice(a, b) for a, b in pairwise(edges)),
        motion_frequency=quickest * factor,
    )


def narrow_band(samples: Samples) -> Samples:
    """Return samples whose signals are low-passed to the band of model errors, without delay.

    Where torque is a small difference of large terms, noise of accelerations hides it outside this
    band. The filter counts samples, so that scattered time stamps do no harm.
    """
    cutoff = 2 * THRESHOLDS.model_error_band * motion_frequency(samples.qd)
    if not 0 < cutoff < THRESHOLDS.widest_band:
        return samples
    section = butter(THRESHOLDS.band_order, cutoff, output="sos")

    def filtered(x: Array) -> Array:
        y = np.array(x)
        for part in split(samples.t):
            pad = min(part.stop - part.start - 1, int(3 / cutoff))
            y[part] = sosfiltfilt(section, x[part], axis=0, padlen=pad)
        return y

    q, qd, qdd, tau = map(filtered, (samples.q, samples.qd, samples.qdd, samples.tau))
    return replace(samples, q=q, qd=qd, qdd=qdd, tau=tau)


def motion_frequency(qd: Array, share: float = 0.95) -> float:
    """Return the frequency [1/sample] below which a share of the velocities' power lies."""
    part = qd[: 1 << 16]
    still = (part - part.mean(axis=0)) * np.hanning(len(part))[:, None]
    power = np.sum(
        np.abs(
            np.fft.rfft(
                still
                / np.maximum(still.std(axis=0), 0.05 * max(float(still.std(axis=0).max()), 1e-12)),
                axis=0,
            )
        )
        ** 2,
        axis=1,
    )
    return float(np.searchsorted(np.cumsum(power) / max(float(power.sum()), 1e-300), share)) / len(
        part
    )


def thin_stretch(samples: Samples, part: slice, factor: int, window: slice) -> tuple[Array, ...]:
    """Return low-passed signals of one stretch, one row in `factor`.

    t, q, qd, qdd, tau, the share in use and the payload's torque.

    `window` says which of these rows are wanted.
    """
    start, stop = (
        part.start + window.start * factor,
        min(part.start + window.stop * factor, part.stop),
    )
    margin = SAMPLES_THRESHOLDS.filter_reach * factor
    first, last = max(start - margin, part.start), min(stop + margin, part.stop)
    there, count = samples.part(slice(first, last)), window.stop - window.start
    use = np.ones(there.q.shape) if there.keep is None else there.keep.astype(float)
    load = np.zeros(there.q.shape) if there.payload_torque is None else there.payload_torque
    decimated_signals = [
        decimated(x, factor, start - first, count)
        for x in (there.q, there.qd, there.qdd, there.tau, use, load)
    ]
    return (samples.t[start:stop:factor], *decimated_signals)


def windows(rows: int, share: float, total: int) -> list[slice]:
    """Return windows that hold a share of the rows of a stretch; one with all for a share of 1.

    A stretch has its share of the `log_windows` windows of all `total` rows.
    """
    if share >= 1.0:
        return [slice(0, rows)]
    count = max(1, round(THRESHOLDS.log_windows * rows / total))
    length = min(rows, max(THRESHOLDS.least_stretch, int(share * rows / count)))
    starts = np.sort((np.arange(count) + 0.5) * GOLDEN % 1.0 * (rows - length)).astype(int)
    return [slice(int(start), int(start) + length) for start in starts]
