"""Presliding states along a motion: friction with memory of the last reversals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Travel:
    """The positions of one joint, divided into segments of one direction.

    `first` (S,) is the index at which each segment begins and `sides` (S,) its direction;
    `travelled` (N,) [rad|m] is the distance since the first position. Between two reversals the
    presliding state depends on the distance travelled alone, so that only reversals are visited one
    by one.
    """

    first: NDArray[np.intp]
    sides: Array
    travelled: Array

    @classmethod
    def of(cls, q: Array) -> Travel:
        """Return the segments of consecutive positions q (N,) [rad|m]."""
        steps = np.diff(q)
        moving = np.flatnonzero(steps)
        directions = np.sign(steps[moving])
        turns = np.flatnonzero(np.diff(directions)) + 1
        begins = np.concatenate([[0], turns]).astype(np.intp) if len(moving) else moving
        return cls(
            first=np.where(begins == 0, 0, moving[begins]) if len(moving) else moving,
            sides=directions[begins],
            travelled=np.concatenate([[0.0], np.cumsum(np.abs(steps))]),
        )

    def states(self, distance: float, start: float) -> Array:
        """Return the presliding states (N,) for a distance [rad|m] and the state at the start."""
        if not len(self.first):
            return np.full(len(self.travelled), start)
        decays = np.exp(-np.diff(self.travelled[self.first]) / distance).tolist()
        state = [start]
        for side, decay in zip(self.sides[:-1].tolist(), decays, strict=True):
            state.append(side - (side - state[-1]) * decay)
        lengths = np.diff(np.append(self.first, len(self.travelled)))
        every = (self.sides, np.array(state), self.travelled[self.first])
        side_of, state_of, origin = (np.repeat(x, lengths) for x in every)
        decay_of = np.exp((origin - self.travelled) / distance)
        return np.asarray(side_of - (side_of - state_of) * decay_of)

    def states_at(self, distances: Array, start: Array, index: NDArray[np.intp]) -> Array:
        """Return the presliding states (M, D) at some positions, for D distances [rad|m].

        `start` (D,) are the states at the first position, `index` (M,) the positions.
        """
        if not len(self.first):
            return np.broadcast_to(start, (len(index), len(distances)))
        decays = np.exp(-np.diff(self.travelled[self.first])[:, None] / distances)
        state = np.empty((len(self.first), len(distances)))
        state[0] = start
        for k, side in enumerate(self.sides[:-1].tolist()):
            state[k + 1] = side - (side - state[k]) * decays[k]
        segment = np.searchsorted(self.first, index, side="right") - 1
        side_of = self.sides[segment][:, None]
        gone = (self.travelled[index] - self.travelled[self.first[segment]])[:, None]
        return np.asarray(side_of - (side_of - state[segment]) * np.exp(-gone / distances))


def presliding_along(distances: Sequence[float | None], q: Array, start: Array) -> Array:
    """Return the presliding states z (N, n) of consecutive positions q (N, n) [rad|m].

    z -> s - (s - z) exp(-|dq| / d) with s = sign(dq) from one position to the next; 0 for a joint
    without memory.

    Parameters
    ----------
    distances : presliding distance d of each joint [rad|m], None without memory
    q : (N, n) positions [rad|m] in order of time
    start : (n,) states at the first position
    """
    z = np.zeros(q.shape)
    for j, distance in enumerate(distances):
        if distance is not None and len(q):
            z[:, j] = Travel.of(q[:, j]).states(float(distance), float(start[j]))
    return z


def settled_state(distances: Sequence[float | None], qd: Array, seconds: float) -> Array:
    """Return the presliding states (n,) of joints that came at constant velocity qd (n,).

    The velocity lasted for some `seconds`, from z = 0: a joint that moves slides, a joint at rest
    has no presliding torque.
    """
    return np.array(
        [
            0.0 if d is None else math.copysign(-math.expm1(-abs(v) * seconds / float(d)), v)
            for d, v in zip(distances, qd.tolist(), strict=True)
        ]
    )
