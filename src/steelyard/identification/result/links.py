"""Mass and centre of mass of each link with its uncertainty, as far as the samples show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import short, with_uncertainty
from ...drawing.table import Column, Table
from ..estimators.posterior import Posterior
from ..model.linear_model import Model
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]
DESCRIBED, NOT_SHOWN, HELD = "described", "not shown", "held"
MEANINGS = {
    DESCRIBED: "described: from the description, the log does not show it.",
    NOT_SHOWN: (
        "not shown: torques show it only together with others; this is one value of many that fit."
    ),
}


@dataclass(frozen=True, eq=False)
class LinkEstimates:
    """Mass (L,) [kg] and centre of mass (L, 3) [m] of each moving link, in its frame.

    Everything that is fixed to a link is part of it.

    Standard deviations are infinite where the samples hold less than 1 % of the information: there
    the value is the description's, or what those that are shown leave of it. They are 0 for what
    was held. `described` is False for an estimator that uses no description: it has uncertainties
    only of what torques show by itself.
    """

    names: tuple[str, ...]
    mass: Array
    mass_std: Array
    com: Array
    com_std: Array
    described: bool = True

    def table(self) -> Table:
        """Return mass and centre with two standard deviations, link by link."""
        centre = [
            Column(name, "m" if name in "xyz" else "", group="centre")
            for axis in "xyz"
            for name in (axis, "± 2σ")
        ]
        word = DESCRIBED if self.described else NOT_SHOWN
        rows, faint = list[tuple[str, ...]](), list[int]()
        for k, name in enumerate(self.names):
            values, spreads = (self.mass[k], *self.com[k]), (self.mass_std[k], *self.com_std[k])
            cells = [shown(value, std, word) for value, std in zip(values, spreads, strict=True)]
            rows.append((name, *(text for pair in cells for text in pair)))
            if not np.isfinite([self.mass_std[k], *self.com_std[k]]).any():
                faint.append(k)
        note = f"In the frame of each link, with all that is fixed to it. {MEANINGS[word]}"
        columns = (Column("link", numeric=False), Column("mass", "kg"), Column("± 2σ"), *centre)
        data = {"link": self.names, "mass": self.mass, "mass_std": self.mass_std}
        data |= {
            f"com_{axis}{end}": x[:, k]
            for end, x in (("", self.com), ("_std", self.com_std))
            for k, axis in enumerate("xyz")
        }
        return Table("Links", columns, tuple(rows), note, frozenset(faint), data=data)


def shown(value: float, std: float, word: str) -> tuple[str, str]:
    """Return a value and two standard deviations as text.

    In a word where it was held or not shown.
    """
    if np.isfinite(std) and std > 0:
        return with_uncertainty(float(value), 2 * float(std))
    return short(float(value), 4), HELD if std == 0 else word


def link_estimates(
    model: Model, pi: Array, std: Array, covariance: Array | None, posterior: Posterior | None
) -> LinkEstimates:
    """Return mass and centre of mass of each link from parameters pi (p,) and their std (p,).

    c = mc / m, so that dc = (d mc - c dm) / m. Without a covariance both m and mc must be known by
    themselves.
    """
    names = tuple(body.name for body in model.robot.tree.bodies)
    bodies = pi[: 10 * len(names)].reshape(-1, 10)
    spread = std[: 10 * len(names)].reshape(-1, 10)
    with np.errstate(divide="ignore", invalid="ignore"):
        com = np.where(bodies[:, :1] > 0, bodies[:, 1:4] / bodies[:, :1], np.nan)
        apart = np.sqrt(spread[:, 1:4] ** 2 + (com * spread[:, :1]) ** 2) / bodies[:, :1]
    com_std = np.where(np.isfinite(apart), apart, np.inf)
    if covariance is not None and posterior is not None:
        rows = centre_rows(com, bodies[:, 0], len(pi))
        variance = np.einsum("kp,pq,kq->k", rows, covariance, rows, optimize=True)
        shown = (
            posterior.share(rows @ posterior.coordinates.matrix)
            >= THRESHOLDS.least_information_share
        )
        from_all = np.where(shown, np.sqrt(np.maximum(variance, 0.0)), np.inf).reshape(-1, 3)
        com_std = np.where((apart == 0) | np.isnan(com), com_std, from_all)
    return LinkEstimates(
        names=names,
        mass=bodies[:, 0],
        mass_std=spread[:, 0],
        com=com,
        com_std=com_std,
        described=posterior is not None,
    )


def centre_rows(com: Array, mass: Array, p: int) -> Array:
    """Return the derivatives (3 L, p) of the centres com (L, 3); zero for a massless link."""
    rows = np.zeros((len(com), 3, p))
    for k, (c, m) in enumerate(zip(com, mass, strict=True)):
        if m > 0:
            rows[k, :, 10 * k] = -c / m
            rows[k, range(3), 10 * k + 1 + np.arange(3)] = 1.0 / m
    return rows.reshape(-1, p)
