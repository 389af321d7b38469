"""A stream of samples: shapes, finite numbers and times that increase, checked as they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...errors import CallError, LogError

Array = NDArray[np.float64]
NAMES = ("q", "qd", "qdd", "tau")


class Stream:
    """Samples of a robot in order of time; `rate` [Hz] where it is known.

    `count` is the number of samples so far; `time` [s] the time of the last, NaN before the first.
    """

    def __init__(self, joint_names: Sequence[str], rate: float | None = None) -> None:
        self.joint_names, self.rate = tuple(joint_names), rate
        self.count, self.time, self.dt = 0, float("nan"), 1.0 / rate if rate else float("nan")
        self.timed: bool | None = None
        self.accelerated: bool | None = None

    def take(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike | None,
        tau: ArrayLike,
        t: ArrayLike | None,
    ) -> tuple[Array, Array]:
        """Return samples (4, B, n), or (3, B, n) without qdd, and the time steps (B,) [s]."""
        signals = (q, qd, tau) if qdd is None else (q, qd, qdd, tau)
        block = self._block(signals, qdd is not None)
        if self.accelerated is not None and self.accelerated != (qdd is not None):
            began = "with" if self.accelerated else "without"
            raise CallError(
                f"update: this stream began {began} accelerations (qdd) and must go on so"
            )
        if qdd is None and t is None and self.rate is None:
            raise CallError(
                "update: without qdd times are needed: give t= [s] with the samples, or rate= [Hz]"
                " at the start"
            )
        dt, last = self._times(block.shape[1], t)
        self.accelerated, self.timed = qdd is not None, t is not None
        self.count, self.time = self.count + block.shape[1], last
        return block, dt

    def ago(self, samples: int) -> float:
        """Return the time [s], or without times the number, of a sample before the last."""
        if self.timed or self.rate:
            return self.time - samples * self.dt
        return float(self.count - 1 - samples)

    @property
    def unit(self) -> str:
        """What times are counted in."""
        return "s" if self.timed or self.rate else "samples"

    def _block(self, signals: Sequence[ArrayLike], accelerated: bool) -> Array:
        names = NAMES if accelerated else ("q", "qd", "tau")
        n = len(self.joint_names)
        arrays = [as_numbers(name, x) for x, name in zip(signals, names, strict=True)]
        shape = arrays[0].shape
        for array, name in zip(arrays, names, strict=True):
            if (
                array.shape != shape
                or array.ndim not in (1, 2)
                or array.shape[-1] != n
                or not array.size
            ):
                expected = (
                    f"({n},) for one sample or (B, {n}) for a block, the same for"
                    f" {', '.join(names)}"
                )
                raise CallError(
                    f"update: {name} has shape {array.shape}, expected {expected}; joints:"
                    f" {', '.join(self.joint_names)}"
                )
        block = np.empty((len(arrays), *(shape if len(shape) == 2 else (1, n))))
        for k, array in enumerate(arrays):
            block[k] = array
        if not np.isfinite(block).all():
            k, i, j = (int(x) for x in np.argwhere(~np.isfinite(block))[0])
            raise LogError(
                f"update: {names[k]} of {self.joint_names[j]} is {block[k, i, j]} in sample"
                f" {self.count + i}; nothing of this block was used. Leave such samples out"
            )
        return block

    def _times(self, count: int, t: ArrayLike | None) -> tuple[Array, float]:
        if self.timed is not None and self.timed != (t is not None):
            raise CallError(
                f"update: this stream began {'with' if self.timed else 'without'} times (t) and"
                " must go on so"
            )
        if t is None:
            step = self.dt if self.rate else 0.0
            return np.full(count, step), (self.count + count - 1) * step
        times = np.atleast_1d(numbers("update: t", t))
        if times.shape != (count,) or not np.isfinite(times).all():
            raise CallError(
                f"update: t has shape {np.shape(t)}; expected a finite time [s] for each of {count}"
                " samples"
            )
        dt = np.diff(times, prepend=times[0] if np.isnan(self.time) else self.time)
        late = np.flatnonzero(dt[1 if np.isnan(self.time) else 0 :] <= 0.0)
        if len(late):
            k = int(late[0]) + (1 if np.isnan(self.time) else 0)
            raise LogError(
                f"update: time goes from {times[k] - dt[k]:.9g} s to {times[k]:.9g} s at sample"
                f" {self.count + k}; it must grow"
            )
        self._measure(dt[dt > 0.0])
        return dt, float(times[-1])

    def _measure(self, dt: Array) -> None:
        """Follow the interval between samples, by its median of every block."""
        if len(dt):
            middle = float(np.median(dt))
            self.dt = middle if np.isnan(self.dt) else 0.9 * self.dt + 0.1 * middle


def as_numbers(name: str, value: ArrayLike) -> Array:
    """Return an argument of `update` as an array of numbers."""
    return (
        value
        if isinstance(value, np.ndarray) and value.dtype == np.float64
        else numbers(f"update: {name}", value)
    )
