"""Change detection: when, by how much and where a robot differs from its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...identification.model.accumulator import Accumulator
from ...identification.model.joint_gram import JointGram
from ...identification.model.problem import merged
from .change import (
    DetectedChange,
    friction_limits,
    friction_size,
    least_squares_size,
    load_limits,
)
from .forgetting import ForgettingInformation
from .hypotheses import FRICTION, ChangeSums, change_hypotheses, least_certain, split_sums
from .online_thresholds import THRESHOLDS
from .sample_rows import SampleRows

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """The reference of change detection: base parameters (b,), covariance (b, b) and noise (n,).

    `sigma` [N m|N] is the noise of sums over windows, over the root of their length: it includes
    the autocorrelation of the errors.
    """

    base: Array
    covariance: Array
    sigma: Array


class ChangeDetector:
    """Generalised likelihood ratios of innovations over sliding windows, for every hypothesis.

    With e = tau - Y base of the reference, Z the columns of a hypothesis and W = 1/sigma^2, a
    window has b = sum Z^T W e and A = sum Z^T W Z; b^T (A + B B^T)^-1 b is tested. B B^T is the
    contribution of the reference's uncertainty. sigma^2 is the variance of sums of residuals over
    windows, over their length, where nothing changed (`learn`), each part of them with parameters
    of the others: autocorrelation and errors of the model count as they do in sums, the largest of
    them too. As sigma is estimated from nu windows, the statistic over its d degrees of freedom has
    Fisher's distribution with d and nu; the threshold is the quantile at which the probability of
    any false alarm, summed over samples, windows and hypotheses, is one in `hours`. Neighbouring
    windows overlap, so that false alarms come more rarely still. Basseville and Nikiforov,
    "Detection of Abrupt Changes", 1993, sections 2.4.3 and 7.2.
    """

    def __init__(self, rows: SampleRows, rate: float, hours: float) -> None:
        self.rows, self.rate, self.hours = rows, rate, hours
        self.sums = ChangeSums(change_hypotheses(rows.model), rows.n)
        self.windows = np.array([max(4, round(w * rate)) for w in THRESHOLDS.window_seconds])
        self._terms, self._tests = self.sums.terms, self.sums.tests
        self._friction = friction_places(rows, self.sums)
        self._size = 2 * int(self.windows[-1]) + THRESHOLDS.chunk_samples + 1
        self._learnt = [
            WindowSums(int(self.windows[0]), rows.width + rows.n)
            for _ in range(THRESHOLDS.learning_folds)
        ]
        self._folds = [
            ForgettingInformation(rows, 1.0, False) for _ in range(THRESHOLDS.learning_folds)
        ]
        self.reference: ReferenceModel | None = None

    @property
    def longest(self) -> int:
        """Samples in the longest window."""
        return int(self.windows[-1])

    def learn(self, rows: Array, keep: Bools | None, part: int) -> None:
        """Take in rows (N, width) of the learning phase.

        They belong to one of `learning_folds` consecutive parts.
        """
        used = rows
        if keep is not None:
            used = rows.copy()
            self.rows.regressor(used)[:] *= keep[..., None]
            self.rows.torque(used)[:] *= keep
        counts = np.full((len(rows), self.rows.n), 1.0) if keep is None else keep
        self._learnt[part].add(np.concatenate([used, counts], axis=1))
        self._folds[part].add(rows, keep)

    def spread(self, estimate: Callable[[Accumulator], Array]) -> tuple[Array, float]:
        """Return the noise sigma (windows, n) of each window length, and how many of the longest.

        The windows of each part use base parameters (b,), `estimate(accumulator)`, of the other
        parts.
        """
        folds = tuple(fold.accumulator for fold in self._folds)
        residuals = [
            self._residuals(learnt.sums, estimate(merged(folds, k)))
            for k, learnt in enumerate(self._learnt)
        ]
        windows = [window_sums(residuals, max(round(w / self.windows[0]), 1)) for w in self.windows]
        self._learnt, self._folds = [], []
        return np.array([typical_size(z) for z in windows]), float(max(len(windows[-1]), 1))

    def _residuals(self, sums: Array, base: Array) -> tuple[Array, Array]:
        n = self.rows.n
        return (
            self.rows.torque(sums[:, :-n]) - self.rows.regressor(sums[:, :-n]) @ base,
            sums[:, -n:],
        )

    def arm(self, reference: ReferenceModel, count: float) -> None:
        """Begin to watch against a reference, whose sigma comes from `count` windows."""
        d = np.array([h.d for h in self.sums.every], float)
        self.threshold = detection_thresholds(
            d, count, self.rate * self.hours * 3600.0 * len(d) * len(self.windows)
        )
        self._refer(reference)

    def update(self, rows: Array, keep: Bools | None) -> int | None:
        """Take in rows (N, width).

        Return the number among them at which a change is noticed, None without one.
        """
        for start in range(0, len(rows), THRESHOLDS.chunk_samples):
            part = slice(start, start + THRESHOLDS.chunk_samples)
            number = self._chunk(rows[part], None if keep is None else keep[part])
            if number is not None:
                return start + number
        return None

    def follow(self, rows: Array, keep: Bools | None) -> None:
        """Take in rows after a detected change, to estimate its size.

        At most the longest window counts.
        """
        room = max(self.longest - (self._t - self._alarm), 0)
        for start in range(0, min(room, len(rows)), THRESHOLDS.chunk_samples):
            part = slice(start, min(start + THRESHOLDS.chunk_samples, room))
            self._advance(rows[part], None if keep is None else keep[part])
        self.unseen += max(len(rows) - room, 0)

    @property
    def seen(self) -> int:
        """Number of samples since monitoring began."""
        return self._t

    def change(self, when: Callable[[int], float], unit: str) -> DetectedChange:
        """Return the likeliest change over all hypotheses and starts.

        `when(k)` is the time of k samples ago, in `unit`.
        """
        end, reach = self._t, self._t - self._alarm + self.longest
        starts = np.unique(
            np.linspace(max(end - reach, 0), self._alarm - 1, THRESHOLDS.change_starts).astype(int)
        )
        whole = self._ring[end % self._size] - self._ring[starts % self._size]
        start, k = self._likeliest(whole, end - starts)
        h, (a, b) = self.sums.every[k], self.sums.edges[k]
        gram, modes = window_gram(h.d, whole[start, a:b])
        values, spread = (least_squares_size if h.joint is None else friction_size)(gram, modes)
        tree = self.rows.model.robot.tree
        torque = float(np.sqrt(max(gram.quadratic(values)[0], 0.0) / (end - starts[start])))
        begun, noticed = when(end - int(starts[start])), when(end - self._alarm)
        names, model = self.rows.model.row_names, self.rows.model
        if h.joint is None:
            joints = tuple(
                names[j]
                for j in range(self.rows.n)
                if set(np.flatnonzero(np.any(h.D != 0, axis=1))) & set(model.reach[j])
            )
            limits = load_limits(
                self.rows.model.start[: 10 * len(tree.bodies) : 10].tolist(), h.names
            )
            kind = "load" if np.all(np.abs(values) <= limits) else "unexplained"
            return DetectedChange(
                kind=kind,
                where=h.link,
                begun=begun,
                noticed=noticed,
                unit=unit,
                names=h.names,
                values=values,
                covariance=spread,
                torque=torque,
                joints=joints,
                hypothesis=h,
            )
        assert self.reference is not None
        joint_torque, slides = (
            torque * float(self.reference.sigma[h.joint]),
            model.row_units[h.joint] == "N",
        )
        where, limits = names[h.joint], friction_limits(tree, h.joint, h.names)
        kind = "friction" if np.all(np.abs(values) <= limits) else "unexplained"
        return DetectedChange(
            kind=kind,
            where=where,
            begun=begun,
            noticed=noticed,
            unit=unit,
            names=h.names,
            values=values,
            covariance=spread,
            torque=joint_torque,
            joints=(where,),
            hypothesis=h,
            sliding=slides,
        )

    def _likeliest(self, whole: Array, length: Array) -> tuple[int, int]:
        """Return the start and the hypothesis of the largest likelihood ratio less d log N / 2.

        Schwarz, Ann. Statist. 6 (1978), 461.
        """
        scores = (
            self._tests(without_modes(self.sums, whole))
            - np.array([h.d for h in self.sums.every]) * np.log(length)[:, None]
        )
        start, k = np.unravel_index(int(np.argmax(scores)), scores.shape)
        return int(start), int(k)

    def adopt(self, change: DetectedChange) -> None:
        """Take the robot as it is after a change for the reference."""
        assert self.reference is not None
        D = change.hypothesis.D
        base = self.reference.base + D @ change.values
        self._refer(
            ReferenceModel(
                base, self.reference.covariance + D @ change.covariance @ D.T, self.reference.sigma
            )
        )

    def _refer(self, reference: ReferenceModel) -> None:
        self.reference = reference
        weights = reference.sigma**-2.0
        modes = least_certain(reference.covariance, self.rows.typical(), weights)
        load_columns = [h.D for h in self.sums.every if h.joint is None]
        self._columns = np.column_stack([reference.base, modes, *load_columns])
        self._weights = weights
        self._ring = np.zeros((self._size, self.sums.width))
        self._t, self._alarm, self.unseen = 0, 0, 0

    def _sample_terms(self, rows: Array, keep: Bools | None) -> Array:
        columns = self.rows.regressor(rows) @ self._columns
        friction = rows.take(self._friction, axis=1)
        weights = self._weights if keep is None else self._weights * keep
        return np.asarray(self._terms.ufunc(columns, self.rows.torque(rows), friction, weights))

    def _advance(self, rows: Array, keep: Bools | None) -> Array:
        """Add the terms of rows to the running sums, and return these, (N, c)."""
        prefix = self._sample_terms(rows, keep)
        prefix[0] += self._ring[self._t % self._size]
        if len(prefix) > 1:
            np.cumsum(prefix, axis=0, out=prefix)
            self._ring[np.arange(self._t + 1, self._t + 1 + len(prefix)) % self._size] = prefix
        else:
            self._ring[(self._t + 1) % self._size] = prefix[0]
        self._t += len(prefix)
        return prefix

    def _chunk(self, rows: Array, keep: Bools | None) -> int | None:
        first = self._t + 1
        prefix = self._advance(rows, keep)
        ends = first if len(rows) == 1 else np.arange(first, self._t + 1)[:, None]
        begins = np.maximum(ends - self.windows, 0) % self._size
        tested = self._tests.ufunc(prefix[:, None] - self._ring[begins])
        above = tested > self.threshold
        if not above.any():
            return None
        number = int(np.argmax(above.any(axis=(1, 2))))
        self._t = self._alarm = first + number  # what follows is taken in by `follow`
        return number


class WindowSums:
    """Sums of rows over consecutive windows of `length` samples."""

    def __init__(self, length: int, width: int) -> None:
        self.length, self._open, self._filled = length, np.zeros(width), 0
        self._closed: list[Array] = []

    def add(self, rows: Array) -> None:
        """Take in rows (N, width)."""
        start = 0
        while start < len(rows):
            stop = min(len(rows), start + self.length - self._filled)
            self._open += rows[start] if stop - start == 1 else rows[start:stop].sum(axis=0)
            self._filled += stop - start
            start = stop
            if self._filled == self.length:
                self._closed.append(self._open.copy())
                self._open[:], self._filled = 0.0, 0

    @property
    def sums(self) -> Array:
        """The windows that are full, (windows, width)."""
        return np.array(self._closed) if self._closed else np.zeros((0, len(self._open)))


def window_sums(parts: list[tuple[Array, Array]], size: int) -> Array:
    """Return sums of residuals over windows, (W, n), over the root of their mean number of rows.

    `parts` have sums of residuals and numbers of rows in use, (w, n), of short windows; `size` of
    them make one.
    """
    windows = [np.zeros((0, parts[0][0].shape[1]))]
    for residuals, used in parts:
        whole = len(residuals) // size
        e, rows = (
            x[: whole * size].reshape(whole, size, -1).sum(axis=1) for x in (residuals, used)
        )
        windows.append(e / np.sqrt(np.maximum(rows.mean(axis=0), 1e-9)) if whole else e)
    return np.concatenate(windows)


def typical_size(z: Array) -> Array:
    """Return the standard deviation (n,) of z (W, n) about 0, with a lower limit.

    The limit is the standard deviation of a normal distribution whose largest of W values is as
    large: model errors are seldom normal, and a few windows hold most of them.
    """
    from scipy.special import ndtri

    if not len(z):
        return np.zeros(z.shape[1])
    largest = np.max(np.abs(z), axis=0) / -ndtri(0.5 / (len(z) + 1.0))
    return np.asarray(np.maximum(np.sqrt(np.mean(z**2, axis=0)), largest))


def detection_thresholds(d: Array, count: float, looks: float) -> Array:
    """Return the detection thresholds (h,) of statistics with d (h,) degrees of freedom.

    The variance they are normalised by was estimated from `count` windows.

    d F^-1(1 - 1 / looks; d, count): the expected number of false alarms in `looks` tests is 1.
    """
    from scipy.stats import f

    return np.asarray(d * f.isf(1.0 / looks, d, count))


def friction_places(rows: SampleRows, sums: ChangeSums) -> NDArray[np.intp]:
    """Return where the columns of friction are in the rows of samples, (n, 3).

    Those that a joint lacks are the zero at the end.
    """
    places = np.full((rows.n, len(FRICTION)), rows.width - 1)
    for h in sums.every:
        if h.joint is not None:
            places[h.joint, : h.d] = h.joint * rows.b + np.argmax(h.D, axis=0)
    return places


def without_modes(sums: ChangeSums, whole: Array) -> Array:
    """Return sums (N, c) as of a reference without uncertainty."""
    sums_without_modes = whole.copy()
    for h, (_, b) in zip(sums.every, sums.edges, strict=True):
        sums_without_modes[:, b - h.d * THRESHOLDS.uncertain_modes : b] = 0.0
    return sums_without_modes


def window_gram(d: int, sums: Array) -> tuple[JointGram, Array]:
    """Return the normal equations of one hypothesis in a window, and its modes' influence (d, r).

    Rows are weighted by the noise of their joints, and summed over all joints. The squared
    sum of the torque is not accumulated: NaN.
    """
    score, lower, modes = split_sums(d, sums)
    A = np.zeros((d, d))
    for i, row in enumerate(lower):
        A[i, : i + 1] = A[: i + 1, i] = row
    gram = JointGram.of_normal(d, (np.arange(d),), (A,), np.full(1, np.nan))
    return gram.with_torque((score,), (np.nan,)), np.array(modes)
