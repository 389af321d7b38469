"""Essential parameters: the few that the samples speak for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .least_squares import inverse_information, least_squares

if TYPE_CHECKING:
    from ..result.fit import Fit

Array = NDArray[np.float64]
GROWTH = 1.03


@dataclass(frozen=True, eq=False)
class Essential:
    """Names, values and standard deviations of what is left, what was set to zero, and the weighted residual against that of all."""

    names: tuple[str, ...]
    values: Array
    standard_deviation: Array
    eliminated: tuple[str, ...]
    growth: float

    def __str__(self) -> str:
        wide = max((len(name) for name in self.names), default=0)
        rows = [f"{n:<{wide}}  {v:12.6g} ± {2 * s:.2g}" for n, v, s in zip(self.names, self.values, self.standard_deviation, strict=True)]
        return "\n".join([f"{len(self.names)} essential parameters, residual {self.growth:.4f} times that of all", *rows])


def essential(fit: Fit, limit: float | None = None) -> Essential:
    """Drop the least sure base parameter, solve again, and go on until the worst relative standard deviation is below 10 times the best.

    `limit` bounds how much the residual may grow, 1.03 by default. Gautier 1997, section 5; Pham and Gautier 1991.
    """
    assert fit.information is not None
    R = fit.information[:-1, :-1]
    ratio = np.sqrt(np.diag(fit.base_covariance) / np.maximum(np.diag(inverse_information(fit.information)), 1e-300))
    floor = float(fit.information[-1, -1] ** 2)  # what least squares leaves with all of them
    kept = list(range(len(R)))
    while len(kept) > 1:
        values, std = solved(fit.information, kept, ratio)
        rel = std / np.maximum(np.abs(values), 1e-300)
        worst = int(np.argmax(rel))
        if rel[worst] < 10 * rel.min() and rel[worst] < 0.5:
            break
        trial = [k for i, k in enumerate(kept) if i != worst]
        if squares(fit.information, trial) > (limit or GROWTH) ** 2 * floor:
            break
        kept = trial
    values, std = solved(fit.information, kept, ratio)
    names = fit.base.names
    gone = tuple(names[k] for k in range(len(R)) if k not in kept)
    return Essential(tuple(names[k] for k in kept), values, std, gone, float(np.sqrt(squares(fit.information, kept) / max(floor, 1e-300))))


def reduced(triangle: Array, kept: list[int]) -> Array:
    """The factor over some of the columns."""
    return np.asarray(np.linalg.qr(triangle[:, [*kept, triangle.shape[1] - 1]], mode="r"))


def solved(triangle: Array, kept: list[int], ratio: Array) -> tuple[Array, Array]:
    """Values and standard deviations of the kept ones; `ratio` is how much larger they are than white noise would make them."""
    small = reduced(triangle, kept)
    values = least_squares(small, np.zeros(len(kept)))
    return values, np.sqrt(np.maximum(np.diag(inverse_information(small)), 0.0)) * ratio[kept]


def squares(triangle: Array, kept: list[int]) -> float:
    """Weighted squares left with the kept ones."""
    return float(reduced(triangle, kept)[-1, -1] ** 2)
