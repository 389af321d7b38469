"""Kalman filter and Rauch-Tung-Striebel smoother of q, qd, qdd with covariance.

Noise levels are estimated by maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...compiler.runtime.threads import mapped
from ...errors import CallError
from ..segments import is_uniform, split
from ..signal_thresholds import THRESHOLDS
from .information_filter import smooth_information
from .likelihood import fit_noise
from .motion_model import Noise
from .steady_state import SteadyGains, covariance_steady, smooth_steady, steady

Array = NDArray[np.float64]
T = TypeVar("T")

OUTPUTS = 3
"""q, qd, qdd are returned, also by a model whose state has the jerk."""


@dataclass(frozen=True, eq=False)
class Smoother:
    """Rauch-Tung-Striebel smoother of a motion whose k-th derivative is white noise.

    x' = F x + w,  z = (q, qd) + v;   x_s = E[x | all z],  P_s = cov[x | all z].
    Rauch, Tung and Striebel, AIAA J. 3 (1965), p. 1445; the lecture on identification asks for a
    "non-causal filter such as the Kalman smoother".
    """

    noise: Noise
    dt: float

    @classmethod
    def fit(
        cls, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, order: int = 3
    ) -> Smoother:
        """Estimate the noise levels of each joint by maximum likelihood.

        t [s] is (N,), q [rad] and qd [rad/s] (N, n); the order k is 3 or 4.
        """
        t, q = np.asarray(t, float), np.asarray(q, float)
        if order not in (3, 4):
            raise CallError(
                f"the smoother's order is 3 (white jerk) or 4 (white snap), not {order!r}"
            )
        return cls(
            fit_noise(t, q, None if qd is None else np.asarray(qd, float), order),
            float(np.median(np.diff(t))),
        )

    @property
    def bandwidth(self) -> Array:
        """Frequency (n,) [Hz] at which the smoothed position is 1/sqrt(2) of the measured one."""
        return self.noise.bandwidth(self.dt)

    def states(
        self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return x (N, n, 3) = q, qd, qdd and their covariance P (N, n, 3, 3), in SI units.

        Each segment on its own.
        """
        parts = list(self.parts(t, q, qd))
        return np.concatenate([x for _, x, _ in parts]), np.concatenate([P for _, _, P in parts])

    def parts(
        self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield (slice, x, P) of parts of `smoother_samples` or fewer, to bound the memory."""
        return self.each_part(lambda *part: part, t, q, qd)

    def each_part(
        self,
        function: Callable[[slice, Array, Array], T],
        t: ArrayLike,
        q: ArrayLike,
        qd: ArrayLike | None = None,
    ) -> Iterator[T]:
        """Yield function(slice, x, P) of parts of `smoother_samples` or fewer, in parallel."""
        t, q = np.asarray(t, float), np.asarray(q, float)
        v = np.zeros_like(q) if qd is None else np.asarray(qd, float)
        noise = self.noise if qd is not None else self.noise.without_velocity()
        starts = [
            (segment, start)
            for segment in split(t)
            for start in range(segment.start, segment.stop, THRESHOLDS.smoother_samples)
        ]

        def one(span: tuple[slice, int]) -> T:
            segment, start = span
            part = slice(start, min(start + THRESHOLDS.smoother_samples, segment.stop))
            wide = slice(
                max(segment.start, start - THRESHOLDS.smoother_overlap),
                min(segment.stop, part.stop + THRESHOLDS.smoother_overlap),
            )
            x, P = one_segment(noise, t[wide], q[wide], v[wide])
            inner = slice(part.start - wide.start, part.stop - wide.start)
            return function(part, x[inner], P[inner])

        yield from mapped(one, starts)

    def apply(self, x: ArrayLike, t: ArrayLike, joint: int) -> Array:
        """Apply the position filter of one joint to other signals x (N, ...).

        Zero phase, gain 1 / (1 + (f/f0)^2k).

        If it is applied to the torque of a joint and to its rows of the regressor, tau = Y pi still
        holds.
        """
        x, t = np.asarray(x, float), np.asarray(t, float)
        only_q = self.noise.of([joint]).without_velocity()
        columns = x.reshape(len(x), -1)
        parts = [filter_columns(only_q, t[part], columns[part]) for part in split(t)]
        return np.concatenate(parts).reshape(x.shape)


def one_segment(noise: Noise, t: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Smooth one segment: x (N, n, 3) and P (N, n, 3, 3).

    Gains are constant for a constant step and a segment longer than the filter's memory.
    """
    N, n, k = len(t), noise.n, noise.order
    if k > N:
        return unknown(q)
    dt = (t[-1] - t[0]) / (N - 1)
    models = [steady(noise, j, dt) for j in range(n)] if is_uniform(t) else []
    constant = [j for j, model in enumerate(models) if model.memory < N]
    varying = [j for j in range(n) if j not in constant]
    x, P = np.empty((N, n, OUTPUTS)), np.empty((N, n, OUTPUTS, OUTPUTS))
    for j in constant:
        x[:, j], P[:, j] = steady_joint(noise.of([j]), models[j], dt, q[:, j], qd[:, j])
    if varying:
        x[:, varying], P[:, varying] = varying_joints(
            noise.of(varying), t, q[:, varying], qd[:, varying]
        )
    return x, P


def unknown(q: Array) -> tuple[Array, Array]:
    """Return the estimate for too few samples.

    The measured positions, zero derivatives, infinite variances.
    """
    x = np.zeros((*q.shape, OUTPUTS))
    x[..., 0] = q
    return (
        x,
        np.broadcast_to(np.diag(np.full(OUTPUTS, np.inf)), (*q.shape, OUTPUTS, OUTPUTS)).copy(),
    )


def steady_joint(
    noise: Noise, model: SteadyGains, dt: float, q: Array, qd: Array
) -> tuple[Array, Array]:
    """Return x (N, 3), P (N, 3, 3) of one joint by constant gains."""
    scale = noise.units(dt).scale(noise.order)[0]
    z = scaled_measurements(q[:, None] - q[0], qd[:, None], scale[None])[:, 0]
    x = smooth_steady(model, z[None], OUTPUTS)[0] * scale[:OUTPUTS]
    x[:, 0] += q[0]
    return x, covariance_steady(model, len(q), OUTPUTS) * np.outer(scale, scale)[:OUTPUTS, :OUTPUTS]


def varying_joints(noise: Noise, t: Array, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return x (N, n, 3), P (N, n, 3, 3) by the full recursion."""
    units = noise.units(float(np.median(np.diff(t))))
    scale = units.scale(noise.order)
    z = scaled_measurements(q - q[0], qd, scale)
    information = np.broadcast_to(units.information(noise), z.shape)
    x, P = smooth_information(noise, t, z, information)
    x = x * scale
    x[..., 0] += q[0]
    return x[..., :OUTPUTS], (P * scale[:, :, None] * scale[:, None, :])[..., :OUTPUTS, :OUTPUTS]


def scaled_measurements(q: Array, qd: Array, scale: Array) -> Array:
    """Return z (N, n, k): q and qd in scaled units, zeros for what is not measured."""
    z = np.zeros((*q.shape, scale.shape[-1]))
    z[..., 0], z[..., 1] = q / scale[:, 0], qd / scale[:, 1]
    return z


def filter_columns(noise: Noise, t: Array, x: Array) -> Array:
    """Filter each column of x (N, m) by one joint's position filter."""
    N, k = len(t), noise.order
    if k > N:
        return x.copy()
    dt = (t[-1] - t[0]) / (N - 1)
    if is_uniform(t) and (model := steady(noise, 0, dt)).memory < N:
        z = np.zeros((x.shape[1], N, k))
        z[:, :, 0] = (x - x[0]).T
        return smooth_steady(model, z, 1)[:, :, 0].T + x[0]
    many = noise.of([0] * x.shape[1])
    return varying_joints(many, t, x, np.zeros_like(x))[0][..., 0]
