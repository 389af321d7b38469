"""How much less than white noise would allow the residuals tell: neighbours repeat each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

Array = NDArray[np.float64]
LOOKED_AT = 16  # blocks
MOST = 300.0


def inflation(problem: Problem, base: Array) -> Array:
    """(1 + rho) / (1 - rho) per joint, (n,), with rho the correlation of a residual with the next one: samples per independent sample.

    With it a prior weighs the same against a log at 1 kHz as against the same log at 100 Hz.
    Priestley, "Spectral Analysis and Time Series", 1981, section 5.3.2 (variance of the mean of a first-order autoregression).
    """
    product, power = np.zeros(problem.n), np.full(problem.n, 1e-300)
    for block in problem.blocks(LOOKED_AT):
        e = block.tau - block.Y @ base
        e = e if block.keep is None else e * block.keep
        product += np.sum(e[1:] * e[:-1], axis=0)
        power += np.sum(e**2, axis=0)
    rho = np.clip(product / power, 0.0, 0.999)
    return np.asarray(np.minimum((1 + rho) / (1 - rho), MOST))
