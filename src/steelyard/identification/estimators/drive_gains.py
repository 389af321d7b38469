"""Drive gains: the factors by which measured torques are wrong, estimated together with the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, ProblemError, suggest
from ..model.accumulator import Accumulator
from ..model.model import Model
from ..model.problem import Block, Problem
from ..samples.samples import Samples
from .least_squares import inverse_information, least_squares, weighted

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DriveGains:
    """The factor of each joint's measured torque, (n,), and its standard deviation; 1 and 0 where none was asked for."""

    values: Array
    std: Array

    def apply(self, samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
        """Return the samples with torques in true units."""
        return samples if np.all(self.values == 1.0) else tuple(replace(s, tau=s.tau * self.values) for s in samples)


def estimate_gains(model: Model, samples: tuple[Samples, ...], joints: Sequence[str], factor: int, rounds: int = 30) -> DriveGains:
    """Return k_j with k_j tau_j = Y_j base + known_j: Gauss-Newton on base and 1/k_j together, from k = 1.

    Raises ProblemError if nothing is known, such as a held mass or a payload: all could then be scaled alike.
    Gautier and Briot, "Global identification of joint drive gains and dynamic parameters of robots", J. Dyn. Sys. Meas. Control 136 (2014).
    """
    for name in joints:
        if name not in model.robot.joint_names:
            raise CallError(f"drive_gains: no joint is called {name!r}; {suggest(str(name), model.robot.joint_names)}")
    asked = np.array([name in joints for name in model.robot.joint_names])
    if not asked.any():
        return DriveGains(np.ones(model.n), np.zeros(model.n))
    start = Problem(model, samples, factor)
    blocks = list(start.blocks(64))
    if not any(np.any(b.known) for b in blocks):
        raise ProblemError("drive gains can only be found against something known: hold a mass or give a known torque, such as a payload's")
    base, weights = weighted(start.total, start.prior, 3)
    inverse, b = np.ones(model.n), len(base)
    for _ in range(rounds):
        triangle = linearised(model, blocks, base, inverse, asked).triangle(weights)
        step = least_squares(triangle, np.zeros(b + model.n))
        base, inverse = base + step[:b], np.where(asked, inverse + step[b:], 1.0)
        if np.any(inverse <= 0):
            raise ProblemError("the drive gains do not converge: what is known is not enough to find them")
        if np.max(np.abs(step[b:])) < 1e-10:
            break
    std = np.sqrt(np.maximum(np.diag(inverse_information(triangle))[b:], 0.0))
    return DriveGains(1.0 / inverse, np.where(asked, std / inverse**2, 0.0))


def linearised(model: Model, blocks: list[Block], base: Array, inverse: Array, asked: NDArray[np.bool_]) -> Accumulator:
    """Return the rows of tau_j = (Y_j base + known_j) / k_j, linearised in base and 1/k at the present values, folded."""
    b, n = len(base), model.n
    total = Accumulator.empty([(*columns, b + j) if asked[j] else columns for j, columns in enumerate(model.reach)], b + n)
    for block in blocks:
        whole = block.Y @ base + block.known
        wide = np.zeros((len(block.t), n, b + n))
        wide[:, :, :b] = inverse[:, None] * block.Y
        wide[:, range(n), b + np.arange(n)] = whole
        total = total.fold(wide, block.tau + block.known - inverse * whole, block.keep)
    return total
