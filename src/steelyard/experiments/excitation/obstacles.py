"""Walls and links to stay clear of, as constraints of the optimiser."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import local

import numpy as np
from numpy.typing import NDArray

from ...motion.collision.capsules import Distances
from ...motion.collision.sweep import Gaps
from .excitation_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeepClear:
    """Slack u (2 - u) of a distance d with u = (d - least) / `obstacle_range`, and 1 where u > 1.

    Positive as long as the distance is kept.

    `extra` [m] is kept beside, so that nothing is passed between samples; only each `every`-th
    sample is looked at.
    """

    gaps: Gaps
    extra: float = 0.0
    every: int = 1
    _last: local = field(default_factory=local)

    @property
    def labels(self) -> tuple[str, ...]:
        """Each distance in words."""
        return self.gaps.labels

    def slack(self, states: Array) -> Array:
        """Compute the slacks (N, k) of states (4, N, n)."""
        u = self._share(states)
        return np.where(u < 1.0, u * (2.0 - u), 1.0)

    def jacobian(self, states: Array) -> tuple[Array, ...]:
        """Compute d slack / dq, (N, k, n)."""
        u = self._share(states)
        near = u < 1.0
        gradient = np.zeros((*u.shape, states.shape[2]))
        gradient[:: self.every] = self.gaps.derivatives(
            states[0, :: self.every], self._distances(states), near[:: self.every]
        )
        return (
            gradient
            * (np.where(near, 2.0 * (1.0 - u), 0.0) / THRESHOLDS.obstacle_range)[:, :, None],
        )

    def _share(self, states: Array) -> Array:
        u = np.ones((states.shape[1], len(self.gaps.labels)))
        u[:: self.every] = (
            self._distances(states).distance - self._least
        ) / THRESHOLDS.obstacle_range
        return u

    @property
    def _least(self) -> Array:
        return self.gaps.least + self.gaps.reserve(self.extra)

    def _distances(self, states: Array) -> Distances:
        """Return the distances, cached for the slack and Jacobian of the same states."""
        if getattr(self._last, "states", None) is not states:
            self._last.distances = self.gaps.distances(
                states[0, :: self.every], self._least + THRESHOLDS.obstacle_range
            )
            self._last.states = states
        return self._last.distances
