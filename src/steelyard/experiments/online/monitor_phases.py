"""The phases of monitoring: the robot is learnt, then tested until it changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...identification.model.accumulator import Accumulator
from .change import DetectedChange
from .change_detection import ChangeDetector, ReferenceModel
from .online_thresholds import THRESHOLDS
from .sample_rows import SampleRows
from .stream import Stream

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class MonitorPhases:
    """Change detection of a stream.

    `learn` [s] of learning, then a test at every sample; `hours` between false alarms.

    `estimate(accumulator)` returns base parameters (b,), `reference(sigma)` the present estimate
    for a noise (n,) of the torques. A change that was noticed stays until `rearm`.
    """

    def __init__(
        self,
        rows: SampleRows,
        stream: Stream,
        learn: float,
        hours: float,
        estimate: Callable[[Accumulator], Array],
        reference: Callable[[Array], ReferenceModel],
    ) -> None:
        self.rows, self.stream, self.learn, self.hours = rows, stream, learn, hours
        self.estimate, self.reference = estimate, reference
        self.detector: ChangeDetector | None = None
        self.armed = self.noticed = False
        self._reported: tuple[int, DetectedChange] | None = None
        self._learning = 0

    def parts(self, start: int, count: int) -> list[slice]:
        """Return slices of a block that begins at sample `start`, cut where learning parts end."""
        if self.armed:
            return [slice(0, count)]
        self._begin()
        edges = [
            -(-self._learning * k // THRESHOLDS.learning_folds) - start
            for k in range(1, THRESHOLDS.learning_folds + 1)
        ]
        return [slice(a, b) for a, b in pairwise([0, *(e for e in edges if 0 < e < count), count])]

    def _begin(self) -> None:
        """Make the detector as soon as the rate is known; from then on samples are learnt."""
        if self.detector is None:
            rate = self.stream.rate or (
                1.0 / self.stream.dt if self.stream.timed else THRESHOLDS.nominal_rate
            )
            if np.isfinite(rate):
                self._learning = max(int(self.learn * rate), 1)
                self.detector = ChangeDetector(self.rows, rate, self.hours)

    def arm(self, number: int) -> None:
        """Begin to monitor once learning is complete; `number` is the number of the next sample."""
        if self.detector is not None and not self.armed and number >= self._learning:
            self.sigmas, windows = self.detector.spread(self.estimate)
            self.detector.arm(self.reference(self.sigmas.max(axis=0)), windows)
            self.armed = True

    def take(self, rows: Array, keep: Bools | None, number: int) -> bool:
        """Take in rows (N, width) of one part, the first of which has this number.

        Return whether a change was noticed in them.
        """
        if self.detector is None:
            return False
        if not self.armed:
            self.detector.learn(
                rows,
                keep,
                min(
                    number * THRESHOLDS.learning_folds // self._learning,
                    THRESHOLDS.learning_folds - 1,
                ),
            )
        elif self.noticed:
            self.detector.follow(rows, keep)
        else:
            alarm = self.detector.update(rows, keep)
            self.noticed = alarm is not None
            if alarm is not None:
                self.detector.follow(rows[alarm + 1 :], None if keep is None else keep[alarm + 1 :])
                return True
        return False

    def sigma(self, seconds: float) -> Array | None:
        """Noise (n,) [N m|N] of sums over windows of at least `seconds`; None while learning.

        It is divided by the root of the windows' length.
        """
        if not self.armed or self.detector is None:
            return None
        window = min(
            int(np.searchsorted(self.detector.windows, seconds * self.detector.rate)),
            len(self.sigmas) - 1,
        )
        return np.asarray(self.sigmas[window])

    @property
    def change(self) -> DetectedChange | None:
        """The detected change, refined by the samples since then; None without one."""
        if not self.noticed or self.detector is None:
            return None
        seen = self.detector.seen
        if self._reported is None or self._reported[0] != seen:
            self._reported = seen, self.detector.change(self._when, self.stream.unit)
        return self._reported[1]

    def rearm(self) -> None:
        """Take the robot after the change as the reference, and continue to monitor."""
        change = self.change
        if change is not None and self.detector is not None:
            self.detector.adopt(change)
            self.noticed, self._reported = False, None

    def _when(self, ago: int) -> float:
        assert self.detector is not None
        return self.stream.ago(ago + self.detector.unseen)

    @property
    def status(self) -> str:
        """The present phase in a sentence."""
        if self.noticed:
            return str(self.change)
        count = self.stream.count
        if self.armed:
            return f"Monitoring since sample {self._learning}: no change in {count} samples."
        return f"Learning the robot: {count} of {self._learning or 'an unknown number of'} samples."
