"""smooth: velocities and accelerations from measured positions, by the Kalman smoother or the classical way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, LogError, choices
from ..clean.clean import clean
from ..clean.faults import wrong_velocities
from ..clean.segments import is_uniform
from ..log import Log
from .filters import butterworth
from .kalman import Smoother

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Smoothed(Log):
    """A log whose q, qd, qdd are estimates: their covariance (N, n, 3, 3) in SI units, the smoother that made them. tau is as measured."""

    covariance: Array | None = None
    bandwidth: Array | None = None
    smoother: Smoother | None = None

    sampled: ClassVar[tuple[str, ...]] = (*Log.sampled, "covariance")
    jointwise: ClassVar[tuple[str, ...]] = (*Log.jointwise, "covariance")
    per_joint: ClassVar[tuple[str, ...]] = ("bandwidth",)

    @property
    def sigma(self) -> Array:
        """(N, n, 3) standard deviations of q [rad], qd [rad/s], qdd [rad/s2]."""
        if self.covariance is None:
            raise CallError("this log has no covariance: method='butterworth' gives none, method='kalman' does")
        return np.sqrt(np.einsum("...ii->...i", self.covariance))

    def select(self, names: Sequence[str]) -> Smoothed:
        """The named joints, in the order of the names, with their part of the smoother."""
        part = super().select(names)
        if self.smoother is None:
            return part
        index = [self.labels.index(name) for name in names]
        return part.replace(smoother=Smoother(self.smoother.noise.of(index), self.smoother.dt))


def smooth(log: Log, method: str = "kalman", cutoff: float | None = None, order: int | None = None, velocity: bool | None = None) -> Log:
    """The log with q, qd, qdd estimated from its positions; tau and current are left as measured.

    'kalman': the non-causal Kalman smoother, noise levels by maximum likelihood, covariances attached; nothing to choose. `order` 3 (white
    jerk, default) or 4 (white snap). `velocity` says whether a measured qd is used too; by default where it fits its position.
    'butterworth': zero-phase low-pass at `cutoff` [Hz] of the given `order` (4), central differences.
    Rauch, Tung and Striebel, AIAA J. 3 (1965), p. 1445; lecture "Newton-Euler formulation and identification", on estimating qd and qdd.
    """
    if method not in ("kalman", "butterworth"):
        raise CallError(f"smooth: no method {method!r}: {choices(str(method), ('kalman', 'butterworth'))}")
    if method == "butterworth" and cutoff is None:
        raise CallError("smooth: method='butterworth' needs a cutoff= [Hz]; method='kalman' finds its own")
    if method == "kalman" and cutoff is not None:
        raise CallError("smooth: method='kalman' takes no cutoff, it is found by maximum likelihood; method='butterworth' takes one")
    log = long_enough(clean(log), 12 if order is None else 4 * order)
    if method == "butterworth":
        assert cutoff is not None
        return butterworth(log, cutoff, 4 if order is None else order)
    return kalman(log, 3 if order is None else order, velocity)


def kalman(log: Log, order: int, velocity: bool | None) -> Smoothed:
    """The log smoothed by the Kalman smoother."""
    qd, said = usable_velocity(log, velocity)
    smoother = Smoother.fit(log.t, log.q, qd, order)
    x, P = smoother.states(log.t, log.q, qd)
    if not all(is_uniform(log.t[part]) for part in log.segments):
        said.append(f"The sampling is not uniform (about {log.rate:.4g} Hz): smoothed at its actual time stamps.")
    names = ("t", "tau", "joint_names", "current", "effort", "source", "remarks")
    kept = {name: getattr(log, name) for name in names}
    smoothed = Smoothed(q=x[..., 0], qd=x[..., 1], qdd=x[..., 2], covariance=P, bandwidth=smoother.bandwidth, smoother=smoother, **kept)
    sharp = [name for name, f in zip(log.labels, smoother.bandwidth, strict=True) if f > 0.98 * 0.5 / smoother.dt]
    if sharp:
        said.append(
            f"The positions of {', '.join(sharp)} carry no noise that can be told from motion: filtered before, or simulated. "
            "Do not read their covariance as an uncertainty."
        )
    hertz = ", ".join(f"{f:.3g}" for f in smoother.bandwidth)
    return smoothed.remarked(*said, f"q, qd, qdd are Kalman-smoothed; equivalent zero-phase cut-off per joint [Hz]: {hertz}.")


def usable_velocity(log: Log, wanted: bool | None) -> tuple[Array | None, list[str]]:
    """The measured velocity where it is to be used, and what is to be said about it."""
    if wanted and log.qd is None:
        raise LogError(f"{log.where}smooth: velocity=True, but the log has no qd")
    if log.qd is None or wanted is False:
        return None, []
    faults = list(wrong_velocities(log))
    if wanted is None and faults:
        return None, [*faults, "The measured velocity was not used."]
    return log.qd, faults


def long_enough(log: Log, least: int) -> Log:
    """The log without segments of fewer than `least` samples."""
    length = [part.stop - part.start for part in log.segments]
    if max(length) < least:
        raise LogError(f"{log.where}the longest stretch without a gap has {max(length)} samples: smoothing needs at least {least}")
    if min(length) >= least:
        return log
    keep = np.concatenate([np.full(count, count >= least) for count in length])
    return log[keep].remarked(f"{np.sum(~keep)} samples in stretches shorter than {least} samples, between gaps, were left out.")
