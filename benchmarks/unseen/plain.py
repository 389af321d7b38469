"""Plain least squares: the candidates that a default identification must not lose to.

{OLS, WLS} x {4, 8, 12, 20 Hz} with a zero-phase Butterworth filter of positions, central
differences, torque and regressor in the same band, and viscous friction, tanh Coulomb friction,
offset and rotor inertia; and the description's inertias with these joint terms fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

import steelyard as sy

Array = NDArray[np.float64]
Intervals = Sequence[tuple[float, float]]
KnownTorque = Callable[[Array, Array, Array], Array]
ExtraTerms = Callable[[Array, Array], Array]  # qd, qdd (N, n) -> columns (N, n, k)
CUTOFFS = (4.0, 8.0, 12.0, 20.0)  # [Hz]
ORDER = 4
COULOMB_WIDTH = 0.02  # [rad/s]
SCATTER = 1e-3  # of the sampling interval, above which a log is resampled uniformly
PER_CUTOFF = 10.0  # rate of the rows over the cut-off frequency
HIGHEST = 0.4  # cut-off over the sampling rate, at most
TRIM = 1.5  # periods of the cut-off frequency left out at both ends
BLOCKS = 4
TERMS = 4  # joint terms: viscous, Coulomb, offset, rotor inertia


@dataclass(frozen=True, eq=False)
class BandedLog:
    """States and torque of a log in one band: t (N,), q, qd, qdd, tau (N, n) at a lower rate.

    `pushed` are times [s] in which somebody pushes the robot, by a torque that no sensor measures.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    cutoff: float
    rate: float
    pushed: Intervals = ()

    def low_pass(self, values: Array) -> Array:
        """Return values (N, ...) at these times, in the band of the torque."""
        return zero_phase(values, self.rate, self.cutoff)[self.inner]

    @property
    def inner(self) -> NDArray[np.int64]:
        """The rows apart from pushes, and from the ends, where a filter has transients."""
        cut = min(int(TRIM * self.rate / self.cutoff), len(self.t) // 8)
        pushed = np.zeros(len(self.t), bool)
        for first, last in self.pushed:
            pushed |= (self.t >= first) & (self.t <= last)
        rows = np.arange(cut, len(self.t) - cut)
        return rows[~pushed[rows]]


def zero_phase(values: Array, rate: float, cutoff: float) -> Array:
    """Filter forwards and backwards with a Butterworth low-pass filter along the first axis."""
    sections = butter(ORDER, min(cutoff, HIGHEST * rate), fs=rate, output="sos")
    padding = min(int(3 * rate / cutoff) + 3 * ORDER, len(values) - 1)
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=padding))


def uniform(t: Array, *signals: Array) -> tuple[Array, ...]:
    """Return uniform times and the signals at them; stamps that scatter are resampled."""
    t, first = np.unique(t, return_index=True)
    step = (t[-1] - t[0]) / (len(t) - 1)
    if np.std(np.diff(t)) <= SCATTER * step:
        return t, *(signal[first] for signal in signals)
    grid = t[0] + step * np.arange(len(t))
    return grid, *(CubicSpline(t, signal[first])(np.minimum(grid, t[-1])) for signal in signals)


