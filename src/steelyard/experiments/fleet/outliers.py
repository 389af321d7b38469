"""Outliers of a fleet: parts of robots that deviate more than the other robots show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution

from ...mechanism.parameter_vector import LINK_TERMS
from .fleet_thresholds import THRESHOLDS
from .partial_pooling import Bools, Pooled, pool

Array = NDArray[np.float64]
FRICTION_TERMS = ("Fv", "Fc")  # parameters of friction that grow with wear


@dataclass(frozen=True)
class Deviation:
    """A part of a robot that is an outlier: a joint or a link.

    `parameter` deviates most relative to its spread. `value` belongs to this robot, `usual` to the
    type, `std` is the standard deviation of their difference, all in `unit`. `score` is the
    difference in standard deviations of the fleet, `probability` the probability of such a
    deviation at a usual robot.
    """

    robot: str
    part: str
    parameter: str
    value: float
    usual: float
    std: float
    score: float
    probability: float
    unit: str

    @property
    def sentence(self) -> str:
        """What the outlier may be, in words."""
        change = self.value - self.usual
        more = "more" if change > 0 else "less"
        if self.parameter.rpartition(".")[2] in FRICTION_TERMS:
            why = "wear or lack of grease" if change > 0 else "run-in or new grease"
            return f"{self.robot}: {self.part} has {more} friction than the others: {why}?"
        if self.parameter.rpartition(".")[2] == "F0":
            return (
                f"{self.robot}: {self.part} has a different torque offset than the others: sensor,"
                " spring or cable?"
            )
        return (
            f"{self.robot}: {self.part} is"
            f" {'heavier' if change > 0 else 'lighter or balanced differently'} than the others:"
            " a load?"
        )


def find_outliers(
    triangles: Array, start: Array, sizes: Array, names: Sequence[str]
) -> tuple[Pooled, Bools, Array]:
    """Return the pooled fleet, its outliers (R, b) and the probability (R, b) of each outlier.

    The least likely part is freed, one after another, as long as its probability among all parts of
    all robots is below `false_alarm`. A part is a link, or the friction, rotor or offset of a
    joint. `names` (b,) are the names of the parameters, such as joint3.Fc. A freed part no longer
    affects other parameters of its robot.
    """
    free, chance = (
        np.zeros((len(triangles), len(names)), bool),
        np.ones((len(triangles), len(names))),
    )
    kinds = [name.rpartition(".")[2] for name in names]
    parts = [part_of(name) for name in names]
    is_friction = np.array([kind in FRICTION_TERMS for kind in kinds])
    places = {
        part: np.array([i for i, other in enumerate(parts) if other == part])
        for part in dict.fromkeys(parts)
    }
    pooled = pool(triangles, start, sizes, kinds, free)
    for _ in range(THRESHOLDS.most_outliers):
        p = np.array(
            [
                [
                    probability_of(pooled, r, columns, is_friction)
                    if not free[r, columns].any()
                    else 1.0
                    for columns in places.values()
                ]
                for r in range(len(free))
            ]
        )
        robot, part = np.unravel_index(int(np.argmin(p)), p.shape)
        columns = list(places.values())[part]
        freed = free.copy()
        freed[robot, columns] = True
        others = pool(triangles, start, sizes, kinds, freed)
        p_others = probability_of(others, int(robot), columns, is_friction, freed=True)
        if p_others * p.size > THRESHOLDS.false_alarm:
            break
        pooled, free, chance[robot, columns] = others, freed, p_others
    return pooled, free, chance


def part_of(name: str) -> tuple[str, str]:
    """Return the joint or link that a parameter is of, with what of a joint.

    'F0', 'Ia' or 'friction'; '' for a link.
    """
    whose, _, kind = name.rpartition(".")
    return whose, "" if kind in LINK_TERMS else kind if kind in ("F0", "Ia") else "friction"


def probability_of(
    pooled: Pooled,
    robot: int,
    columns: NDArray[np.intp],
    is_friction: Bools | None = None,
    freed: bool = False,
) -> float:
    """Return the probability that parameters of a usual robot deviate as much as here.

    `columns` are the parameters.

    Friction parameters, `is_friction` (b,), have a longer tail above the usual value than below:
    an increase counts by its logarithm.

    The posterior mean of deviations has the covariance D - C, with D the covariance of the fleet
    and C the posterior covariance. Parameters that are `freed` have the covariance D + C, where D
    comes from the other robots alone. The statistic is Hotelling's, since D is estimated from the
    robots of the fleet. Cook and Weisberg, "Residuals and Influence in Regression", 1982, section
    2.2.2.
    """
    scale = pooled.spread[columns]
    covariance = pooled.covariance[robot][np.ix_(columns, columns)] / np.outer(scale, scale)
    shown = np.eye(len(columns)) + (
        covariance if freed else THRESHOLDS.least_information * np.eye(len(columns)) - covariance
    )
    d, center = pooled.deviations[robot, columns], pooled.center[columns]
    more = (d > 0) & (center > 0) & (False if is_friction is None else is_friction[columns])
    x = (
        np.where(more, center * np.log1p(np.divide(d, center, out=np.zeros_like(d), where=more)), d)
        / scale
    )
    values, vectors = np.linalg.eigh(shown)
    squares = float(np.sum((vectors.T @ x) ** 2 / np.maximum(values, THRESHOLDS.least_information)))
    return float(
        f_distribution.sf(
            squares / len(columns), len(columns), max(len(pooled.deviations) - 1 - freed, 2)
        )
    )
