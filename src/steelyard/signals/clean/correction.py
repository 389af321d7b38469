"""Correction: per-joint numbers that correct a log when it is read, or tried by the doctor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, LogError
from ..log import Log
from ..resample import without_delay
from ..segments import split
from .spikes import without_spikes

Array = NDArray[np.float64]
Self = TypeVar("Self", bound="Correction")
POSITIONS = ("q", "reference", "motor_position", "link_position")
RATES = {"qd": 1, "qdd": 2}
TORQUES = ("tau", "current")


@dataclass(frozen=True)
class Correction:
    """The correction of a log of n joints; `Correction.none(n)` changes nothing.

    Joint j takes the columns of joint order[j], then q = sign scale q_log + offset [rad|m], t =
    clock t_log [s], tau(t) = gain tau_log(t + delay). `torque_order` is the order of torques and
    currents; a negative clock is one that runs backwards. `regular` replaces the time stamps by
    evenly spaced ones over the same time, `spikes` interpolates single positions that are off.
    """

    order: tuple[int, ...]
    torque_order: tuple[int, ...]
    sign: tuple[float, ...]
    scale: tuple[float, ...]
    offset: tuple[float, ...]
    gain: tuple[float, ...]
    delay: tuple[float, ...]
    clock: float = 1.0
    regular: bool = False
    spikes: bool = False

    def __post_init__(self) -> None:
        for name in ORDERS:
            if sorted(getattr(self, name)) != list(range(self.n)):
                raise CallError(
                    f"correction: {name} must have each of the joints 0 to {self.n - 1} once, found"
                    f" {getattr(self, name)}"
                )
        for f in fields(self):
            value = getattr(self, f.name)
            if (
                isinstance(value, tuple)
                and f.name in PER_JOINT
                and (len(value) != self.n or not all(map(isfinite, value)))
            ):
                raise CallError(
                    f"correction: {f.name} must have one finite number for each of {self.n} joints,"
                    f" found {value}"
                )
        if not all(abs(sign) == 1.0 for sign in self.sign):
            raise CallError(f"correction: sign must be 1 or -1 for each joint, found {self.sign}")
        if not (min(self.scale, default=1.0) > 0 and all(self.gain) and self.clock):
            raise CallError(
                "correction: scale must be positive, and neither a gain nor the clock zero"
            )

    @classmethod
    def none(cls: type[Self], n: int) -> Self:
        """Return the correction that changes nothing."""
        one, zero, same = (1.0,) * n, (0.0,) * n, tuple(range(n))
        return cls(
            order=same, torque_order=same, sign=one, scale=one, offset=zero, gain=one, delay=zero
        )

    @classmethod
    def of(cls: type[Self], n: int | None = None, **options: Any) -> Self:
        """Build a correction of n joints from known fields, sequences or numbers.

        Fields that are not given change nothing.
        """
        lengths = {len(options[name]) for name in PER_JOINT if options.get(name) is not None}
        n = n if n is not None else next(iter(lengths), None)
        if n is None or lengths - {n}:
            what = "a number of joints" if n is None else f"one number for each of {n} joints"
            raise CallError(f"correction: {what} expected")
        vectors = {
            name: tuple(int(x) if name in ORDERS else float(x) for x in options[name])
            for name in PER_JOINT
            if options.get(name) is not None
        }
        return cls.none(n).changed(
            **vectors, **{name: value for name, value in options.items() if name not in PER_JOINT}
        )

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.order)

    def after(self: Self, first: Correction) -> Self:
        """Return the composition: `first`, then this correction."""
        q, tau = list(self.order), list(self.torque_order)
        factor = np.array(self.sign) * np.array(self.scale)
        return self.changed(
            order=tuple(first.order[j] for j in q),
            torque_order=tuple(first.torque_order[j] for j in tau),
            sign=np.array(self.sign) * np.array(first.sign)[q],
            scale=np.array(self.scale) * np.array(first.scale)[q],
            offset=factor * np.array(first.offset)[q] + np.array(self.offset),
            gain=np.array(self.gain) * np.array(first.gain)[tau],
            delay=np.array(self.delay) + self.clock * np.array(first.delay)[tau],
            clock=self.clock * first.clock,
            regular=self.regular or first.regular,
            spikes=self.spikes or first.spikes,
        )

    def table(self, joints: Sequence[str]) -> dict[str, Any]:
        """Return the fields that change something as the table `[correction]` of a mapping file.

        Numbers are keyed by joint.
        """
        plain, table = type(self).none(self.n), {}
        for name, value in self.changes.items():
            if name in PER_JOINT:
                rows = zip(joints, value, getattr(plain, name), strict=True)
                table[name] = {
                    joint: joints[x] if name in ORDERS else float(f"{x:.6g}")
                    for joint, x, usual in rows
                    if x != usual
                }
            else:
                table[name] = value
        return table

    def changed(self: Self, **new: Any) -> Self:
        """Return a copy with other fields; arrays become tuples."""
        plain: dict[str, Any] = {
            name: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for name, v in new.items()
        }
        return replace(self, **plain)

    def at(self: Self, name: str, joint: int, value: float) -> Self:
        """Return a copy with one joint's number of a field replaced."""
        numbers = list(getattr(self, name))
        numbers[joint] = float(value)
        return self.changed(**{name: tuple(numbers)})

    @property
    def changes(self) -> dict[str, Any]:
        """The fields that change something, {name: value}."""
        plain = type(self).none(self.n)
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != getattr(plain, f.name)
        }

    # on logs

    def correct_samples(self, log: Log) -> Log:
        """Correct time stamps and spikes of a log, before it is cleaned."""
        self._check(log)
        if self.regular:
            log = log.replace(t=np.linspace(log.t[0], log.t[-1], log.N)).remarked(
                "Time stamps were replaced by evenly spaced ones."
            )
        if self.spikes:
            log = without_spikes(log)
        return (
            log
            if self.clock == 1.0
            else log.replace(t=self.clock * log.t).remarked(
                f"Time stamps were multiplied by {self.clock:.6g}."
            )
        )

    def correct_columns(self, log: Log) -> Log:
        """Correct the columns of a log whose time stamps are right.

        Order, signs, units, offsets, gains and delays.
        """
        self._check(log)
        signals = {
            name: self.positions(x) for name in POSITIONS if (x := getattr(log, name)) is not None
        }
        signals |= {
            name: self.rates(x, power)
            for name, power in RATES.items()
            if (x := getattr(log, name)) is not None
        }
        signals |= {
            name: self.torques(log.t, x, split(log.t))
            for name in TORQUES
            if (x := getattr(log, name)) is not None
        }
        named = {name: log.labels for name in self.changes if name in PER_JOINT}
        return log.replace(**signals).remarked(
            *([f"Corrected as the mapping says: {', '.join(named)}."] if named else [])
        )

    def _check(self, log: Log) -> None:
        if log.n != self.n:
            raise LogError(f"{log.where}the correction is for {self.n} joints, the log has {log.n}")

    # on arrays

    def positions(self, q: Array) -> Array:
        """Return corrected positions (N, n)."""
        return np.asarray(
            q[:, list(self.order)] * (np.array(self.sign) * np.array(self.scale))
            + np.array(self.offset)
        )

    def rates(self, x: Array, power: int) -> Array:
        """Return corrected rates of order `power`, (N, n), logged against the log's clock."""
        return np.asarray(
            x[:, list(self.order)]
            * (np.array(self.sign) * np.array(self.scale) / abs(self.clock) ** power)
        )

    def torques(self, t: Array, tau: Array, stretches: Sequence[slice]) -> Array:
        """Return corrected torques (N, n).

        t [s] is the corrected time; no delay reaches across a gap between segments.
        """
        tau = tau[:, list(self.torque_order)]
        if any(self.delay):
            tau = np.concatenate(
                [without_delay(t[part], tau[part], self.delay) for part in stretches]
            )
        return np.asarray(tau * np.array(self.gain))


ORDERS = ("order", "torque_order")
PER_JOINT = (*ORDERS, "sign", "scale", "offset", "gain", "delay")
