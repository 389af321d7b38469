"""Tables of the distances of pairs that two revolute joints move, read by interpolation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from .body_frames import moving_joints
from .capsules import Distances
from .clearance import Clearance
from .clearance_thresholds import THRESHOLDS
from .sweep import Gaps

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
_SHIFTS = np.arange(-1, 3)
_CUBIC = 0.5 * np.array(
    [[0.0, 2.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [2.0, -5.0, 4.0, -1.0], [-1.0, 3.0, -3.0, 1.0]]
)
"""Weights of four neighbouring values by the powers 1, s, s^2, s^3 of the cell fraction s."""


@dataclass(frozen=True, eq=False)
class TabulatedClearance:
    """A `Clearance` whose pairs `near` (P,) are read from tables over two joints.

    Tables are (P, `table_points`, `table_points`) [m], joints (P, 2).

    Close to the exact ones, and quick: for a search, not for a proof. Interpolation by cubics that
    are smooth across the cells: Keys, IEEE Trans. Acoustics, Speech, and Signal Processing 29
    (1981), p. 1155.
    """

    every: Clearance
    near: Indices
    joints: Indices
    values: Array

    @property
    def labels(self) -> tuple[str, ...]:
        """The links of every pair."""
        return self.every.labels

    @property
    def least(self) -> Array:
        """The least distances (k,) [m]."""
        return self.every.least

    @property
    def frequent(self) -> TabulatedClearance | Clearance:
        """The pairs that come near in some random positions; all if none does."""
        few = self.every.frequent
        mask = self.near < len(few.pairs)
        return (
            replace(
                self,
                every=few,
                near=self.near[mask],
                joints=self.joints[mask],
                values=self.values[mask],
            )
            if mask.any()
            else few
        )

    def reserve(self, extra: float) -> Array:
        """Return the reserve beside the least distances, (k,) [m]."""
        return self.every.reserve(extra)

    def levers(self, travel: Array) -> Array:
        """Bound the relative motion of each pair per unit of each coordinate, (k, n) [m/rad|1]."""
        return self.every.levers(travel)

    def distances(self, q: Array, exact: float | Array = np.inf) -> Distances:
        """Compute the distances at positions q (N, n) [rad|m].

        Normals and points of the tabulated pairs are zero.
        """
        shape = (len(q), len(self.every.pairs))
        distances = Distances(np.empty(shape), *np.zeros((3, *shape, 3)))
        distances.distance[:, self.near] = self._read(q, (0, 0))[0]
        if self._rest is not None:
            some = np.broadcast_to(exact, shape)[:, self._others]
            for all_, each in zip(distances, self._rest.distances(q, some), strict=True):
                all_[:, self._others] = each
        return distances

    def derivatives(self, q: Array, distances: Distances, near: NDArray[np.bool_]) -> Array:
        """Compute d distance / dq (N, k, n) of the pairs marked in `near` (N, k), else 0."""
        gradient = np.zeros((*near.shape, q.shape[1]))
        if self._rest is not None:
            part = Distances(*(x[:, self._others] for x in distances))
            gradient[:, self._others] = self._rest.derivatives(q, part, near[:, self._others])
        for side, each in enumerate(self._read(q, (1, 0), (0, 1))):
            gradient[:, self.near, self.joints[:, side]] = np.where(near[:, self.near], each, 0.0)
        return gradient

    @cached_property
    def _others(self) -> Indices:
        return np.setdiff1d(np.arange(len(self.every.pairs)), self.near)

    @cached_property
    def _rest(self) -> Clearance | None:
        pairs = tuple(self.every.pairs[k] for k in self._others)
        return replace(self.every, pairs=pairs, spare=(), often=0) if pairs else None

    def _read(self, q: Array, *orders: tuple[int, int]) -> list[Array]:
        """Interpolate the tables: distances (N, P), or derivatives of these orders by joint."""
        scale = THRESHOLDS.table_points / (2 * np.pi)
        cell = np.floor(q[:, self.joints] * scale)
        s = q[:, self.joints] * scale - cell
        weights = [np.stack([np.ones_like(s), s, s * s, s * s * s], axis=-1) @ _CUBIC]
        if len(orders) > 1:
            weights.append(
                np.stack([np.zeros_like(s), np.ones_like(s), 2 * s, 3 * s * s], axis=-1)
                @ (scale * _CUBIC)
            )
        near = (cell.astype(np.intp)[..., None] + _SHIFTS) % THRESHOLDS.table_points
        values = self.values[
            np.arange(len(self.near))[:, None, None], near[:, :, 0, :, None], near[:, :, 1, None, :]
        ]
        return [
            (weights[i][:, :, 0, None] @ values @ weights[j][:, :, 1, :, None])[..., 0, 0]
            for i, j in orders
        ]


def with_distance_tables(every: Gaps) -> Gaps:
    """Tabulate all pairs of hulls that exactly two revolute joints move; unchanged without any."""
    if not isinstance(every, Clearance):
        return every
    pairs = {
        k: joints for k in range(len(every.pairs)) if (joints := _two_turns(every, k)) is not None
    }
    if not pairs:
        return every
    turn, far, values = (
        2 * np.pi * np.arange(THRESHOLDS.table_points) / THRESHOLDS.table_points,
        every.clearance + THRESHOLDS.table_distance,
        [],
    )
    for k, (i, j) in pairs.items():
        q = np.zeros((THRESHOLDS.table_points, THRESHOLDS.table_points, every.robot.n))
        q[..., i], q[..., j] = turn[:, None], turn
        one = replace(every, pairs=(every.pairs[k],), spare=(), often=0)
        values.append(
            np.minimum(one.distances(q.reshape(-1, every.robot.n), far).distance, far).reshape(
                THRESHOLDS.table_points, THRESHOLDS.table_points
            )
        )
    return TabulatedClearance(
        every, np.array(list(pairs)), np.array(list(pairs.values())), np.array(values)
    )


def _two_turns(every: Clearance, k: int) -> tuple[int, int] | None:
    """Return the coordinates of the two revolute joints that move a pair; None for other pairs."""
    a, b = (every.shapes[i].body for i in every.pairs[k])
    if all(every.shapes[i].capsule for i in every.pairs[k]):
        return None
    bodies = [every.robot.tree.bodies[i] for i, _ in moving_joints(every.robot.tree, a, b)]
    plain = all(body.kind == "revolute" and abs(body.multiplier) == 1 for body in bodies)
    return (
        (bodies[0].coordinate, bodies[1].coordinate)
        if plain and len({body.coordinate for body in bodies}) == len(bodies) == 2
        else None
    )
