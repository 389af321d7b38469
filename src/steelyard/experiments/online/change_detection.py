"""Change detection: has the robot become another one than the reference, and if so, when, by how much and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...identification.model.accumulator import Accumulator
from ...identification.model.problem import merged
from .change import Change
from .change_size import friction_limits, friction_size, least_squares_size, load_limits
from .forgetting import Information
from .hypotheses import FRICTION, MODES, Sums, hypotheses, least_certain, split
from .sample_rows import SampleRows

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
WINDOWS = (0.05, 0.2, 0.8)  # [s] over which innovations are summed: a jump is seen by the shortest, a small change by the longest
STEPS = 64  # instants of the longest window at which a change may have begun
CHUNK = 256  # samples that are tested at once
FOLDS = 5  # parts of the samples learnt, each of which is predicted from the others


@dataclass(frozen=True, eq=False)
class Reference:
    """What the robot is compared with: base parameters (b,) with covariance (b, b), and the noise sigma (n,) [N m|N] of the torques.

    sigma is that of sums over windows, over the root of their length: it counts how long errors remember themselves.
    """

    base: Array
    covariance: Array
    sigma: Array


class ChangeDetector:
    """Generalised likelihood ratios of innovations over sliding windows, for every hypothesis.

    With e = tau - Y base of the reference, Z the columns of a hypothesis and W = 1/sigma^2, a window has b = sum Z^T W e and
    A = sum Z^T W Z; b^T (A + B B^T)^-1 b is tested. B B^T is what the uncertainty of the reference contributes. sigma^2 is the variance of
    sums of residuals over windows, over their length, where nothing changed (`learn`), each part of them with parameters of the others:
    autocorrelation and errors of the model count as they do in sums, the largest of them too. As it is itself found from nu windows, the
    statistic over its d degrees of freedom has Fisher's distribution with d and nu; the threshold is the quantile at which the probability
    of any false alarm, summed over samples, windows and hypotheses, is one in `hours`. Neighbouring windows overlap, so that false alarms
    come more rarely still.
    Basseville and Nikiforov, "Detection of Abrupt Changes", 1993, sections 2.4.3 and 7.2.
    """

    def __init__(self, rows: SampleRows, rate: float, hours: float) -> None:
        self.rows, self.rate, self.hours = rows, rate, hours
        self.sums = Sums(hypotheses(rows.model), rows.n)
        self.windows = np.array([max(4, round(w * rate)) for w in WINDOWS])
        self._terms, self._tests = self.sums.terms, self.sums.tests
        self._friction = friction_places(rows, self.sums)
        self._size = 2 * int(self.windows[-1]) + CHUNK + 1
        self._learnt = [WindowSums(int(self.windows[0]), rows.width + rows.n) for _ in range(FOLDS)]
        self._folds = [Information(rows, 1.0, False) for _ in range(FOLDS)]
        self.reference: Reference | None = None

    @property
    def longest(self) -> int:
        """Samples in the longest window."""
        return int(self.windows[-1])

    def learn(self, rows: Array, keep: Bools | None, part: int) -> None:
        """Take in rows (N, width) of samples where nothing changes, which belong to one of FOLDS consecutive parts."""
        used = rows
        if keep is not None:
            used = rows.copy()
            self.rows.regressor(used)[:] *= keep[..., None]
            self.rows.torque(used)[:] *= keep
        counts = np.full((len(rows), self.rows.n), 1.0) if keep is None else keep
        self._learnt[part].add(np.concatenate([used, counts], axis=1))
        self._folds[part].add(rows, keep)

    def spread(self, estimate: Callable[[Accumulator], Array]) -> tuple[Array, float]:
        """Return sigma (windows, n) of each length of windows, as `Reference` has it, and how many of the longest told it.

        Each part's windows are those of base parameters (b,), `estimate(accumulator)`, that were found from the other parts.
        """
        folds = tuple(fold.accumulator for fold in self._folds)
        left = [self._left(learnt.sums, estimate(merged(folds, k))) for k, learnt in enumerate(self._learnt)]
        made = [window_sums(left, max(round(w / self.windows[0]), 1)) for w in self.windows]
        self._learnt, self._folds = [], []
        return np.array([typical_size(z) for z in made]), float(max(len(made[-1]), 1))

    def _left(self, sums: Array, base: Array) -> tuple[Array, Array]:
        n = self.rows.n
        return self.rows.torque(sums[:, :-n]) - self.rows.regressor(sums[:, :-n]) @ base, sums[:, -n:]

    def arm(self, reference: Reference, count: float) -> None:
        """Begin to watch against a reference, whose sigma comes from `count` windows."""
        d = np.array([h.d for h in self.sums.every], float)
        self.threshold = thresholds(d, count, self.rate * self.hours * 3600.0 * len(d) * len(self.windows))
        self._refer(reference)

    def update(self, rows: Array, keep: Bools | None) -> int | None:
        """Take in rows (N, width); return the number among them at which a change is noticed, None without one."""
        for start in range(0, len(rows), CHUNK):
            part = slice(start, start + CHUNK)
            found = self._chunk(rows[part], None if keep is None else keep[part])
            if found is not None:
                return start + found
        return None

    def follow(self, rows: Array, keep: Bools | None) -> None:
        """Take in rows after a change was noticed, for what they tell of it; at most the longest window counts."""
        room = max(self.longest - (self._t - self._alarm), 0)
        for start in range(0, min(room, len(rows)), CHUNK):
            part = slice(start, min(start + CHUNK, room))
            self._advance(rows[part], None if keep is None else keep[part])
        self.unseen += max(len(rows) - room, 0)

    @property
    def seen(self) -> int:
        """How many samples of the present watch have been taken in."""
        return self._t

    def change(self, when: Callable[[int], float], unit: str) -> Change:
        """Return what the samples say of the change that was noticed; `when(k)` is the time of k samples ago, in `unit`.

        It is the likeliest of all hypotheses and starts.
        """
        end, reach = self._t, self._t - self._alarm + self.longest
        starts = np.unique(np.linspace(max(end - reach, 0), self._alarm - 1, STEPS).astype(int))
        whole = self._ring[end % self._size] - self._ring[starts % self._size]
        at, k = self._likeliest(whole, end - starts)
        h, (a, b) = self.sums.every[k], self.sums.edges[k]
        score, A, B = dense(h.d, whole[at, a:b])
        values, spread = (least_squares_size if h.joint is None else friction_size)(score, A, B)
        tree = self.rows.model.robot.tree
        torque = float(np.sqrt(max(values @ A @ values, 0.0) / (end - starts[at])))
        begun, noticed = when(end - int(starts[at])), when(end - self._alarm)
        names, model = self.rows.model.row_names, self.rows.model
        if h.joint is None:
            joints = tuple(names[j] for j in range(self.rows.n) if set(np.flatnonzero(np.any(h.D != 0, axis=1))) & set(model.reach[j]))
            limits = load_limits(self.rows.model.start[: 10 * len(tree.bodies) : 10].tolist(), h.names)
            kind = "load" if np.all(np.abs(values) <= limits) else "unexplained"
            return Change(kind, h.link, begun, noticed, unit, h.names, values, spread, torque, joints, h)
        assert self.reference is not None
        own, slides = torque * float(self.reference.sigma[h.joint]), model.row_units[h.joint] == "N"
        where, limits = names[h.joint], friction_limits(tree, h.joint, h.names)
        kind = "friction" if np.all(np.abs(values) <= limits) else "unexplained"
        return Change(kind, where, begun, noticed, unit, h.names, values, spread, own, (where,), h, slides)

    def _likeliest(self, whole: Array, length: Array) -> tuple[int, int]:
        """Return the start and the hypothesis of the largest likelihood ratio less d log N / 2. Schwarz, Ann. Statist. 6 (1978), 461."""
        scores = self._tests(certain(self.sums, whole)) - np.array([h.d for h in self.sums.every]) * np.log(length)[:, None]
        at, k = np.unravel_index(int(np.argmax(scores)), scores.shape)
        return int(at), int(k)

    def adopt(self, found: Change) -> None:
        """Take the robot as it is after a change for the reference."""
        assert self.reference is not None
        D = found.hypothesis.D
        base = self.reference.base + D @ found.values
        self._refer(Reference(base, self.reference.covariance + D @ found.covariance @ D.T, self.reference.sigma))

    def _refer(self, reference: Reference) -> None:
        self.reference = reference
        weights = reference.sigma**-2.0
        modes = least_certain(reference.covariance, self.rows.typical(), weights)
        loads = [h.D for h in self.sums.every if h.joint is None]
        self._columns = np.column_stack([reference.base, modes, *loads])
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
        found = int(np.argmax(above.any(axis=(1, 2))))
        self._t = self._alarm = first + found  # what follows is taken in by `follow`
        return found


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
    """Return sums of residuals over windows, each over the root of the mean number of its rows, (W, n).

    `parts` have sums of residuals and numbers of rows in use, (w, n), of short windows; `size` of them make one.
    """
    made = [np.zeros((0, parts[0][0].shape[1]))]
    for left, used in parts:
        whole = len(left) // size
        e, rows = (x[: whole * size].reshape(whole, size, -1).sum(axis=1) for x in (left, used))
        made.append(e / np.sqrt(np.maximum(rows.mean(axis=0), 1e-9)) if whole else e)
    return np.concatenate(made)


def typical_size(z: Array) -> Array:
    """Return the standard deviation (n,) of z (W, n) about 0; at least that of a normal distribution whose largest of W is as large.

    Errors of a model are seldom normal: a few windows hold most of them.
    """
    from scipy.special import ndtri

    if not len(z):
        return np.zeros(z.shape[1])
    largest = np.max(np.abs(z), axis=0) / -ndtri(0.5 / (len(z) + 1.0))
    return np.asarray(np.maximum(np.sqrt(np.mean(z**2, axis=0)), largest))


def thresholds(d: Array, count: float, looks: float) -> Array:
    """Return the thresholds (h,) of statistics with d (h,) degrees of freedom, in units of a variance that comes from `count` windows.

    d F^-1(1 - 1 / looks; d, count): the expected number of false alarms in so many looks is 1.
    """
    from scipy.stats import f

    return np.asarray(d * f.isf(1.0 / looks, d, count))


def friction_places(rows: SampleRows, sums: Sums) -> NDArray[np.intp]:
    """Return where the columns of friction are in the rows of samples, (n, 3); those that a joint lacks are the zero at the end."""
    places = np.full((rows.n, len(FRICTION)), rows.width - 1)
    for h in sums.every:
        if h.joint is not None:
            places[h.joint, : h.d] = h.joint * rows.b + np.argmax(h.D, axis=0)
    return places


def certain(sums: Sums, whole: Array) -> Array:
    """Return sums (N, c) as of a reference without uncertainty."""
    made = whole.copy()
    for h, (_, b) in zip(sums.every, sums.edges, strict=True):
        made[:, b - h.d * MODES : b] = 0.0
    return made


def dense(d: int, own: Array) -> tuple[Array, Array, Array]:
    """Return score (d,), A (d, d) and B (d, r) of one hypothesis."""
    score, lower, B = split(d, own)
    A = np.zeros((d, d))
    for i, row in enumerate(lower):
        A[i, : i + 1] = A[: i + 1, i] = row
    return score, A, np.array(B)
