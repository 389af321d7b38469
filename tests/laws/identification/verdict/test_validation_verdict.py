"""The verdict of a validation.

Decided by the rules of the fit, from samples inside and outside the region apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.verdict import WORDS, rules
from tests.motions import recorded, rubbing


@cache
def robot() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@cache
def fit() -> sy.Fit:
    return sy.identify(
        robot(),
        recorded(sy.perturbed(robot(), 1, 0.05), rate=50.0, noise=0.5),
        "wls",
        diagnose=False,
    )


@cache
def validation(seed: int, size: float, scale: float = 1.0) -> sy.Validation:
    log = recorded(sy.perturbed(robot(), 1, 0.05), 10.0, 50.0, 0.5, seed, size=size)
    return fit().validate(log.replace(tau=scale * log.tau))


CASES = [
    (seed, size, scale)
    for seed, size in ((3, 0.1), (4, 0.4), (5, 1.5))
    for scale in (1.0, 1.3, -3.0)
]


@pytest.mark.parametrize("case", CASES)
def test_errors_are_measured_on_their_side_of_the_region(case: tuple[int, float, float]) -> None:
    validated = validation(*case)
    inside = fit().region.contains(*validated.states)
    e, tau = validated.measured - validated.predicted, validated.measured
    for mask, where, total in (
        (inside, "inside", validated.errors.inside),
        (~inside, "outside", validated.errors.outside),
    ):
        stated = [getattr(each, where) for each in validated.verdict.joints]
        if not mask.any():
            assert stated == [None] * 3
            continue
        np.testing.assert_allclose(
            [each.error for each in stated], np.sqrt(np.mean(e[mask] ** 2, axis=0))
        )
        share = 100 * np.sqrt(np.sum(e[mask] ** 2, axis=0) / np.sum(tau[mask] ** 2, axis=0))
        np.testing.assert_allclose([each.percent_of_torque for each in stated], share)
        assert total.relative == pytest.approx(np.linalg.norm(e[mask]) / np.linalg.norm(tau[mask]))


def test_the_cases_lie_inside_and_outside() -> None:
    shares = [validation(*case).errors.share_inside for case in CASES[::3]]
    assert shares[0] > 0.9
    assert shares[-1] == 0.0


@pytest.mark.parametrize("case", CASES)
def test_a_validation_never_raises_a_word(case: tuple[int, float, float]) -> None:
    before, after = fit().verdict, validation(*case).verdict
    pairs = [
        (before.word, after.word),
        *((a.word, b.word) for a, b in zip(before.joints, after.joints, strict=True)),
    ]
    assert all(WORDS.index(b) >= WORDS.index(a) for a, b in pairs)


@pytest.mark.parametrize("scale", [1.0, 1.3, -3.0])
def test_outside_the_region_nothing_is_said_of_the_error_inside(scale: float) -> None:
    verdict = validation(5, 1.5, scale).verdict
    assert verdict.error == (np.inf if verdict.word == "refused" else fit().verdict.error)
    assert all(each.inside is None for each in verdict.joints)
    assert any("no sample inside the region" in reason for reason in verdict.reasons)
    assert verdict.outside_error == pytest.approx(validation(5, 1.5, scale).total_relative_error)
    assert verdict.word == {1.0: fit().verdict.word, 1.3: "doubtful", -3.0: "refused"}[scale]


def test_one_function_decides_all_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    validated = validation(4, 0.4)
    again = fit().judged(validated)
    assert validated.verdict.to_dict().keys() == again.to_dict().keys()
    assert (validated.verdict.word, validated.verdict.reasons, validated.verdict.error) == (
        again.word,
        again.reasons,
        again.error,
    )
    calls = []
    monkeypatch.setattr(
        rules, "decide", lambda inputs, others=(): calls.append((inputs, others)) or "decided"
    )
    log = recorded(robot(), 10.0, 50.0, 0.5, 4)
    assert fit().validate(log).verdict == "decided"
    assert fit().judged() == "decided"
    assert fit().judged(validated, validated) == "decided"
    assert [(inputs is fit().verdict_inputs, len(others)) for inputs, others in calls] == [
        (True, 1),
        (True, 0),
        (True, 2),
    ]


def test_a_changed_prediction_has_a_verdict_of_its_own() -> None:
    from dataclasses import replace

    validated = validation(3, 0.1)
    assert validated.verdict.trusted
    assert replace(validated, predicted=-validated.predicted).verdict.word == "refused"


def test_a_robot_alone_has_no_verdict() -> None:
    from steelyard.identification import validate_robot

    assert validate_robot(robot(), recorded(robot(), 10.0, 50.0)).verdict is None
