"""Errors of a live stream on unusable samples and options, which are not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import steelyard as sy


def arm() -> sy.Robot:
    return sy.load("planar_2r").with_friction(viscous=1.0, coulomb=0.5)


ZERO, BLOCK = np.zeros(2), np.zeros((4, 2))
BAD_SAMPLES: list[tuple[tuple[Any, ...], str]] = [
    (
        (ZERO, ZERO, ZERO, np.zeros(3)),
        r"tau has shape \(3,\), expected \(2,\) for one sample or \(B, 2\) for a block",
    ),
    ((BLOCK, BLOCK, BLOCK, ZERO), r"tau has shape \(2,\)"),
    ((np.zeros((2, 2, 2)),) * 4, r"q has shape \(2, 2, 2\)"),
    ((np.zeros((0, 2)),) * 4, r"q has shape \(0, 2\)"),
    ((ZERO, ZERO, ZERO, None), r"tau is missing"),
    ((ZERO, ZERO, ZERO, "heavy"), r"tau must be an array of numbers"),
    (
        (ZERO, ZERO, ZERO, np.array([0.0, np.nan])),
        r"tau of \w+2 is nan in sample 3; nothing of this block was used",
    ),
    (
        (BLOCK, BLOCK, BLOCK, np.where(np.eye(4, 2) > 0, np.inf, 0.0)),
        r"tau of \w+1 is inf in sample 3",
    ),
    ((ZERO, ZERO, ZERO, np.array([1j, 0])), r"tau must be an array of numbers"),
    ((ZERO, ZERO, None, ZERO), r"began with accelerations \(qdd\) and must go on so"),
    ((ZERO, ZERO, ZERO, ZERO, 1.0), r"began without times"),
]


@pytest.mark.parametrize(("given", "words"), BAD_SAMPLES)
def test_samples_that_cannot_be_used(given: tuple[Any, ...], words: str) -> None:
    rng = np.random.default_rng(0)
    o = sy.OnlineIdentifier(arm(), learn=0)
    o.update(*rng.normal(size=(4, 3, 2)))
    before = o.base_values
    with pytest.raises(sy.SteelyardError, match=words):
        o.update(*given)
    assert o.samples == 3
    o.update(*rng.normal(size=(4, 1, 2)))
    assert o.samples == 4
    assert not np.array_equal(before, o.base_values)


def test_time_must_grow() -> None:
    o = sy.OnlineIdentifier(arm(), learn=0)
    o.update(BLOCK, BLOCK, tau=BLOCK, t=[0.0, 0.1, 0.2, 0.3])
    with pytest.raises(
        sy.LogError, match=r"time goes from 0.3 s to 0.25 s at sample 4; it must grow"
    ):
        o.update(ZERO, ZERO, tau=ZERO, t=0.25)
    with pytest.raises(sy.LogError, match=r"time goes from 0.5 s to 0.4 s at sample 5"):
        o.update(BLOCK[:2], BLOCK[:2], tau=BLOCK[:2], t=[0.5, 0.4])
    with pytest.raises(
        sy.CallError, match=r"t has shape \(3,\); expected a finite time \[s\] for each of 4"
    ):
        o.update(BLOCK, BLOCK, tau=BLOCK, t=[1.0, 2.0, 3.0])
    with pytest.raises(sy.CallError, match="without qdd times are needed"):
        sy.OnlineIdentifier(arm(), learn=0).update(ZERO, ZERO, tau=ZERO)
    o.update(ZERO, ZERO, tau=ZERO, t=0.4)
    assert o.samples == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forgetting": 0.0}, "above 0 and at most 1"),
        ({"forgetting": 1.1}, "forgetting must be a number from 0 to 1"),
        ({"forgetting": "slow"}, "forgetting must be"),
        ({"rate": 0.0}, "rate"),
        ({"filter": -1.0}, "filter"),
        ({"mask": {"joint9": 1.0}}, "no joint is called 'joint9'"),
        ({"learn": -1.0}, "learn"),
        ({"hours": 0.0}, "hours"),
        ({"directional": "yes"}, "directional must be True or False"),
        ({"friction": ("sticky",)}, "sticky"),
        ({"frction": 1}, "no option called 'frction'"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], words: str) -> None:
    with pytest.raises(sy.CallError, match=words):
        sy.OnlineIdentifier(arm(), **options)


def test_robots_that_cannot_be_used() -> None:
    with pytest.raises(sy.CallError, match="load it first"):
        sy.OnlineIdentifier("ur10.urdf")  # type: ignore[arg-type]
    with pytest.raises(sy.CallError, match="without loops"):
        sy.OnlineIdentifier(sy.load("four_bar"))
    with pytest.raises(sy.ProblemError, match="no sample has come yet"):
        _ = sy.OnlineIdentifier(arm()).base_values
    with pytest.raises(sy.CallError, match=r"how wrong is this robot's torque\? Give a Fit"):
        sy.CollisionObserver(arm())
    with pytest.raises(sy.CallError, match="gain"):
        sy.CollisionObserver(arm(), noise=1.0, gain=0.0)
    with pytest.raises(sy.CallError, match="noise has 3 numbers"):
        sy.CollisionObserver(arm(), noise=[1.0, 1.0, 1.0])
    with pytest.raises(sy.CallError, match="without qdd times are needed"):
        sy.CollisionObserver(arm(), noise=1.0).update(ZERO, ZERO, ZERO)
    with pytest.raises(sy.CallError, match="without loops"):
        sy.CollisionObserver(sy.load("four_bar"), noise=1.0)
