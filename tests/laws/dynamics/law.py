"""A law: a test over the robots of the zoo, with the algorithms that it checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.zoo import ZOO, features


@dataclass(frozen=True)
class Law:
    """The name of a test, the algorithms it checks, its robots, and which go together."""

    test: str
    algorithms: tuple[str, ...]
    robots: tuple[str, ...]
    cells: frozenset[tuple[str, str]]


LAWS: dict[str, Law] = {}
TASK = ("task_inertia", "dynamically_consistent_inverse", "nullspace_projector")
NEED_MASS = (
    "forward_dynamics",
    "forward_reactions",
    "forward_dynamics_derivatives",
    "free_forward_dynamics",
    *TASK,
)


def runs(algorithm: str, name: str) -> bool:
    """Whether a robot of the zoo can run an algorithm.

    Nothing accelerates a joint without inertia, and friction may need the position.
    """
    if algorithm == "free_forward_dynamics" and "load" in features(name):
        return False
    if algorithm == "friction_torque":
        return not {"gear", "load"} & set(features(name))
    return not (algorithm in NEED_MASS and "no inertia" in features(name))


def law(
    *algorithms: str,
    having: str | None = None,
    without: tuple[str, ...] = (),
    refuses: bool = False,
) -> Callable[[Any], Any]:
    """Register a test of these algorithms and run it on every robot of the zoo as `name`.

    Or on those with and without some features.

    With `refuses` it tests what happens where an algorithm cannot run.
    """

    def register(test: Any) -> Any:
        robots = tuple(
            name
            for name in ZOO
            if (having in (None, *features(name))) and not set(without) & set(features(name))
        )
        cells = frozenset(
            (a, name) for a in algorithms for name in robots if refuses or runs(a, name)
        )
        LAWS[test.__name__] = Law(test.__name__, algorithms, robots, cells)
        return pytest.mark.parametrize("name", robots)(test)

    return register


def close(a: Any, b: Any, tolerance: float = 1e-11, what: str = "it") -> None:
    """Equal within `tolerance` of the largest entry, or of a tenth where all are smaller."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, what
    error, size = np.abs(a - b).max(initial=0.0), max(np.abs(b).max(initial=0.0), 0.1)
    assert error <= tolerance * size, f"{what} differs by {error:.3g} beside {size:.3g}"
