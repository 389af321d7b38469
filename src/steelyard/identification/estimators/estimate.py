"""What an estimator hands back, and the contract that all of them keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters (b,), row weights per joint (n,) [1/(N m)|1/N], sentences on how it went, and numbers worth keeping.

    `parameters` (p,) are there where the estimator finds each parameter and not only the combinations.
    """

    base: Array
    weights: Array
    status: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    parameters: Array | None = None


class Estimator(Protocol):
    """Dumb constructor, everything happens in `fit`."""

    @property
    def name(self) -> str: ...

    def fit(self, problem: Problem) -> Estimate:
        """The estimate for a problem."""
        ...
