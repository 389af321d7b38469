"""Drive gains: by how much the torque constants are off, found with the parameters against something that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, ProblemError, choices
from ..estimators.least_squares import inverse_information, least_squares
from ..estimators.wls import weighted
from ..samples.samples import Samples
from .accumulator import Accumulator
from .model import Model
from .problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gains:
    """What each joint's torque is to be multiplied by, (n,), and the standard deviation of that; 1 and 0 where it was not asked for."""

    values: Array
    standard_deviation: Array

    def apply(self, samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
        """The samples with torques in true units."""
        return tuple(replace(s, tau=s.tau * self.values) for s in samples)


def find_gains(model: Model, samples: tuple[Samples, ...], joints: Sequence[str], factor: int, rounds: int = 30) -> Gains:
    """k_j with k_j tau_j = Y_j base + known_j: Gauss-Newton on base and 1/k_j together, from k = 1.

    Something has to be known, such as a held mass or a payload, or all could be scaled alike; ProblemError says so.
    Gautier and Briot, "Global identification of joint drive gains and dynamic parameters of robots", J. Dyn. Sys. Meas. Control 136 (2014).
    """
    for name in joints:
        if name not in model.robot.joint_names:
            raise CallError(f"drive_gains: no joint is called {name!r}; {choices(str(name), model.robot.joint_names)}")
    asked = [model.robot.joint_names.index(name) for name in joints]
    if not asked:
        return Gains(np.ones(model.n), np.zeros(model.n))
    blocks = list(Problem(model, samples, factor).blocks(64))
    if not any(np.any(b.known) for b in blocks):
        raise ProblemError("drive gains can only be found against something known: hold a mass or give a known torque, such as a payload's")
    start = Problem(model, samples, factor)
    base, weights = weighted(start.total, start.prior, 3)
    inverse = np.ones(model.n)
    reach = [(*columns, len(base) + j) if j in asked else columns for j, columns in enumerate(model.reach)]
    for _ in range(rounds):
        total = Accumulator.empty(reach, len(base) + model.n)
        for b in blocks:
            whole = b.Y @ base + b.known
            wide = np.zeros((len(b.t), model.n, len(base) + model.n))
            wide[:, :, : len(base)] = inverse[:, None] * b.Y
            wide[:, range(model.n), len(base) + np.arange(model.n)] = whole
            total = total.fold(wide, b.tau + b.known - inverse * whole, b.keep)
        triangle = total.triangle(weights)
        step = least_squares(triangle, np.zeros(len(base) + model.n))
        base, inverse = base + step[: len(base)], np.where(np.isin(np.arange(model.n), asked), inverse + step[len(base) :], 1.0)
        if np.any(inverse <= 0):
            raise ProblemError("the drive gains do not settle: what is known is too little to tell them")
        if np.max(np.abs(step[len(base) :])) < 1e-10:
            break
    spread = np.sqrt(np.maximum(np.diag(inverse_information(triangle))[len(base) :], 0.0))
    return Gains(1.0 / inverse, np.where(np.isin(np.arange(model.n), asked), spread / inverse**2, 0.0))
