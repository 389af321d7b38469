"""The torques of the lectures' report, to their four decimals, out of the built-in robots."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.mechanism import load, reduce
from steelyard.mechanism.edit import with_gravity
from tests.plain_recursion import torques

D = np.pi / 180
ROWS = [
    (
        "planar_2r",
        (20 * D, 40 * D),
        (0.2, 0.15),
        (0.1, 0.085),
        (4.3641, 1.3955),
        (318.1937, 38.6735),
    ),
    (
        "planar_2r",
        (90 * D, 45 * D),
        (-0.8, 0.35),
        (-0.4, 0.1),
        (-12.3727, 0.2878),
        (-65.0917, -52.4313),
    ),
    ("planar_rp", (20 * D, 0.2), (0.08, 0.03), (0.1, 0.01), (1.2186, 0.0139), (113.6829, 20.1452)),
    (
        "planar_rp",
        (120 * D, 0.6),
        (-0.4, -0.08),
        (-0.1, -0.01),
        (-1.2416, -1.5960),
        (-72.8546, 49.3783),
    ),
    (
        "spatial_3r",
        (20 * D, 40 * D, 10 * D),
        (0.2, 0.15, -0.2),
        (0.1, 0.085, 0),
        (5.1128, 1.3712, 0.1532),
        (5.1128, 104.1829, 6.7743),
    ),
]


@pytest.mark.parametrize(("name", "q", "qd", "qdd", "weightless", "heavy"), ROWS)
def test_torques_to_four_decimals(name, q, qd, qdd, weightless, heavy) -> None:
    mechanism = load(name)
    np.testing.assert_allclose(torques(reduce(mechanism), q, qd, qdd), heavy, atol=5.1e-5)
    np.testing.assert_allclose(
        torques(reduce(with_gravity(mechanism, (0, 0, 0))), q, qd, qdd), weightless, atol=5.1e-5
    )
