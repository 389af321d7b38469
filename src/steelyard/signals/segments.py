"""Segments of a log: the stretches between gaps in time. No filter reaches across a gap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .signal_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def split(t: Array, gap: float = THRESHOLDS.gap_ratio) -> tuple[slice, ...]:
    """Return slices of t [s] between steps that are longer than `gap` median steps or negative."""
    if len(t) < 3:
        return (slice(0, len(t)),)
    step = np.diff(t)
    cuts = np.flatnonzero((step > gap * np.median(step)) | (step < 0)) + 1
    edges = [0, *cuts.tolist(), len(t)]
    return tuple(slice(a, b) for a, b in pairwise(edges))


def windows(stretch: slice, most: int, count: int) -> list[slice]:
    """Return a segment, or `count` evenly spaced windows of about `most` samples in all."""
    if stretch.stop - stretch.start <= most:
        return [stretch]
    starts = np.linspace(stretch.start, stretch.stop - most // count, count).astype(int).tolist()
    return [slice(start, start + most // count) for start in starts]


def is_uniform(t: Array, tolerance: float = 1e-3) -> bool:
    """Return whether every time stamp is within `tolerance` steps of a regular grid."""
    if len(t) < 3:
        return True
    grid = np.linspace(t[0], t[-1], len(t))
    return bool(np.max(np.abs(t - grid)) <= tolerance * (t[-1] - t[0]) / (len(t) - 1))


def has_uniform_segments(t: Array) -> bool:
    """Return whether each segment of t is uniform."""
    return all(is_uniform(t[part]) for part in split(t))


def per_segment(function: Callable[[Array, Array], Array], t: Array, x: Array) -> Array:
    """Apply function(t, x) to each segment and concatenate the results."""
    return np.concatenate([function(t[part], x[part]) for part in split(t)])
