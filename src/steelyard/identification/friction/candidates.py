"""Candidates: friction terms that a joint may have, with their columns of the regressor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import BY_KEY, HARMONICS, Terms, direction, fading
from ..model.joint_terms import LOSSES
from ..model.linear_model import Model
from ..samples.samples import Samples
from .friction_thresholds import THRESHOLDS

Array = NDArray[np.float64]
DRIFTS = ("offset", "Coulomb friction", "viscous friction")


@dataclass(frozen=True)
class FrictionCandidate:
    """A friction term that one joint may have.

    `keys` are its keys in the table of joint terms, `columns` its columns of `Columns`. `unknowns`
    counts columns and shapes, less replaced ones; `positive` is True if no real joint has a
    negative value. A drift has no keys. `fades` [rad/s|m/s] is the speed at which stiction fades,
    not less than the width of the Coulomb step. `without` are the base columns that the candidate
    replaces, of the terms `replaces`.
    """

    joint: int
    word: str
    keys: tuple[str, ...]
    columns: tuple[int, ...]
    unknowns: int
    positive: bool = False
    fades: float = np.inf
    without: tuple[int, ...] = ()
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of every candidate at the samples of a log, (N, n, K + 1), qd last.

    Column k of joint j is its torque per unit of candidate k. `base` (b,) is a first estimate,
    whose gravity torque is the load. `gears` (n,) are gear ratios, 0 where unknown. `clocks` have
    the middle and half the length [s] of each log. `warmth` is the mean temperature [degC] of each
    joint (n,), if all logs have it. `memory` has the presliding states (N, n) of each log, None
    without friction with memory, at the `times` (N,).
    """

    model: Model
    base: Array
    gears: Array
    clocks: tuple[tuple[float, float], ...]
    warmth: Array | None
    times: tuple[Array, ...]
    memory: tuple[Array | None, ...]
    drifting: bool = True

    @classmethod
    def of(
        cls,
        model: Model,
        base: Array,
        gears: Array,
        samples: Sequence[Samples],
        drifting: bool = True,
    ) -> Columns:
        """Return the columns for these logs.

        Without `drifting`, terms that drift along the logs are not candidates.
        """
        ends = [(float(s.t[0]), float(s.t[-1])) for s in samples]
        half = 0.5 * max(b - a for a, b in ends)
        known = [s.temperature for s in samples if s.temperature is not None]
        warmth = np.concatenate(known).mean(axis=0) if len(known) == len(samples) else None
        return cls(
            model=model,
            base=base,
            gears=gears,
            clocks=tuple((0.5 * (a + b), half) for a, b in ends),
            warmth=warmth,
            times=tuple(s.t for s in samples),
            memory=tuple(model.memory(s) for s in samples),
            drifting=drifting,
        )

    def __call__(self, samples: Samples, log: int) -> Array:
        direction = self.direction(samples)
        backward = np.abs(direction)  # half the difference of forward and backward Coulomb friction
        columns = [
            backward,
            *self.stiction(samples, self.direction_with_memory(samples, log, direction)),
            *self.load(samples, direction),
            *self.ripple(samples),
            *self.drift(samples, log, direction),
        ]
        return np.stack([*columns, samples.qd], axis=2)

    @property
    def count(self) -> int:
        """How many columns the candidates of a joint have."""
        return 4 + len(THRESHOLDS.stribeck_velocities) + 2 * len(HARMONICS) + len(DRIFTS)

    def direction(self, samples: Samples) -> Array:
        """Return the direction of motion, (N, n), with the width of each joint's Coulomb step."""
        each = zip(self.model.robot.tree.terms, samples.qd.T, strict=True)
        return np.stack([np.asarray(direction(terms, rate)) for terms, rate in each], axis=1)

    def direction_with_memory(self, samples: Samples, log: int, direction: Array) -> Array:
        """The presliding state of joints with memory, the direction of motion of others, (N, n)."""
        states = self.memory[log]
        if states is None:
            return direction
        rows = np.searchsorted(self.times[log], samples.t)
        distances = self.model.robot.tree.memory_distances
        remembers = [distance is not None for distance in distances]
        return np.where(remembers, states[rows], direction)

    def stiction(self, samples: Samples, direction: Array) -> list[Array]:
        """Stiction above Coulomb friction, (N, n), for each velocity at which it may fade."""
        return [
            direction * np.asarray(fading(Terms.of({"stribeck": v}), samples.qd))
            for v in THRESHOLDS.stribeck_velocities
        ]

    def load(self, samples: Samples, direction: Array) -> list[Array]:
        """Return Coulomb friction in a direction (N, n) per gravity torque, and its two parts.

        The parts are of loads that the motor drives, and of loads that drive the motor.
        """
        load = self.model.gravity_torque(self.base, samples.q)
        both, towards = direction * np.abs(load), np.abs(direction) * load
        return [both, 0.5 * (both + towards), 0.5 * (both - towards)]

    def ripple(self, samples: Samples) -> list[Array]:
        """Return sine and cosine of the harmonics of the motor angle."""
        angle = self.gears * samples.q
        return [wave(h * angle) for h in HARMONICS for wave in (np.sin, np.cos)]

    def drift(self, samples: Samples, log: int, direction: Array) -> list[Array]:
        """Return offset, Coulomb and viscous friction that change with temperature or time."""
        clock = self.clock(samples, log)
        return [clock, clock * direction, clock * samples.qd]

    def clock(self, samples: Samples, log: int) -> Array:
        """Temperature above its mean [degC], or time from the middle of the log, (N, n).

        Times are divided by half the length of the longest log.
        """
        if self.warmth is not None and samples.temperature is not None:
            return samples.temperature - self.warmth
        middle, half = self.clocks[log]
        return np.broadcast_to(((samples.t - middle) / half)[:, None], samples.q.shape)

    def candidates(self) -> tuple[FrictionCandidate, ...]:
        """Return the candidates of all joints with free friction that lack the term."""
        free = {self.model.names[i] for i in self.model.free}
        candidates = []
        for j, (name, terms) in enumerate(
            zip(self.model.robot.joint_names, self.model.robot.tree.terms, strict=True)
        ):
            of_this = (
                joint_candidates(
                    j,
                    bool(self.gears[j]),
                    self.offset(name, terms),
                    not self.model.moving,
                    self.base_column(f"{name}.Fl"),
                )
                if f"{name}.Fc" in free
                else []
            )
            of_this = of_this if self.drifting else [c for c in of_this if c.keys]
            candidates += [
                c
                for c in of_this
                if not set(c.keys) & present(terms) and c.fades >= (terms.get("width") or 0.0)
            ]
        return tuple(candidates)

    def offset(self, joint: str, terms: Terms) -> int | None:
        """Return the base column of a joint's offset, None if backward friction is collinear.

        They differ where Coulomb friction has a smooth step of some width.
        """
        return self.base_column(f"{joint}.F0") if "width" in terms else None

    def base_column(self, name: str) -> int | None:
        """Return the base column of a parameter; None if it is not a base parameter."""
        column = self.model.names.index(name) if name in self.model.names else -1
        columns = self.model.base.columns
        return columns.index(column) if column in columns else None

    def equal_losses(self) -> tuple[FrictionCandidate, ...]:
        """Return friction of the load in place of gear losses, for every joint that has them."""
        names, candidates = self.model.robot.joint_names, []
        for j, name in enumerate(names):
            columns = [self.base_column(f"{name}.{BY_KEY[key].symbol}") for key in LOSSES]
            without = tuple(column for column in columns if column is not None)
            if len(without) == len(LOSSES):
                candidates.append(load_candidate(j, without, LOSSES))
        return tuple(candidates)


