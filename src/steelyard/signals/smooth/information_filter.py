"""The smoother for any step: the sum of information filters forward and backward in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .motion_model import Noise, diffusion, mirror, transition
from .steady_state import symmetrized

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FilterPass:
    """Information L = P^-1 (N, lanes, k, k), y = L x (N, lanes, k), before and after a sample."""

    L_before: Array
    y_before: Array
    L_after: Array
    y_after: Array


def run_information_filter(back: Array, Q: Array, information: Array, z: Array) -> FilterPass:
    """Run the information filter over N samples, all lanes at once, starting from zero information.

    M = F^-T L F^-1,  L' = M (I + Q M)^-1,  y' = (I + M Q)^-1 F^-T y;  then L = L' + diag(w), y = y'
    + w z. back (N, lanes, k, k) is F^-1 into each sample, Q (N, lanes, k, k) the noise on the way,
    information w and z are (N, lanes, k). Fraser and Potter, IEEE Trans. Automatic Control 14
    (1969), p. 387; L may be singular, so no prior is needed.
    """
    N, lanes, k = z.shape
    L_before, L_after = np.zeros((2, N, lanes, k, k))
    y_before, y_after = np.zeros((2, N, lanes, k))
    eye, diagonal = np.eye(k), np.arange(k)
    L, y, news = np.zeros((lanes, k, k)), np.zeros((lanes, k)), information * z
    back_T = np.swapaxes(back, -1, -2)
    for i in range(N):
        if i > 0:
            M = back_T[i] @ L @ back[i]
            W = np.linalg.inv(eye + Q[i] @ M)
            L = M @ W
            L = 0.5 * (L + L.swapaxes(-1, -2))
            y = (W.swapaxes(-1, -2) @ (back_T[i] @ y[:, :, None]))[:, :, 0]
        L_before[i], y_before[i] = L, y
        L = L.copy()
        L[:, diagonal, diagonal] += information[i]
        y = y + news[i]
        L_after[i], y_after[i] = L, y
    return FilterPass(L_before, y_before, L_after, y_after)


def step_matrices(noise: Noise, t: Array, unit_dt: float) -> tuple[Array, Array]:
    """Return F^-1 and Q (N, n, k, k) of the step into each sample, in scaled units.

    The first sample's are not used.
    """
    units = noise.units(unit_dt)
    step = np.diff(t, prepend=t[0])[:, None] / units.time
    return transition(-step, noise.order), units.intensity(noise)[:, None, None] * diffusion(
        step, noise.order
    )


def smooth_information(noise: Noise, t: Array, z: Array, information: Array) -> tuple[Array, Array]:
    """Return smoothed states x (N, n, k) and covariances P (N, n, k, k), scaled.

    P^-1 = L_f + L_b, x = P (y_f + y_b).

    z and information are (N, n, k), scaled; the information of a missing sample is zero. Needs at
    least k samples.
    """
    dt = float(np.median(np.diff(t)))
    n, sign = z.shape[1], mirror(z.shape[2])
    forth, back = step_matrices(noise, t, dt), step_matrices(noise, t[-1] - t[::-1], dt)
    F, Q = (np.concatenate(pair, axis=1) for pair in zip(forth, back, strict=True))
    both = run_information_filter(
        F,
        Q,
        np.concatenate([information, information[::-1]], axis=1),
        np.concatenate([z, z[::-1] * sign], axis=1),
    )
    L = both.L_after[:, :n] + both.L_before[::-1, n:] * np.outer(sign, sign)
    y = both.y_after[:, :n] + both.y_before[::-1, n:] * sign
    P = symmetrized(np.linalg.inv(L))
    return (P @ y[..., None])[..., 0], P
