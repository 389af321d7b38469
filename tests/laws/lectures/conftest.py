"""The robots and states on which the lectures are tested."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy


@pytest.fixture(params=["planar_2r", "planar_rp", "spatial_3r", "puma560", "elbow_6r"])
def robot(request: pytest.FixtureRequest) -> sy.Robot:
    return sy.load(request.param)


@pytest.fixture
def state(robot: sy.Robot, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """q, qd, qdd, each (16, n)."""
    return tuple(rng.uniform(-1, 1, (3, 16, robot.n)))