def banded(log: sy.Log, cutoff: float, pushed: Intervals = ()) -> BandedLog:
    """Return a log in one band: filtered positions, their derivatives, and filtered torque.

    `pushed` are times [s] whose rows are left out.
    """
    assert log.tau is not None
    t, q, tau = uniform(np.asarray(log.t), np.asarray(log.q), np.asarray(log.tau))
    step = (t[-1] - t[0]) / (len(t) - 1)
    cutoff = min(cutoff, HIGHEST / step)
    q = zero_phase(q, 1 / step, cutoff)
    qd = np.gradient(q, step, axis=0)
    qdd = np.gradient(qd, step, axis=0)
    tau = zero_phase(tau, 1 / step, cutoff)
    every = max(int(1 / (step * PER_CUTOFF * cutoff)), 1)
    rate = 1 / (step * every)
    return BandedLog(
        t=t[::every],
        q=q[::every],
        qd=qd[::every],
        qdd=qdd[::every],
        tau=tau[::every],
        cutoff=cutoff,
        rate=rate,
        pushed=pushed,
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """Regression rows of a log in its band.

    Y (N, n, b + 4 n), tau (N, n) without the known torque, and the torque (N, n) of the described
    inertias.
    """

    Y: Array
    tau: Array
    described: Array
    known: Array
    n_base: int


def regression_rows(
    robot: sy.Robot,
    log: BandedLog,
    known: KnownTorque | None = None,
    terms: ExtraTerms | None = None,
) -> Rows:
    """Return the rows of base parameters and joint terms, low-passed as the torque is."""
    inertial = robot.without_friction()
    base = sy.base_parameters(inertial)
    links = np.array([is_inertial(name) for name in inertial.parameter_names])
    columns = [c for c in base.columns if links[c]]
    regressor = np.asarray(inertial.regressor(log.q, log.qd, log.qdd))
    N, n = log.q.shape
    Y = np.zeros((N, n, len(columns) + TERMS * n))
    Y[:, :, : len(columns)] = regressor[:, :, columns]
    values = (log.qd, np.tanh(log.qd / COULOMB_WIDTH), np.ones((N, n)), log.qdd)
    for k, value in enumerate(values):
        for j in range(n):
            Y[:, j, len(columns) + TERMS * j + k] = value[:, j]
    if terms is not None:
        Y = np.concatenate([Y, terms(log.qd, log.qdd)], axis=2)
    described = regressor[:, :, links] @ np.asarray(inertial.parameters)[links]
    extra = np.zeros((N, n)) if known is None else known(log.q, log.qd, log.qdd)
    extra = log.low_pass(extra)
    tau = log.tau[log.inner] - extra
    return Rows(
        Y=log.low_pass(Y),
        tau=tau,
        described=log.low_pass(described),
        known=extra,
        n_base=len(columns),
    )


def is_inertial(name: str) -> bool:
    """Return whether a parameter belongs to a link: its name ends in m, mc? or I??."""
    symbol = name.rsplit(".", 1)[-1]
    return symbol == "m" or symbol.startswith("mc") or (symbol[0] == "I" and len(symbol) == 3)


def solve(Y: Array, tau: Array, weights: Array) -> Array:
    """Minimise the weighted squared error of rows Y (N, n, p), tau (N, n); weights (n,)."""
    A = (Y * weights[:, None]).reshape(-1, Y.shape[2])
    b = (tau * weights).reshape(-1)
    size = np.linalg.norm(A, axis=0)
    size[size < 1e-12 * size.max()] = np.inf
    return np.asarray(np.linalg.lstsq(A / size, b, rcond=1e-10)[0] / size)


@dataclass(frozen=True)
class Candidate:
    """One way to fit: 'ols', 'wls' or 'description', in a band [Hz]."""

    method: str
    cutoff: float

    def __str__(self) -> str:
        return "description" if self.method == "description" else f"{self.method} {self.cutoff:g}"

    def fit(self, rows: Rows) -> Array:
        """Return the coefficients of the columns of `rows`.

        For the description, coefficients of the joint terms alone: the rest is zero.
        """
        Y, tau, n = rows.Y, rows.tau, rows.tau.shape[1]
        ones = np.ones(n)
        if self.method == "description":
            beta = np.zeros(Y.shape[2])
            beta[rows.n_base :] = solve(Y[:, :, rows.n_base :], tau - rows.described, ones)
            return beta
        beta = solve(Y, tau, ones)
        if self.method == "wls":
            spread = np.sqrt(np.mean((tau - Y @ beta) ** 2, axis=0))
            beta = solve(Y, tau, 1 / np.maximum(spread, 1e-6 * spread.max() + 1e-300))
        return beta

    def predict(self, rows: Rows, beta: Array) -> Array:
        """Return the torque (N, n) of the rows, with the known torque."""
        described = rows.described if self.method == "description" else 0.0
        return np.asarray(rows.Y @ beta + described + rows.known)


def candidates(band: float) -> tuple[Candidate, ...]:
    """Return all candidates; the description is fitted in the band of the judge."""
    fits = [Candidate(method, cutoff) for method in ("ols", "wls") for cutoff in CUTOFFS]
    return (*fits, Candidate("description", band))


@dataclass(frozen=True)
class PlainResult:
    """Errors |e| / |tau| of every candidate, cross-validated and on the held-out log."""

    cross_validated: dict[str, float]
    held_out: dict[str, float]

    @property
    def picked(self) -> str:
        """The candidate with the smallest cross-validated error on the training logs."""
        return min(self.cross_validated, key=lambda name: self.cross_validated[name])

    @property
    def best(self) -> str:
        """The candidate with the smallest error on the held-out logs: hindsight."""
        return min(self.held_out, key=lambda name: self.held_out[name])


def relative(error: Array, torque: Array) -> float:
    """Return |error| / |torque| over all rows and joints."""
    return float(np.linalg.norm(error)) / max(float(np.linalg.norm(torque)), 1e-300)


def compare(
    robot: sy.Robot,
    training: Sequence[sy.Log],
    held_out: Sequence[sy.Log],
    band: float,
    known: KnownTorque | None = None,
    terms: ExtraTerms | None = None,
    pushed: Intervals = (),
) -> PlainResult:
    """Fit every candidate to the training logs; cross-validate it and predict the held-out logs.

    Errors are in the common band [Hz], on states of positions filtered in that band. Rows of the
    held-out logs at `pushed` times [s] do not count.
    """

    def rows_of(
        logs: Sequence[sy.Log], cutoff: float, pushed: Intervals = ()
    ) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows of logs in a band, and the block of each row."""
        parts = [banded(log, cutoff, pushed) for log in logs]
        rows = joined([regression_rows(robot, log, known, terms) for log in parts])
        return rows, block_numbers([log.t[log.inner] for log in parts])

    judged, _ = rows_of(held_out, band, pushed)
    common, blocks = rows_of(training, band)
    cross_validated, errors = {}, {}
    by_cutoff = {cutoff: rows_of(training, cutoff) for cutoff in {*CUTOFFS, band}}
    for candidate in candidates(band):
        rows, number = by_cutoff[candidate.cutoff]
        residual = np.zeros_like(common.tau)
        for block in range(BLOCKS):
            beta = candidate.fit(part(rows, number != block))
            test = part(common, blocks == block)
            residual[blocks == block] = test.tau + test.known - candidate.predict(test, beta)
        cross_validated[str(candidate)] = relative(residual, common.tau + common.known)
        truth = judged.tau + judged.known
        predicted = candidate.predict(judged, candidate.fit(rows))
        errors[str(candidate)] = relative(truth - predicted, truth)
    return PlainResult(cross_validated, errors)


def block_numbers(times: Sequence[Array]) -> NDArray[np.int64]:
    """Return the block of every row: each log is cut into BLOCKS equal times; several logs are
    blocks themselves where there are that many.
    """
    if len(times) >= BLOCKS:
        parts = [np.full(len(t), i * BLOCKS // len(times)) for i, t in enumerate(times)]
    else:
        parts = [
            np.minimum((BLOCKS * (t - t[0]) / (t[-1] - t[0])).astype(np.int64), BLOCKS - 1)
            for t in times
        ]
    return np.concatenate(parts)


def part(rows: Rows, chosen: NDArray[np.bool_]) -> Rows:
    """Return some of the rows."""
    return Rows(
        Y=rows.Y[chosen],
        tau=rows.tau[chosen],
        described=rows.described[chosen],
        known=rows.known[chosen],
        n_base=rows.n_base,
    )


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several logs as one."""
    return Rows(
        Y=np.concatenate([rows.Y for rows in parts]),
        tau=np.concatenate([rows.tau for rows in parts]),
        described=np.concatenate([rows.described for rows in parts]),
        known=np.concatenate([rows.known for rows in parts]),
        n_base=parts[0].n_base,
    )
