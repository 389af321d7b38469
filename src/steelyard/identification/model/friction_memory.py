"""Friction with memory along logs: presliding states of consecutive samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import Terms, fading
from ...robot import Robot
from ...robot.presliding import Travel, presliding_along, settled_state
from ...signals.segments import split
from .model_thresholds import THRESHOLDS

Array = NDArray[np.float64]


def presliding_states(
    distances: Sequence[float | None], t: Array, q: Array, qd: Array
) -> Array | None:
    """Return the presliding states z (N, n) of consecutive samples; None without any memory.

    Each stretch without gaps starts again: what happened before its first sample is not known. A
    joint is taken to have come at the velocity of that sample for `presliding_start` seconds.

    Parameters
    ----------
    distances : presliding distance of each joint [rad|m], None without memory
    t, q, qd : times (N,) [s], positions and velocities (N, n) in order of time
    """
    if all(distance is None for distance in distances):
        return None
    return np.concatenate(
        [
            presliding_along(
                distances,
                q[part],
                settled_state(distances, qd[part.start], THRESHOLDS.presliding_start),
            )
            for part in split(t)
        ]
    )


def states_by_distance(
    distances: Array, t: Array, q: Array, qd: Array, index: NDArray[np.intp]
) -> Array:
    """Return the presliding states (M, D) of one joint at some samples, for D distances [rad|m].

    Parameters
    ----------
    distances : (D,) presliding distances [rad|m]
    t, q, qd : times [s], positions and velocities of the joint, each (N,)
    index : (M,) samples, rising
    """
    parts = []
    for part in split(t):
        there = index[(index >= part.start) & (index < part.stop)] - part.start
        speeds = np.full(len(distances), qd[part.start])
        start = settled_state(distances.tolist(), speeds, THRESHOLDS.presliding_start)
        parts.append(Travel.of(q[part]).states_at(distances, start, there))
    return np.concatenate(parts)


class PreslidingTracker:
    """Presliding states of samples that come one by one or in blocks, in order of time.

    Parameters
    ----------
    robot : whose friction may have memory
    """

    def __init__(self, robot: Robot) -> None:
        self._distances = robot.tree.memory_distances
        self._last: tuple[Array, Array] | None = None

    def run(self, q: Array, qd: Array) -> Array | None:
        """Return the states (N, n) of the next samples (N, n); None without memory.

        The first sample starts as a log does, see `presliding_states`.
        """
        if all(distance is None for distance in self._distances):
            return None
        if self._last is None:
            start = settled_state(self._distances, qd[0], THRESHOLDS.presliding_start)
            z = presliding_along(self._distances, q, start)
        else:
            before, start = self._last
            z = presliding_along(self._distances, np.vstack([before, q]), start)[1:]
        self._last = q[-1].copy(), z[-1].copy()
        return z


def distance_derivative(robot: Robot, t: Array, q: Array, qd: Array) -> Array:
    """Return the derivative of friction with memory by each joint's distance, (N, n).

    [N m/rad|N/m], along consecutive samples, by central differences; 0 without memory.
    """
    distances, step = robot.tree.memory_distances, THRESHOLDS.distance_step
    derivative = np.zeros(q.shape)
    for j, (distance, terms) in enumerate(zip(distances, robot.tree.terms, strict=True)):
        if distance is not None:
            z = state_derivative(distance, t, q[:, j], qd[:, j], step)
            derivative[:, j] = memory_level(terms, qd[:, j]) * z
    return derivative


def memory_level(terms: Terms, qd: Array) -> Array:
    """Return the friction with memory of a joint at full presliding, (N,) [N m|N].

    Fp + Fs exp(-(qd / vs)^2), qd (N,).
    """
    return np.asarray(terms.get("presliding", 0.0) + terms.get("stiction", 0.0) * fading(terms, qd))


def state_derivative(distance: float, t: Array, q: Array, qd: Array, step: float) -> Array:
    """Return the derivative (N,) of one joint's presliding state by its distance [1/rad|1/m].

    Central differences of `step` of the distance; t, q, qd: (N,).
    """
    tried = distance * np.array([1.0 + step, 1.0 - step])
    up, down = states_by_distance(tried, t, q, qd, np.arange(len(t))).T
    return np.asarray((up - down) / (2.0 * step * distance))


def memory_torque(robot: Robot, t: Array, q: Array, qd: Array) -> Array | None:
    """Return what memory adds to the sliding friction along samples, (N, n) [N m|N].

    None for a robot without memory. (Fp + Fs exp(-(qd / vs)^2)) (z - sign(qd)).
    """
    z = presliding_states(robot.tree.memory_distances, t, q, qd)
    return None if z is None else robot.without_known_function().presliding_torque(qd, z)