def load_candidate(
    joint: int, without: tuple[int, ...] = (), replaces: tuple[str, ...] = ()
) -> FrictionCandidate:
    """Return Coulomb friction that grows with the load."""
    column = 1 + len(THRESHOLDS.stribeck_velocities)
    return FrictionCandidate(
        joint,
        "load",
        ("load",),
        (column,),
        1 - len(without),
        positive=True,
        without=without,
        replaces=replaces,
    )


def present(terms: Terms) -> set[str]:
    """Return the terms that a joint has; gear losses of both directions include `load`."""
    return {*terms, "load"} if set(LOSSES) <= set(terms) else set(terms)


def joint_candidates(
    joint: int,
    geared: bool,
    offset: int | None,
    carries: bool = True,
    load: int | None = None,
) -> list[FrictionCandidate]:
    """Return all candidates of a joint.

    Torque ripple needs a known gear ratio, and backward friction replaces an offset. Friction that
    grows with the load needs a base at rest (`carries`); gear losses by the direction of the power
    replace it where the joint has it: `load` is its base column.
    """
    candidates = (
        []
        if offset is None
        else [
            FrictionCandidate(
                joint,
                "negative",
                ("negative",),
                (0,),
                1,
                without=(offset,),
                replaces=("offset",),
            )
        ]
    )
    candidates += [
        FrictionCandidate(joint, "stribeck", ("stiction",), (1 + k,), 2, positive=True, fades=v)
        for k, v in enumerate(THRESHOLDS.stribeck_velocities)
    ]
    first = 1 + len(THRESHOLDS.stribeck_velocities)
    losses = FrictionCandidate(
        joint,
        "losses",
        LOSSES,
        (first + 1, first + 2),
        2 if load is None else 1,
        positive=True,
        without=() if load is None else (load,),
        replaces=("load",),
    )
    candidates += [load_candidate(joint), losses] if carries else []
    first += len(LOSSES)
    for k, h in enumerate(HARMONICS):
        waves = FrictionCandidate(
            joint, "ripple", (f"sine{h}", f"cosine{h}"), (first + 1 + 2 * k, first + 2 + 2 * k), 2
        )
        candidates += [waves] if geared else []
    first += 1 + 2 * len(HARMONICS)
    return candidates + [
        FrictionCandidate(joint, f"drift of the {what}", (), (first + k,), 1)
        for k, what in enumerate(DRIFTS)
    ]
