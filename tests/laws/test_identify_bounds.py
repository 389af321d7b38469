"""Bounds as inequalities: a box, a hull, and what is wrong with one, in sentences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.model.bounds import inequalities

NAMES = sy.load("planar_2r").parameter_names
CORNERS = np.array(list(product((-0.1, 0.3), (-0.2, 0.2), (0.0, 0.5))))


def holds(bounds, mass: float, com) -> bool:
    pi = np.zeros(len(NAMES))
    pi[10], pi[11:14] = mass, mass * np.asarray(com)
    return inequalities(bounds, NAMES).violation(pi) <= 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_the_hull_of_a_box_is_the_box(seed):
    com = np.random.default_rng(seed).uniform(-0.6, 0.8, 3)
    box = {"link2.com": (CORNERS.min(0), CORNERS.max(0))}
    assert holds({"link2.com_hull": CORNERS}, 2.0, com) == holds(box, 2.0, com)


def test_inside_and_outside_of_a_tetrahedron():
    corners = {"link2.com_hull": np.vstack([np.zeros(3), np.eye(3)])}
    assert holds(corners, 3.0, (0.2, 0.2, 0.2))
    assert not holds(corners, 3.0, (0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("bounds", "offender"),
    [({"link2.com_hull": np.eye(3)}, "four points"), ({"link9.com_hull": CORNERS}, "link9"), ({"link2.com": 3}, "lowest, highest")],
)
def test_a_bound_that_makes_no_sense_is_named(bounds, offender):
    with pytest.raises(sy.CallError, match=offender):
        inequalities(bounds, NAMES)
