"""Rows of the regressor of live samples, with accelerations or, low-passed, without them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...compiler.runtime.kernel import Kernel
from ...identification.estimators.without_acceleration.momentum import held_values, momentum_columns
from ...identification.model.linear_model import Model
from ...kernels import kernel

Array = NDArray[np.float64]


class SampleRows:
    """Rows [Y_1 ... Y_n, tau, 0] of samples, (N, n b + n + 1).

    Y_j (b,) is the regressor row of joint j; known torques are subtracted from tau. The zero at the
    end represents columns that a joint does not have.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.n, self.b = model, model.n, model.base.n_base
        self.width = self.n * self.b + self.n + 1
        self.plain = all(c in model.plain_columns for c in model.base.columns)
        self.has_known = model.known is not None or any(value for _, value in model.held)
        self._kernel = self._plain_kernel("regressor") if self.plain else None

    def _plain_kernel(self, name: str) -> Kernel:
        """Return the kernel of a regressor of the plain robot, so that no call looks it up."""
        columns = tuple(self.model.plain_columns[c] for c in self.model.base.columns)
        return kernel(self.model.plain.tree, name, columns=columns)

    @cached_property
    def _momentum_kernels(self) -> tuple[Kernel, Kernel]:
        return self._plain_kernel("momentum_regressor"), self._plain_kernel(
            "momentum_rate_regressor"
        )

    def momentum(self, q: Array, qd: Array, memory: Array | None = None) -> tuple[Array, Array]:
        """Return P and Z, each (N, n, b), with tau = d/dt(P base) + Z base, at states (N, n).

        See `momentum_columns`.
        """
        if not self.plain:
            return momentum_columns(self.model, q, qd, self.model.base.columns, memory)
        stored, gained = (each.ufunc(q, qd) for each in self._momentum_kernels)
        return stored, -gained

    def empty(self, count: int) -> tuple[Array, Array, Array]:
        """Return empty rows (N, width) and views of their regressor (N, n, b), torque (N, n)."""
        rows = np.empty((count, self.width))
        rows[:, -1] = 0.0
        edge = self.n * self.b
        return rows, rows[:, :edge].reshape(count, self.n, self.b), rows[:, edge:-1]

    def regressor(self, rows: Array) -> Array:
        """Return the view Y (N, n, b) of rows."""
        return rows[:, : self.n * self.b].reshape(len(rows), self.n, self.b)

    def torque(self, rows: Array) -> Array:
        """Return the view of the torques (N, n) of rows."""
        return rows[:, self.n * self.b : -1]

    def of(self, q: Array, qd: Array, qdd: Array, tau: Array, memory: Array | None = None) -> Array:
        """Return the rows of samples (N, n); `memory` (N, n) has their presliding states."""
        rows, Y, torque = self.empty(len(q))
        if self._kernel is not None:
            self._kernel.ufunc(q, qd, qdd, out=Y)
        else:
            Y[:] = self.model.rows(q, qd, qdd, memory=memory)
        torque[:] = (
            tau - self.model.known_torque(q, qd, qdd, memory=memory) if self.has_known else tau
        )
        return rows

    def typical(self, count: int = 256) -> Array:
        """Return regressors (N, n, b) at random states within the limits, always the same."""
        rng = np.random.default_rng(0)
        limits = self.model.robot.tree.limits
        low, high = (
            np.clip([getattr(x, name) for x in limits], -math.pi, math.pi)
            for name in ("lower", "upper")
        )
        speed = np.minimum([x.velocity for x in limits], 2.0)
        q = rng.uniform(low, high, (count, self.n))
        return self.regressor(
            self.of(
                q,
                rng.normal(size=q.shape) * speed,
                rng.normal(size=q.shape) * 2.0 * speed,
                np.zeros_like(q),
            )
        )


