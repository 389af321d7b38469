"""Limits of a coordinate are those under which the joint that leads and all that mimic it respect
their own.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.mechanism.model import Joint, Limits, Link, Mechanism, Mimic

LEADER = Limits(-2.0, 1.5, 4.0, 30.0)


def coordinate(*followers: tuple[float, float, Limits]) -> Limits:
    """The limits of a joint that is followed by others (multiplier, offset, limits)."""
    links = [Link("base"), Link("lead"), *(Link(f"follow{k}") for k in range(len(followers)))]
    joints = [Joint("lead", "revolute", "base", "lead", limits=LEADER)]
    for k, (multiplier, offset, limits) in enumerate(followers):
        joints.append(
            Joint(
                f"follow{k}",
                "revolute",
                "lead",
                f"follow{k}",
                limits=limits,
                mimic=Mimic("lead", multiplier, offset),
            )
        )
    (result,) = sy.Robot(Mechanism("gripper", tuple(links), tuple(joints))).tree.limits
    return result


def test_alone_a_joint_has_its_own() -> None:
    assert coordinate() == LEADER


@pytest.mark.parametrize(
    ("multiplier", "own", "expected"),
    [(2.0, 5.0, 2.5), (-2.0, 5.0, 2.5), (0.5, 1.0, 2.0), (0.5, 3.0, 4.0), (1.0, 9.0, 4.0)],
)
def test_a_joint_that_mimics_at_twice_the_speed_halves_the_speed_that_is_allowed(
    multiplier: float, own: float, expected: float
) -> None:
    assert coordinate((multiplier, 0.0, Limits(velocity=own))).velocity == expected


@pytest.mark.parametrize(
    ("multiplier", "offset", "low", "high", "expected"),
    [
        (1.0, 0.0, -1.0, 1.0, (-1.0, 1.0)),
        (2.0, 0.0, -1.0, 1.0, (-0.5, 0.5)),
        (2.0, 0.6, -1.0, 1.0, (-0.8, 0.2)),
        (-1.0, 0.0, -1.0, 0.5, (-0.5, 1.0)),
        (-0.5, 0.2, -0.4, 0.5, (-0.6, 1.2)),
        (0.1, 0.0, -1.0, 1.0, (-2.0, 1.5)),
        (-1.0, 0.0, -np.inf, 0.5, (-0.5, 1.5)),
    ],
)
def test_positions_that_are_allowed_keep_the_one_that_mimics_within_its_own(
    multiplier: float, offset: float, low: float, high: float, expected: tuple[float, float]
) -> None:
    result = coordinate((multiplier, offset, Limits(low, high)))
    assert (result.lower, result.upper) == pytest.approx(expected)


def test_of_several_the_narrowest_counts_and_the_effort_is_the_leaders() -> None:
    result = coordinate(
        (2.0, 0.0, Limits(-1.0, 9.0, 6.0, 5.0)), (-1.0, 0.0, Limits(-1.0, 9.0, 2.5, 90.0))
    )
    assert (result.lower, result.upper, result.velocity, result.effort) == (-0.5, 1.0, 2.5, 30.0)


def test_of_a_mimic_of_a_mimic_both_factors_count() -> None:
    links = tuple(Link(name) for name in ("base", "a", "b", "c"))
    joints = (
        Joint("a", "revolute", "base", "a", limits=LEADER),
        Joint("b", "revolute", "a", "b", mimic=Mimic("a", 2.0, 0.1)),
        Joint(
            "c", "revolute", "b", "c", limits=Limits(-3.0, 3.0, 6.0), mimic=Mimic("b", -1.5, 0.0)
        ),
    )
    (result,) = sy.Robot(Mechanism("chain", links, joints)).tree.limits
    assert result.velocity == pytest.approx(2.0)
    assert (result.lower, result.upper) == pytest.approx((-1.05, 0.95))
