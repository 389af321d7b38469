"""The verdict of a validation on the measured log of the UR10.

Halves of one motion, and a motion outside the region.
"""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.verdict import WORDS
from tests.real.measured import ur10


@pytest.fixture(scope="module")
def case() -> tuple[sy.Fit, sy.Log]:
    """The fit of the first half, and the second half."""
    robot, log = ur10()
    return sy.identify(robot, log[: log.N // 2]), log[log.N // 2 :]


def test_the_other_half_is_predicted_as_expected(case: tuple[sy.Fit, sy.Log]) -> None:
    fit, other = case
    validation = fit.validate(other)
    inside = validation.inside
    assert 0.8 < inside.mean() < 1.0
    used = validation.keep  # rows of a resting wrist are left out
    e = np.where(used, validation.measured - validation.predicted, 0.0)
    tau = np.where(used, validation.measured, 0.0)
    assert validation.verdict.trusted
    assert validation.verdict.error == max(
        fit.verdict.error, np.linalg.norm(e[inside]) / np.linalg.norm(tau[inside])
    )
    assert validation.verdict.outside_error == pytest.approx(
        np.linalg.norm(e[~inside]) / np.linalg.norm(tau[~inside])
    )
    for j, (joint, limits) in enumerate(
        zip(validation.verdict.joints, fit.robot.tree.limits, strict=True)
    ):
        for mask, stated in ((inside, joint.inside), (~inside, joint.outside)):
            rms = np.sqrt(np.sum(e[mask, j] ** 2) / np.sum(used[mask, j]))
            assert stated.error == pytest.approx(rms)
            assert stated.percent_of_rated == pytest.approx(100 * rms / limits.effort)


def test_the_last_wrist_has_a_word_of_its_own(case: tuple[sy.Fit, sy.Log]) -> None:
    """At rest its friction is anywhere within the stiction: that error is stated apart."""
    wrist = case[0].verdict.joints[-1]
    assert wrist.name == "wrist_3_joint"
    assert wrist.inside.percent_of_torque < 25.0 < 50.0 < wrist.resting.percent_of_torque
    assert wrist.inside.percent_of_rated < 5.0 < wrist.resting.percent_of_rated
    assert (wrist.word, case[0].verdict.word) == ("trusted", "trusted")
    assert all(joint.resting is None for joint in case[0].verdict.joints[:-1])
    assert any(
        "wrist_3_joint" in reason and "at rest" in reason for reason in case[0].verdict.reasons
    )


def test_a_motion_outside_the_region_says_nothing_of_the_error_inside() -> None:
    """The first third of the log, and the longest stretch after it that leaves its range of
    positions or speeds.
    """
    robot, log = ur10()
    fit = sy.identify(robot, log[: log.N // 3], diagnose=False)
    outside = ~fit.region.contains(log.q, log.qd, np.zeros_like(log.q))
    outside[: log.N // 3] = False
    edges = np.flatnonzero(np.diff(np.r_[0, outside.astype(int), 0])).reshape(-1, 2)
    start, end = edges[np.argmax(np.ptp(edges, axis=1))]
    for scale, words in (
        (1.0, {fit.verdict.word}),
        (1.5, {"doubtful", "refused"}),
        (-3.0, {"refused"}),
    ):
        validation = fit.validate(log[start:end].replace(tau=scale * log.tau[start:end]))
        assert not validation.inside.any()
        assert validation.verdict.word in words
        assert WORDS.index(validation.verdict.word) >= WORDS.index(fit.verdict.word)
        assert validation.verdict.error in (fit.verdict.error, np.inf)
        assert validation.verdict.outside_error == pytest.approx(validation.total_relative_error)
        assert all(joint.inside is None for joint in validation.verdict.joints)
        assert any("no sample inside the region" in reason for reason in validation.verdict.reasons)