class FilteredRows:
    """Rows of samples without accelerations.

    The equation of motion passed through F(s) = gain / (s + gain), gain [1/s].

    tau = d/dt(P pi) + Z pi, with P pi the momentum and Z pi = g + friction - C^T qd, so that F tau
    = (gain P + F (Z - gain P)) pi: the derivative is the filter's. Exact for signals that are
    linear between samples, from the first sample on. Slotine and Li, "Adaptive manipulator control:
    a case study", IEEE Trans. Automatic Control 33 (1988), eq. (30); Middleton and Goodwin, Systems
    and Control Letters 10 (1988), p. 9.
    """

    def __init__(self, rows: SampleRows, gain: float) -> None:
        self.rows, self.gain = rows, gain
        self._filter = LowPass(gain)

    def of(
        self,
        q: Array,
        qd: Array,
        tau: Array,
        still: Array,
        dt: Array,
        memory: Array | None = None,
    ) -> tuple[Array, Array]:
        """Return filtered rows (N, width) of samples (N, n) that are dt (N,) [s] apart.

        The second result (N, n) is the share of the filter's memory at rest.

        `still` (N, n) is 1 where a joint stands; a first call begins at its first sample. `memory`
        (N, n) has the presliding states of the samples.
        """
        rows, Y, torque = self.rows.empty(len(q))
        P, Z = self.rows.momentum(q, qd, memory)
        effort, stored = tau, np.zeros_like(tau)
        fixed = [column for column, _ in self.rows.model.held]
        if fixed:
            stored, lost = (
                columns @ held_values(self.rows.model)
                for columns in momentum_columns(self.rows.model, q, qd, fixed, memory)
            )
            effort = tau - lost
        if self.rows.model.known is not None:
            effort = effort - self.rows.model.known(q, qd, np.zeros_like(q))
        edge = Y[0].size
        x = np.concatenate(
            [(Z - self.gain * P).reshape(len(q), edge), effort + self.gain * stored, still], axis=1
        )
        start = np.concatenate([-self.gain * P[0].ravel(), self.gain * stored[0], still[0]])
        y = self._filter.run(x, dt, start)
        Y[:] = self.gain * P + y[:, :edge].reshape(Y.shape)
        torque[:] = y[:, edge : edge + self.rows.n] - self.gain * stored
        return rows, y[:, edge + self.rows.n :]


class LowPass:
    """dy/dt = gain (x - y) for any number of channels, exact for x that is linear between samples.

    Franklin, Powell and Workman, "Digital Control of Dynamic Systems", 3rd ed., section 6.3
    (triangle hold).
    """

    def __init__(self, gain: float) -> None:
        self.gain = gain
        self._last: tuple[Array, Array] | None = None

    def run(self, x: Array, dt: Array, start: Array) -> Array:
        """Return y (N, m) of x (N, m), whose samples come dt (N,) [s] after each other.

        Y of the very first sample is `start` (m,).
        """
        y = np.empty_like(x)
        first = 0
        if self._last is None:
            y[0], first = start, 1
            self._last = x[0], y[0]
        if len(x) - first > 1 and np.ptp(dt[first:]) <= 1e-9 * dt[-1]:
            y[first:] = self._uniform(x[first:], float(dt[-1]))
        else:
            for k in range(first, len(x)):
                p, b0, b1 = self._step(float(dt[k]))
                y[k] = p * self._last[1] + b1 * self._last[0] + b0 * x[k]
                self._last = x[k], y[k]
        self._last = x[-1].copy(), y[-1].copy()
        return y

    def _uniform(self, x: Array, dt: float) -> Array:
        from scipy.signal import lfilter

        assert self._last is not None
        p, b0, b1 = self._step(dt)
        return np.asarray(
            lfilter(
                [b0, b1], [1.0, -p], x, axis=0, zi=(b1 * self._last[0] + p * self._last[1])[None]
            )[0]
        )

    def _step(self, dt: float) -> tuple[float, float, float]:
        r = self.gain * dt
        p = math.exp(-r)
        mean = (1.0 - p) / r if r > 0.0 else 1.0
        return p, 1.0 - mean, mean - p
