"""Stepwise elimination: the few base parameters that explain the samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .estimator_thresholds import THRESHOLDS
from .least_squares import inverse_information, least_squares

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """Remaining base parameters with values and std, eliminated ones, and residual growth."""

    names: tuple[str, ...]
    values: Array
    standard_deviation: Array
    eliminated: tuple[str, ...]
    growth: float

    def __str__(self) -> str:
        wide = max((len(name) for name in self.names), default=0)
        rows = [
            f"{n:<{wide}}  {v:12.6g} ± {2 * s:.2g}"
            for n, v, s in zip(self.names, self.values, self.standard_deviation, strict=True)
        ]
        return "\n".join(
            [
                (
                    f"{len(self.names)} essential parameters, residual {self.growth:.4f} times "
                    "the residual of all"
                ),
                *rows,
            ]
        )


def stepwise(
    triangle: Array, covariance: Array, names: Sequence[str], limit: float | None = None
) -> ReducedModel:
    """Eliminate the least certain base parameter until the std are within a factor of 10.

    triangle (b + 1, b + 1): the weighted factor of [Y tau]; covariance (b, b) of all base
    parameters. `limit` bounds the growth of the weighted residual, 1.03 by default. Gautier 1997,
    section 5; Pham and Gautier 1991.
    """
    inflation = np.sqrt(
        np.diag(covariance) / np.maximum(np.diag(inverse_information(triangle)), 1e-300)
    )
    all_squares, most = (
        float(triangle[-1, -1] ** 2),
        THRESHOLDS.residual_growth if limit is None else float(limit),
    )
    columns = list(range(len(names)))
    while len(columns) > 1:
        values, std = solved(triangle, columns, inflation)
        share = std / np.maximum(np.abs(values), 1e-300)
        worst = int(np.argmax(share))
        if share[worst] < 10 * share.min() and share[worst] < 0.5:
            break
        trial = [k for i, k in enumerate(columns) if i != worst]
        if squares(triangle, trial) > most * most * all_squares:
            break
        columns = trial
    values, std = solved(triangle, columns, inflation)
    eliminated = tuple(name for k, name in enumerate(names) if k not in columns)
    growth = float(np.sqrt(squares(triangle, columns) / max(all_squares, 1e-300)))
    return ReducedModel(tuple(names[k] for k in columns), values, std, eliminated, growth)


def reduced(triangle: Array, columns: list[int]) -> Array:
    """Return the factor over some of the columns."""
    return np.asarray(np.linalg.qr(triangle[:, [*columns, triangle.shape[1] - 1]], mode="r"))


def solved(triangle: Array, columns: list[int], inflation: Array) -> tuple[Array, Array]:
    """Return values and standard deviations of the kept parameters.

    `inflation` (b,) is that due to autocorrelated residuals.
    """
    small = reduced(triangle, columns)
    values = least_squares(small, np.zeros(len(columns)))
    return values, np.sqrt(np.maximum(np.diag(inverse_information(small)), 0.0)) * inflation[
        columns
    ]


def squares(triangle: Array, columns: list[int]) -> float:
    """Return the weighted squared residual with the kept parameters."""
    return float(reduced(triangle, columns)[-1, -1] ** 2)
