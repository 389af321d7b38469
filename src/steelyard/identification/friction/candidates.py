"""Candidates: friction terms that a joint may have, each with the columns that it would add to the torque of that joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import HARMONICS, Terms, direction, fading
from ..model.linear_model import Model
from ..samples.samples import Samples

Array = NDArray[np.float64]
VELOCITIES = tuple(np.geomspace(0.015, 0.75, 8).tolist())  # [rad/s|m/s] at which stiction may fade
DRIFTS = ("offset", "Coulomb friction", "viscous friction")


@dataclass(frozen=True)
class Candidate:
    """A friction term of one joint: its word, the keys of the table of joint terms that it stands for, and its columns of `Columns`.

    `unknowns` counts columns and shapes; `positive` says whether a real joint has no negative value. A drift has no keys: no robot has it.
    `fades` [rad/s|m/s] is the speed at which stiction fades: it is not less than the width of the Coulomb step. `without` is the base
    column that it takes the place of.
    """

    joint: int
    word: str
    keys: tuple[str, ...]
    columns: tuple[int, ...]
    unknowns: int
    positive: bool = False
    fades: float = np.inf
    without: int | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of every candidate at the samples of a log, (N, n, K + 1): the torque of joint j per unit of its own candidate k; qd last.

    `base` (b,) is a first estimate, whose gravity torque is the load; `gears` (n,) are gear ratios, 0 where unknown. `clocks` have the
    middle and half the length [s] of each log, and `warmth` the mean temperature [degC] of each joint (n,), if all logs have it.
    """

    model: Model
    base: Array
    gears: Array
    clocks: tuple[tuple[float, float], ...]
    warmth: Array | None
    drifting: bool = True

    @classmethod
    def of(cls, model: Model, base: Array, gears: Array, samples: Sequence[Samples], drifting: bool = True) -> Columns:
        """Return the columns for these logs; without `drifting` what drifts along them is no candidate."""
        ends = [(float(s.t[0]), float(s.t[-1])) for s in samples]
        half = 0.5 * max(b - a for a, b in ends)
        known = [s.temperature for s in samples if s.temperature is not None]
        warmth = np.concatenate(known).mean(axis=0) if len(known) == len(samples) else None
        return cls(model, base, gears, tuple((0.5 * (a + b), half) for a, b in ends), warmth, drifting)

    def __call__(self, samples: Samples, log: int) -> Array:
        way = self.direction(samples)
        backward = np.abs(way)  # half the difference of forward and backward Coulomb friction
        columns = [backward, *self.stiction(samples, way), self.load(samples, way), *self.ripple(samples), *self.drift(samples, log, way)]
        return np.stack([*columns, samples.qd], axis=2)

    def direction(self, samples: Samples) -> Array:
        """The direction of motion, (N, n), with the width of each joint's Coulomb step."""
        each = zip(self.model.robot.tree.terms, samples.qd.T, strict=True)
        return np.stack([np.asarray(direction(terms, rate)) for terms, rate in each], axis=1)

    def stiction(self, samples: Samples, way: Array) -> list[Array]:
        """The excess of stiction over Coulomb friction in a direction (N, n), for each of the velocities at which it may fade."""
        return [way * np.asarray(fading(Terms.of({"stribeck": v}), samples.qd)) for v in VELOCITIES]

    def load(self, samples: Samples, way: Array) -> Array:
        """Coulomb friction in a direction (N, n) per gravity torque."""
        return way * np.abs(self.model.gravity_torque(self.base, samples.q))

    def ripple(self, samples: Samples) -> list[Array]:
        """Sine and cosine of the harmonics of the motor angle."""
        angle = self.gears * samples.q
        return [wave(h * angle) for h in HARMONICS for wave in (np.sin, np.cos)]

    def drift(self, samples: Samples, log: int, way: Array) -> list[Array]:
        """Offset, Coulomb friction in a direction (N, n) and viscous friction that change with temperature or along a log."""
        clock = self.clock(samples, log)
        return [clock, clock * way, clock * samples.qd]

    def clock(self, samples: Samples, log: int) -> Array:
        """The temperature above its mean [degC], or the time from the middle of the log over half the length of the longest, (N, n)."""
        if self.warmth is not None and samples.temperature is not None:
            return samples.temperature - self.warmth
        middle, half = self.clocks[log]
        return np.broadcast_to(((samples.t - middle) / half)[:, None], samples.q.shape)

    def candidates(self) -> tuple[Candidate, ...]:
        """Return the candidates of all joints whose friction is free, and that do not have the term already."""
        free = {self.model.names[i] for i in self.model.free}
        made = []
        for j, (name, terms) in enumerate(zip(self.model.robot.joint_names, self.model.robot.tree.terms, strict=True)):
            own = of_joint(j, bool(self.gears[j]), self.offset(name, terms), not self.model.moving) if f"{name}.Fc" in free else []
            own = own if self.drifting else [c for c in own if c.keys]
            made += [c for c in own if not set(c.keys) & set(terms) and c.fades >= (terms.get("width") or 0.0)]
        return tuple(made)

    def offset(self, joint: str, terms: Terms) -> int | None:
        """Return the base column of a joint's offset, if backward friction can be told from it: if Coulomb friction rises over a width."""
        column = self.model.names.index(f"{joint}.F0") if f"{joint}.F0" in self.model.names else -1
        return self.model.base.columns.index(column) if "width" in terms and column in self.model.base.columns else None


def of_joint(joint: int, geared: bool, offset: int | None, carries: bool = True) -> list[Candidate]:
    """Return all candidates of a joint: torque ripple where the gear ratio is known, backward friction in the place of an offset.

    Friction that grows with the load is one if the joint `carries` its weight, on a base at rest.
    """
    made = [] if offset is None else [Candidate(joint, "negative", ("negative",), (0,), 1, without=offset)]
    made += [Candidate(joint, "stribeck", ("stiction",), (1 + k,), 2, positive=True, fades=v) for k, v in enumerate(VELOCITIES)]
    at = 1 + len(VELOCITIES)
    made += [Candidate(joint, "load", ("load",), (at,), 1, positive=True)] if carries else []
    for k, h in enumerate(HARMONICS):
        waves = Candidate(joint, "ripple", (f"sine{h}", f"cosine{h}"), (at + 1 + 2 * k, at + 2 + 2 * k), 2)
        made += [waves] if geared else []
    at += 1 + 2 * len(HARMONICS)
    return made + [Candidate(joint, f"drift of the {what}", (), (at + k,), 1) for k, what in enumerate(DRIFTS)]
