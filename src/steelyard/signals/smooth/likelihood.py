"""Noise levels of each joint by maximum likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError
from ..segments import has_uniform_segments, split
from ..signal_thresholds import THRESHOLDS
from .information_filter import run_information_filter, step_matrices
from .motion_model import Noise
from .steady_state import SteadyGains, initial_state, run_filter, steady

Array = NDArray[np.float64]


def fit_noise(t: Array, q: Array, qd: Array | None = None, order: int = 3) -> Noise:
    """Estimate noise levels per joint by maximum likelihood of the innovations.

    The intensity s of the white k-th derivative, and the variances of q and qd.

    -2 log L = sum log S_i + e_i^2 / S_i. One scale is free, so for q alone the search has one
    dimension: log(s dt^(2k-1) / r). t [s] (N,), q [rad] (N, n), qd [rad/s] (N, n). Schweppe, IEEE
    Trans. Information Theory 11 (1965), p. 61.
    """
    dt = float(np.median(np.diff(t)))
    even = has_uniform_segments(t)
    length, count = (
        (
            THRESHOLDS.likelihood_samples,
            THRESHOLDS.likelihood_blocks if qd is None else THRESHOLDS.likelihood_blocks // 2,
        )
        if even
        else (THRESHOLDS.uneven_likelihood_samples, THRESHOLDS.uneven_likelihood_blocks)
    )
    blocks = choose_blocks(t, length, count, 4 * order)
    length = min(part.stop - part.start for part in blocks)
    floor = 2 * order * np.log10(max(0.5 / length, 80.0 / len(t) if len(t) > 4000 else 0.0))
    z = [
        np.stack([q[part] - q[part.start]] + ([] if qd is None else [qd[part] * dt]), axis=-1)
        for part in blocks
    ]
    search = search_even if even else search_uneven
    theta, variance = search(order, [(t[part] - t[part.start]) / dt for part in blocks], z, floor)
    variance = np.maximum(variance, (1e-15 * (1 + np.max(np.abs(q), axis=0))) ** 2)
    sigma_qd = (
        np.sqrt(10.0 ** theta[:, 1] * variance) / dt
        if qd is not None
        else np.full(q.shape[1], np.inf)
    )
    return Noise(
        order, 10.0 ** theta[:, 0] * variance / dt ** (2 * order - 1), np.sqrt(variance), sigma_qd
    )


def choose_blocks(t: Array, length: int, count: int, least: int) -> list[slice]:
    """Return blocks of equal length, spread evenly over the segments."""
    whole = [part for part in split(t) if part.stop - part.start >= least]
    if not whole:
        raise LogError(
            f"no stretch of {least} samples without a gap: too short to distinguish motion "
            "from noise"
        )
    length = min(length, max(part.stop - part.start for part in whole))
    starts = np.concatenate(
        [
            np.arange(part.start, part.stop - length + 1, length)
            for part in whole
            if part.stop - part.start >= length
        ]
    )
    chosen = starts[np.unique(np.linspace(0, len(starts) - 1, count).round().astype(int))]
    return [slice(int(a), int(a) + length) for a in chosen]


def search_even(order: int, _: list[Array], z: list[Array], floor: float) -> tuple[Array, Array]:
    """Return log10 of s dt^(2k-1)/r and of r_qd dt2/r (n, 1 or 2), and r (n,); constant step."""
    data = np.moveaxis(np.stack(z), 2, 0)  # (n, blocks, N, m)
    n, m = len(data), data.shape[-1]
    theta, variance = np.zeros((n, m)), np.zeros(n)
    grid = np.arange(floor, THRESHOLDS.largest_noise_ratio, 2.0)
    table = np.array([negative_log_likelihood(order, [g], data[..., :1])[0] for g in grid])
    for j in range(n):
        theta[j, 0] = search_ratio(
            order, data[j : j + 1, ..., :1], float(grid[np.argmin(table[:, j])]), floor
        )
        if m == 2:
            theta[j] = search_both(order, data[j : j + 1], theta[j, 0], floor)
        variance[j] = negative_log_likelihood(order, theta[j], data[j : j + 1])[1][0]
    return theta, variance


def search_ratio(order: int, z: Array, start: float, floor: float) -> float:
    """Return log10 of s dt^(2k-1)/r of one joint, within two decades of the start.

    z is (1, blocks, N, 1).
    """
    from scipy.optimize import minimize_scalar

    bounds = (max(start - 2, floor), min(start + 2, THRESHOLDS.largest_noise_ratio))
    return float(
        minimize_scalar(
            lambda a: negative_log_likelihood(order, [a], z)[0][0],
            bounds=bounds,
            method="bounded",
            options={"xatol": 0.02},
        ).x
    )


def search_both(order: int, z: Array, start: float, floor: float) -> Array:
    """Return both log ratios of one joint, z (1, blocks, N, 2), by Nelder-Mead.

    It starts from the ratio of q alone and the variance of qd - dq/dt.
    """
    from scipy.optimize import minimize

    # beyond these the gains are inaccurate
    low, high = np.array([floor, -6.0]), np.array([THRESHOLDS.largest_noise_ratio, 24.0])
    misfit = np.var(z[..., 1] - np.gradient(z[..., 0], axis=2))
    r = negative_log_likelihood(order, [start], z[..., :1])[1][0]
    first = np.clip([start, np.log10(max(misfit, 1e-300) / max(r, 1e-300))], low + 1, high - 1)
    options = {
        "initial_simplex": first + np.array([[0, 0], [0.7, 0], [0, 0.7]]),
        "xatol": 0.05,
        "fatol": 1e-5,
        "maxfev": 80,
    }
    result = minimize(
        lambda a: negative_log_likelihood(order, np.clip(a, low, high), z)[0][0],
        first,
        method="Nelder-Mead",
        options=options,
    )
    return np.clip(result.x, low, high)


def unit_noise(order: int, theta: Array) -> Noise:
    """Return the noise at a step of 1 with unit variance of q; theta (lanes, 1 or 2)."""
    theta = np.atleast_2d(np.asarray(theta, float))
    sigma_qd = 10.0 ** (0.5 * theta[:, 1]) if theta.shape[1] == 2 else np.full(len(theta), np.inf)
    return Noise(order, 10.0 ** theta[:, 0], np.ones(len(theta)), sigma_qd)


def negative_log_likelihood(
    order: int, theta: list[float] | Array, z: Array
) -> tuple[Array, Array]:
    """Return -log L per sample and the variance r of each joint, (n,) each.

    z is (n, blocks, N, m) at a step of 1; each block's start is free.
    """
    noise = unit_noise(order, np.asarray(theta, float))
    model, scale = steady(noise, 0, 1.0), noise.units(1.0).scale(order)[0]
    n, blocks, N, m = z.shape
    scaled = np.zeros((n * blocks, N, order))
    scaled[..., :m] = (z / scale[:m]).reshape(n * blocks, N, m)
    start = initial_state(scaled)
    x, _ = run_filter(model, scaled, start, model.F[:m])
    error = scaled[..., :m].copy()
    error[:, 0] -= start[:, :m]
    error[:, 1:] -= x[:, :-1]
    white, log_det = whiten(
        error, model.predicted[:m, :m], noise.units(1.0).information(noise)[0, :m]
    )
    white = without_start(model, white, m, noise)
    variance = np.mean(white.reshape(n, -1) ** 2, axis=1)
    unit = np.log(scale[:m]).sum() * 2  # S was in scaled units
    return 0.5 * (m * np.log(np.maximum(variance, 1e-300)) + log_det + unit), variance


def whiten(error: Array, P: Array, information: Array) -> tuple[Array, Array]:
    """Whiten innovations (..., m) one measurement after the other; return them and log det S."""
    S = P[..., 0, 0] + 1.0 / information[..., 0]
    first = error[..., 0] / np.sqrt(S)
    if error.shape[-1] == 1:
        return first[..., None], np.log(S)
    gain = P[..., 1, 0] / S
    S2 = P[..., 1, 1] - gain * P[..., 0, 1] + 1.0 / information[..., 1]
    second = (error[..., 1] - gain * error[..., 0]) / np.sqrt(S2)
    return np.stack([first, second], axis=-1), np.log(S) + np.log(S2)


def without_start(model: SteadyGains, white: Array, m: int, noise: Noise) -> Array:
    """Return the innovations (blocks, N, m) for the most likely initial state of each block."""
    count, k = min(white.shape[1], model.memory), len(model.F)
    poles, modes = np.linalg.eig(model.F @ (np.eye(k) - model.gain))
    powers = (modes * poles ** np.arange(count)[:, None, None]) @ np.linalg.inv(modes)
    response = np.moveaxis(powers.real[:, :m, :], 1, 2)  # (count, k, m)
    design, _ = whiten(
        response, model.predicted[:m, :m], noise.units(1.0).information(noise)[0, :m]
    )
    basis, _ = np.linalg.qr(np.moveaxis(design, 2, 1).reshape(count * m, k))
    head = white[:, :count].reshape(len(white), count * m)
    white[:, :count] = (head - (head @ basis) @ basis.T).reshape(len(white), count, m)
    return white


def search_uneven(order: int, t: list[Array], z: list[Array], floor: float) -> tuple[Array, Array]:
    """Search both ratios for a varying step; see `search_even`.

    A whole grid is evaluated at once, as lanes of one recursion, then a finer one.
    """
    n, m = z[0].shape[1:]
    theta = np.tile([0.0, 2.0][:m], (n, 1))
    zooms = [
        (0, np.arange(floor, THRESHOLDS.largest_noise_ratio, 2.0)),
        (0, np.arange(-1.5, 1.6, 0.5)),
    ]
    zooms += (
        [
            (1, np.arange(-8.0, 13.0, 2.0)),
            (0, np.arange(-1.5, 1.6, 0.5)),
            (1, np.arange(-1.5, 1.6, 0.5)),
        ]
        if m == 2
        else []
    )
    for turn, (axis, offsets) in enumerate(zooms):
        only = m if turn >= 2 else 1
        tried = np.repeat(theta[None], len(offsets), axis=0)
        tried[:, :, axis] = offsets[:, None] + (0.0 if turn == 0 else theta[None, :, axis])
        tried = np.clip(tried, [floor, -6.0][:m], [THRESHOLDS.largest_noise_ratio, 24.0][:m])
        value, _ = negative_log_likelihood_uneven(
            order, tried[:, :, :only], t, [block[..., :only] for block in z]
        )
        theta[:, axis] = vertex(tried[:, :, axis], value)
    return theta, negative_log_likelihood_uneven(order, theta[None], t, z)[1][0]


def vertex(x: Array, y: Array) -> Array:
    """Return (n,) the minimum of the parabola through the lowest of y (G, n) and its neighbours."""
    best = np.clip(np.argmin(y, axis=0), 1, len(y) - 2)
    columns = np.arange(y.shape[1])
    (x0, x1, x2), (y0, y1, y2) = ([v[best + d, columns] for d in (-1, 0, 1)] for v in (x, y))
    curve = y0 - 2 * y1 + y2
    shift = np.where(curve > 0, 0.5 * (y0 - y2) / np.where(curve > 0, curve, 1.0), np.sign(y0 - y2))
    return np.clip(x1 + shift * 0.5 * (x2 - x0), x0, x2)


def negative_log_likelihood_uneven(
    order: int, theta: Array, t: list[Array], z: list[Array]
) -> tuple[Array, Array]:
    """Return -log L per sample and the variance, (G, n) each, for theta (G, n, 1 or 2).

    t counts in median steps.
    """
    G, n, m = theta.shape
    noise = unit_noise(order, theta.reshape(G * n, m))
    units = noise.units(1.0)
    scale, information = units.scale(order), units.information(noise)
    square, log_det, count = np.zeros(G * n), np.zeros(G * n), 0
    for time, block in zip(t, z, strict=True):
        N = len(time)
        scaled = np.zeros((N, G * n, order))
        scaled[..., :m] = np.tile(block, (1, G, 1)) / scale[:, :m]
        done = run_information_filter(
            *step_matrices(noise, time, 1.0), np.broadcast_to(information, scaled.shape), scaled
        )
        known = slice(order + 1, None)  # the first samples determine the state and predict nothing
        P = np.asarray(np.linalg.inv(done.L_before[known]), np.float64)
        error = scaled[known, :, :m] - (P @ done.y_before[known][..., None])[..., :m, 0]
        white, log_S = whiten(error, P[..., :m, :m], information[:, :m])
        square += np.sum(white**2, axis=(0, 2))
        log_det += np.sum(log_S, axis=0)
        count += N - order - 1
    variance = square / (count * m)
    value = 0.5 * (
        m * np.log(np.maximum(variance, 1e-300))
        + log_det / count
        + 2 * np.log(scale[:, :m]).sum(axis=1)
    )
    return value.reshape(G, n), variance.reshape(G, n)
