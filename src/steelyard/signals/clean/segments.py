"""Stretches of a log between gaps in time: nothing that filters may reach across one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GAP = 10.0
"""A step longer than this many median steps is a gap. Shorter ones are dropped samples, which can be filled in."""


def split(t: Array, gap: float = GAP) -> tuple[slice, ...]:
    """Slices of t [s] between steps that are longer than `gap` median steps, or that go backwards."""
    if len(t) < 3:
        return (slice(0, len(t)),)
    step = np.diff(t)
    cuts = np.flatnonzero((step > gap * np.median(step)) | (step < 0)) + 1
    edges = [0, *cuts.tolist(), len(t)]
    return tuple(slice(a, b) for a, b in pairwise(edges))


def is_uniform(t: Array, tolerance: float = 1e-3) -> bool:
    """Whether no time stamp is off the regular grid by more than `tolerance` of a step."""
    if len(t) < 3:
        return True
    grid = np.linspace(t[0], t[-1], len(t))
    return bool(np.max(np.abs(t - grid)) <= tolerance * (t[-1] - t[0]) / (len(t) - 1))


def per_segment(filtered: Callable[[Array, Array], Array], t: Array, x: Array) -> Array:
    """filtered(t, x) of each segment on its own, put together again."""
    return np.concatenate([filtered(t[part], x[part]) for part in split(t)])
