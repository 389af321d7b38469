"""The phases of watching a robot: it is learnt, then watched until it changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...identification.model.accumulator import Accumulator
from .change import Change
from .change_detection import FOLDS, ChangeDetector, Reference
from .sample_rows import SampleRows
from .stream import Stream

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
NOMINAL = 1000.0  # [Hz] taken where the rate is not known and only counts of samples matter


class Watch:
    """Change detection of a stream: `learn` [s] of learning, then a test at every sample; `hours` between false alarms.

    `estimate(accumulator)` returns base parameters (b,), `reference(sigma)` the present estimate for a noise (n,) of the torques. A change
    that was noticed stays until `rearm`.
    """

    def __init__(
        self,
        rows: SampleRows,
        stream: Stream,
        learn: float,
        hours: float,
        estimate: Callable[[Accumulator], Array],
        reference: Callable[[Array], Reference],
    ) -> None:
        self.rows, self.stream, self.learn, self.hours = rows, stream, learn, hours
        self.estimate, self.reference = estimate, reference
        self.detector: ChangeDetector | None = None
        self.armed = self.noticed = False
        self._said: tuple[int, Change] | None = None
        self._learning = 0

    def parts(self, start: int, count: int) -> list[slice]:
        """Return the samples of a block, numbered from `start` in the stream, cut where a part of the learning ends."""
        if self.armed:
            return [slice(0, count)]
        self._begin()
        edges = [-(-self._learning * k // FOLDS) - start for k in range(1, FOLDS + 1)]
        return [slice(a, b) for a, b in pairwise([0, *(e for e in edges if 0 < e < count), count])]

    def _begin(self) -> None:
        """Make the detector as soon as the rate is known; from then on samples are learnt."""
        if self.detector is None:
            rate = self.stream.rate or (1.0 / self.stream.dt if self.stream.timed else NOMINAL)
            if np.isfinite(rate):
                self._learning = max(int(self.learn * rate), 1)
                self.detector = ChangeDetector(self.rows, rate, self.hours)

    def arm(self, number: int) -> None:
        """Begin to watch if it is time: `number` is that of the next sample."""
        if self.detector is not None and not self.armed and number >= self._learning:
            self.sigmas, windows = self.detector.spread(self.estimate)
            self.detector.arm(self.reference(self.sigmas.max(axis=0)), windows)
            self.armed = True

    def take(self, rows: Array, keep: Bools | None, number: int) -> bool:
        """Take in rows (N, width) of one part, the first of which has this number; return whether a change was noticed in them."""
        if self.detector is None:
            return False
        if not self.armed:
            self.detector.learn(rows, keep, min(number * FOLDS // self._learning, FOLDS - 1))
        elif self.noticed:
            self.detector.follow(rows, keep)
        else:
            found = self.detector.update(rows, keep)
            self.noticed = found is not None
            if found is not None:
                self.detector.follow(rows[found + 1 :], None if keep is None else keep[found + 1 :])
                return True
        return False

    def sigma(self, seconds: float) -> Array | None:
        """Noise (n,) [N m|N] of sums over windows of at least so many seconds, over the root of their length; None while learning."""
        if not self.armed or self.detector is None:
            return None
        at = min(int(np.searchsorted(self.detector.windows, seconds * self.detector.rate)), len(self.sigmas) - 1)
        return np.asarray(self.sigmas[at])

    @property
    def change(self) -> Change | None:
        """The change that was noticed, with what samples since then tell of it; None without one."""
        if not self.noticed or self.detector is None:
            return None
        seen = self.detector.seen
        if self._said is None or self._said[0] != seen:
            self._said = seen, self.detector.change(self._when, self.stream.unit)
        return self._said[1]

    def rearm(self) -> None:
        """Take the robot as it is after the change for the reference, and watch on."""
        found = self.change
        if found is not None and self.detector is not None:
            self.detector.adopt(found)
            self.noticed, self._said = False, None

    def _when(self, ago: int) -> float:
        assert self.detector is not None
        return self.stream.ago(ago + self.detector.unseen)

    @property
    def status(self) -> str:
        """What it does at present, in a sentence."""
        if self.noticed:
            return str(self.change)
        count = self.stream.count
        if self.armed:
            return f"Watching since sample {self._learning}: no change in {count} samples."
        return f"Learning the robot: {count} of {self._learning or 'an unknown number of'} samples."
