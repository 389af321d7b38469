"""A law: a test that runs over the robots of the zoo and says which algorithms it holds to account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.zoo import ZOO, features


@dataclass(frozen=True)
class Law:
    """The name of a test, the algorithms whose results it checks, and the robots it runs on."""

    test: str
    algorithms: tuple[str, ...]
    robots: tuple[str, ...]


LAWS: dict[str, Law] = {}


def law(*algorithms: str, having: str | None = None, without: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Register a test of these algorithms and run it on every robot of the zoo as `name`; or on those with and without some features."""

    def register(test: Any) -> Any:
        robots = tuple(name for name in ZOO if (having in (None, *features(name))) and not set(without) & set(features(name)))
        LAWS[test.__name__] = Law(test.__name__, algorithms, robots)
        return pytest.mark.parametrize("name", robots)(test)

    return register


def close(a: Any, b: Any, tolerance: float = 1e-11) -> None:
    """Equal within `tolerance` of the largest entry, or of a tenth where all are smaller."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    error, size = np.abs(a - b).max(initial=0.0), max(np.abs(b).max(initial=0.0), 0.1)
    assert error <= tolerance * size, f"differs by {error:.3g} beside {size:.3g}"
