"""Channels: dead or saturated torques, encoder spikes, and the samples of a finding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...signals.clean.faults import is_flat
from ...signals.clean.spikes import find_spikes
from ...signals.log import Log
from .doctor_thresholds import THRESHOLDS
from .finding import Finding

Array = NDArray[np.float64]


def is_dead(tau: Array) -> bool:
    """Return whether a torque never changes, or is exactly zero most of the time."""
    return is_flat(tau) or bool(np.mean(tau == 0) > THRESHOLDS.dead_share)


def dead_channels(log: Log) -> Iterator[Finding]:
    """Yield findings on torques that never change, or that are zero most of the time."""
    assert log.tau is not None
    for j, name in enumerate(log.labels):
        tau = log.tau[:, j]
        if log.N > 1 and is_flat(tau):
            value = tau[np.isfinite(tau)][0]
            sentence = f"The torque of {name} is {value:.4g} in every sample: the channel is dead."
            yield Finding("dead channel", (name,), sentence, 0.99, fix_of_dead(name))
        elif is_dead(tau):
            share = f"{np.mean(tau == 0):.0%} of the samples"
            sentence = (
                f"The torque of {name} is exactly zero in {share}: the channel is dead or below its"
                " resolution."
            )
            yield Finding("dead channel", (name,), sentence, 0.95, fix_of_dead(name))


def fix_of_dead(joint: str) -> str:
    """Return what to do about a dead torque channel."""
    return (
        f"robot.freeze({{{joint!r}: q}}) if the joint does not move, or a log with its torque; no"
        " mapping can restore it"
    )


def saturated_torques(log: Log) -> Iterator[Finding]:
    """Torques that stay at their largest value."""
    assert log.tau is not None
    fix = "a slower motion, or a wider range of the torque signal; no mapping can restore it"
    for name, tau in zip(log.labels, log.tau.T, strict=True):
        bound = is_saturated(tau)
        if bound.any():
            top, share = float(np.nanmax(np.abs(tau))), float(np.mean(bound))
            sentence = (
                f"The torque of {name} is at its largest value, {top:.4g} N m|N, in {share:.1%} of"
                " the samples: it is saturated."
            )
            yield Finding("saturation", (name,), sentence, 0.98, fix)


def is_saturated(tau: Array) -> NDArray[np.bool_]:
    """Return the samples (N,) of a torque that are cut off at its largest value.

    None unless they are too many for a coincidence.

    At the bound are many times as many samples as at each of the next smaller values: quantisation
    alone crowds all values alike.
    """
    size = np.abs(np.nan_to_num(tau))
    top = float(np.max(size, initial=0.0))
    bound = size >= top * (1 - 1e-9)
    if top == 0 or is_flat(tau) or float(np.mean(bound)) <= THRESHOLDS.saturated_share:
        return np.zeros(len(tau), bool)
    _, counts = np.unique(size[~bound], return_counts=True)
    return bound & bool(
        np.sum(bound)
        > THRESHOLDS.saturated_crowding * np.mean(counts[-THRESHOLDS.saturated_neighbours :])
    )


def spikes(log: Log) -> Iterator[Finding]:
    """Single positions that are off."""
    is_spike = find_spikes(log.q)
    for j, name in enumerate(log.labels):
        rows = np.flatnonzero(is_spike[:, j])
        if len(rows) >= THRESHOLDS.least_spikes:
            away = np.abs(log.q[rows, j] - 0.5 * (log.q[rows - 1, j] + log.q[rows + 1, j]))
            size = f"by up to {np.nanmax(away):.3g} rad|m, the first at t = {log.t[rows[0]]:.6g} s"
            sentence = (
                f"{len(rows)} single positions of {name} differ from their neighbours {size}:"
                " encoder spikes."
            )
            yield Finding("encoder spikes", (name,), sentence, 0.98, "correction.spikes = true")


def marked_samples(log: Log, finding: Finding) -> NDArray[np.bool_]:
    """Return the samples (N,) of a log that a finding is about; all unless it concerns instants.

    These are saturated samples, encoder spikes, both ends of a gap in the time stamps, and repeated
    stamps.
    """
    joints = [j for j, name in enumerate(log.labels) if name in finding.joints]
    if finding.fault == "saturation" and log.tau is not None:
        return np.any([is_saturated(log.tau[:, j]) for j in joints], axis=0)
    if finding.fault == "encoder spikes":
        return np.any(find_spikes(log.q)[:, joints], axis=1)
    step = np.diff(log.t)
    if finding.fault == "dropped samples":
        wide = np.round(step / np.median(step[step > 0])) > 1  # whole steps are missing in between
        return np.r_[wide, False] | np.r_[False, wide]
    if finding.fault == "duplicated stamps":
        return np.r_[False, step == 0]
    return np.ones(log.N, dtype=bool)
