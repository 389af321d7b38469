"""Which robots of a fleet stand out, and by what: parameters that deviate more than those of the many do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from ...mechanism.parameter_vector import LINK_TERMS
from .partial_pooling import Bools, Pooled, pool

Array = NDArray[np.float64]
FALSE = 0.01  # chance that a fleet in which nothing stands out is told that something does
LEAST = 1e-3  # of the spread's variance that a deviation shows, to be compared with others
MOST = 50  # deviations that are looked for
RUBS = ("Fv", "Fc")  # parameters of friction that grow with wear


@dataclass(frozen=True)
class Deviation:
    """A part of a robot that stands out: a joint or a link, by the parameter that deviates most for its spread.

    `value` is that of this robot, `usual` that of the type, `std` the standard deviation of their difference, all in `unit`. `score` is
    the difference in standard deviations of the fleet, `chance` how often a part of a robot like the others deviates as much.
    """

    robot: str
    part: str
    parameter: str
    value: float
    usual: float
    std: float
    score: float
    chance: float
    unit: str

    @property
    def sentence(self) -> str:
        """What it may be, in words."""
        change = self.value - self.usual
        more = "more" if change > 0 else "less"
        if self.parameter.rpartition(".")[2] in RUBS:
            why = "worn, or short of grease" if change > 0 else "run in, or newly greased"
            return f"{self.robot}: {self.part} rubs {more} than the others: {why}"
        if self.parameter.rpartition(".")[2] == "F0":
            return f"{self.robot}: {self.part} has another offset of its torque than the others: its sensor, or a spring or cable"
        return f"{self.robot}: {self.part} is {'heavier' if change > 0 else 'lighter or balanced in another way'} than the others: a load?"


def find_standing_out(triangles: Array, start: Array, sizes: Array, names: Sequence[str]) -> tuple[Pooled, Bools, Array]:
    """Return the pooled fleet, which parameters (R, b) stand out, and the chance (R, b) of a part's deviations when it was freed.

    The part that deviates most surprisingly is freed, one after another, as long as the chance of so much among all parts of all robots, if
    it were like the others without it, is below FALSE. A part is a link, or the friction, rotor or offset of a joint: `names` (b,) are
    those of parameters, such as joint3.Fc. What has been freed no longer pulls at other parameters of its robot, which it might have made
    stand out too.
    """
    free, chance = np.zeros((len(triangles), len(names)), bool), np.ones((len(triangles), len(names)))
    kinds = [name.rpartition(".")[2] for name in names]
    parts = [part_of(name) for name in names]
    rubs = np.array([kind in RUBS for kind in kinds])
    places = {part: np.array([i for i, own in enumerate(parts) if own == part]) for part in dict.fromkeys(parts)}
    pooled = pool(triangles, start, sizes, kinds, free)
    for _ in range(MOST):
        p = np.array(
            [[chance_of(pooled, r, at, rubs) if not free[r, at].any() else 1.0 for at in places.values()] for r in range(len(free))]
        )
        robot, part = np.unravel_index(int(np.argmin(p)), p.shape)
        at = list(places.values())[part]
        freed = free.copy()
        freed[robot, at] = True
        others = pool(triangles, start, sizes, kinds, freed)
        p_others = chance_of(others, int(robot), at, rubs, freed=True)
        if p_others * p.size > FALSE:
            break
        pooled, free, chance[robot, at] = others, freed, p_others
    return pooled, free, chance


def part_of(name: str) -> tuple[str, str]:
    """Return the joint or link that a parameter is of, with what of a joint: 'F0', 'Ia' or 'friction'; '' for a link."""
    whose, _, kind = name.rpartition(".")
    return whose, "" if kind in LINK_TERMS else kind if kind in ("F0", "Ia") else "friction"


def chance_of(pooled: Pooled, robot: int, at: NDArray[np.intp], rubs: Bools | None = None, freed: bool = False) -> float:
    """Return how often the parameters `at` of a robot deviate as much as here, if they are like those of the others.

    Friction, `rubs` (b,), has a longer tail above the usual one than below: what is more of it counts by its factor.

    The posterior mean of deviations has the covariance D - C, with D that of the fleet and C that of the posterior. Parameters that are
    `freed` have the covariance D + C: D is then that of the others alone, so that what stands out cannot hide behind its own share of it.
    Squares over it are Hotelling's, since D is known from as many robots as there are.
    Cook and Weisberg, "Residuals and Influence in Regression", 1982, section 2.2.2 (what is left out does not hide itself).
    """
    scale = pooled.spread[at]
    own = pooled.covariance[robot][np.ix_(at, at)] / np.outer(scale, scale)
    shown = np.eye(len(at)) + (own if freed else LEAST * np.eye(len(at)) - own)
    d, center = pooled.deviations[robot, at], pooled.center[at]
    more = (d > 0) & (center > 0) & (False if rubs is None else rubs[at])
    x = np.where(more, center * np.log1p(np.divide(d, center, out=np.zeros_like(d), where=more)), d) / scale
    values, vectors = np.linalg.eigh(shown)
    squares = float(np.sum((vectors.T @ x) ** 2 / np.maximum(values, LEAST)))
    return float(f_distribution.sf(squares / len(at), len(at), max(len(pooled.deviations) - 1 - freed, 2)))
