"""Steady-state Kalman smoother for a constant time step.

The same recursive filter with constant gains runs forward and backward; constant weights combine
both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .motion_model import Noise, diffusion, mirror, transition

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class SteadyGains:
    """Steady-state gains of one joint in scaled units, each (k, k).

    Forward: x_f[i] = (I - K) F x_f[i-1] + K z[i], a sum of modes V diag(p) V^-1, each a recursion
    of order one. Smoothed: x_s = W_f x_f + W_b x_b, x_b predicted from the later samples; P_s =
    (P_f^-1 + P_b^-1)^-1. Fraser and Potter, IEEE Trans. Automatic Control 14 (1969), p. 387.
    """

    F: Array
    predicted: Array
    filtered: Array
    smoothed: Array
    gain: Array
    poles: Complex
    modes: Complex
    inputs: Complex

    @property
    def memory(self) -> int:
        """Number of samples after which an error of the initial state has decayed to 1e-17."""
        slowest = np.clip(np.max(np.abs(self.poles)), 1e-6, 1 - 1e-9)
        return int(np.ceil(np.log(1e-17) / np.log(slowest)))


def steady(noise: Noise, joint: int, dt: float) -> SteadyGains:
    """Return the constant gains of one joint for samples dt [s] apart."""
    units, k = noise.units(dt), noise.order
    step = dt / units.time[joint]
    return gains(
        transition(step, k),
        units.intensity(noise)[joint] * diffusion(step, k),
        units.information(noise)[joint],
    )


def gains(F: Array, Q: Array, information: Array) -> SteadyGains:
    """Return the steady-state gains of x' = F x + w, w ~ Q (k, k), with information (k,)."""
    k = len(F)
    predicted = riccati(F, information, Q)
    filtered = symmetrized(np.linalg.solve(np.eye(k) + predicted * information, predicted))
    gain = filtered * information
    poles, modes = np.linalg.eig((np.eye(k) - gain) @ F)
    # two equal poles have no basis of modes: perturb the noise by a millionth
    if np.linalg.cond(modes) > 1e7:
        return gains(F, Q, information * (1 + 1e-6))
    sign = mirror(k)
    smoothed = symmetrized(
        np.linalg.inv(np.linalg.inv(filtered) + np.linalg.inv(predicted) * np.outer(sign, sign))
    )
    return SteadyGains(
        F=F,
        predicted=predicted,
        filtered=filtered,
        smoothed=smoothed,
        gain=gain,
        poles=poles + 0j,
        modes=modes + 0j,
        inputs=np.linalg.solve(modes, gain) + 0j,
    )


def riccati(F: Array, information: Array, Q: Array) -> Array:
    """Solve P = F (P^-1 + G)^-1 F^T + Q, G = diag(information), by the doubling algorithm.

    Converges quadratically. Anderson, Int. J. Control 28 (1978), p. 295.
    """
    A, G, P = F.T, np.diag(information), Q
    for _ in range(60):
        W = np.linalg.inv(np.eye(len(F)) + G @ P)
        grown = A.T @ P @ W @ A
        A, G, P = A @ W @ A, symmetrized(G + A @ W @ G @ A.T), symmetrized(P + grown)
        if np.max(np.abs(grown)) < 1e-16 * np.max(np.abs(P)):
            break
    return np.asarray(P)


def symmetrized(P: NDArray[np.floating[Any]]) -> Array:
    """Return (P + P^T) / 2, to remove the asymmetry of rounding."""
    return np.asarray(0.5 * (P + np.swapaxes(P, -1, -2)), np.float64)


