"""External forces: samples are left out in which something pushes the robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .held_out_torque import BandSamples
from .selection_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class ExternalForce:
    """Samples in which an external force acts on the robot.

    Parameters
    ----------
    intervals : (first, last) times [s] of each log
    ratio : largest torque that the drives did not deliver, over the largest one that they did
    """

    intervals: tuple[tuple[Interval, ...], ...]
    ratio: float

    def masked(self, samples: Iterable[Samples]) -> tuple[Samples, ...]:
        """Return the samples of all logs, without the rows of these times."""
        parts = []
        for s, intervals in zip(samples, self.intervals, strict=True):
            pushed = np.zeros(s.N, bool)
            for first, last in intervals:
                pushed |= (s.t >= first) & (s.t <= last)
            parts.append(s.without_rows(pushed) if pushed.any() else s)
        return tuple(parts)

    @property
    def note(self) -> str:
        """A sentence on the samples that are left out."""
        several = len(self.intervals) > 1
        times = [
            f"{first:.4g} to {last:.4g} s{f' of log {number}' if several else ''}"
            for number, intervals in enumerate(self.intervals, 1)
            for first, last in intervals
        ]
        return (
            f"An external force seems to act from {', '.join(times)}: the motion needs"
            f" {self.ratio:.1f} times the largest measured torque. These samples are left out."
        )


def find_external_force(band: BandSamples, model: Model) -> ExternalForce | None:
    """Find samples whose motion needs far more torque than was ever measured.

    Least trimmed squares fits most of the rows. Where its residual exceeds the largest measured
    torque of a joint, at its peak by the factor `missing_torque`, no drive moved the robot. Such
    samples are left out where they are few.

    Parameters
    ----------
    band : samples in the narrowest band, where noise of the accelerations is least
    model : the model, with its usual friction terms

    Returns
    -------
    ExternalForce; None where no sample is left out, and for rows beyond the memory `force_bytes`.
    """
    problem = Problem(model, band.samples, band.decimate)
    if 8 * problem.N * model.n * model.base.n_base > THRESHOLDS.force_bytes:
        return None
    blocks = list(problem.blocks())
    t, logs = (
        np.concatenate(x)
        for x in zip(*((b.t, np.full(len(b.t), b.log)) for b in blocks), strict=True)
    )
    tau = np.concatenate([b.tau for b in blocks])
    if (1.0 - THRESHOLDS.largest_force_share) * tau.size < 2 * model.base.n_base:
        return None
    ratios = missing_torque(
        np.concatenate([b.Y for b in blocks]),
        tau,
        np.concatenate([b.tau + b.known for b in blocks]),
        model.base.values(model.start),
    )
    if ratios.max() < THRESHOLDS.missing_torque:
        return None
    margin = THRESHOLDS.force_margin / band.cutoff
    intervals = tuple(
        intervals_of_peaks(t[logs == k], ratios[logs == k], margin)
        for k in range(len(band.samples))
    )
    force = ExternalForce(intervals, float(ratios.max()))
    return force if are_few(force.masked(band.samples)) else None


def missing_torque(Y: Array, tau: Array, measured: Array, described: Array) -> Array:
    """Return the largest residual of each sample over the largest torque of its joint, (N,).

    Least trimmed squares by concentration steps, from all rows and from the description: an
    external force moves least squares towards itself. Rousseeuw and Van Driessen, Data Mining and
    Knowledge Discovery 12 (2006), p. 29.

    Parameters
    ----------
    Y, tau : rows (N, n, b) and their torques (N, n) [N m|N]
    measured : (N, n) torques of the drives [N m|N]
    described : (b,) base parameters of the description
    """
    size = np.maximum(np.max(np.abs(measured), axis=0), 1e-300)
    A, b = Y / size[:, None], tau / size
    count = round((1.0 - THRESHOLDS.largest_force_share) * len(b))

    def residuals(base: Array) -> Array:
        return np.asarray(np.max(np.abs(b - A @ base), axis=1))

    def concentrated(ratios: Array) -> Array:
        used = np.arange(0)
        for _ in range(THRESHOLDS.concentration_steps):
            best = np.sort(np.argpartition(ratios, count - 1)[:count])
            if np.array_equal(best, used):
                break
            used = best
            ratios = residuals(scaled_solution(A[used], b[used]))
        return ratios

    first = residuals(scaled_solution(A, b))
    if first.max() < THRESHOLDS.least_first_residual * THRESHOLDS.missing_torque:
        return first
    ends = [concentrated(ratios) for ratios in (first, residuals(described))]
    return min(ends, key=lambda ratios: float(np.sum(np.sort(ratios)[:count] ** 2)))


def scaled_solution(A: Array, b: Array) -> Array:
    """Return the least-squares solution of rows A (N, n, b) and b (N, n), with unit columns."""
    rows = A.reshape(-1, A.shape[2])
    scale = np.maximum(np.linalg.norm(rows, axis=0), 1e-300)
    return np.asarray(np.linalg.lstsq(rows / scale, b.reshape(-1), rcond=1e-8)[0] / scale)


def intervals_of_peaks(t: Array, ratios: Array, margin: float) -> tuple[Interval, ...]:
    """Return the stretches above the largest measured torque that reach `missing_torque`.

    Parameters
    ----------
    t, ratios : times (N,) [s], and residuals (N,) over the largest measured torque
    margin : that stretches have on either side [s]; those that overlap are one
    """
    above = np.flatnonzero(ratios > 1.0)
    if not len(above):
        return ()
    cuts = np.flatnonzero(np.diff(t[above]) > 2.0 * margin) + 1
    stretches = [
        part for part in np.split(above, cuts) if ratios[part].max() >= THRESHOLDS.missing_torque
    ]
    return tuple((float(t[part[0]]) - margin, float(t[part[-1]]) + margin) for part in stretches)


def are_few(samples: Iterable[Samples]) -> bool:
    """Return whether an external force acts in few of the samples."""
    counts = [(0 if s.disturbed is None else int(s.disturbed.sum()), s.N) for s in samples]
    share = sum(count for count, _ in counts) / max(sum(N for _, N in counts), 1)
    return share <= THRESHOLDS.largest_force_share
