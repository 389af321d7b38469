"""Delay of the torque of each joint, estimated together with the parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from ...signals.autocorrelation import autocorrelation, variance_inflation
from ...signals.resample import interpolate_spline
from ...signals.segments import is_uniform, split
from ..estimators.least_squares import inverse_information, least_squares, weighted
from ..model.accumulator import Accumulator
from ..model.linear_model import Model
from ..model.problem import Block, Problem
from ..model.rows import Rows
from ..samples.decimation import decimated, natural_factor
from ..samples.samples import Samples
from .delay_gain import DelayRows, away_from_reversals, common_value, confirmed_delay
from .nuisance_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def estimate_torque_delay(
    model: Model, samples: tuple[Samples, ...], rounds: int = 8
) -> tuple[Array, tuple[str, ...]]:
    """Estimate the delay of each joint's torque (n,) [s], zero where insignificant; and notes.

    tau(t) = Y base - d dtau/dt: the delay is one more unknown of each joint, so that friction and
    inertia do not absorb it; Gauss-Newton until it converges. Joints share one delay unless theirs
    differs significantly; less than a twentieth of a sample counts as none. A delay must lower the
    error on held-out blocks, away from reversals: presliding friction lags near reversals alone.
    """
    window = longest_window(samples)
    if window is None:
        return np.zeros(model.n), ()
    dt = float(np.median(np.diff(window.t)))
    factor = min(natural_factor(window.t, window.qd), max(1, window.N // 200))
    delay, std = np.zeros(model.n), np.full(model.n, np.inf)
    trial = Problem(model, (window,), factor)
    blocks = list(trial.blocks())
    for _ in range(rounds):
        step, std = one_step(trial, blocks, window.advanced(delay).tau, factor)
        delay = np.clip(delay + step, -THRESHOLDS.longest_delay, THRESHOLDS.longest_delay)
        if np.all(np.abs(step) < 1e-3 * dt):
            break
    delay = confirmed(trial, blocks, window, significant(delay, std, dt))
    moved = [
        f"{name} {1e3 * d:.3g} ms"
        for name, d in zip(model.robot.joint_names, delay, strict=True)
        if d
    ]
    return delay, ((f"Torque delay, which was corrected: {', '.join(moved)}.",) if moved else ())


def confirmed(trial: Problem, blocks: list[Block], window: Samples, delay: Array) -> Array:
    """Return the delays (n,) [s] that predict torque better on held-out blocks, 0 for the others.

    `window` has the measured torques of the rows of `blocks`.
    """
    if not np.any(delay):
        return delay
    rows, t, known, keep = joined_blocks(blocks)
    qd = decimated(window.qd, trial.decimate, 0, len(t))
    away = away_from_reversals(t, qd)
    use = away if keep is None else away & keep
    delay = np.where(delay < -THRESHOLDS.earliest_torque, 0.0, delay)
    common = np.full(trial.n, common_value(delay))
    shifts = {"measured": np.zeros(trial.n), "common": common, "own": delay}
    torques = {
        name: decimated(window.advanced(shift).tau, trial.decimate, 0, len(t)) - known
        for name, shift in shifts.items()
    }
    total = Accumulator.empty(trial.reach, trial.base.n_base).fold_rows(rows, torques["own"], keep)
    weights = weighted(total, trial.prior, 2)[1]
    return confirmed_delay(DelayRows(rows, use, weights, trial.prior), delay, torques)


def joined_blocks(blocks: list[Block]) -> tuple[Rows, Array, Array, Mask | None]:
    """Return regressor rows, times (N,), known torques (N, n) and used rows of all blocks."""
    rows = replace(blocks[0].rows, entries=np.concatenate([b.rows.entries for b in blocks]))
    t, known = np.concatenate([b.t for b in blocks]), np.concatenate([b.known for b in blocks])
    masks = [b.keep for b in blocks if b.keep is not None]
    return rows, t, known, np.concatenate(masks) if masks else None


def significant(delay: Array, std: Array, dt: float) -> Array:
    """Return the common delay where significant, and a joint's own where it differs from it.

    Joints that differ from the middle one take no part in the common delay. Where the others
    disagree among themselves by more than chance (Cochran's Q), which is what friction and
    elasticity make and a delay does not, the standard deviation of their mean grows with it. Birge,
    Physical Review 40 (1932), p. 207; Cochran, Biometrics 10 (1954), p. 101.
    """
    std = np.maximum(std, 1e-12)
    order = np.argsort(delay)
    share = np.cumsum(1.0 / std[order])
    middle = delay[order][np.searchsorted(share, 0.5 * share[-1])]
    alike = np.abs(delay - middle) <= THRESHOLDS.joint_delay_deviations * std
    precision = np.where(alike, 1.0 / std**2, 0.0)
    common = float(np.sum(precision * delay) / np.sum(precision))
    free, Q = max(int(np.sum(alike)) - 1, 1), float(np.sum(precision * (delay - common) ** 2))
    grown = Q / free if gammaincc(free / 2, Q / 2) < THRESHOLDS.disagreement_probability else 1.0
    if abs(common) < THRESHOLDS.common_delay_deviations * np.sqrt(
        max(grown, 1.0) / np.sum(precision)
    ):
        common = 0.0
    result = np.where(
        np.abs(delay - common) > THRESHOLDS.joint_delay_deviations * std, delay, common
    )
    return np.where(
        (np.abs(result) < THRESHOLDS.least_delay * dt)
        | (np.abs(result) >= 0.99 * THRESHOLDS.longest_delay),
        0.0,
        result,
    )


def one_step(trial: Problem, blocks: list[Block], tau: Array, factor: int) -> tuple[Array, Array]:
    """Return the remaining delay of the torque (N, n), (n,) [s], and its standard deviation."""
    rows, t, known, keep = joined_blocks(blocks)
    rest = decimated(tau, factor, 0, len(t)) - known
    n, b = trial.n, trial.base.n_base
    base, weights = weighted(
        Accumulator.empty(trial.reach, b).fold_rows(rows, rest, keep), trial.prior, 2
    )
    rate = np.gradient(rows @ base + known, t, axis=0)
    wide = rows.with_columns(-rate)
    total = Accumulator.empty(wide.reach, b + n).fold_rows(wide, rest, keep)
    triangle = total.triangle(weights)
    x = least_squares(triangle, np.append(trial.prior, np.zeros(n)))
    e = (rest - wide @ x) * (1.0 if keep is None else keep)
    variance = np.diag(inverse_information(triangle))[b:] * variance_inflation(
        autocorrelation(e)[1]
    )
    return x[b:], np.sqrt(np.maximum(variance, 0.0))


def longest_window(samples: tuple[Samples, ...]) -> Samples | None:
    """Return the longest stretch, at most `delay_samples` samples from its middle.

    A stretch with scattered time stamps is resampled evenly. None if all are short.
    """
    parts = [
        (s, part)
        for s in samples
        for part in split(s.t)
        if part.stop - part.start >= THRESHOLDS.least_delay_samples
    ]
    if not parts:
        return None
    s, part = max(parts, key=lambda item: item[1].stop - item[1].start)
    spare = max(0, part.stop - part.start - THRESHOLDS.delay_samples) // 2
    window = s.part(slice(part.start + spare, part.stop - spare))
    is_even = is_uniform(s.t[part], THRESHOLDS.uniform_scatter)
    return window if is_even else evenly_sampled(window)


def evenly_sampled(window: Samples) -> Samples:
    """Return a window at evenly spaced times, by cubic splines through its samples."""
    t = window.t
    grid = np.linspace(t[0], t[-1], max(len(t), 2))
    names = ("q", "qd", "qdd", "tau", "payload_torque", "temperature", "base")
    signals: dict[str, Any] = {
        name: interpolate_spline(t, value, grid)
        for name in names
        if (value := getattr(window, name)) is not None
    }
    nearest = np.clip(np.searchsorted(t, grid), 0, len(t) - 1)
    keep = None if window.keep is None else window.keep[nearest]
    return replace(
        window,
        t=grid,
        keep=keep,
        measured=None,
        smoothed=None,
        measured_qd=None,
        measured_tau=None,
        **signals,
    )
