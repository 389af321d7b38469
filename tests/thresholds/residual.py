"""Thresholds of the learned residual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.identification.residual.curves import JointRanges, prior_root
from steelyard.identification.residual.held_out_rows import HeldOutRows
from steelyard.identification.residual.learn import KeptStates, Trial, joint_ranges, learn_joint
from steelyard.identification.residual.learned import StateBox
from tests.thresholds.threshold import Threshold, sides

Array = NDArray[np.float64]
ENDS = np.array([-1.0]), np.array([1.0]), np.array([1.0]), np.array([1.0])


def trial(gain: float, parts: int) -> tuple[Trial, Array]:
    """Rows of equal parts, and errors that are less by a share."""
    numbers = np.repeat(np.arange(parts), 5)
    ones = np.ones(5 * parts)
    rows = Trial(ones[:, None], ones, np.ones((parts, 5 * parts)), numbers, ones)
    return rows, (1.0 - gain) * ones


def wins(gain: float) -> bool:
    """Whether a joint is kept whose error falls by a share over blocks."""
    rows, errors = trial(gain, 8)
    return rows.gains(errors)


def wins_by_halves(gain: float) -> bool:
    """Whether a joint is kept whose error falls by a share over halves."""
    rows, errors = trial(gain, 2)
    return rows.gains_enough(errors)


def learns_from(rows: float) -> bool:
    """Whether a joint with so many rows is tried."""
    count = round(rows)
    q = np.linspace(-0.9, 0.9, count)[:, None]
    folds = np.arange(count) * 8 // count
    ones = np.ones((count, 1))
    states = KeptStates(q, 0.0 * q, 0.0 * q, 0.0 * q, ones > 0, folds)
    left_out = np.ones((8, count, 1)), np.ones((2, count, 1))
    data = HeldOutRows(np.arange(count), folds, ones, ones, *left_out)
    return not np.isnan(learn_joint("joint", 0, data, states, StateBox.of(*ENDS)).before)


def has_load_curve(share: float) -> bool:
    """Whether a load that changes by such a share of the torque has a curve."""
    load = np.array([0.0, share])
    ranges = joint_ranges(0, StateBox.of(*ENDS), load, np.ones(9))
    return ranges.load[1] > ranges.load[0]


def turns_within(speed: float) -> bool:
    """Whether the direction of motion is tanh(1) or less at a share of the largest speed."""
    ranges = JointRanges(q=(-1.0, 1.0), speed=2.0, load=(0.0, 0.0))
    return bool(np.tanh(2.0 * speed / ranges.width) > np.tanh(1.0))


def whole_at(share: float) -> bool:
    """Whether the residual is whole at such a share of the range from its edge."""
    q = np.array([[1.0 - 2.0 * share]])
    return bool(StateBox.of(*ENDS).weight(q, 0.0 * q, 0.0 * q)[0] >= 1.0)


def correlated(index: int) -> bool:
    """Whether values of a curve are correlated by exp(-1/2) a length apart."""
    _, _, knots, length = JointRanges((0.0, 1.0), 1.0, (0.0, 1.0)).grids()[index]
    root = prior_root(knots, length)
    apart = {0: 0.15, 2: 0.2, 3: 0.3}[index] * (knots - 1)
    values = (root @ root.T)[0]
    expected = np.interp(apart, np.arange(len(values)), values)
    return bool(abs(expected - np.exp(-0.5)) < 0.05)


MODULE = "residual.residual_thresholds"
RESIDUAL = [
    Threshold(f"{MODULE}:least_gain", sides(wins, 0.03)),
    Threshold(f"{MODULE}:least_half_gain", sides(wins_by_halves, 0.01)),
    Threshold(f"{MODULE}:least_rows", sides(learns_from, 200)),
    Threshold(f"{MODULE}:least_load", sides(has_load_curve, 0.01)),
    Threshold(f"{MODULE}:direction_speed", sides(turns_within, 0.05)),
    Threshold(f"{MODULE}:taper", sides(whole_at, 0.01)),
    Threshold(f"{MODULE}:position_length", lambda: correlated(0), True),
    Threshold(f"{MODULE}:speed_length", lambda: correlated(2), True),
    Threshold(f"{MODULE}:load_length", lambda: correlated(3), True),
]
