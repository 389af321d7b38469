"""Distances of neighbours from a table: those that depend on two turning joints alone, read by interpolation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from .body_frames import moving_joints
from .capsules import Distances
from .clearance import Clearance
from .sweep import Gaps

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
POINTS = 64  # of a turn: nine in ten distances of links of 40 cm are within 1 mm
FAR = 0.06  # [m] beyond the clearance: larger distances count as that
_SHIFTS = np.arange(-1, 3)
_CUBIC = 0.5 * np.array([[0.0, 2.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [2.0, -5.0, 4.0, -1.0], [-1.0, 3.0, -3.0, 1.0]])
"""Weights of four values by the powers 1, s, s^2, s^3 of the share s of the way from the second to the third."""


@dataclass(frozen=True, eq=False)
class TabulatedClearance:
    """The distances of a `Clearance`, those of the pairs `near` (P,) from tables (P, POINTS, POINTS) [m] over two joints (P, 2).

    Close to the exact ones, and quick: for a search, not for a proof. Interpolation by cubics that are smooth across the cells:
    Keys, IEEE Trans. Acoustics, Speech, and Signal Processing 29 (1981), p. 1155.
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
        kept = self.near < len(few.pairs)
        return replace(self, every=few, near=self.near[kept], joints=self.joints[kept], values=self.values[kept]) if kept.any() else few

    def reserve(self, extra: float) -> Array:
        """What is kept beside the least distances, (k,) [m]."""
        return self.every.reserve(extra)

    def levers(self, travel: Array) -> Array:
        """How far the shapes of a pair move against each other per unit of each coordinate at most, (k, n) [m/rad|1]."""
        return self.every.levers(travel)

    def distances(self, q: Array, exact: float | Array = np.inf) -> Distances:
        """The distances at positions q (N, n) [rad|m]; normals and points of the tabulated pairs are zero."""
        shape = (len(q), len(self.every.pairs))
        made = Distances(np.empty(shape), *np.zeros((3, *shape, 3)))
        made.distance[:, self.near] = self._read(q, (0, 0))[0]
        if self._rest is not None:
            some = np.broadcast_to(exact, shape)[:, self._others]
            for all_, each in zip(made, self._rest.distances(q, some), strict=True):
                all_[:, self._others] = each
        return made

    def slopes(self, q: Array, made: Distances, near: NDArray[np.bool_]) -> Array:
        """d distance / dq (N, k, n) of the pairs marked in `near` (N, k), zero of the others."""
        slope = np.zeros((*near.shape, q.shape[1]))
        if self._rest is not None:
            part = Distances(*(x[:, self._others] for x in made))
            slope[:, self._others] = self._rest.slopes(q, part, near[:, self._others])
        for side, each in enumerate(self._read(q, (1, 0), (0, 1))):
            slope[:, self.near, self.joints[:, side]] = np.where(near[:, self.near], each, 0.0)
        return slope

    @cached_property
    def _others(self) -> Indices:
        return np.setdiff1d(np.arange(len(self.every.pairs)), self.near)

    @cached_property
    def _rest(self) -> Clearance | None:
        pairs = tuple(self.every.pairs[k] for k in self._others)
        return replace(self.every, pairs=pairs, spare=(), often=0) if pairs else None

    def _read(self, q: Array, *orders: tuple[int, int]) -> list[Array]:
        """The tabulated distances (N, P), or their derivatives, of these orders by the two joints."""
        scale = POINTS / (2 * np.pi)
        cell = np.floor(q[:, self.joints] * scale)
        s = q[:, self.joints] * scale - cell
        weights = [np.stack([np.ones_like(s), s, s * s, s * s * s], axis=-1) @ _CUBIC]
        if len(orders) > 1:
            weights.append(np.stack([np.zeros_like(s), np.ones_like(s), 2 * s, 3 * s * s], axis=-1) @ (scale * _CUBIC))
        near = (cell.astype(np.intp)[..., None] + _SHIFTS) % POINTS
        values = self.values[np.arange(len(self.near))[:, None, None], near[:, :, 0, :, None], near[:, :, 1, None, :]]
        return [(weights[i][:, :, 0, None] @ values @ weights[j][:, :, 1, :, None])[..., 0, 0] for i, j in orders]


def tabulated(every: Gaps) -> Gaps:
    """The distances with tables of all pairs of hulls that two turning joints move against each other; themselves where there are none."""
    if not isinstance(every, Clearance):
        return every
    pairs = {k: joints for k in range(len(every.pairs)) if (joints := _two_turns(every, k)) is not None}
    if not pairs:
        return every
    turn, far, values = 2 * np.pi * np.arange(POINTS) / POINTS, every.clearance + FAR, []
    for k, (i, j) in pairs.items():
        q = np.zeros((POINTS, POINTS, every.robot.n))
        q[..., i], q[..., j] = turn[:, None], turn
        one = replace(every, pairs=(every.pairs[k],), spare=(), often=0)
        values.append(np.minimum(one.distances(q.reshape(-1, every.robot.n), far).distance, far).reshape(POINTS, POINTS))
    return TabulatedClearance(every, np.array(list(pairs)), np.array(list(pairs.values())), np.array(values))


def _two_turns(every: Clearance, k: int) -> tuple[int, int] | None:
    """The coordinates of the two turning joints that move a pair; None where there are more, or fewer, or others, or capsules alone."""
    a, b = (every.shapes[i].body for i in every.pairs[k])
    if all(every.shapes[i].capsule for i in every.pairs[k]):
        return None
    bodies = [every.robot.tree.bodies[i] for i, _ in moving_joints(every.robot.tree, a, b)]
    plain = all(body.kind == "revolute" and abs(body.multiplier) == 1 for body in bodies)
    return (bodies[0].coordinate, bodies[1].coordinate) if plain and len({body.coordinate for body in bodies}) == len(bodies) == 2 else None
