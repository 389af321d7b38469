"""Channels: what the signals alone show: dead or saturated torques, spikes in the positions, velocities of another clock or sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.faults import is_flat
from ...signals.clean.spikes import find_spikes
from ...signals.log import Log
from .finding import Finding

Array = NDArray[np.float64]
LEAST_SATURATED = 0.01  # of the samples at the largest value
CROWDED = 10.0  # times as many samples at the largest value as at each of
NEXT = 5  # values below it
FEWEST_SPIKES = 3
MOSTLY = 0.5  # of the samples that are exactly zero


def is_dead(tau: Array) -> bool:
    """Return whether a torque never changes, or is exactly zero most of the time."""
    return is_flat(tau) or bool(np.mean(tau == 0) > MOSTLY)


def dead_channels(log: Log) -> Iterator[Finding]:
    """Torques that never change, or that are exactly zero most of the time although the joint moves."""
    assert log.tau is not None
    for j, name in enumerate(log.labels):
        tau = log.tau[:, j]
        if log.N > 1 and is_flat(tau):
            value = tau[np.isfinite(tau)][0]
            sentence = f"The torque of {name} is {value:.4g} in every sample: the channel is dead."
            yield Finding("dead channel", (name,), sentence, 0.99, fix_of_dead(name))
        elif is_dead(tau):
            share = f"{np.mean(tau == 0):.0%} of the samples"
            sentence = f"The torque of {name} is exactly zero in {share}: the channel is dead or below its resolution."
            yield Finding("dead channel", (name,), sentence, 0.95, fix_of_dead(name))


def fix_of_dead(joint: str) -> str:
    """Return what to do about a dead torque channel."""
    return f"robot.freeze({{{joint!r}: q}}) if it stands, or a log with its torque: no mapping brings it back"


def saturated_torques(log: Log) -> Iterator[Finding]:
    """Torques that stay at their largest value."""
    assert log.tau is not None
    fix = "a slower motion, or a wider range of the torque signal: no mapping brings it back"
    for name, tau in zip(log.labels, log.tau.T, strict=True):
        bound = at_the_bound(tau)
        if bound.any():
            top, share = float(np.nanmax(np.abs(tau))), float(np.mean(bound))
            sentence = f"The torque of {name} is at its largest value, {top:.4g} N m|N, in {share:.1%} of the samples: it is cut off there."
            yield Finding("saturation", (name,), sentence, 0.98, fix)


def at_the_bound(tau: Array) -> NDArray[np.bool_]:
    """Return the samples (N,) of a torque that are cut off at its largest value; none unless they are too many for a coincidence.

    At the bound are many times as many samples as at each of the next smaller values: quantisation alone crowds all values alike.
    """
    size = np.abs(np.nan_to_num(tau))
    top = float(np.max(size, initial=0.0))
    bound = size >= top * (1 - 1e-9)
    if top == 0 or is_flat(tau) or float(np.mean(bound)) <= LEAST_SATURATED:
        return np.zeros(len(tau), bool)
    _, counts = np.unique(size[~bound], return_counts=True)
    return bound & bool(np.sum(bound) > CROWDED * np.mean(counts[-NEXT:]))


def spikes(log: Log) -> Iterator[Finding]:
    """Single positions that are off."""
    found = find_spikes(log.q)
    for j, name in enumerate(log.labels):
        rows = np.flatnonzero(found[:, j])
        if len(rows) >= FEWEST_SPIKES:
            away = np.abs(log.q[rows, j] - 0.5 * (log.q[rows - 1, j] + log.q[rows + 1, j]))
            size = f"by up to {np.nanmax(away):.3g} rad|m, the first at t = {log.t[rows[0]]:.6g} s"
            sentence = f"{len(rows)} single positions of {name} stand apart from their neighbours, {size}: spikes of its encoder."
            yield Finding("encoder spikes", (name,), sentence, 0.98, "correction.spikes = true")