def run_filter(model: SteadyGains, z: Array, start: Array, rows: Array) -> tuple[Array, Array]:
    """Return rows @ x_f (B, N, r) of the forward filter, and its last state (B, k).

    z is (B, N, k), ignored where the gain is zero; start (B, k) is the state predicted for the
    first sample; rows is (r, k).
    """
    from scipy.signal import lfilter

    B, N, k = z.shape
    used = np.flatnonzero(np.any(model.gain != 0, axis=0))
    before = np.linalg.solve(model.modes, ((np.eye(k) - model.gain) @ start.T) + 0j)
    result, last = np.zeros((B, N, len(rows))), np.zeros((B, k))
    for i, pole in enumerate(model.poles):
        if pole.imag < 0:
            continue  # the conjugate pole accounts for both
        real = pole.imag == 0
        weights, zi, a = model.inputs[i, used], before[i][:, None], np.array([1.0, -pole])
        if real:
            weights, zi, a = weights.real, zi.real, a.real
        mode = lfilter(
            [1.0], a, sum(z[:, :, c] * w for c, w in zip(used, weights, strict=True)), zi=zi
        )[0]
        shape = model.modes[:, i].real if real else 2 * model.modes[:, i]
        result += outer_real(mode, rows @ shape)
        last += outer_real(mode[:, -1], shape)
    return result, last


def outer_real(mode: NDArray[np.inexact], shape: NDArray[np.inexact]) -> Array:
    """Return Re(mode shape), (B, ..., r): the contribution of a mode (B, ...) to each output."""
    if not np.iscomplexobj(mode):
        return np.multiply.outer(mode, shape.real)
    parts = np.ascontiguousarray(mode).view(float).reshape(*mode.shape, 2)
    return np.asarray(parts @ np.stack([shape.real, -shape.imag]))


def smooth_steady(model: SteadyGains, z: Array, outputs: int) -> Array:
    """Smooth B columns z (B, N, k) with one joint's noise; the first `outputs` states (B, N, r).

    N must exceed `memory`. The forward filter starts from the last state of the backward filter and
    vice versa, which is the smoother without a prior. Ansley and Kohn, Annals of Statistics 13
    (1985), p. 1286.
    """
    sign = mirror(z.shape[-1])
    eye = np.eye(z.shape[-1])
    mix_back = (
        model.smoothed
        @ (np.linalg.inv(model.predicted) * np.outer(sign, sign))
        @ (sign[:, None] * model.F)
    )
    mix_forth = model.smoothed @ np.linalg.inv(model.filtered)
    head = z[:, : model.memory][:, ::-1] * sign
    _, first = run_filter(model, head, initial_state(head), eye[:0])
    x, last = run_filter(model, z, first * sign, mix_forth[:outputs])
    later, _ = run_filter(model, z[:, ::-1] * sign, last * sign, mix_back[:outputs])
    x[:, :-1] += later[:, -2::-1]
    x[:, -1] = last[:, :outputs]
    return x


def initial_state(z: Array) -> Array:
    """Return an initial state: the first position, at rest."""
    start = np.zeros((z.shape[0], z.shape[2]))
    start[:, 0] = z[:, 0, 0]
    return start


def covariance_steady(model: SteadyGains, N: int, outputs: int) -> Array:
    """Return the covariance (N, r, r) of the smoothed states.

    Constant except near the ends, which have samples on one side only.

    Near the start P_i = P_s + C_i^T (P_p - P_s)^-1 C_i with C_i = G^i P_s, G = P_f F^T P_p^-1: the
    information of the prior is subtracted.
    """
    count = min(N, model.memory)
    back = model.filtered @ model.F.T @ np.linalg.inv(model.predicted)
    poles, modes = np.linalg.eig(back)
    powers = (modes * poles[None, None, :] ** np.arange(count)[:, None, None]) @ np.linalg.solve(
        modes, model.smoothed + 0j
    )
    cross = np.ascontiguousarray(powers.real)[:, :, :outputs]
    extra = np.swapaxes(cross, -1, -2) @ np.linalg.solve(model.predicted - model.smoothed, cross)
    P = np.repeat(model.smoothed[None, :outputs, :outputs], N, axis=0)
    P[:count] += extra
    sign = mirror(outputs)
    P[N - count :] += extra[::-1] * np.outer(sign, sign)
    return P
